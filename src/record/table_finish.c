// From rows to a recording: topology, then entries.
#include "record/table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool all_numbers(const struct column *c)
{
    for (int i = 0; i < c->count; i++)
        if (c->value[i].type != VALUE_NUMBER)
            return false;
    return true;
}

static bool make_discrete(const struct column *c, struct arena *arena, struct param *out,
                          struct err *e)
{
    double *number = mem_alloc((size_t)c->count * sizeof *number);
    for (int i = 0; i < c->count; i++)
        number[i] = c->value[i].number;
    bool ok = param_discrete(out, arena, c->name, c->count, number, e);
    free(number);
    return ok;
}

static const char *label_of(const struct value *v, struct arena *arena)
{
    if (v->type == VALUE_TEXT)
        return v->text;
    if (v->type == VALUE_FLAG)
        return v->number ? "true" : "false";
    struct str text = {0};
    str_add_real(&text, v->number);
    const char *label = arena_strdup(arena, str_text(&text));
    str_finish(&text);
    return label;
}

static bool make_categorical(const struct column *c, struct arena *arena, struct param *out,
                             struct err *e)
{
    const char **label = mem_alloc((size_t)c->count * sizeof *label);
    for (int i = 0; i < c->count; i++)
        label[i] = label_of(&c->value[i], arena);
    bool ok = param_categorical(out, arena, c->name, c->count, label, e);
    free(label);
    return ok;
}

bool table_make_params(struct table *t, struct err *e)
{
    struct space *s = t->recording->space;
    for (int i = 0; i < t->columns; i++) {
        const struct column *c = &t->column[i];
        struct param p;
        bool ok = all_numbers(c) ? make_discrete(c, &s->arena, &p, e)
                                 : make_categorical(c, &s->arena, &p, e);
        if (!ok || !space_add(s, &p, e))
            return err_prefix(e, "%s", t->recording->path);
    }
    return true;
}

// Where value `k` of a column is in its parameter.
static int32_t position(const struct param *p, const struct column *c, int k)
{
    if (p->kind != PARAM_DISCRETE)
        return k;
    int low = 0, high = p->count - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (p->number[middle] < c->value[k].number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int32_t *positions(const struct param *p, const struct column *c)
{
    int32_t *at = mem_alloc((size_t)c->count * sizeof *at);
    for (int k = 0; k < c->count; k++)
        at[k] = position(p, c, k);
    return at;
}

static bool repeated(const struct table *t, int row, const struct config *c, struct err *e)
{
    int first = config_set_find(&t->recording->configs, c);
    struct str text = {0};
    config_add_json(t->recording->space, c, &text);
    err_at(e, t->recording->path, t->row[row].line, "%s is here a second time (see line %d)",
           str_text(&text), t->row[first].line);
    str_finish(&text);
    return false;
}

// Every parameter of a table is one slot wide.
static bool add_rows(struct table *t, int32_t *const *at, struct err *e)
{
    const double *runs = t->run;
    for (int i = 0; i < t->rows; i++) {
        struct config c = {0};
        bool was_new;
        for (int k = 0; k < t->columns; k++)
            c.slot[k] = at[k][t->cells[(size_t)i * (size_t)t->columns + (size_t)k]];
        t->row[i].entry.runs = runs;
        if (runs)
            runs += t->row[i].entry.run_count;
        recording_add(t->recording, &c, &t->row[i].entry, &was_new);
        if (!was_new)
            return repeated(t, i, &c, e);
    }
    return true;
}

bool table_finish(struct table *t, struct err *e)
{
    struct recording *r = t->recording;
    int32_t *at[SPACE_MAX_PARAMS];
    if (t->columns == 0)
        return err_at(e, r->path, 0, "there are no recorded configurations");
    if (!table_make_params(t, e) || !recording_seal_space(r, e))
        return false;
    for (int i = 0; i < t->columns; i++)
        at[i] = positions(&r->space->param[i], &t->column[i]);
    bool ok = add_rows(t, at, e);
    for (int i = 0; i < t->columns; i++)
        free(at[i]);
    return ok && recording_finish(r, e);
}
