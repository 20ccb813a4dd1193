#include "model/feature_kind.h"

#include <string.h>

enum { SAMPLES = 20, RELATIONS = 4, OF_ACCESS = SAMPLES * 2 * RELATIONS };

static int options_of(const struct features *f)
{
    return feature_params_width(f->space, FEATURE_OPTIONS);
}

static void measure(struct features *f)
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

static void trace(const struct nest_point *p, int statement, int access, struct curves *out)
{
    const int *path = nest_path(p, statement);
    const double *stride = nest_strides(p, statement, access);
    int loops = p->nest->statement[statement].loop_count;
    double count = 1, reuse = 1, top_down = 1;
    out->points = loops + 1;
    out->count[0] = out->reuse[0] = out->top_down[0] = 1;
    for (int i = 0; i < loops; i++) {
        int from_inside = loops - 1 - i;
        *(stride[from_inside] != 0 ? &count : &reuse) *= p->length[path[from_inside]];
        top_down *= p->length[path[i]];
        out->count[i + 1] = (float)count;
        out->reuse[i + 1] = (float)reuse;
        out->top_down[i + 1] = (float)top_down;
    }
    take_logs(out->points, out->count);
    take_logs(out->points, out->reuse);
    take_logs(out->points, out->top_down);
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

static int fill(struct features *f, const struct config *c, float *out)
{
    int options = options_of(f), statement = busiest(&f->point);
    memset(out, 0, (size_t)f->width * sizeof *out);
    feature_params_fill(f->space, FEATURE_OPTIONS, c, out + f->width - options);
    int accesses = statement < 0 ? 0 : f->space->nest->statement[statement].access_count;
    for (int i = 0; i < accesses; i++) {
        struct curves r;
        trace(&f->point, statement, i, &r);
        out = sample(r.points, r.count, r.reuse, out);
        out = sample(r.points, r.reuse, r.count, out);
        out = sample(r.points, r.count, r.top_down, out);
        out = sample(r.points, r.top_down, r.count, out);
    }
    return 1;
}

static bool are_like(const struct features *a, const struct features *b)
{
    return feature_params_are_like(a->space, b->space, FEATURE_OPTIONS);
}

const struct feature_methods features_curve = {
    .name = "curve",
    .needs_nest = true,
    .measure = measure,
    .fill = fill,
    .are_like = are_like,
};
