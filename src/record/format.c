#include "record/format.h"

#include <math.h>
#include <string.h>
#include <strings.h>

bool cost_parse_unit(const char *word, double *scale)
{
    static const struct {
        const char *word;
        double scale;
    } units[] = {
        {"s", 1},
        {"seconds", 1},
        {"ms", 1e-3},
        {"milliseconds", 1e-3},
        {"us", 1e-6},
        {"miliseconds", 1e-3},
        {"ns", 1e-9},
        {"microseconds", 1e-6},
        {"nanoseconds", 1e-9},
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcasecmp(word, units[i].word) == 0) {
            *scale = units[i].scale;
            return true;
        }
    return false;
}

bool cost_parse_objective(struct recording *r, struct json objective, struct cost *out,
                          struct err *e)
{
    if (json_type(objective) == JSON_LIST) {
        struct json list = objective;
        struct json_walk w = json_walk(list);
        if (!json_next(&w))
            return err_at(e, r->path, list.line, "there is no objective");
        objective = w.value;
        if (json_next(&w))
            return err_at(e, r->path, list.line,
                          "several objectives (only one can be searched for)");
    }
    out->objective = objective.at ? json_text(objective, &r->arena) : "time";
    if (!out->objective)
        return err_at(e, r->path, objective.line, "the objective is a name, not %s",
                      json_type_name(json_type(objective)));
    size_t length = strlen(out->objective);
    out->rate = length > 2 && strcmp(out->objective + length - 2, "/s") == 0;
    out->unit = "s";
    if (out->rate)
        out->unit = arena_printf(&r->arena, "s/%.*s", (int)length - 2, out->objective);
    r->unit = out->unit;
    return out->rate || str_equal(out->objective, "time") ||
           err_at(e, r->path, objective.line,
                  "objective '%s' is neither a time nor a rate (known are time, and rates such "
                  "as GFLOP/s)",
                  out->objective);
}

static const struct {
    const char *word;
    enum outcome outcome;
} failures[] = {
    {"InvalidConfig", OUTCOME_REJECTED},
    {"CompilationFailedConfig", OUTCOME_COMPILE},
    {"RuntimeFailedConfig", OUTCOME_CRASH},
};

bool cost_parse_failure(struct json text, enum outcome *out)
{
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (json_is(text, failures[i].word)) {
            *out = failures[i].outcome;
            return true;
        }
    return false;
}

const char *cost_failure(enum outcome o)
{
    o = o == OUTCOME_DRIVER ? OUTCOME_COMPILE : o;
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (failures[i].outcome == o)
            return failures[i].word;
    return "RuntimeFailedConfig";
}

void cost_add_runs(const struct record_entry *entry, const char *name, struct json_writer *w)
{
    if (entry->run_count == 0)
        return;
    json_begin_list(w, name);
    for (int i = 0; i < entry->run_count; i++)
        json_add_real(w, NULL, entry->runs[i] * 1e3);
    json_end(w);
}

void cost_add_duration(double duration, const char *name, struct json_writer *w)
{
    if (!isnan(duration))
        json_add_real(w, name, duration);
}

// Reads runs: each is a time, or a pair whose second number is the time (`*nested`).
static bool read_runs(struct table *t, struct json times, double scale, bool *nested, struct err *e)
{
    enum json_type type = json_type(times);
    if (type != JSON_NONE && type != JSON_NULL && type != JSON_LIST)
        return err_at(e, t->recording->path, times.line, "the times of runs are a list, not %s",
                      json_type_name(type));
    for (struct json_walk w = json_walk(times); json_next(&w);) {
        double run;
        struct json v = w.value;
        if (json_type(v) == JSON_LIST) {
            struct json_walk pair = json_walk(v);
            struct json second = {0};
            if (json_next(&pair) && json_next(&pair))
                second = pair.value;
            *nested = true;
            v = json_next(&pair) ? (struct json){.line = v.line} : second;
        }
        if (!(json_number(v, &run) && run >= 0))
            return err_at(e, t->recording->path, v.line ? v.line : t->row_line,
                          "a run is a time, or a pair of which the second is");
        MEM_GROW(t->run, t->runs, t->run_capacity);
        t->run[t->runs++] = run * scale;
    }
    return true;
}

const char *cost_text(struct json v, struct arena *arena)
{
    const char *text = json_text(v, arena);
    return text ? text : "";
}

double cost_run_sum(const struct table *t)
{
    double sum = 0;
    for (size_t i = t->row_first_run; i < t->runs; i++)
        sum += t->run[i];
    return t->runs > t->row_first_run ? sum : NAN;
}

double cost_sum(double a, double b)
{
    if (isnan(a))
        return b;
    return isnan(b) ? a : a + b;
}

double cost_duration(struct json v, double scale)
{
    double value;
    return json_number(v, &value) && value >= 0 ? value * scale : NAN;
}

bool cost_settle(struct table *t, const struct cost *c, const struct sample *s,
                 struct record_entry *entry, struct err *e)
{
    bool nested = false;
    if (!read_runs(t, s->times, c->scale, &nested, e))
        return false;
    size_t runs = t->runs - t->row_first_run;
    double mean = cost_run_sum(t) / (double)runs, reported = s->time * c->scale;
    double seconds = runs && (nested || isnan(reported)) ? mean : reported;
    double main = c->rate ? s->rate : seconds;
    if (isnan(main))
        return err_at(e, t->recording->path, s->position.line, "there is no '%s'", c->objective);
    if (main < 0)
        return err_at(e, t->recording->path, s->position.line, "%s %g is negative", c->objective,
                      main);
    double worked = isnan(reported) ? mean : reported;
    if (main > 0 && c->rate && worked > 0) { // times are divided by the work done meanwhile
        double work = s->rate * worked, factor = 1 / work;
        seconds /= work;
        for (size_t i = t->row_first_run; i < t->runs; i++)
            t->run[i] *= factor;
    } else if (main > 0 && c->rate) {
        seconds = 1 / s->rate;
        t->runs = t->row_first_run; // their work is not known
    }
    entry->seconds = seconds;
    if (!(main > 0 && seconds > 0 && isfinite(seconds)))
        *entry = (struct record_entry){.outcome = OUTCOME_WRONG,
                                       .compile_s = entry->compile_s,
                                       .benchmark_s = entry->benchmark_s};
    return true;
}

bool cost_read_rows(struct table *t, struct cost *c, struct json list, const char *name,
                    cost_reader *read, struct err *e)
{
    if (json_type(list) != JSON_LIST)
        return err_at(e, t->recording->path, list.line, "%s are a list, not %s", name,
                      json_type_name(json_type(list)));
    for (struct json_walk w = json_walk(list); json_next(&w);)
        if (!read(t, c, w.value, e))
            return false;
    return table_finish(t, e);
}

struct flat {
    const struct space *s;
    const struct param *p; // its part `part` is the current one
    int index, part, slot; // `slot` is that of a configuration
    struct str name;
};

// Moves to the next flat parameter, from {.s = space} on. False: there are no more, and `name` is
// freed.
static bool next(struct flat *f)
{
    if (f->p && f->part + 1 < f->p->width) {
        f->part++;
    } else {
        if (f->p)
            f->index++;
        if (f->index == f->s->param_count) {
            str_finish(&f->name);
            return false;
        }
        f->p = &f->s->param[f->index];
        f->part = 0;
    }
    f->slot = f->p->offset + f->part;
    f->name.length = 0;
    str_add(&f->name, f->p->name);
    if (f->p->width > 1)
        str_printf(&f->name, "_%d", f->part);
    return true;
}

// False: the value is a text.
static bool number_of(const struct param *p, int32_t slot, double *out)
{
    if (p->kind == PARAM_FACTORIZATION)
        *out = slot;
    else if (p->number)
        *out = p->number[slot];
    return p->kind == PARAM_FACTORIZATION || p->number;
}

static void add_value(struct json_writer *w, const char *name, const struct param *p, int32_t slot)
{
    double number;
    if (number_of(p, slot, &number))
        json_add_real(w, name, number);
    else
        json_add_text(w, name, p->label[slot]);
}

bool flat_check(const struct recording *r, struct err *e)
{
    bool ok = true;
    for (struct flat f = {.s = r->space}; next(&f);) {
        const struct param *other = f.p->width > 1 ? space_find(r->space, str_text(&f.name)) : NULL;
        if (ok && other)
            ok =
                err_at(e, r->path, 0, "there is a parameter '%s', and '%s' has a part of that name",
                       other->name, f.p->name);
    }
    return ok;
}

void flat_add_names(const struct space *s, struct json_writer *w)
{
    for (struct flat f = {.s = s}; next(&f);)
        json_add_text(w, NULL, str_text(&f.name));
}

void flat_add_values(const struct space *s, struct json_writer *w)
{
    for (struct flat f = {.s = s}; next(&f);) {
        json_begin_list(w, str_text(&f.name));
        if (f.p->kind == PARAM_FACTORIZATION) {
            int32_t product = f.p->product;
            int32_t i = 1;
            for (; i <= product / i; i++)
                if (product % i == 0)
                    json_add_int(w, NULL, i);
            while (--i >= 1)
                if (product % i == 0 && product / i > i)
                    json_add_int(w, NULL, product / i);
        }
        for (int32_t i = 0; f.p->kind != PARAM_FACTORIZATION && i < f.p->count; i++)
            add_value(w, NULL, f.p, i);
        json_end(w);
    }
}

void flat_add_config(const struct space *s, const struct config *c, struct json_writer *w)
{
    for (struct flat f = {.s = s}; next(&f);)
        add_value(w, str_text(&f.name), f.p, c->slot[f.slot]);
}

void flat_add_key(const struct space *s, const struct config *c, struct str *out)
{
    const char *between = "";
    double number;
    for (struct flat f = {.s = s}; next(&f); between = ",") {
        str_add(out, between);
        if (number_of(f.p, c->slot[f.slot], &number))
            str_add_real(out, number);
        else
            str_add(out, f.p->label[c->slot[f.slot]]);
    }
}
