// Gradient-boosted trees, by XGBoost (Chen, Guestrin 2016): the cost model of AutoTVM and of Ansor.
//
//     struct booster *b = booster_fit(&options, &rows, &stop, e);
//     booster_predict(b, x, 128, score);
//     booster_destroy(b);
//
// The model learns one number of each program, where larger is better. A program is one row, or
// with the packed objective several. The objectives:
//
//     squared   the square of the error
//     pairwise  the order alone (XGBoost's rank:pairwise, log(1 + exp(f_worse - f_better)) over
//               random pairs, all rows in one group); what is predicted has no unit
//     packed    sum over programs of y (S - y)^2, S the sum of the predictions of its rows: a
//               program that failed, y = 0, has no weight (Ansor, section 5.2)
//
// Trees are added until the watched quantity has not improved for `patience` rounds. Predictions
// use all trees, also those of the last `patience` rounds, as both systems do. The same rows in the
// same order give the same model: XGBoost has one thread.
#ifndef TILEWALK_MODEL_BOOSTER_H
#define TILEWALK_MODEL_BOOSTER_H

#include "base/err.h"

#include <stdatomic.h>
#include <stdint.h>

enum booster_objective { BOOSTER_SQUARED, BOOSTER_PAIRWISE, BOOSTER_PACKED };

struct booster_options {
    enum booster_objective objective;
    int depth;
    double eta, gamma, child_weight, lambda;
    // Watched every `look_every` rounds, on the rows themselves: the average recall (recall.h) at
    // so many, or, for 0, the root of the mean squared error of the programs (packed: of the rows,
    // each with its program's error).
    int recall_at;
    int most_rounds, patience, look_every;
    uint64_t seed;
    bool hist; // look for splits among 256 bins of a column, not between all of its values
};

struct booster_rows {
    const float *x;   // rows * width, all finite
    const float *y;   // of each program; pairwise and packed: >= 0
    const int *first; // [programs + 1] the rows of program p are first[p] .. first[p+1] - 1; NULL:
                      // one each
    const float *margin; // where the prediction of each row begins; NULL: at 0.5
    int rows, width, programs;
};

struct booster;

// NULL: XGBoost failed, or `stop` (may be NULL) became true; `e` says which.
struct booster *booster_fit(const struct booster_options *o, const struct booster_rows *r,
                            const atomic_bool *stop, struct err *e);
void booster_destroy(struct booster *b); // NULL is fine

// `x` is rows * width. Margins are not part of the prediction: a caller that fitted with margins
// adds those of these rows.
void booster_predict(const struct booster *b, const float *x, int rows, float *out);
int booster_rounds(const struct booster *b);   // trees
size_t booster_bytes(const struct booster *b); // of the model, written out

// The packed loss's gradient and its second derivative (halved, as its square is) for each row,
// where `prediction` is that of each row.
void booster_packed_gradient(const struct booster_rows *r, const float *prediction, float *gradient,
                             float *curvature);

#endif
