#include "model/feature_kind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct feature_methods *const methods_of[] = {
    [FEATURES_KNOB] = &features_knob,   [FEATURES_ITERVAR] = &features_itervar,
    [FEATURES_CURVE] = &features_curve, [FEATURES_STATEMENTS] = &features_statements,
    [FEATURES_TREE] = &features_tree,
};

struct features *features_create(const struct space *space, enum feature_kind kind, struct err *e)
{
    const struct feature_methods *methods = methods_of[kind];
    if (methods->needs_nest && !space->nest) {
        err_set(e,
                "%s features need a loop nest, and space '%s' declares none (knob features do "
                "without)",
                methods->name, space->name);
        return NULL;
    }
    struct features *f = mem_zero(1, sizeof *f);
    *f = (struct features){.methods = methods, .space = space};
    if (methods->needs_nest)
        nest_point_init(&f->point, space->nest);
    methods->measure(f);
    return f;
}

void features_destroy(struct features *f)
{
    if (!f)
        return;
    if (f->methods->needs_nest)
        nest_point_finish(&f->point);
    free(f->column);
    free(f->scratch);
    free(f);
}

int features_width(const struct features *f)
{
    return f->width;
}

int features_most_rows(const struct features *f)
{
    return f->most_rows;
}

int features_fill(struct features *f, const struct config *c, float *out)
{
    if (f->methods->needs_nest)
        nest_evaluate(f->space->nest, f->space, c, &f->point);
    return f->methods->fill(f, c, out);
}

bool features_are_like(const struct features *a, const struct features *b)
{
    return a->methods == b->methods && a->width == b->width && a->methods->are_like(a, b);
}

// log2 of x >= 1: the exponent, and of a mantissa m within 2^-1/2 and 2^1/2 the first terms of
// 2 / ln 2 * artanh((m - 1) / (m + 1)). No call and no branch, so that a row goes through vectors.
static inline float log2_of(float x)
{
    const uint32_t least_mantissa = 0x3f3504f3; // 2^-1/2
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits -= least_mantissa;
    float exponent = (float)(int32_t)(bits >> 23);
    bits = (bits & 0x7fffff) + least_mantissa;
    float m;
    memcpy(&m, &bits, sizeof m);
    float s = (m - 1) / (m + 1), square = s * s;
    return exponent +
           s * (2.885390082f +
                square * (0.961796694f + square * (0.577078016f + square * 0.41219859f)));
}

void feature_log(int count, float *x)
{
    for (int i = 0; i < count; i++)
        x[i] = copysignf(log2_of(fabsf(x[i]) + 1), x[i]);
}
