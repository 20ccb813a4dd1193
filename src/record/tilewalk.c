#include "record/tilewalk.h"

#include "record/format.h"

#include <math.h>
#include <stdlib.h>

enum { FORMAT, VERSION, NAME, KERNEL, DEVICE, UNIT, FLOP, PARAMS, ENTRIES, ROOT_MEMBERS };
static const char *const root_members[ROOT_MEMBERS] = {
    "format", "version", "name", "kernel", "device", "unit", "flop", "params", "entries"};

enum { CONFIG, OUTCOME, SECONDS, RUNS, COMPILE, BENCHMARK, MEMBERS };
static const char *const members[MEMBERS] = {"config", "outcome",   "seconds",
                                             "runs",   "compile_s", "benchmark_s"};

static void read_texts(struct recording *r, const struct json *found)
{
    const char **place[] = {&r->name, &r->kernel, &r->device, &r->unit};
    for (int i = 0; i < 4; i++) {
        const char *text = json_text(found[NAME + i], &r->arena);
        if (text && *text)
            *place[i] = text;
    }
}

static bool read_flop(struct recording *r, struct json flop, struct err *e)
{
    if (!flop.at)
        return true;
    return (json_number(flop, &r->flop) && r->flop > 0 && str_equal(r->unit, "s")) ||
           err_at(e, r->path, flop.line,
                  "flop is the number of operations of a run, above 0, where the unit is s");
}

static bool check_version(const struct recording *r, const struct json *found, struct err *e)
{
    double version;
    if (!json_is(found[FORMAT], TILEWALK_FORMAT))
        return err_at(e, r->path, found[FORMAT].line, "format is not \"" TILEWALK_FORMAT "\"");
    return (json_number(found[VERSION], &version) && version == TILEWALK_VERSION_OF_FORMAT) ||
           err_at(e, r->path, found[VERSION].at ? found[VERSION].line : found[FORMAT].line,
                  "this version of the format is not known (known is %d)",
                  TILEWALK_VERSION_OF_FORMAT);
}

static bool read_config(const struct recording *r, struct json config, struct config *out,
                        struct err *e)
{
    int given = 0;
    *out = (struct config){0};
    for (struct json_walk w = json_walk(config); json_next(&w); given++) {
        if (given == r->space->param_count)
            return err_at(e, r->path, w.value.line, "more values than parameters");
        const struct param *p = &r->space->param[given];
        if (!tilewalk_read_value(r, p, w.value, out->slot + p->offset, e))
            return false;
    }
    return given == r->space->param_count ||
           err_at(e, r->path, config.line, "parameter '%s' is missing",
                  r->space->param[given].name);
}

static double number_or_nan(struct json v)
{
    double value;
    return json_number(v, &value) && value >= 0 ? value : NAN;
}

static bool read_outcome(const struct recording *r, struct json entry, struct json word,
                         enum outcome *out, struct err *e)
{
    for (int o = 0; o < OUTCOME_COUNT; o++)
        if (json_is(word, outcome_name((enum outcome)o))) {
            *out = (enum outcome)o;
            return true;
        }
    return err_at(e, r->path, word.at ? word.line : entry.line,
                  "an entry has an outcome (ok, rejected, compile, driver, timeout, crash, lost, "
                  "wrong)");
}

// `runs` grows as needed; the entry points into it.
struct runs {
    double *run;
    int count, capacity;
};

static bool read_runs(const struct recording *r, struct json list, struct runs *out, struct err *e)
{
    out->count = 0;
    for (struct json_walk w = json_walk(list); json_next(&w);) {
        MEM_GROW(out->run, out->count, out->capacity);
        double *run = &out->run[out->count++];
        if (!json_number(w.value, run) || *run < 0)
            return err_at(e, r->path, w.value.line, "a run is a number of seconds");
    }
    return true;
}

static bool add_entry(struct recording *r, struct json entry, struct runs *runs, struct err *e)
{
    struct json found[MEMBERS];
    struct config config;
    struct record_entry made = {0};
    bool was_new;
    json_members(entry, MEMBERS, members, found);
    if (!found[CONFIG].at)
        return err_at(e, r->path, entry.line, "an entry has a config");
    if (!read_config(r, found[CONFIG], &config, e) ||
        !read_outcome(r, entry, found[OUTCOME], &made.outcome, e) ||
        !read_runs(r, found[RUNS], runs, e))
        return false;
    if (made.outcome == OUTCOME_OK) {
        made.runs = runs->run;
        made.run_count = runs->count;
        if (!json_number(found[SECONDS], &made.seconds) || !(made.seconds > 0))
            return err_at(e, r->path, entry.line, "an entry that is ok took more than 0 seconds");
    }
    made.compile_s = number_or_nan(found[COMPILE]);
    made.benchmark_s = number_or_nan(found[BENCHMARK]);
    recording_add(r, &config, &made, &was_new);
    return was_new || err_at(e, r->path, entry.line, "this configuration is here a second time");
}

static bool read_entries(struct recording *r, struct json entries, struct err *e)
{
    struct runs runs = {0};
    bool ok = true;
    for (struct json_walk w = json_walk(entries); ok && json_next(&w);)
        ok = add_entry(r, w.value, &runs, e);
    free(runs.run);
    return ok && recording_finish(r, e);
}

static bool read_params(struct recording *r, struct json params, struct err *e)
{
    for (struct json_walk w = json_walk(params); json_next(&w);)
        if (!tilewalk_read_param(r, w.value, e))
            return false;
    return r->space->param_count > 0 || err_at(e, r->path, params.line, "there are no parameters");
}

static bool read_all(struct recording *r, struct json root, struct err *e)
{
    struct json found[ROOT_MEMBERS];
    json_members(root, ROOT_MEMBERS, root_members, found);
    if (!check_version(r, found, e))
        return false;
    read_texts(r, found);
    return read_flop(r, found[FLOP], e) && read_params(r, found[PARAMS], e) &&
           recording_seal_space(r, e) && read_entries(r, found[ENTRIES], e);
}

const struct format format_tilewalk = {.name = "tilewalk",
                                       .what = "tilewalk recording",
                                       .members = {"format", "entries"},
                                       .read = read_all,
                                       .write = tilewalk_write};
