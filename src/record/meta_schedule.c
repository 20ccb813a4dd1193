// The database of TVM's MetaSchedule: its tuning records, each a program's trace with the decisions
// that were sampled in it, and its workloads, which hold no measurements.
//
// A decision is a parameter, named after what was sampled and counted from 0: tile_0 is the first
// loop that was split, choice_0 the first pick of a list, location_0 the first place for a block.
// Programs of one workload whose traces have other instructions are of another sketch, which has
// parameters of its own: workload and sketch make the task.
#include "record/format.h"
#include "record/log.h"

#include <math.h>
#include <stdint.h>

enum { TRACE, TIMES, TARGET, ARGUMENTS };

static const struct {
    const char *instruction, *name;
} samplings[] = {
    {"SamplePerfectTile", "tile"},
    {"SamplePartitionedTile", "partition"},
    {"SampleCategorical", "choice"},
    {"SampleComputeLocation", "location"},
};
enum { SAMPLINGS = sizeof samplings / sizeof *samplings };

// [workload, [[instructions, decisions], times, target, arguments]]
static bool is_record(struct json line)
{
    struct json record = log_element(line, 1), trace = log_element(record, TRACE);
    return json_type(log_element(line, 0)) == JSON_NUMBER && json_type(record) == JSON_LIST &&
           json_type(log_element(trace, 0)) == JSON_LIST &&
           json_type(log_element(trace, 1)) == JSON_LIST;
}

// ["hash", "base64 of a module"]
static bool is_workload(struct json line)
{
    return json_type(log_element(line, 0)) == JSON_TEXT &&
           json_type(log_element(line, 1)) == JSON_TEXT && !log_element(line, 2).at;
}

static bool find_task(struct recording *r, struct json line, struct log_task *out, struct err *e)
{
    struct json record = log_element(line, 1);
    double workload;
    json_number(log_element(line, 0), &workload);
    if (workload < 0 || workload != floor(workload))
        return err_at(e, r->path, line.line, "the number of the workload is none");
    str_printf(&out->key, "%.0f", workload);
    for (struct json_walk w = json_walk(log_element(log_element(record, TRACE), 0));
         json_next(&w);) {
        const char *name = cost_text(log_element(w.value, 0), &r->arena);
        if (str_equal(name, "EnterPostproc"))
            break; // what follows, follows from what was sampled
        str_printf(&out->key, " %s", name);
    }
    str_printf(&out->title, "workload %.0f", workload);
    for (struct json_walk w = json_walk(log_element(record, ARGUMENTS)); json_next(&w);) {
        str_add_char(&out->title, ' ');
        log_add_sizes(&out->title, log_element(w.value, 2));
    }
    struct json target = log_element(record, TARGET), kind = json_member(target, "kind");
    out->device = cost_text(kind.at ? kind : target, &r->arena);
    return true;
}

// The decision of a choice is an index into its candidates.
static struct json candidate(struct json instruction, struct json decision)
{
    struct json all = log_element(log_element(instruction, 2), 0);
    double index;
    if (!json_number(decision, &index) || index < 0 || index > INT32_MAX)
        return decision;
    struct json found = log_element(all, (int)index);
    return json_type(found) == JSON_NUMBER || json_type(found) == JSON_TEXT ? found : decision;
}

static bool read_decision(struct table *t, struct json instructions, struct json decision,
                          int counts[SAMPLINGS], struct err *e)
{
    struct recording *r = t->recording;
    double at;
    struct json value = log_element(decision, 1);
    if (!json_number(log_element(decision, 0), &at) || at < 0 || at > INT32_MAX)
        return err_at(e, r->path, t->row_line, "a decision is of no instruction");
    struct json instruction = log_element(instructions, (int)at),
                name = log_element(instruction, 0);
    int i = 0;
    while (i < SAMPLINGS && !json_is(name, samplings[i].instruction))
        i++;
    if (i == SAMPLINGS)
        return err_at(e, r->path, t->row_line,
                      "the decision of instruction %.0f ('%s') is not known", at,
                      cost_text(name, &r->arena));
    const char *text = arena_printf(&r->arena, "%s_%d", samplings[i].name, counts[i]++);
    return json_type(value) == JSON_LIST
               ? table_set_list(t, text, value, e)
               : table_set_text(t, text, i == 2 ? candidate(instruction, value) : value, e);
}

static bool read_row(struct table *t, struct json line, struct err *e)
{
    struct json record = log_element(line, 1), trace = log_element(record, TRACE);
    struct json times = log_element(record, TIMES);
    int counts[SAMPLINGS] = {0};
    for (struct json_walk w = json_walk(log_element(trace, 1)); json_next(&w);)
        if (!read_decision(t, log_element(trace, 0), w.value, counts, e))
            return false;
    bool ran = json_type(times) == JSON_LIST && log_element(times, 0).at;
    return log_end_row(t, times, ran ? OUTCOME_OK : OUTCOME_CRASH, NAN, e);
}

const struct log_format log_meta_schedule = {.name = "metaschedule",
                                             .what = "tuning records of TVM's MetaSchedule",
                                             .is = is_record,
                                             .task = find_task,
                                             .row = read_row};
const struct log_format log_meta_workloads = {
    .name = "metaschedule",
    .what = "workloads of TVM's MetaSchedule",
    .is = is_workload,
    .refusal = "they hold no measurements (those are in database_tuning_record.json)"};
