#include "model/trees.h"

#include "base/mem.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xgboost/c_api.h>

struct place {
    float value;
    int index;
};

static int recall_best_first(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

// Sorts the values, the best first. The list is the caller's.
static struct place *sorted(int count, const float *value)
{
    struct place *list = mem_alloc((size_t)count * sizeof *list);
    for (int i = 0; i < count; i++)
        list[i] = (struct place){value[i], i};
    qsort(list, (size_t)count, sizeof *list, recall_best_first);
    return list;
}

// Returns the true ranks in the order of the predictions, the best first. The list is the caller's.
static int *ranks_as_predicted(int count, const float *label, const float *predicted)
{
    struct place *by_label = sorted(count, label), *by_prediction = sorted(count, predicted);
    int *rank = mem_alloc((size_t)count * sizeof *rank),
        *out = mem_alloc((size_t)count * sizeof *out);
    for (int i = 0; i < count; i++)
        rank[by_label[i].index] = i;
    for (int i = 0; i < count; i++)
        out[i] = rank[by_prediction[i].index];
    free(by_label);
    free(by_prediction);
    free(rank);
    return out;
}

double recall_at(int count, const float *label, const float *predicted, int k)
{
    int *rank = ranks_as_predicted(count, label, predicted), found = 0;
    for (int i = 0; i < k; i++)
        found += rank[i] < k;
    free(rank);
    return (double)found / k;
}

double recall_average(int count, const float *label, const float *predicted, int n)
{
    int *rank = ranks_as_predicted(count, label, predicted);
    double sum = 0;
    n = n < count ? n : count;
    for (int i = 0; i < n; i++) {
        int found = 0;
        for (int j = 0; j < i; j++)
            found += rank[j] <= i;
        sum += (double)found / (i + 1);
    }
    free(rank);
    return n ? sum / n : 0;
}

// Returns the ranks, equals having the mean of theirs. The list is the caller's.
static double *mean_ranks(int count, const float *value)
{
    struct place *list = sorted(count, value);
    double *rank = mem_alloc((size_t)count * sizeof *rank);
    for (int from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && list[to].value == list[from].value;)
            to++;
        for (int i = from; i < to; i++)
            rank[list[i].index] = (from + to - 1) / 2.0;
    }
    free(list);
    return rank;
}

double rank_correlation(int count, const float *a, const float *b)
{
    double *x = mean_ranks(count, a), *y = mean_ranks(count, b), middle = (count - 1) / 2.0;
    double xx = 0, yy = 0, xy = 0;
    for (int i = 0; i < count; i++) {
        double dx = x[i] - middle, dy = y[i] - middle;
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    free(x);
    free(y);
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

// --- XGBoost ---

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
    bool labelled = o->objective != BOOSTER_PACKED; // packed has its own gradients
    assert(r->first || r->programs == r->rows);
    assert(!r->first || !labelled);
    if (XGDMatrixCreateFromMat(r->x, rows, (bst_ulong)r->width, NAN, &f->matrix) ||
        (labelled && XGDMatrixSetFloatInfo(f->matrix, "label", r->y, rows)) ||
        (r->margin && XGDMatrixSetFloatInfo(f->matrix, "base_margin", r->margin, rows)) ||
        XGBoosterCreate(&f->matrix, 1, &f->booster->handle))
        return failed(e);
    BoosterHandle h = f->booster->handle;
    const char *objective = o->objective == BOOSTER_PAIRWISE ? "rank:pairwise" : "reg:squarederror";
    return set_up(h, o->seed, objective, o->hist ? "hist" : "exact", e) &&
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

static bool add_trees(struct fit *f, const atomic_bool *stop, struct err *e)
{
    const struct booster_options *o = f->options;
    double best = -INFINITY;
    for (int best_at = 0; f->booster->rounds < o->most_rounds;) {
        if (stop && atomic_load(stop))
            return err_set(e, "stopped");
        bool added;
        if (o->objective == BOOSTER_PACKED) {
            if (!predict(f->booster->handle, f->matrix, false, &f->prediction, e))
                return false;
            booster_packed_gradient(f->rows, f->prediction, f->gradient, f->curvature);
            added = XGBoosterBoostOneIter(f->booster->handle, f->matrix, f->gradient, f->curvature,
                                          (bst_ulong)f->rows->rows) == 0;
        } else {
            added = XGBoosterUpdateOneIter(f->booster->handle, f->booster->rounds, f->matrix) == 0;
        }
        if (!added)
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
    if (o->objective == BOOSTER_PACKED) {
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
    char array[128];
    snprintf(array, sizeof array,
             "{\"data\":[%" PRIuPTR ",true],\"shape\":[%d,%d],\"typestr\":\"<f4\",\"version\":3}",
             (uintptr_t)x, rows, b->width);
    const char *how = "{\"type\":1,\"iteration_begin\":0,\"iteration_end\":0,"
                      "\"strict_shape\":false,\"missing\":NaN,\"cache_id\":0}";
    int failure = XGBoosterPredictFromDense(b->handle, array, how, NULL, &shape, &dims, &result);
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
