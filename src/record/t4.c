// T4 results (schema 1.0.0): a list, with the unit of its times beside it. Parameters are not
// declared: the values that occur make the space.
#include "record/format.h"

#include <math.h>

enum { RESULTS, METADATA, ROOT_MEMBERS };
static const char *const root_members[ROOT_MEMBERS] = {"results", "metadata"};

enum { CONFIGURATION, OBJECTIVES, TIMES, INVALIDITY, CORRECTNESS, MEASUREMENTS, MEMBERS };
static const char *const members[MEMBERS] = {"configuration", "objectives",  "times",
                                             "invalidity",    "correctness", "measurements"};

// The schema has compilation_time, files have compilation.
enum { COMPILATION, COMPILATION_TIME, BENCHMARK, VALIDATION, RUNTIMES, TIME_MEMBERS };
static const char *const time_members[TIME_MEMBERS] = {"compilation", "compilation_time",
                                                       "benchmark", "validation", "runtimes"};

static const struct {
    const char *word;
    enum outcome outcome;
} words[] = {
    {"correct", OUTCOME_OK},           {"compile", OUTCOME_COMPILE},   {"runtime", OUTCOME_CRASH},
    {"constraints", OUTCOME_REJECTED}, {"correctness", OUTCOME_WRONG}, {"timeout", OUTCOME_TIMEOUT},
};
enum { WORDS = sizeof words / sizeof *words };

// Reads the measurement of that name, in its own unit when it has one.
static bool read_measurement(const struct table *t, const struct cost *cost, struct json list,
                             const char *name, double *out, enum outcome *outcome, struct err *e)
{
    enum { NAME, VALUE, UNIT, COUNT };
    static const char *const names[COUNT] = {"name", "value", "unit"};
    struct recording *r = t->recording;
    for (struct json_walk w = json_walk(list); json_next(&w);) {
        struct json m[COUNT];
        double scale = cost->scale;
        json_members(w.value, COUNT, names, m);
        if (!json_is(m[NAME], name) || cost_parse_failure(m[VALUE], outcome))
            continue;
        if (*outcome != OUTCOME_OK)
            continue;
        if (!json_number(m[VALUE], out))
            return err_at(e, r->path, m[VALUE].at ? m[VALUE].line : w.value.line,
                          "measurement '%s' has no number", name);
        const char *unit = json_text(m[UNIT], &r->arena);
        if (str_equal(name, "time") && unit && *unit && !cost_parse_unit(unit, &scale))
            return err_at(e, r->path, m[UNIT].line, "unknown unit '%s'", unit);
        *out *= scale / cost->scale;
    }
    return true;
}

static bool read_cost(struct table *t, const struct cost *cost, const struct json *found,
                      struct record_entry *entry, struct err *e)
{
    struct json times[TIME_MEMBERS], list = found[MEASUREMENTS];
    json_members(found[TIMES], TIME_MEMBERS, time_members, times);
    struct json compile = times[COMPILATION].at ? times[COMPILATION] : times[COMPILATION_TIME];
    entry->compile_s = cost_duration(compile, cost->scale);
    entry->benchmark_s = cost_duration(times[BENCHMARK], cost->scale);

    struct sample sample = {
        .time = NAN,
        .rate = NAN,
        .times = times[RUNTIMES],
        .position = list.at ? list : (struct json){.line = t->row_line},
    };
    enum outcome *outcome = &entry->outcome;
    if (!read_measurement(t, cost, list, "time", &sample.time, outcome, e) ||
        (cost->rate && !read_measurement(t, cost, list, cost->objective, &sample.rate, outcome, e)))
        return false;
    if (*outcome == OUTCOME_OK && !cost_settle(t, cost, &sample, entry, e))
        return false;
    if (isnan(entry->benchmark_s) && !cost->rate)
        entry->benchmark_s = cost_run_sum(t);
    entry->benchmark_s =
        cost_sum(entry->benchmark_s, cost_duration(times[VALIDATION], cost->scale));
    return true;
}

static bool t4_read_result(struct table *t, struct cost *cost, struct json result, struct err *e)
{
    struct json found[MEMBERS];
    struct record_entry entry = {0};
    json_members(result, MEMBERS, members, found);
    table_begin_row(t, result.line);
    const char *before = t->rows ? cost->objective : NULL;
    struct json configuration = found[CONFIGURATION];
    if (!cost_parse_objective(t->recording, found[OBJECTIVES], cost, e))
        return false;
    if (before && !str_equal(before, cost->objective))
        return err_at(e, t->recording->path, result.line, "the objective changes from '%s' to '%s'",
                      before, cost->objective);
    if (json_type(configuration) != JSON_OBJECT)
        return err_at(e, t->recording->path, configuration.at ? configuration.line : t->row_line,
                      "a result's configuration is an object of parameters");
    if (!table_set_members(t, configuration, e))
        return false;
    double correct;
    struct json invalidity = found[INVALIDITY];
    size_t word = 0;
    while (word < WORDS && !json_is(invalidity, words[word].word))
        word++;
    if (word == WORDS)
        return err_at(e, t->recording->path, invalidity.at ? invalidity.line : t->row_line,
                      "invalidity is one of correct, compile, runtime, constraints, correctness, "
                      "timeout");
    entry.outcome = words[word].outcome;
    if (entry.outcome == OUTCOME_OK && json_number(found[CORRECTNESS], &correct) && correct == 0)
        entry.outcome = OUTCOME_WRONG;
    return read_cost(t, cost, found, &entry, e) && table_end_row(t, &entry, e);
}

static bool t4_read(struct recording *r, struct json root, struct err *e)
{
    struct json found[ROOT_MEMBERS];
    struct table t = {.recording = r};
    struct cost cost;
    json_members(root, ROOT_MEMBERS, root_members, found);
    struct json unit = json_member(found[METADATA], "timeunit");
    const char *word = json_text(unit, &r->arena);
    if (!word)
        return err_at(e, r->path, found[METADATA].at ? found[METADATA].line : root.line,
                      "the unit of times is not known: there is no metadata.timeunit");
    if (!cost_parse_unit(word, &cost.scale))
        return err_at(e, r->path, unit.line,
                      "unknown unit '%s' (known: milliseconds, seconds, "
                      "microseconds, nanoseconds)",
                      word);
    bool ok = cost_read_rows(&t, &cost, found[RESULTS], "the results", t4_read_result, e);
    table_release(&t);
    return ok;
}

// --- writing ---

static void t4_write(const struct recording *r, struct json_writer *w)
{
    json_add_text(w, "schema_version", "1.0.0");
    json_begin_object(w, root_members[METADATA]);
    json_add_text(w, "timeunit", "milliseconds");
    json_end(w);
    json_begin_list(w, root_members[RESULTS]);
    for (int i = 0; i < r->count; i++) {
        json_begin_line(w, 0);
        const struct record_entry *entry = &r->entry[i];
        struct config c;
        config_set_get(&r->configs, i, &c);
        json_begin_object(w, NULL);
        json_begin_object(w, members[CONFIGURATION]);
        flat_add_config(r->space, &c, w);
        json_end(w);
        json_begin_object(w, members[TIMES]);
        cost_add_duration(entry->compile_s * 1e3, time_members[COMPILATION_TIME], w);
        cost_add_duration(entry->benchmark_s * 1e3, time_members[BENCHMARK], w);
        cost_add_runs(entry, time_members[RUNTIMES], w);
        json_end(w);
        enum outcome o = entry->outcome;
        o = o == OUTCOME_DRIVER ? OUTCOME_COMPILE : o == OUTCOME_LOST ? OUTCOME_CRASH : o;
        size_t j = 0;
        while (words[j].outcome != o)
            j++;
        json_add_text(w, members[INVALIDITY], words[j].word);
        json_add_int(w, members[CORRECTNESS], entry->outcome == OUTCOME_OK);
        json_begin_list(w, members[MEASUREMENTS]);
        if (entry->outcome == OUTCOME_OK) {
            json_begin_object(w, NULL);
            json_add_text(w, "name", "time");
            json_add_real(w, "value", entry->seconds * 1e3);
            json_add_text(w, "unit", "ms");
            json_end(w);
        }
        json_end(w);
        json_add_texts(w, members[OBJECTIVES], (const char *[]){"time", NULL});
        json_end(w);
    }
}

const struct format format_t4 = {
    .name = "t4", .what = "T4 results", .members = {"results"}, .read = t4_read, .write = t4_write};
