#include "search/encoding.h"

#include <string.h>

static size_t width_of(const struct param *p)
{
    switch (p->kind) {
    case PARAM_FACTORIZATION:
    case PARAM_DISCRETE: return (size_t)p->width;
    case PARAM_PERMUTATION:
    case PARAM_CATEGORICAL:
    case PARAM_CUSTOM: return (size_t)p->width * (size_t)p->count;
    }
    return 0;
}

size_t encoding_width(const struct space *s)
{
    size_t width = 0;
    for (int i = 0; i < s->param_count; i++)
        width += width_of(&s->param[i]);
    return width;
}

static double encode_number(const struct param *p, int32_t v)
{
    if (p->kind == PARAM_FACTORIZATION)
        return (double)v / p->product - 0.5;
    return p->count > 1 ? (double)v / (p->count - 1) - 0.5 : 0;
}

static void encode(const struct param *p, const int32_t *v, double *x)
{
    if (p->kind == PARAM_FACTORIZATION || p->kind == PARAM_DISCRETE) {
        for (int i = 0; i < p->width; i++)
            x[i] = encode_number(p, v[i]);
        return;
    }
    memset(x, 0, width_of(p) * sizeof *x);
    for (int i = 0; i < p->width; i++)
        x[i * p->count + v[i]] = 1;
}

void encoding_fill(const struct space *s, const struct config *c, double *x)
{
    for (int i = 0; i < s->param_count; i++) {
        encode(&s->param[i], c->slot + s->param[i].offset, x);
        x += width_of(&s->param[i]);
    }
}
