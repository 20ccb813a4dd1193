#include "model/features.h"

#include "model/feature_kind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Computes log2 of x >= 1 from the exponent, and for a mantissa m within 2^-1/2 and 2^1/2 from the
// first terms of 2 / ln 2 * artanh((m - 1) / (m + 1)). There is no call and no branch, so that
// compilers can use vectors.
void feature_log(int count, float *x)
{
    const uint32_t least_mantissa = 0x3f3504f3; // 2^-1/2
    for (int i = 0; i < count; i++) {
        float m = fabsf(x[i]) + 1;
        uint32_t bits;
        memcpy(&bits, &m, sizeof bits);
        bits -= least_mantissa;
        float exponent = (float)(int32_t)(bits >> 23);
        bits = (bits & 0x7fffff) + least_mantissa;
        memcpy(&m, &bits, sizeof m);
        float s = (m - 1) / (m + 1), square = s * s;
        float log = exponent +
                    s * (2.885390082f +
                         square * (0.961796694f + square * (0.577078016f + square * 0.41219859f)));
        x[i] = copysignf(log, x[i]);
    }
}

// --- the columns of the parameters ---

// Returns the number of columns of a parameter; 0 if it is not among `which`.
static int param_width(const struct param *p, enum feature_params which)
{
    bool is_label = p->kind == PARAM_CATEGORICAL || (p->kind == PARAM_CUSTOM && !p->number);
    bool is_option = p->kind != PARAM_FACTORIZATION && p->kind != PARAM_PERMUTATION;
    if (which == FEATURE_NO_PARAMS || (which == FEATURE_OPTIONS && !is_option))
        return 0;
    return is_label ? p->count : p->width;
}

// --- KNOB and CURVE ---

static const struct feature_methods features_knob = {.name = "knob"};

enum { SAMPLES = 20, RELATIONS = 4, OF_ACCESS = SAMPLES * 2 * RELATIONS };

static void curve_measure(struct features *f)
{
    const struct nest *n = f->space->nest;
    int accesses = 0;
    for (int i = 0; i < n->statement_count; i++)
        if (n->statement[i].access_count > accesses)
            accesses = n->statement[i].access_count;
    f->own_width = accesses * OF_ACCESS;
}

static void take_logs(int points, float *x) // of numbers >= 1
{
    for (int i = 0; i < points; i++)
        x[i] -= 1;
    feature_log(points, x);
}

// Samples a curve at x = 0, 1, ...: y of the last point that is not right of it, and its distance.
static float *sample(int points, const float *x, const float *y, float *out)
{
    const float rounding = 1e-5f;
    int last = 0;
    for (int i = 0; i < SAMPLES; i++) {
        while (last + 1 < points && x[last + 1] <= (float)i + rounding)
            last++;
        *out++ = y[last];
        *out++ = (float)i - x[last];
    }
    return out;
}

static int curve_fill(struct features *f, float *out)
{
    const struct nest_point *p = &f->point;
    int busiest = -1; // the statement that is executed most often, the later one of two
    double most = 0;
    for (int i = 0; i < p->nest->statement_count; i++) {
        double executions = nest_all_executions(p, i);
        if (p->present[i] && executions >= most) {
            most = executions;
            busiest = i;
        }
    }
    int accesses = busiest < 0 ? 0 : p->nest->statement[busiest].access_count;
    for (int i = 0; i < accesses; i++) {
        // Logarithms of the products over 0, 1, 2, ... loops, ascending.
        float count[NEST_MAX_PATH + 1], reuse[NEST_MAX_PATH + 1], top_down[NEST_MAX_PATH + 1];
        const int *path = nest_path(p, busiest);
        const double *stride = nest_strides(p, busiest, i);
        int loops = p->nest->statement[busiest].loop_count;
        double counted = 1, reused = 1, down = 1;
        count[0] = reuse[0] = top_down[0] = 1;
        for (int j = 0; j < loops; j++) {
            int from_inside = loops - 1 - j;
            *(stride[from_inside] != 0 ? &counted : &reused) *= p->length[path[from_inside]];
            down *= p->length[path[j]];
            count[j + 1] = (float)counted;
            reuse[j + 1] = (float)reused;
            top_down[j + 1] = (float)down;
        }
        take_logs(loops + 1, count);
        take_logs(loops + 1, reuse);
        take_logs(loops + 1, top_down);
        out = sample(loops + 1, count, reuse, out);
        out = sample(loops + 1, reuse, count, out);
        out = sample(loops + 1, count, top_down, out);
        out = sample(loops + 1, top_down, count, out);
    }
    return 1;
}

static const struct feature_methods features_curve = {
    .name = "curve",
    .needs_nest = true,
    .params = FEATURE_OPTIONS,
    .measure = curve_measure,
    .fill = curve_fill,
};

// --- all kinds ---

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
    *f = (struct features){.methods = methods, .space = space, .most_rows = 1};
    if (methods->needs_nest)
        nest_point_init(&f->point, space->nest);
    if (methods->measure)
        methods->measure(f);
    f->width = f->own_width;
    for (int i = 0; i < space->param_count; i++)
        f->width += param_width(&space->param[i], methods->params);
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
    const struct feature_methods *m = f->methods;
    if (m->needs_nest)
        nest_evaluate(f->space->nest, f->space, c, &f->point);
    if (m->params != FEATURE_NO_PARAMS)
        memset(out, 0, (size_t)f->width * sizeof *out);
    float *at = out + f->own_width;
    for (int i = 0; i < f->space->param_count; i++) {
        const struct param *p = &f->space->param[i];
        const int32_t *v = c->slot + p->offset;
        int width = param_width(p, m->params);
        bool is_label = p->kind == PARAM_CATEGORICAL || (p->kind == PARAM_CUSTOM && !p->number);
        if (width > 0 && is_label)
            at[v[0]] = 1;
        for (int j = 0; j < width && !is_label; j++)
            at[j] = (float)(p->number ? p->number[v[0]] : v[j]);
        at += width;
    }
    return m->fill ? m->fill(f, out) : 1;
}

static bool param_is_like(const struct param *a, const struct param *b)
{
    bool alike = strcmp(a->name, b->name) == 0 && a->kind == b->kind && a->width == b->width &&
                 !a->label == !b->label && (!a->label || a->count == b->count);
    for (int i = 0; alike && a->label && i < a->count; i++)
        alike = strcmp(a->label[i], b->label[i]) == 0;
    return alike;
}

bool features_are_like(const struct features *a, const struct features *b)
{
    const struct feature_methods *m = a->methods;
    const struct space *s = a->space, *t = b->space;
    if (m != b->methods || a->width != b->width || (m->are_like && !m->are_like(a, b)))
        return false;
    for (int i = 0, j = 0;; i++, j++) {
        while (i < s->param_count && param_width(&s->param[i], m->params) == 0)
            i++;
        while (j < t->param_count && param_width(&t->param[j], m->params) == 0)
            j++;
        if (i == s->param_count || j == t->param_count)
            return i == s->param_count && j == t->param_count;
        if (!param_is_like(&s->param[i], &t->param[j]))
            return false;
    }
}
