// A forest that tells two kinds of points apart: random trees that split by the logarithmic loss
// (Breiman 2001), and what each of them alone would say.
//
//     struct classifier_rows rows = {x, good, weight, count, width};
//     struct classifier *f = classifier_fit(&rows, 100, &rng);
//     classifier_probability(f, x);
//     classifier_walk(f, tree, x, column, &count);
//     classifier_destroy(f);
//
// Each tree is grown on as many rows as there are, drawn with replacement, until its leaves are
// pure or cannot be split; each split is the best of a random part of the columns (the root of
// their number). A leaf says how much of the weight that fell into it is good.
#ifndef TILEWALK_MODEL_CLASSIFIER_H
#define TILEWALK_MODEL_CLASSIFIER_H

#include "base/rng.h"

#include <stdbool.h>
#include <stdint.h>

struct classifier;

struct classifier_rows { // at least one
    const int32_t *x;    // [count][width]
    const bool *good;
    const double *weight; // above 0
    int count, width;
};

// The caller's. The rows are not needed any more.
struct classifier *classifier_fit(const struct classifier_rows *rows, int trees, struct rng *r);
void classifier_destroy(struct classifier *f); // NULL is fine

double classifier_probability(const struct classifier *f, const int32_t *x); // mean of the trees
// What one tree says; `leaf` (may be NULL): the number of the leaf.
double classifier_vote(const struct classifier *f, int tree, const int32_t *x, int *leaf);
// The columns that a tree looks at on the way of `x` down, each once, in that order: `column` has
// room for [width]. Returns how many.
int classifier_path(const struct classifier *f, int tree, const int32_t *x, int *column);

#endif
