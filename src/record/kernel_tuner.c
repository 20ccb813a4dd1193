// Kernel Tuner's cache files. All times are milliseconds.
#include "record/format.h"

#include <math.h>
#include <string.h>

enum { DEVICE, KERNEL, KEYS, PARAMS, OBJECTIVE, CACHE, MEMBERS };
static const char *const members[MEMBERS] = {"device_name", "kernel_name", "tune_params_keys",
                                             "tune_params", "objective",   "cache"};

// The fields of an entry besides its parameters.
enum { TIME, TIMES, COMPILE, VERIFICATION, BENCHMARK, ERROR, FIELDS };
static const char *const fields[FIELDS] = {
    "time", "times", "compile_time", "verification_time", "benchmark_time", "__error__"};

struct found {
    struct json field[FIELDS], objective;
    bool failed;
    enum outcome outcome;
};

static bool declare_named(struct table *t, const char *name, struct json values, struct err *e)
{
    for (int i = 0; i < t->columns; i++)
        if (str_equal(t->column[i].name, name))
            return err_at(e, t->recording->path, values.line, "parameter '%s' is declared twice",
                          name);
    return table_declare(t, name, values, e);
}

// Declares parameters in the order of tune_params_keys, which is that of the entries' keys.
static bool declare_all(struct table *t, struct json keys, struct json params, struct err *e)
{
    struct recording *r = t->recording;
    if (json_type(params) != JSON_OBJECT)
        return err_at(e, r->path, params.line, "tune_params is an object, not %s",
                      json_type_name(json_type(params)));
    if (keys.at && json_type(keys) != JSON_LIST)
        return err_at(e, r->path, keys.line, "tune_params_keys is a list, not %s",
                      json_type_name(json_type(keys)));
    for (struct json_walk w = json_walk(keys); json_next(&w);) {
        const char *name = json_text(w.value, &r->arena);
        if (!name)
            return err_at(e, r->path, w.value.line, "a parameter's name is a text, not %s",
                          json_type_name(json_type(w.value)));
        struct json values = json_member(params, name);
        if (!values.at)
            return err_at(e, r->path, w.value.line,
                          "parameter '%s' of tune_params_keys is missing in tune_params", name);
        if (!declare_named(t, name, values, e))
            return false;
    }
    for (struct json_walk w = json_walk(params); json_next(&w);) {
        if (!keys.at && !declare_named(t, json_text(w.key, &r->arena), w.value, e))
            return false;
        if (table_find(t, w.key) < 0)
            return err_at(e, r->path, w.key.line,
                          "parameter '%s' of tune_params is missing in tune_params_keys",
                          json_text(w.key, &r->arena));
    }
    return true;
}

static bool read_outcome(struct table *t, const struct cost *cost, struct json entry,
                         const struct found *f, struct record_entry *out, struct err *e)
{
    const char *path = t->recording->path;
    struct json error = f->field[ERROR], objective = f->objective;
    out->outcome = f->outcome;
    if (f->failed)
        return true;
    double time = NAN, value = NAN;
    json_number(f->field[TIME], &time);
    json_number(objective, &value);
    if (fabs(time) >= 1e20 || fabs(value) >= 1e20) { // very old files mark failures so
        out->outcome = OUTCOME_CRASH;
        return true;
    }
    if (json_type(error) != JSON_NONE && json_type(error) != JSON_NULL)
        return err_at(e, path, error.line,
                      "an unknown failure (known: InvalidConfig, "
                      "CompilationFailedConfig, RuntimeFailedConfig)");
    if (objective.at && json_type(objective) != JSON_NUMBER)
        return err_at(e, path, objective.line,
                      "'%s' is a number or the name of a failure (InvalidConfig, "
                      "CompilationFailedConfig, RuntimeFailedConfig)",
                      cost->objective);
    struct sample sample = {.time = time,
                            .rate = cost->rate ? value : NAN,
                            .times = f->field[TIMES],
                            .position = objective.at ? objective : entry};
    if (!objective.at)
        return err_at(e, path, entry.line, "there is no '%s'", cost->objective);
    return cost_settle(t, cost, &sample, out, e);
}

static bool read_entry(struct table *t, const struct cost *cost, struct json_walk *w, struct err *e)
{
    struct recording *r = t->recording;
    struct found f = {.outcome = OUTCOME_OK};
    if (json_type(w->value) != JSON_OBJECT)
        return err_at(e, r->path, w->value.line, "an entry is an object, not %s",
                      json_type_name(json_type(w->value)));
    table_begin_row(t, w->key.line);
    // These are parameters and fields. The name of a failure in any field makes the entry a
    // failure.
    for (struct json_walk member = json_walk(w->value); json_next(&member);) {
        int column = table_find(t, member.key);
        if (column >= 0 && !table_set(t, column, member.value, e))
            return false;
        if (column >= 0)
            continue;
        for (int i = 0; i < FIELDS; i++)
            if (json_is(member.key, fields[i]))
                f.field[i] = member.value;
        if (json_is(member.key, cost->objective))
            f.objective = member.value;
        f.failed = cost_parse_failure(member.value, &f.outcome) || f.failed;
    }
    if (table_first_unset(t) < t->columns && !table_set_key(t, json_text(w->key, &r->arena), e))
        return false;
    double scale = cost->scale;
    struct record_entry entry = {.compile_s = cost_duration(f.field[COMPILE], scale),
                                 .benchmark_s = cost_duration(f.field[BENCHMARK], scale)};
    if (!read_outcome(t, cost, w->value, &f, &entry, e))
        return false;
    // With a rate the runs are divided by their work, and their sum is no time.
    if (isnan(entry.benchmark_s) && !cost->rate)
        entry.benchmark_s = cost_run_sum(t);
    entry.benchmark_s = cost_sum(entry.benchmark_s, cost_duration(f.field[VERIFICATION], scale));
    return table_end_row(t, &entry, e);
}

static bool kernel_tuner_read(struct recording *r, struct json root, struct err *e)
{
    struct json found[MEMBERS];
    struct table t = {.recording = r};
    struct cost cost = {.scale = 1e-3};
    json_members(root, MEMBERS, members, found);
    r->device = cost_text(found[DEVICE], &r->arena);
    r->kernel = cost_text(found[KERNEL], &r->arena);
    bool ok = cost_parse_objective(r, found[OBJECTIVE], &cost, e) &&
              declare_all(&t, found[KEYS], found[PARAMS], e);
    if (ok && json_type(found[CACHE]) != JSON_OBJECT)
        ok = err_at(e, r->path, found[CACHE].line, "the cache is an object, not %s",
                    json_type_name(json_type(found[CACHE])));
    for (struct json_walk w = json_walk(found[CACHE]); ok && json_next(&w);)
        ok = read_entry(&t, &cost, &w, e);
    ok = ok && table_finish(&t, e);
    table_release(&t);
    return ok;
}

// --- writing ---

// The kernel's name is our title: the operator, and behind it the problem.
static void kernel_tuner_write(const struct recording *r, struct json_writer *w)
{
    const char *problem = strchr(r->kernel, ' ');
    json_add_text(w, members[DEVICE], r->device);
    json_add_text(w, members[KERNEL], r->kernel);
    json_add_text(w, "problem_size", problem ? problem + 1 : "");
    json_begin_list(w, members[KEYS]);
    flat_add_names(r->space, w);
    json_end(w);
    json_begin_object(w, members[PARAMS]);
    flat_add_values(r->space, w);
    json_end(w);
    json_add_text(w, members[OBJECTIVE], fields[TIME]);
    json_begin_object(w, members[CACHE]);
    for (int i = 0; i < r->count; i++) {
        json_begin_line(w, 0);
        struct str key = {0};
        struct config c;
        config_set_get(&r->configs, i, &c);
        flat_add_key(r->space, &c, &key);
        json_begin_object(w, str_text(&key));
        flat_add_config(r->space, &c, w);
        if (r->entry[i].outcome == OUTCOME_OK)
            json_add_real(w, fields[TIME], r->entry[i].seconds * 1e3);
        else
            json_add_text(w, fields[TIME], cost_failure(r->entry[i].outcome));
        cost_add_runs(&r->entry[i], fields[TIMES], w);
        cost_add_duration(r->entry[i].compile_s * 1e3, fields[COMPILE], w);
        cost_add_duration(r->entry[i].benchmark_s * 1e3, fields[BENCHMARK], w);
        json_end(w);
        str_finish(&key);
    }
}

const struct format format_kernel_tuner = {
    .name = "kernel-tuner",
    .what = "Kernel Tuner cache file",
    .members = {"cache", "tune_params"},
    .read = kernel_tuner_read,
    .open = "cache",
    .write = kernel_tuner_write,
};
