#include "model/booster.h"

#include "base/mem.h"
#include "model/recall.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xgboost/c_api.h>

#define START 0.5 // of predictions without margins

struct booster {
    BoosterHandle handle;
    int width, rounds;
    size_t bytes;
};

// A fit under way.
struct fit {
    const struct booster_options *options;
    const struct booster_rows *rows;
    struct booster *booster;
    DMatrixHandle matrix;
    const float *prediction; // of the rows, by the trees so far; XGBoost's
    float *gradient, *curvature;
};

static bool failed(struct err *e)
{
    const char *text = XGBGetLastError();
    return err_set(e, "XGBoost: %.*s", (int)strcspn(text, "\n"), text);
}

static bool set(struct booster *b, const char *name, double value, struct err *e)
{
    char text[32];
    snprintf(text, sizeof text, "%.17g", value);
    return XGBoosterSetParam(b->handle, name, text) == 0 || failed(e);
}

static bool set_word(struct booster *b, const char *name, const char *value, struct err *e)
{
    return XGBoosterSetParam(b->handle, name, value) == 0 || failed(e);
}

// XGBoost adds its base_score to predictions of rows that have no margin: none where margins are
// the caller's.
static bool configure(struct fit *f, struct err *e)
{
    const struct booster_options *o = f->options;
    struct booster *b = f->booster;
    const char *objective = o->objective == BOOSTER_PAIRWISE ? "rank:pairwise" : "reg:squarederror";
    return set(b, "verbosity", 0, e) && set(b, "nthread", 1, e) &&
           set(b, "seed", (double)(o->seed & 0x7fffffff), e) &&
           set_word(b, "objective", objective, e) && set(b, "disable_default_eval_metric", 1, e) &&
           set(b, "base_score", f->rows->margin ? 0 : START, e) &&
           set_word(b, "tree_method", o->hist ? "hist" : "exact", e) &&
           set(b, "max_depth", o->depth, e) && set(b, "eta", o->eta, e) &&
           set(b, "gamma", o->gamma, e) && set(b, "min_child_weight", o->child_weight, e) &&
           set(b, "lambda", o->lambda, e);
}

static bool load(struct fit *f, struct err *e)
{
    const struct booster_rows *r = f->rows;
    bst_ulong rows = (bst_ulong)r->rows;
    bool labelled = f->options->objective != BOOSTER_PACKED; // packed has gradients of its own
    assert(r->first || r->programs == r->rows);
    assert(!r->first || !labelled);
    return (XGDMatrixCreateFromMat(r->x, rows, (bst_ulong)r->width, NAN, &f->matrix) == 0 &&
            (!labelled || XGDMatrixSetFloatInfo(f->matrix, "label", r->y, rows) == 0) &&
            (!r->margin || XGDMatrixSetFloatInfo(f->matrix, "base_margin", r->margin, rows) == 0) &&
            XGBoosterCreate(&f->matrix, 1, &f->booster->handle) == 0) ||
           failed(e);
}

// The sum of its rows' predictions.
static double program_sum(const struct booster_rows *r, const float *prediction, int program)
{
    int from = r->first ? r->first[program] : program;
    int to = r->first ? r->first[program + 1] : program + 1;
    double sum = 0;
    for (int i = from; i < to; i++)
        sum += prediction[i];
    return sum;
}

void booster_packed_gradient(const struct booster_rows *r, const float *prediction, float *gradient,
                             float *curvature)
{
    for (int p = 0; p < r->programs; p++) {
        int from = r->first ? r->first[p] : p, to = r->first ? r->first[p + 1] : p + 1;
        double error = program_sum(r, prediction, p) - r->y[p];
        for (int i = from; i < to; i++) {
            gradient[i] = (float)(error * r->y[p]);
            curvature[i] = r->y[p];
        }
    }
}

static double root_mean_square(const struct booster_rows *r, const float *prediction)
{
    double sum = 0;
    for (int p = 0; p < r->programs; p++) {
        double error = program_sum(r, prediction, p) - r->y[p];
        sum += error * error * (r->first ? r->first[p + 1] - r->first[p] : 1);
    }
    return sqrt(sum / r->rows);
}

// Of the trees so far; larger is better.
static double watched(const struct fit *f)
{
    const struct booster_rows *r = f->rows;
    if (f->options->recall_at == 0)
        return -root_mean_square(r, f->prediction);
    if (!r->first)
        return recall_average(r->programs, r->y, f->prediction, f->options->recall_at);
    float *sum = mem_alloc((size_t)r->programs * sizeof *sum);
    for (int p = 0; p < r->programs; p++)
        sum[p] = (float)program_sum(r, f->prediction, p);
    double recall = recall_average(r->programs, r->y, sum, f->options->recall_at);
    free(sum);
    return recall;
}

// XGBoost keeps the predictions of the matrix it learns from, so that this adds the newest tree.
static bool predict_rows(struct fit *f, struct err *e)
{
    const bst_ulong *shape;
    bst_ulong dims;
    const char *how = "{\"type\":1,\"training\":false,\"iteration_begin\":0,\"iteration_end\":0,"
                      "\"strict_shape\":false}";
    return XGBoosterPredictFromDMatrix(f->booster->handle, f->matrix, how, &shape, &dims,
                                       &f->prediction) == 0 ||
           failed(e);
}

static bool add_tree(struct fit *f, struct err *e)
{
    BoosterHandle handle = f->booster->handle;
    if (f->options->objective != BOOSTER_PACKED)
        return XGBoosterUpdateOneIter(handle, f->booster->rounds, f->matrix) == 0 || failed(e);
    if (!predict_rows(f, e))
        return false;
    booster_packed_gradient(f->rows, f->prediction, f->gradient, f->curvature);
    return XGBoosterBoostOneIter(handle, f->matrix, f->gradient, f->curvature,
                                 (bst_ulong)f->rows->rows) == 0 ||
           failed(e);
}

static bool add_trees(struct fit *f, const atomic_bool *stop, struct err *e)
{
    const struct booster_options *o = f->options;
    double best = -INFINITY;
    for (int best_at = 0; f->booster->rounds < o->most_rounds;) {
        if (stop && atomic_load(stop))
            return err_set(e, "stopped");
        if (!add_tree(f, e))
            return false;
        if (++f->booster->rounds % o->look_every)
            continue;
        if (!predict_rows(f, e))
            return false;
        double now = watched(f);
        if (now > best) {
            best = now;
            best_at = f->booster->rounds;
        }
        if (f->booster->rounds - best_at >= o->patience)
            break;
    }
    return true;
}

static bool weigh(struct booster *b, struct err *e)
{
    bst_ulong length;
    const char *text;
    if (XGBoosterSaveModelToBuffer(b->handle, "{\"format\":\"ubj\"}", &length, &text))
        return failed(e);
    b->bytes = length;
    return true;
}

struct booster *booster_fit(const struct booster_options *o, const struct booster_rows *r,
                            const atomic_bool *stop, struct err *e)
{
    struct booster *b = mem_zero(1, sizeof *b);
    struct fit f = {.options = o, .rows = r, .booster = b};
    b->width = r->width;
    if (o->objective == BOOSTER_PACKED) {
        f.gradient = mem_alloc((size_t)r->rows * sizeof *f.gradient);
        f.curvature = mem_alloc((size_t)r->rows * sizeof *f.curvature);
    }
    bool ok = load(&f, e) && configure(&f, e) && add_trees(&f, stop, e) && weigh(b, e);
    if (f.matrix)
        XGDMatrixFree(f.matrix);
    free(f.gradient);
    free(f.curvature);
    if (!ok) {
        booster_destroy(b);
        return NULL;
    }
    return b;
}

void booster_destroy(struct booster *b)
{
    if (!b)
        return;
    if (b->handle)
        XGBoosterFree(b->handle);
    free(b);
}

void booster_predict(const struct booster *b, const float *x, int rows, float *out)
{
    const bst_ulong *shape;
    bst_ulong dims;
    const float *result;
    char array[128];
    snprintf(array, sizeof array,
             "{\"data\":[%" PRIuPTR ",true],\"shape\":[%d,%d],\"typestr\":\"<f4\",\"version\":3}",
             (uintptr_t)x, rows, b->width);
    const char *how = "{\"type\":1,\"iteration_begin\":0,\"iteration_end\":0,"
                      "\"strict_shape\":false,\"missing\":NaN,\"cache_id\":0}";
    int failure = XGBoosterPredictFromDense(b->handle, array, how, NULL, &shape, &dims, &result);
    assert(failure == 0); // cannot be, for a row of the right width
    memcpy(out, result, (size_t)rows * sizeof *out);
}

int booster_rounds(const struct booster *b)
{
    return b->rounds;
}

size_t booster_bytes(const struct booster *b)
{
    return b->bytes;
}
