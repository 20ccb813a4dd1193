#include "model/features.h"

#include "model/feature_kind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

void feature_params_fill(const struct space *s, enum feature_params which, const struct config *c,
                         float *out)
{
    for (int i = 0; i < s->param_count; i++) {
        const struct param *p = &s->param[i];
        if (!is_meant(p, which))
            continue;
        const int32_t *v = c->slot + p->offset;
        if (is_one_of(p)) {
            memset(out, 0, (size_t)p->count * sizeof *out);
            out[v[0]] = 1;
        } else if (p->number) {
            out[0] = (float)p->number[v[0]];
        } else {
            for (int j = 0; j < p->width; j++)
                out[j] = (float)v[j];
        }
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

enum { SAMPLES = 20, RELATIONS = 4, OF_ACCESS = SAMPLES * 2 * RELATIONS };

static int options_of(const struct features *f)
{
    return feature_params_width(f->space, FEATURE_OPTIONS);
}

static void features_curve_measure(struct features *f)
{
    const struct nest *n = f->space->nest;
    int accesses = 0;
    for (int i = 0; i < n->statement_count; i++)
        if (n->statement[i].access_count > accesses)
            accesses = n->statement[i].access_count;
    f->most_rows = 1;
    f->width = accesses * OF_ACCESS + options_of(f);
}

// The statement that is executed most often, the later one of two; -1: there is none.
static int busiest(const struct nest_point *p)
{
    int best = -1;
    double most = 0;
    for (int i = 0; i < p->nest->statement_count; i++) {
        double executions = nest_all_executions(p, i);
        if (p->present[i] && executions >= most) {
            most = executions;
            best = i;
        }
    }
    return best;
}

// Logarithms of the products over 0, 1, 2, ... loops, ascending.
struct curves {
    int points;
    float count[NEST_MAX_PATH + 1], reuse[NEST_MAX_PATH + 1], top_down[NEST_MAX_PATH + 1];
};

static void take_logs(int points, float *x) // of numbers >= 1
{
    for (int i = 0; i < points; i++)
        x[i] -= 1;
    feature_log(points, x);
}

// For x = 0, 1, ...: y of the last point that is not right of it, and how far it is to the left.
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

static int features_curve_fill(struct features *f, const struct config *c, float *out)
{
    int options = options_of(f), statement = busiest(&f->point);
    memset(out, 0, (size_t)f->width * sizeof *out);
    feature_params_fill(f->space, FEATURE_OPTIONS, c, out + f->width - options);
    int accesses = statement < 0 ? 0 : f->space->nest->statement[statement].access_count;
    for (int i = 0; i < accesses; i++) {
        struct curves r;
        const int *path = nest_path(&f->point, statement);
        const double *stride = nest_strides(&f->point, statement, i);
        int loops = f->point.nest->statement[statement].loop_count;
        double count = 1, reuse = 1, top_down = 1;
        r.points = loops + 1;
        r.count[0] = r.reuse[0] = r.top_down[0] = 1;
        for (int j = 0; j < loops; j++) {
            int from_inside = loops - 1 - j;
            *(stride[from_inside] != 0 ? &count : &reuse) *= f->point.length[path[from_inside]];
            top_down *= f->point.length[path[j]];
            r.count[j + 1] = (float)count;
            r.reuse[j + 1] = (float)reuse;
            r.top_down[j + 1] = (float)top_down;
        }
        take_logs(r.points, r.count);
        take_logs(r.points, r.reuse);
        take_logs(r.points, r.top_down);
        out = sample(r.points, r.count, r.reuse, out);
        out = sample(r.points, r.reuse, r.count, out);
        out = sample(r.points, r.count, r.top_down, out);
        out = sample(r.points, r.top_down, r.count, out);
    }
    return 1;
}

static bool features_curve_are_like(const struct features *a, const struct features *b)
{
    return feature_params_are_like(a->space, b->space, FEATURE_OPTIONS);
}

const struct feature_methods features_curve = {
    .name = "curve",
    .needs_nest = true,
    .measure = features_curve_measure,
    .fill = features_curve_fill,
    .are_like = features_curve_are_like,
};

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
