// A random forest (Breiman 2001), grown by XGBoost: a mean and how sure it is, as SMAC's surrogate
// (Hutter, Hoos, Leyton-Brown 2011).
//
//     struct forest *f = forest_fit(&options, x, y, rows, width, e);
//     forest_predict(f, x, rows, mean, variance);
//     forest_destroy(f);
//
// Each tree sees a part of the rows and, at each node, a part of the columns. A leaf predicts the
// mean and the variance of all rows of the fit that fall into it. Over the trees, by the law of
// total variance: the mean of their means; the mean of their variances and the variance of their
// means. The same rows in the same order give the same forest: XGBoost has one thread.
#ifndef TILEWALK_MODEL_FOREST_H
#define TILEWALK_MODEL_FOREST_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct forest_options {
    int trees, depth, leaf; // `leaf`: how many of the tree's rows a leaf has at least
    double rows, columns;   // share of all that a tree sees, that a node sees; in (0, 1]
    uint64_t seed;
};

struct forest;

// `x` is rows * width, all finite; rows >= 1. NULL: XGBoost failed, `e` says how.
struct forest *forest_fit(const struct forest_options *o, const float *x, const float *y, int rows,
                          int width, struct err *e);
void forest_destroy(struct forest *f); // NULL is fine

// `mean` and `variance` are [rows]. Fast for many rows at once.
void forest_predict(const struct forest *f, const float *x, int rows, float *mean, float *variance);
size_t forest_bytes(const struct forest *f); // about

#endif
