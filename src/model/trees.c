#include "model/trees.h"

#include "base/mem.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xgboost/c_api.h>
#include <xgboost/version_config.h>

// --- XGBoost ---

bool trees_available(struct err *e)
{
    (void)e;
    return true;
}

// The library that is loaded may be newer than the one whose headers were compiled.
const char *trees_library(char out[TREES_LIBRARY], bool *known)
{
    int major, minor, patch;
    XGBoostVersion(&major, &minor, &patch);
    snprintf(out, TREES_LIBRARY, "XGBoost %d.%d.%d", major, minor, patch);
    *known = major == 1 ? minor >= 6 : major == 2 || major == 3;
    return out;
}

static bool failed(struct err *e)
{
    const char *text = XGBGetLastError();
    return err_set(e, "XGBoost: %.*s", (int)strcspn(text, "\n"), text);
}

static bool set_word(BoosterHandle handle, const char *name, const char *value, struct err *e)
{
    return XGBoosterSetParam(handle, name, value) == 0 || failed(e);
}

static bool set(BoosterHandle handle, const char *name, double value, struct err *e)
{
    char text[32];
    snprintf(text, sizeof text, "%.17g", value);
    return set_word(handle, name, text, e);
}

// Predicts the rows of a matrix: their values, or the leaves that they end in. `out` is XGBoost's,
// valid until the next call. XGBoost keeps the values of the matrix that it learns from, so that a
// call adds the newest tree only.
static bool predict(BoosterHandle handle, DMatrixHandle matrix, bool leaves, const float **out,
                    struct err *e)
{
    const bst_ulong *shape;
    bst_ulong dims;
    const char *how = leaves ? "{\"type\":6,\"training\":false,\"iteration_begin\":0,"
                               "\"iteration_end\":0,\"strict_shape\":false}"
                             : "{\"type\":1,\"training\":false,\"iteration_begin\":0,"
                               "\"iteration_end\":0,\"strict_shape\":false}";
    return XGBoosterPredictFromDMatrix(handle, matrix, how, &shape, &dims, out) == 0 || failed(e);
}

static bool set_up(BoosterHandle handle, uint64_t seed, const char *objective, const char *method,
                   struct err *e)
{
    return set(handle, "verbosity", 0, e) && set(handle, "nthread", 1, e) &&
           set(handle, "seed", (double)(seed & 0x7fffffff), e) &&
           set_word(handle, "objective", objective, e) &&
           set_word(handle, "tree_method", method, e);
}

// --- boosted trees ---

#define START 0.5 // prediction without margins

enum { ARRAY_TEXT = 128 };

// Describes rows * width numbers as an array of NumPy's interface, in JSON.
static const char *describe_array(const float *x, int rows, int width, char out[ARRAY_TEXT])
{
    snprintf(out, ARRAY_TEXT,
             "{\"data\":[%" PRIuPTR ",true],\"shape\":[%d,%d],\"typestr\":\"<f4\",\"version\":3}",
             (uintptr_t)x, rows, width);
    return out;
}

struct booster {
    BoosterHandle handle;
    int width, rounds;
    size_t bytes;
};

struct fit { // a fit under way
    const struct booster_options *options;
    const struct booster_rows *rows;
    struct booster *booster;
    DMatrixHandle matrix;
    const float *prediction; // of the rows, by the trees so far; owned by XGBoost
    float *gradient, *curvature;
};

// Loads the rows and creates the booster. XGBoost adds its base_score to predictions of rows that
// have no margin.
static bool load(struct fit *f, struct err *e)
{
    const struct booster_rows *r = f->rows;
    const struct booster_options *o = f->options;
    bst_ulong rows = (bst_ulong)r->rows;
    bool labelled = o->objective == BOOSTER_SQUARED; // the others have gradients of their own
    assert(r->first || r->programs == r->rows);
    assert(!r->first || o->objective == BOOSTER_PACKED);
    if (XGDMatrixCreateFromMat(r->x, rows, (bst_ulong)r->width, NAN, &f->matrix) ||
        (labelled && XGDMatrixSetFloatInfo(f->matrix, "label", r->y, rows)) ||
        (r->margin && XGDMatrixSetFloatInfo(f->matrix, "base_margin", r->margin, rows)) ||
        XGBoosterCreate(&f->matrix, 1, &f->booster->handle))
        return failed(e);
    BoosterHandle h = f->booster->handle;
    return set_up(h, o->seed, "reg:squarederror", o->hist ? "hist" : "exact", e) &&
           set(h, "disable_default_eval_metric", 1, e) &&
           set(h, "base_score", r->margin ? 0 : START, e) && set(h, "max_depth", o->depth, e) &&
           set(h, "eta", o->eta, e) && set(h, "gamma", o->gamma, e) &&
           set(h, "min_child_weight", o->child_weight, e) && set(h, "lambda", o->lambda, e);
}

// Returns the sum of the predictions of a program's rows.
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

// A row among those that pairs are drawn from.
struct ranked {
    float label, prediction;
    int row;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->label != y->label)
        return x->label > y->label ? -1 : 1;
    if (x->prediction != y->prediction)
        return x->prediction > y->prediction ? -1 : 1;
    return x->row - y->row;
}

// Draws 0 .. count-1. The generator is C++'s minstd_rand, whose state is 1 .. LAST.
static int draw_other(uint64_t *state, int count)
{
    enum { LAST = 2147483646 };
    uint64_t share = (LAST - 1) / (uint64_t)count, number;
    do {
        *state = *state * 48271 % (LAST + 1ULL);
        number = *state - 1;
    } while (number >= share * (uint64_t)count);
    return (int)(number / share);
}

static void add_pair(const struct ranked *better, const struct ranked *worse, float *gradient,
                     float *curvature)
{
    float share = 1 / (1 + expf(worse->prediction - better->prediction) + 1e-16F);
    float slope = share - 1, bend = 2 * fmaxf(share * (1 - share), 1e-16F);
    gradient[better->row] += slope;
    curvature[better->row] += bend;
    gradient[worse->row] -= slope;
    curvature[worse->row] += bend;
}

void booster_pairwise_gradient(const struct booster_rows *r, const float *prediction, int round,
                               float *gradient, float *curvature)
{
    struct ranked *sorted = mem_alloc((size_t)r->rows * sizeof *sorted);
    uint64_t state = ((uint64_t)round + 1) * 1111;
    for (int i = 0; i < r->rows; i++) {
        sorted[i] = (struct ranked){r->y[i], prediction[i], i};
        gradient[i] = curvature[i] = 0;
    }
    qsort(sorted, (size_t)r->rows, sizeof *sorted, compare_ranked);
    for (int from = 0, to; from < r->rows; from = to) { // rows of one label
        for (to = from + 1; to < r->rows && sorted[to].label == sorted[from].label;)
            to++;
        int others = r->rows - (to - from);
        for (int i = from; i < to && others; i++) {
            int other = draw_other(&state, others);
            if (other < from)
                add_pair(&sorted[other], &sorted[i], gradient, curvature);
            else
                add_pair(&sorted[i], &sorted[other + to - from], gradient, curvature);
        }
    }
    free(sorted);
}

// Returns the watched quantity of the trees so far; larger is better.
static double watch(const struct fit *f)
{
    const struct booster_rows *r = f->rows;
    int k = f->options->recall_at;
    float *sum = mem_alloc((size_t)r->programs * sizeof *sum);
    double squares = 0, recall;
    for (int p = 0; p < r->programs; p++) {
        double all = program_sum(r, f->prediction, p), error = all - r->y[p];
        squares += error * error * (r->first ? r->first[p + 1] - r->first[p] : 1);
        sum[p] = (float)all;
    }
    recall = k ? recall_average(r->programs, r->y, sum, k) : 0;
    free(sum);
    return k ? recall : -sqrt(squares / r->rows);
}

// Adds a tree by a gradient of our own. XGBoosterBoostOneIter is deprecated since 2.1, when the
// other function was added.
static bool add_own_tree(struct fit *f, struct err *e)
{
    int rows = f->rows->rows;
    if (!predict(f->booster->handle, f->matrix, false, &f->prediction, e))
        return false;
    if (f->options->objective == BOOSTER_PACKED)
        booster_packed_gradient(f->rows, f->prediction, f->gradient, f->curvature);
    else
        booster_pairwise_gradient(f->rows, f->prediction, f->booster->rounds, f->gradient,
                                  f->curvature);
#if XGBOOST_VER_MAJOR > 2 || (XGBOOST_VER_MAJOR == 2 && XGBOOST_VER_MINOR >= 1)
    char gradient[ARRAY_TEXT], curvature[ARRAY_TEXT];
    int failure = XGBoosterTrainOneIter(f->booster->handle, f->matrix, f->booster->rounds,
                                        describe_array(f->gradient, rows, 1, gradient),
                                        describe_array(f->curvature, rows, 1, curvature));
#else
    int failure = XGBoosterBoostOneIter(f->booster->handle, f->matrix, f->gradient, f->curvature,
                                        (bst_ulong)rows);
#endif
    return failure == 0 || failed(e);
}

static bool add_trees(struct fit *f, const atomic_bool *stop, struct err *e)
{
    const struct booster_options *o = f->options;
    double best = -INFINITY;
    for (int best_at = 0; f->booster->rounds < o->most_rounds;) {
        if (stop && atomic_load(stop))
            return err_set(e, "stopped");
        bool own = o->objective != BOOSTER_SQUARED;
        if (own && !add_own_tree(f, e))
            return false;
        if (!own && XGBoosterUpdateOneIter(f->booster->handle, f->booster->rounds, f->matrix))
            return failed(e);
        if (++f->booster->rounds % o->look_every)
            continue;
        if (!predict(f->booster->handle, f->matrix, false, &f->prediction, e))
            return false;
        double now = watch(f);
        if (now > best) {
            best = now;
            best_at = f->booster->rounds;
        }
        if (f->booster->rounds - best_at >= o->patience)
            break;
    }
    return true;
}

struct booster *booster_fit(const struct booster_options *o, const struct booster_rows *r,
                            const atomic_bool *stop, struct err *e)
{
    struct booster *b = mem_zero(1, sizeof *b);
    struct fit f = {.options = o, .rows = r, .booster = b};
    b->width = r->width;
    if (o->objective != BOOSTER_SQUARED) {
        f.gradient = mem_alloc((size_t)r->rows * sizeof *f.gradient);
        f.curvature = mem_alloc((size_t)r->rows * sizeof *f.curvature);
    }
    bst_ulong length = 0;
    const char *text;
    bool ok = load(&f, e) && add_trees(&f, stop, e) &&
              (XGBoosterSaveModelToBuffer(b->handle, "{\"format\":\"ubj\"}", &length, &text) == 0 ||
               failed(e));
    b->bytes = length;
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
    char array[ARRAY_TEXT];
    const char *how = "{\"type\":1,\"iteration_begin\":0,\"iteration_end\":0,"
                      "\"strict_shape\":false,\"missing\":NaN,\"cache_id\":0}";
    int failure = XGBoosterPredictFromDense(b->handle, describe_array(x, rows, b->width, array),
                                            how, NULL, &shape, &dims, &result);
    assert(failure == 0); // rows have the right width
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

// --- random forests ---

struct leaf {
    double count, mean, variance;
};

struct forest {
    BoosterHandle handle;
    int trees, width;
    int *first; // [trees + 1] index of the first leaf of each tree; leaves are numbered as nodes
    struct leaf *leaf;
};

struct forest *forest_fit(const struct forest_options *o, const float *x, const float *y, int rows,
                          int width, struct err *e)
{
    struct forest *f = mem_zero(1, sizeof *f);
    DMatrixHandle matrix = NULL;
    f->trees = o->trees;
    f->width = width;
    bool fitted =
        (XGDMatrixCreateFromMat(x, (bst_ulong)rows, (bst_ulong)width, NAN, &matrix) == 0 &&
         XGDMatrixSetFloatInfo(matrix, "label", y, (bst_ulong)rows) == 0 &&
         XGBoosterCreate(&matrix, 1, &f->handle) == 0) ||
        failed(e);
    // One round of many trees, whose leaves are means: nothing is shrunk.
    BoosterHandle h = f->handle;
    fitted = fitted && set_up(h, o->seed, "reg:squarederror", "hist", e) &&
             set(h, "num_parallel_tree", o->trees, e) && set(h, "max_depth", o->depth, e) &&
             set(h, "min_child_weight", o->leaf, e) && set(h, "subsample", o->rows, e) &&
             set(h, "colsample_bynode", o->columns, e) && set(h, "eta", 1, e) &&
             set(h, "lambda", 0, e) && set(h, "gamma", 0, e) && set(h, "base_score", 0, e) &&
             (XGBoosterUpdateOneIter(h, 0, matrix) == 0 || failed(e));
    const float *node = NULL; // that each row ends in, row by row, for each tree
    fitted = fitted && predict(h, matrix, true, &node, e);
    if (fitted) {
        int trees = f->trees;
        f->first = mem_zero((size_t)trees + 1, sizeof *f->first);
        for (int t = 0; t < trees; t++) {
            int nodes = 0;
            for (int i = 0; i < rows; i++)
                nodes = (int)fmax(nodes, (double)node[i * trees + t] + 1);
            f->first[t + 1] = f->first[t] + nodes;
        }
        f->leaf = mem_zero((size_t)f->first[trees], sizeof *f->leaf);
        for (int i = 0; i < rows; i++)
            for (int t = 0; t < trees; t++) { // Welford; `variance` is a sum of squares so far
                struct leaf *l = &f->leaf[f->first[t] + (int)node[i * trees + t]];
                double off = (double)y[i] - l->mean;
                l->mean += off / ++l->count;
                l->variance += off * ((double)y[i] - l->mean);
            }
        for (int i = 0; i < f->first[trees]; i++)
            if (f->leaf[i].count > 0)
                f->leaf[i].variance /= f->leaf[i].count;
    }
    if (matrix)
        XGDMatrixFree(matrix);
    if (fitted)
        return f;
    forest_destroy(f);
    return NULL;
}

void forest_destroy(struct forest *f)
{
    if (!f)
        return;
    if (f->handle)
        XGBoosterFree(f->handle);
    free(f->first);
    free(f->leaf);
    free(f);
}

// No leaf is empty: it has a part of the rows that the variance was computed from.
void forest_predict(const struct forest *f, const float *x, int rows, float *mean, float *variance)
{
    DMatrixHandle matrix;
    int code = XGDMatrixCreateFromMat(x, (bst_ulong)rows, (bst_ulong)f->width, NAN, &matrix);
    const float *node = NULL;
    struct err ignored;
    bool ok = predict(f->handle, matrix, true, &node, &ignored);
    assert(code == 0 && ok);
    for (int i = 0; i < rows; i++) {
        double sum = 0, squares = 0, within = 0;
        for (int t = 0; t < f->trees; t++) {
            const struct leaf *l = &f->leaf[f->first[t] + (int)node[i * f->trees + t]];
            sum += l->mean;
            squares += l->mean * l->mean;
            within += l->variance;
        }
        double average = sum / f->trees;
        mean[i] = (float)average;
        variance[i] = (float)(within / f->trees + fmax(0, squares / f->trees - average * average));
    }
    XGDMatrixFree(matrix);
}

size_t forest_bytes(const struct forest *f)
{
    return (size_t)f->first[f->trees] * (sizeof *f->leaf + 40); // 40: a node of XGBoost
}
