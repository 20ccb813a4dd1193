#ifndef TILEWALK_MODEL_TREES_H
#define TILEWALK_MODEL_TREES_H

#include "base/err.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

// Ensembles of trees, by XGBoost (Chen, Guestrin 2016).
//
// A build without XGBoost has none of them: what fits returns the error of trees_available.
//
// Gradient-boosted trees: the cost model of AutoTVM and of Ansor.
//
//     struct booster *b = booster_fit(&options, &rows, &stop, e);
//     booster_predict(b, x, 128, score);
//     booster_destroy(b);
//
// The model predicts one number for each program; larger is better. A program has one row, or with
// the packed objective several. The objectives:
//
//     squared   the square of the error
//     pairwise  the order alone (log(1 + exp(f_worse - f_better)), RankNet's, over random pairs,
//               all rows in one group); the predictions have no unit. It is what rank:pairwise was
//               in XGBoost 1, pair by pair: version 2 draws pairs in another way, which ranks worse
//     packed    sum over programs of y (S - y)^2, S being the sum of the predictions of its rows: a
//               failed program, y = 0, has no weight (Ansor, section 5.2)
//
// Trees are added until the watched quantity has not improved for `patience` rounds. Predictions
// use all trees, also those of the last `patience` rounds, as in both systems. The same rows in the
// same order give the same model: XGBoost has one thread.

// Returns whether this build has XGBoost; false and `e` without it.
bool trees_available(struct err *e);

#define TREES_LIBRARY 32
// Returns `out` with the name and version of the library, or NULL in a build without it. `known`
// says whether that version was tried with this program.
const char *trees_library(char out[TREES_LIBRARY], bool *known);

enum booster_objective { BOOSTER_SQUARED, BOOSTER_PAIRWISE, BOOSTER_PACKED };

struct booster_options {
    enum booster_objective objective;
    int depth;
    double eta, gamma, child_weight, lambda;
    // The watched quantity, computed every `look_every` rounds on the rows themselves: the average
    // recall (recall_average) at so many, or, for 0, the root mean squared error of the programs
    // (packed: of the rows, each with the error of its program).
    int recall_at;
    int most_rounds, patience, look_every;
    uint64_t seed;
    bool hist; // splits are searched among 256 bins of a column, not between all of its values
};

struct booster_rows {
    const float *x;   // rows * width, all finite
    const float *y;   // [programs]; pairwise and packed: >= 0
    const int *first; // [programs + 1] the rows of program p are first[p] .. first[p+1] - 1; NULL:
                      // one each
    const float *margin; // prediction that each row starts from; NULL: 0.5
    int rows, width, programs;
};

struct booster;

// NULL: XGBoost failed, or `stop` (may be NULL) became true; `e` says which.
struct booster *booster_fit(const struct booster_options *o, const struct booster_rows *r,
                            const atomic_bool *stop, struct err *e);
void booster_destroy(struct booster *b); // NULL is fine

// `x` is rows * width. Margins are not part of the prediction: the caller adds them.
void booster_predict(const struct booster *b, const float *x, int rows, float *out);
int booster_rounds(const struct booster *b);   // trees
size_t booster_bytes(const struct booster *b); // size of the serialised model

// Computes the gradient of the packed loss and its second derivative (halved, like its square) for
// each row, from the predictions of the rows.
void booster_packed_gradient(const struct booster_rows *r, const float *prediction, float *gradient,
                             float *curvature);

// Computes the same of the pairwise loss, with the pairs of a round: each row and one of another
// label, drawn uniformly.
void booster_pairwise_gradient(const struct booster_rows *r, const float *prediction, int round,
                               float *gradient, float *curvature);

// A random forest (Breiman 2001): predicts a mean and its uncertainty, as SMAC's surrogate (Hutter,
// Hoos, Leyton-Brown 2011).
//
//     struct forest *f = forest_fit(&options, x, y, rows, width, e);
//     forest_predict(f, x, rows, mean, variance);
//     forest_destroy(f);
//
// Each tree sees a part of the rows and, at each node, a part of the columns. A leaf predicts the
// mean and the variance of all rows of the fit that fall into it. By the law of total variance the
// forest predicts the mean of the trees' means, and the mean of their variances plus the variance
// of their means. The same rows in the same order give the same forest.

struct forest_options {
    int trees, depth, leaf; // `leaf`: the smallest number of the tree's rows in a leaf
    double rows, columns;   // shares that a tree sees of the rows, a node of the columns; in (0, 1]
    uint64_t seed;
};

struct forest;

// `x` is rows * width, all finite; rows >= 1. Returns NULL and an error if XGBoost failed.
struct forest *forest_fit(const struct forest_options *o, const float *x, const float *y, int rows,
                          int width, struct err *e);
void forest_destroy(struct forest *f); // NULL is fine

// `mean` and `variance` are [rows]. Fast for many rows at once.
void forest_predict(const struct forest *f, const float *x, int rows, float *mean, float *variance);
size_t forest_bytes(const struct forest *f); // approximate size

// Measures of how well predictions rank the results. Larger is better, for predictions and results;
// of equals the first is better.

// Returns the share of the `k` best labels that is among the `k` best predictions; 1 <= k <= count.
double recall_at(int count, const float *label, const float *predicted, int k);

// Returns AutoTVM's measure of a cost model (tvm 0.6, xgboost_cost_model.py): the mean over
// i = 0 .. n-1 of the number of j < i whose true rank (0: best) is at most i, divided by i + 1,
// where j counts by prediction, the best first. n is limited to `count`.
double recall_average(int count, const float *label, const float *predicted, int n);

// Returns Spearman's rank correlation; equals have the mean of their ranks. NAN if either side is
// all equal, or for fewer than two.
double rank_correlation(int count, const float *a, const float *b);

#endif
