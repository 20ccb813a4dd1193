// Our own format, which keeps the exact topology, so that a session is replayed on the graph that
// it was tuned on.
//
//     {"format":"tilewalk-recording","version":1,"name":"mm","kernel":"mm","device":"...",
//      "unit":"s","params":[
//       {"name":"tile_k","kind":"factorization","product":1024,"parts":3},
//       {"name":"order","kind":"permutation","items":["n","m","k"]},
//       {"name":"stage","kind":"categorical","values":["shared","none"]},
//       {"name":"unroll","kind":"custom","values":[1,2,8],"edges":[[0,1],[1,2]]}],
//      "entries":[
//       {"config":[[16,32,2],["k","n","m"],"shared",8],"outcome":"ok","seconds":0.012,
//        "runs":[0.011,0.013],"compile_s":0.3,"benchmark_s":0.5}]}
//
// "discrete" has values, too. Outcomes are the words of space/outcome.h; unknown members are left
// out. An entry takes one line. Edges are pairs of indices into the values.
#include "record/format.h"

#include <math.h>
#include <stdlib.h>

#define TILEWALK_FORMAT "tilewalk-recording"
#define FORMAT_VERSION  1

// --- parameters and their values ---

enum { PARAM_NAME, KIND, PRODUCT, PARTS, ITEMS, VALUES, EDGES, PARAM_MEMBERS };
static const char *const param_members[PARAM_MEMBERS] = {"name",  "kind",   "product", "parts",
                                                         "items", "values", "edges"};

// A list of either texts or numbers, released by the caller.
struct listed {
    int count, label_capacity, number_capacity;
    const char **label;
    double *number;
};

static bool read_whole(struct recording *r, struct json v, double low, double high, double *out,
                       struct err *e)
{
    return (json_number(v, out) && *out >= low && *out <= high && *out == floor(*out)) ||
           err_at(e, r->path, v.line, "a whole number from %.0f to %.0f is wanted", low, high);
}

// The edges of a custom parameter, each in both directions.
struct matrix {
    int count;
    bool *edge; // count * count
};

static bool tilewalk_is_edge(void *context, int i, int j)
{
    const struct matrix *m = context;
    return m->edge[(size_t)i * (size_t)m->count + (size_t)j];
}

static bool read_edges(struct recording *r, struct json edges, struct matrix *m, struct err *e)
{
    for (struct json_walk w = json_walk(edges); json_next(&w);) {
        double end[2] = {0, 0};
        int given = 0;
        for (struct json_walk pair = json_walk(w.value); json_next(&pair); given++)
            if (given == 2 || !read_whole(r, pair.value, 0, m->count - 1, &end[given], e))
                return err_at(e, r->path, pair.value.line, "an edge is a pair of value indices");
        if (given != 2)
            return err_at(e, r->path, w.value.line, "an edge is a pair of value indices");
        m->edge[(size_t)end[0] * (size_t)m->count + (size_t)end[1]] = true;
        m->edge[(size_t)end[1] * (size_t)m->count + (size_t)end[0]] = true;
    }
    return true;
}

static bool make_custom(struct recording *r, const char *name, const struct listed *l,
                        struct json edges, struct param *p, struct err *e)
{
    bool texts = l->count && l->label[0];
    struct matrix m = {.count = l->count};
    if (l->count > PARAM_MAX_CUSTOM)
        return err_set(e, "parameter '%s': more than %d values", name, PARAM_MAX_CUSTOM);
    m.edge = mem_zero((size_t)m.count * (size_t)m.count + 1, sizeof *m.edge);
    const struct custom_graph g = {.count = l->count,
                                   .number = texts ? NULL : l->number,
                                   .label = texts ? l->label : NULL,
                                   .adjacent = tilewalk_is_edge,
                                   .context = &m};
    bool ok = read_edges(r, edges, &m, e) && param_custom(p, &r->space->arena, name, &g, e);
    free(m.edge);
    return ok;
}

static bool make_listed(struct recording *r, enum param_kind kind, const char *name,
                        const struct json *found, struct param *p, struct err *e)
{
    struct arena *arena = &r->space->arena;
    struct json list = found[kind == PARAM_PERMUTATION ? ITEMS : VALUES];
    struct listed l = {0};
    bool ok = true;
    for (struct json_walk w = json_walk(list); ok && json_next(&w); l.count++) {
        int labels = l.count, numbers = l.count;
        MEM_GROW(l.label, labels, l.label_capacity);
        MEM_GROW(l.number, numbers, l.number_capacity);
        l.label[l.count] = json_text(w.value, &r->arena);
        bool text = l.label[l.count] != NULL;
        bool first = l.count == 0 || (l.label[0] != NULL) == text;
        if (!first || (!text && !json_number(w.value, &l.number[l.count])))
            ok = err_at(e, r->path, w.value.line, "a list of texts or of numbers is wanted");
    }
    bool texts = ok && l.count && l.label[0];
    bool wants_texts = kind == PARAM_PERMUTATION || kind == PARAM_CATEGORICAL;
    if (ok && l.count && kind != PARAM_CUSTOM && texts != wants_texts)
        ok = err_at(e, r->path, list.line, "%s values are %s", param_kind_name(kind),
                    wants_texts ? "texts" : "numbers");
    if (ok && kind == PARAM_PERMUTATION)
        ok = param_permutation(p, arena, name, l.count, l.label, e);
    else if (ok && kind == PARAM_CATEGORICAL)
        ok = param_categorical(p, arena, name, l.count, l.label, e);
    else if (ok && kind == PARAM_DISCRETE)
        ok = param_discrete(p, arena, name, l.count, l.number, e);
    else if (ok)
        ok = make_custom(r, name, &l, found[EDGES], p, e);
    free(l.label);
    free(l.number);
    return ok;
}

static bool make_param(struct recording *r, struct json declared, struct param *p, struct err *e)
{
    struct json found[PARAM_MEMBERS];
    json_members(declared, PARAM_MEMBERS, param_members, found);
    const char *name = json_text(found[PARAM_NAME], &r->arena);
    if (!name || !*name)
        return err_at(e, r->path, declared.line, "a parameter has a name");
    double product, parts;
    if (json_is(found[KIND], param_kind_name(PARAM_FACTORIZATION)))
        return read_whole(r, found[PRODUCT], 1, INT32_MAX, &product, e) &&
               read_whole(r, found[PARTS], 1, PARAM_MAX_WIDTH, &parts, e) &&
               param_factorization(p, &r->space->arena, name, (int64_t)product, (int)parts, e);
    for (int kind = PARAM_PERMUTATION; kind <= PARAM_CUSTOM; kind++)
        if (json_is(found[KIND], param_kind_name((enum param_kind)kind)))
            return make_listed(r, (enum param_kind)kind, name, found, p, e);
    return err_at(e, r->path, declared.line,
                  "parameter '%s' is of no known kind (factorization, permutation, discrete, "
                  "categorical, custom)",
                  name);
}

// Returns the slot of a value; -1: it is not one of the parameter's.
static int32_t read_slot(const struct param *p, struct json v)
{
    double number;
    bool is_number = json_number(v, &number);
    if (p->kind == PARAM_FACTORIZATION) {
        bool whole = is_number && number >= 1 && number <= INT32_MAX && number == floor(number);
        return whole ? (int32_t)number : -1;
    }
    for (int i = 0; i < p->count; i++)
        if (p->label ? json_is(v, p->label[i]) : is_number && p->number[i] == number)
            return i;
    return -1;
}

// --- writing ---

static void write_entry(const struct recording *r, int index, struct json_writer *w)
{
    const struct record_entry *entry = &r->entry[index];
    struct config c;
    config_set_get(&r->configs, index, &c);
    json_begin_object(w, NULL);
    json_begin_list(w, "config");
    for (int i = 0; i < r->space->param_count; i++) {
        const struct param *p = &r->space->param[i];
        json_add_name(w, NULL);
        param_add_json(p, c.slot + p->offset, w->out);
    }
    json_end(w);
    json_add_text(w, "outcome", outcome_name(entry->outcome));
    if (entry->outcome == OUTCOME_OK)
        cost_add_duration(entry->seconds, "seconds", w);
    if (entry->run_count)
        json_add_reals(w, "runs", entry->run_count, entry->runs);
    cost_add_duration(entry->compile_s, "compile_s", w);
    cost_add_duration(entry->benchmark_s, "benchmark_s", w);
    json_end(w);
}

static void tilewalk_write(const struct recording *r, struct json_writer *w)
{
    json_add_text(w, "format", TILEWALK_FORMAT);
    json_add_int(w, "version", FORMAT_VERSION);
    json_add_text(w, "name", r->name);
    json_add_text(w, "kernel", r->kernel);
    json_add_text(w, "device", r->device);
    json_add_text(w, "unit", r->unit);
    if (r->flop > 0)
        json_add_real(w, "flop", r->flop);
    json_begin_line(w, 0);
    json_begin_list(w, "params");
    for (int i = 0; i < r->space->param_count; i++) {
        const struct param *p = &r->space->param[i];
        json_begin_line(w, 1);
        json_begin_object(w, NULL);
        json_add_text(w, "name", p->name);
        json_add_text(w, "kind", param_kind_name(p->kind));
        if (p->kind == PARAM_FACTORIZATION) {
            json_add_int(w, "product", p->product);
            json_add_int(w, "parts", p->width);
        } else {
            json_add_name(w, p->kind == PARAM_PERMUTATION ? "items" : "values");
            param_add_listed_json(p, w->out);
        }
        if (p->kind == PARAM_CUSTOM) {
            json_begin_list(w, "edges");
            for (int32_t j = 0; j < p->count; j++)
                for (int32_t k = p->edge_start[j]; k < p->edge_start[j + 1]; k++)
                    if (j < p->edge[k])
                        json_add_reals(w, NULL, 2, (double[]){j, p->edge[k]});
            json_end(w);
        }
        json_end(w);
    }
    json_end(w);
    json_begin_line(w, 0);
    json_begin_list(w, "entries");
    for (int i = 0; i < r->count; i++) {
        json_begin_line(w, 1);
        write_entry(r, i, w);
    }
}

// --- reading ---

enum { FORMAT, VERSION, NAME, KERNEL, DEVICE, UNIT, FLOP, PARAMS, ENTRIES, ROOT_MEMBERS };
static const char *const root_members[ROOT_MEMBERS] = {
    "format", "version", "name", "kernel", "device", "unit", "flop", "params", "entries"};

enum { CONFIG, OUTCOME, SECONDS, RUNS, COMPILE, BENCHMARK, MEMBERS };
static const char *const members[MEMBERS] = {"config", "outcome",   "seconds",
                                             "runs",   "compile_s", "benchmark_s"};

static bool read_config(const struct recording *r, struct json config, struct config *out,
                        struct err *e)
{
    int given = 0;
    *out = (struct config){0};
    for (struct json_walk w = json_walk(config); json_next(&w); given++) {
        if (given == r->space->param_count)
            return err_at(e, r->path, w.value.line, "more values than parameters");
        const struct param *p = &r->space->param[given];
        int32_t *slot = out->slot + p->offset;
        int values = 0;
        if (p->kind == PARAM_FACTORIZATION || p->kind == PARAM_PERMUTATION) {
            for (struct json_walk value = json_walk(w.value); json_next(&value); values++)
                if (values < p->width)
                    slot[values] = read_slot(p, value.value);
        } else {
            slot[values++] = read_slot(p, w.value);
        }
        if (values != p->width || !param_valid(p, slot))
            return err_at(e, r->path, w.value.line, "parameter '%s': not one of its values",
                          p->name);
    }
    return given == r->space->param_count ||
           err_at(e, r->path, config.line, "parameter '%s' is missing",
                  r->space->param[given].name);
}

// The runs of an entry; the array grows as needed.
struct runs {
    double *run;
    int count, capacity;
};

static bool add_entry(struct recording *r, struct json entry, struct runs *runs, struct err *e)
{
    struct json found[MEMBERS];
    struct config config;
    struct record_entry made = {0};
    bool was_new;
    json_members(entry, MEMBERS, members, found);
    if (!found[CONFIG].at)
        return err_at(e, r->path, entry.line, "an entry has a config");
    if (!read_config(r, found[CONFIG], &config, e))
        return false;
    while (made.outcome < OUTCOME_COUNT && !json_is(found[OUTCOME], outcome_name(made.outcome)))
        made.outcome++;
    if (made.outcome == OUTCOME_COUNT)
        return err_at(
            e, r->path, found[OUTCOME].at ? found[OUTCOME].line : entry.line,
            "an entry has an outcome (ok, rejected, compile, driver, timeout, crash, lost, "
            "wrong)");
    runs->count = 0;
    for (struct json_walk w = json_walk(found[RUNS]); json_next(&w);) {
        MEM_GROW(runs->run, runs->count, runs->capacity);
        double *run = &runs->run[runs->count++];
        if (!json_number(w.value, run) || *run < 0)
            return err_at(e, r->path, w.value.line, "a run is a number of seconds");
    }
    if (made.outcome == OUTCOME_OK) {
        made.runs = runs->run;
        made.run_count = runs->count;
        if (!json_number(found[SECONDS], &made.seconds) || !(made.seconds > 0))
            return err_at(e, r->path, entry.line, "an entry that is ok took more than 0 seconds");
    }
    made.compile_s = cost_duration(found[COMPILE], 1);
    made.benchmark_s = cost_duration(found[BENCHMARK], 1);
    recording_add(r, &config, &made, &was_new);
    return was_new || err_at(e, r->path, entry.line, "this configuration is here a second time");
}

static bool tilewalk_read(struct recording *r, struct json root, struct err *e)
{
    struct json found[ROOT_MEMBERS];
    json_members(root, ROOT_MEMBERS, root_members, found);
    double version;
    if (!json_is(found[FORMAT], TILEWALK_FORMAT))
        return err_at(e, r->path, found[FORMAT].line, "format is not \"" TILEWALK_FORMAT "\"");
    if (!json_number(found[VERSION], &version) || version != FORMAT_VERSION)
        return err_at(e, r->path, found[VERSION].at ? found[VERSION].line : found[FORMAT].line,
                      "this version of the format is not known (known is %d)", FORMAT_VERSION);
    const char **place[] = {&r->name, &r->kernel, &r->device, &r->unit};
    for (int i = 0; i < 4; i++) {
        const char *text = json_text(found[NAME + i], &r->arena);
        if (text && *text)
            *place[i] = text;
    }
    struct json flop = found[FLOP];
    if (flop.at && !(json_number(flop, &r->flop) && r->flop > 0 && str_equal(r->unit, "s")))
        return err_at(e, r->path, flop.line,
                      "flop is the number of operations of a run, above 0, where the unit is s");
    for (struct json_walk w = json_walk(found[PARAMS]); json_next(&w);) {
        struct param p;
        struct err why = {0};
        if (!make_param(r, w.value, &p, &why) || !space_add(r->space, &p, &why))
            return err_at(e, r->path, why.line ? why.line : w.value.line, "%s", why.text);
    }
    if (r->space->param_count == 0)
        return err_at(e, r->path, found[PARAMS].line, "there are no parameters");
    struct runs runs = {0};
    bool ok = recording_seal_space(r, e);
    for (struct json_walk w = json_walk(found[ENTRIES]); ok && json_next(&w);)
        ok = add_entry(r, w.value, &runs, e);
    free(runs.run);
    return ok && recording_finish(r, e);
}

const struct format format_tilewalk = {.name = "tilewalk",
                                       .what = "tilewalk recording",
                                       .members = {"format", "entries"},
                                       .read = tilewalk_read,
                                       .write = tilewalk_write};
