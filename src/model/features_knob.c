#include "model/feature_kind.h"

#include <string.h>

static bool is_one_of(const struct param *p) // a value that is no number
{
    return p->kind == PARAM_CATEGORICAL || (p->kind == PARAM_CUSTOM && !p->number);
}

static int width_of(const struct param *p)
{
    return is_one_of(p) ? p->count : p->width;
}

static void measure(struct features *f)
{
    f->most_rows = 1;
    f->width = 0;
    for (int i = 0; i < f->space->param_count; i++)
        f->width += width_of(&f->space->param[i]);
}

static void put(const struct param *p, const int32_t *v, float *out)
{
    if (is_one_of(p)) {
        memset(out, 0, (size_t)p->count * sizeof *out);
        out[v[0]] = 1;
    } else if (p->number) {
        out[0] = (float)p->number[v[0]];
    } else {
        for (int i = 0; i < p->width; i++)
            out[i] = (float)v[i];
    }
}

static int fill(struct features *f, const struct config *c, float *out)
{
    for (int i = 0; i < f->space->param_count; i++) {
        const struct param *p = &f->space->param[i];
        put(p, c->slot + p->offset, out);
        out += width_of(p);
    }
    return 1;
}

static bool labels_are_like(const struct param *a, const struct param *b)
{
    if (!a->label || !b->label)
        return a->label == b->label;
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (strcmp(a->label[i], b->label[i]) != 0)
            return false;
    return true;
}

static bool are_like(const struct features *a, const struct features *b)
{
    if (a->space->param_count != b->space->param_count)
        return false;
    for (int i = 0; i < a->space->param_count; i++) {
        const struct param *p = &a->space->param[i], *q = &b->space->param[i];
        if (strcmp(p->name, q->name) != 0 || p->kind != q->kind || p->width != q->width ||
            !labels_are_like(p, q))
            return false;
    }
    return true;
}

const struct feature_methods features_knob = {
    .name = "knob",
    .measure = measure,
    .fill = fill,
    .are_like = are_like,
};
