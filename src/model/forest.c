#include "model/forest.h"

#include "base/mem.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xgboost/c_api.h>

struct leaf {
    double count, mean, variance;
};

struct forest {
    BoosterHandle handle;
    int trees, width;
    int *first; // [trees + 1] where the leaves of a tree begin, by the number of their node
    struct leaf *leaf;
};

static bool failed(struct err *e)
{
    const char *text = XGBGetLastError();
    return err_set(e, "XGBoost: %.*s", (int)strcspn(text, "\n"), text);
}

static bool set(struct forest *f, const char *name, double value, struct err *e)
{
    char text[32];
    snprintf(text, sizeof text, "%.17g", value);
    return XGBoosterSetParam(f->handle, name, text) == 0 || failed(e);
}

// One round of many trees, and leaves that are means: nothing is shrunk.
static bool grow(struct forest *f, const struct forest_options *o, DMatrixHandle matrix,
                 struct err *e)
{
    if (XGBoosterCreate(&matrix, 1, &f->handle) ||
        XGBoosterSetParam(f->handle, "objective", "reg:squarederror") ||
        XGBoosterSetParam(f->handle, "tree_method", "hist"))
        return failed(e);
    return set(f, "verbosity", 0, e) && set(f, "nthread", 1, e) &&
           set(f, "seed", (double)(o->seed & 0x7fffffff), e) &&
           set(f, "num_parallel_tree", o->trees, e) && set(f, "max_depth", o->depth, e) &&
           set(f, "min_child_weight", o->leaf, e) && set(f, "subsample", o->rows, e) &&
           set(f, "colsample_bynode", o->columns, e) && set(f, "eta", 1, e) &&
           set(f, "lambda", 0, e) && set(f, "gamma", 0, e) && set(f, "base_score", 0, e) &&
           (XGBoosterUpdateOneIter(f->handle, 0, matrix) == 0 || failed(e));
}

// The node that each row ends in, row by row, for each tree; valid until the next call.
static const float *find_leaves(const struct forest *f, DMatrixHandle matrix)
{
    const bst_ulong *shape;
    const float *node = NULL;
    bst_ulong dims;
    const char *how = "{\"type\":6,\"training\":false,\"iteration_begin\":0,\"iteration_end\":0,"
                      "\"strict_shape\":false}";
    int code = XGBoosterPredictFromDMatrix(f->handle, matrix, how, &shape, &dims, &node);
    assert(code == 0);
    return node;
}

struct forest *forest_fit(const struct forest_options *o, const float *x, const float *y, int rows,
                          int width, struct err *e)
{
    struct forest *f = mem_zero(1, sizeof *f);
    DMatrixHandle matrix = NULL;
    f->trees = o->trees;
    f->width = width;
    bool fitted =
        (XGDMatrixCreateFromMat(x, (bst_ulong)rows, (bst_ulong)width, NAN, &matrix) == 0 &&
         XGDMatrixSetFloatInfo(matrix, "label", y, (bst_ulong)rows) == 0) ||
        failed(e);
    fitted = fitted && grow(f, o, matrix, e);
    if (fitted) {
        const float *node = find_leaves(f, matrix);
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
            for (int t = 0; t < trees; t++) { // Welford's; `variance` is the sum of squares so far
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

// A leaf is never empty: a part of the rows that it was measured on made it.
void forest_predict(const struct forest *f, const float *x, int rows, float *mean, float *variance)
{
    DMatrixHandle matrix;
    int code = XGDMatrixCreateFromMat(x, (bst_ulong)rows, (bst_ulong)f->width, NAN, &matrix);
    assert(code == 0);
    const float *node = find_leaves(f, matrix);
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
    return (size_t)f->first[f->trees] * (sizeof *f->leaf + 40); // a node of XGBoost's
}
