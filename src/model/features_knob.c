#include "model/feature_kind.h"

#include <string.h>

static bool is_one_of(const struct param *p) // a value that is no number
{
    return p->kind == PARAM_CATEGORICAL || (p->kind == PARAM_CUSTOM && !p->number);
}

static bool is_meant(const struct param *p, enum feature_params which)
{
    return which == FEATURE_ALL_PARAMS ||
           (p->kind != PARAM_FACTORIZATION && p->kind != PARAM_PERMUTATION);
}

static int width_of(const struct param *p)
{
    return is_one_of(p) ? p->count : p->width;
}

int feature_params_width(const struct space *s, enum feature_params which)
{
    int width = 0;
    for (int i = 0; i < s->param_count; i++)
        width += is_meant(&s->param[i], which) ? width_of(&s->param[i]) : 0;
    return width;
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

void feature_params_fill(const struct space *s, enum feature_params which, const struct config *c,
                         float *out)
{
    for (int i = 0; i < s->param_count; i++) {
        const struct param *p = &s->param[i];
        if (!is_meant(p, which))
            continue;
        put(p, c->slot + p->offset, out);
        out += width_of(p);
    }
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

static bool is_like(const struct param *a, const struct param *b)
{
    return strcmp(a->name, b->name) == 0 && a->kind == b->kind && a->width == b->width &&
           labels_are_like(a, b);
}

static int next_meant(const struct space *s, enum feature_params which, int i)
{
    while (i < s->param_count && !is_meant(&s->param[i], which))
        i++;
    return i;
}

bool feature_params_are_like(const struct space *a, const struct space *b,
                             enum feature_params which)
{
    int i = next_meant(a, which, 0), j = next_meant(b, which, 0);
    while (i < a->param_count && j < b->param_count && is_like(&a->param[i], &b->param[j])) {
        i = next_meant(a, which, i + 1);
        j = next_meant(b, which, j + 1);
    }
    return i == a->param_count && j == b->param_count;
}

static void measure(struct features *f)
{
    f->most_rows = 1;
    f->width = feature_params_width(f->space, FEATURE_ALL_PARAMS);
}

static int fill(struct features *f, const struct config *c, float *out)
{
    feature_params_fill(f->space, FEATURE_ALL_PARAMS, c, out);
    return 1;
}

static bool are_like(const struct features *a, const struct features *b)
{
    return feature_params_are_like(a->space, b->space, FEATURE_ALL_PARAMS);
}

const struct feature_methods features_knob = {
    .name = "knob",
    .measure = measure,
    .fill = fill,
    .are_like = are_like,
};
