// Parameters and their values in our own format.
#include "record/tilewalk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME, KIND, PRODUCT, PARTS, ITEMS, VALUES, EDGES, MEMBERS };
static const char *const members[MEMBERS] = {"name",  "kind",   "product", "parts",
                                             "items", "values", "edges"};

// What a list holds: either texts or numbers. Released by the caller.
struct listed {
    int count, label_capacity, number_capacity;
    const char **label;
    double *number;
};

static void release(struct listed *l)
{
    free(l->label);
    free(l->number);
}

static bool read_list(struct recording *r, struct json list, struct listed *out, struct err *e)
{
    *out = (struct listed){0};
    for (struct json_walk w = json_walk(list); json_next(&w); out->count++) {
        int labels = out->count, numbers = out->count;
        MEM_GROW(out->label, labels, out->label_capacity);
        MEM_GROW(out->number, numbers, out->number_capacity);
        out->label[out->count] = json_text(w.value, &r->arena);
        bool text = out->label[out->count] != NULL;
        bool first = out->count == 0 || (out->label[0] != NULL) == text;
        if (!first || (!text && !json_number(w.value, &out->number[out->count])))
            return err_at(e, r->path, w.value.line, "a list of texts or of numbers is wanted");
    }
    return true;
}

static bool read_whole(struct recording *r, struct json v, double low, double high, double *out,
                       struct err *e)
{
    return (json_number(v, out) && *out >= low && *out <= high && *out == floor(*out)) ||
           err_at(e, r->path, v.line, "a whole number from %.0f to %.0f is wanted", low, high);
}

// Pairs of indices; each stands for both directions.
struct matrix {
    int count;
    bool *edge; // count * count
};

static bool is_edge(void *context, int i, int j)
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
                                   .adjacent = is_edge,
                                   .context = &m};
    bool ok = read_edges(r, edges, &m, e) && param_custom(p, &r->space->arena, name, &g, e);
    free(m.edge);
    return ok;
}

static bool make_factorization(struct recording *r, const char *name, const struct json *found,
                               struct param *p, struct err *e)
{
    double product, parts;
    return read_whole(r, found[PRODUCT], 1, INT32_MAX, &product, e) &&
           read_whole(r, found[PARTS], 1, PARAM_MAX_WIDTH, &parts, e) &&
           param_factorization(p, &r->space->arena, name, (int64_t)product, (int)parts, e);
}

static bool make_listed(struct recording *r, enum param_kind kind, const char *name,
                        const struct json *found, struct param *p, struct err *e)
{
    struct arena *arena = &r->space->arena;
    struct json list = found[kind == PARAM_PERMUTATION ? ITEMS : VALUES];
    struct listed l;
    bool ok = read_list(r, list, &l, e);
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
    release(&l);
    return ok;
}

static bool make_param(struct recording *r, struct json declared, struct param *p, struct err *e)
{
    struct json found[MEMBERS];
    json_members(declared, MEMBERS, members, found);
    const char *name = json_text(found[NAME], &r->arena);
    if (!name || !*name)
        return err_at(e, r->path, declared.line, "a parameter has a name");
    for (int kind = PARAM_FACTORIZATION; kind <= PARAM_CUSTOM; kind++)
        if (json_is(found[KIND], param_kind_name((enum param_kind)kind)))
            return kind == PARAM_FACTORIZATION
                       ? make_factorization(r, name, found, p, e)
                       : make_listed(r, (enum param_kind)kind, name, found, p, e);
    return err_at(e, r->path, declared.line,
                  "parameter '%s' is of no known kind (factorization, permutation, discrete, "
                  "categorical, custom)",
                  name);
}

bool tilewalk_read_param(struct recording *r, struct json declared, struct err *e)
{
    struct param p;
    struct err why = {0};
    if (make_param(r, declared, &p, &why) && space_add(r->space, &p, &why))
        return true;
    return err_at(e, r->path, why.line ? why.line : declared.line, "%s", why.text);
}

static int find_label(const struct param *p, struct json v)
{
    for (int i = 0; i < p->count; i++)
        if (json_is(v, p->label[i]))
            return i;
    return -1;
}

static int find_number(const struct param *p, struct json v)
{
    double number;
    if (json_number(v, &number))
        for (int i = 0; i < p->count; i++)
            if (p->number[i] == number)
                return i;
    return -1;
}

static int32_t read_slot(const struct param *p, struct json v)
{
    double number;
    if (p->kind != PARAM_FACTORIZATION)
        return p->label ? find_label(p, v) : find_number(p, v);
    bool whole = json_number(v, &number) && number >= 1 && number <= INT32_MAX;
    return whole && number == floor(number) ? (int32_t)number : -1;
}

bool tilewalk_read_value(const struct recording *r, const struct param *p, struct json v,
                         int32_t *slot, struct err *e)
{
    int given = 0;
    if (p->kind == PARAM_FACTORIZATION || p->kind == PARAM_PERMUTATION) {
        for (struct json_walk w = json_walk(v); json_next(&w); given++)
            if (given < p->width)
                slot[given] = read_slot(p, w.value);
    } else {
        slot[given++] = read_slot(p, v);
    }
    return (given == p->width && param_valid(p, slot)) ||
           err_at(e, r->path, v.line, "parameter '%s': not one of its values", p->name);
}
