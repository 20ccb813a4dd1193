// KTT's JSON output.
#include "record/format.h"

#include <math.h>

enum { METADATA, RESULTS, ROOT_MEMBERS };
static const char *const root_members[ROOT_MEMBERS] = {"Metadata", "Results"};

enum {
    CONFIGURATION,
    COMPUTATIONS,
    KERNEL,
    STATUS,
    DURATION,
    OVERHEAD,
    MOVEMENT,
    VALIDATION,
    SEARCHER,
    MEMBERS
};
static const char *const members[MEMBERS] = {
    "Configuration",   "ComputationResults", "KernelName",           "Status",
    "TotalDuration",   "TotalOverhead",      "DataMovementOverhead", "ValidationOverhead",
    "SearcherOverhead"};

static const struct {
    const char *word;
    enum outcome outcome;
} words[] = {
    {"Ok", OUTCOME_OK},
    {"ComputationFailed", OUTCOME_CRASH},
    {"ValidationFailed", OUTCOME_WRONG},
    {"CompilationFailed", OUTCOME_COMPILE},
    {"DeviceLimitsExceeded", OUTCOME_REJECTED},
};
enum { WORDS = sizeof words / sizeof *words };

// Reads a list of {Name, Value, ValueType}.
static bool read_parameters(struct table *t, struct json configuration, struct err *e)
{
    static const char *const names[] = {"Name", "Value"};
    const char *path = t->recording->path;
    if (json_type(configuration) != JSON_LIST)
        return err_at(e, path, configuration.at ? configuration.line : t->row_line,
                      "a result's Configuration is a list of parameters");
    for (struct json_walk w = json_walk(configuration); json_next(&w);) {
        struct json found[2];
        json_members(w.value, 2, names, found);
        if (json_type(found[0]) != JSON_TEXT || !found[1].at)
            return err_at(e, path, w.value.line, "a parameter has a Name and a Value");
        if (!table_set_named(t, found[0], found[1], e))
            return false;
    }
    return true;
}

// Returns the time of launching, which includes compilation; a failure only has the sum of
// everything.
static double compile_time(const struct json *found, double scale)
{
    double sum = NAN;
    for (struct json_walk w = json_walk(found[COMPUTATIONS]); json_next(&w);)
        sum = cost_sum(sum, cost_duration(json_member(w.value, "Overhead"), scale));
    if (!isnan(sum))
        return sum;
    double rest = cost_duration(found[OVERHEAD], scale);
    for (int i = MOVEMENT; i <= SEARCHER; i++)
        rest = cost_sum(rest, -cost_duration(found[i], scale));
    return rest >= 0 ? rest : NAN;
}

static bool ktt_read_result(struct table *t, struct cost *cost, struct json result, struct err *e)
{
    struct json found[MEMBERS];
    struct recording *r = t->recording;
    struct sample sample = {.time = NAN, .rate = NAN};
    json_members(result, MEMBERS, members, found);
    table_begin_row(t, result.line);
    if (t->rows == 0 && json_type(found[KERNEL]) == JSON_TEXT)
        r->kernel = json_text(found[KERNEL], &r->arena);

    double duration = cost_duration(found[DURATION], cost->scale);
    struct record_entry entry = {
        .compile_s = compile_time(found, cost->scale),
        .benchmark_s = cost_sum(cost_sum(duration, cost_duration(found[MOVEMENT], cost->scale)),
                                cost_duration(found[VALIDATION], cost->scale)),
    };
    size_t word = 0;
    while (word < WORDS && !json_is(found[STATUS], words[word].word))
        word++;
    if (word == WORDS)
        return err_at(
            e, r->path, found[STATUS].at ? found[STATUS].line : t->row_line,
            "Status is one of Ok, ComputationFailed, ValidationFailed, CompilationFailed, "
            "DeviceLimitsExceeded");
    entry.outcome = words[word].outcome;
    if (!read_parameters(t, found[CONFIGURATION], e))
        return false;
    sample.position = found[DURATION].at ? found[DURATION] : result;
    json_number(found[DURATION], &sample.time);
    if (entry.outcome == OUTCOME_OK && !cost_settle(t, cost, &sample, &entry, e))
        return false;
    return table_end_row(t, &entry, e);
}

static bool ktt_read(struct recording *r, struct json root, struct err *e)
{
    struct json found[ROOT_MEMBERS];
    struct table t = {.recording = r};
    struct cost cost = {.objective = "TotalDuration"};
    json_members(root, ROOT_MEMBERS, root_members, found);
    struct json unit = json_member(found[METADATA], "TimeUnit");
    const char *word = json_text(unit, &r->arena);
    r->device = cost_text(json_member(found[METADATA], "Device"), &r->arena);
    if (!word)
        return err_at(e, r->path, found[METADATA].line,
                      "the unit of times is not known: there is no Metadata.TimeUnit");
    if (!cost_parse_unit(word, &cost.scale))
        return err_at(e, r->path, unit.line,
                      "unknown unit '%s' (known: Nanoseconds, Microseconds, "
                      "Milliseconds, Seconds)",
                      word);
    bool ok = cost_read_rows(&t, &cost, found[RESULTS], "the Results", ktt_read_result, e);
    table_release(&t);
    return ok;
}

const struct format format_ktt = {
    .name = "ktt", .what = "KTT output", .members = {"Results", "Metadata"}, .read = ktt_read};
