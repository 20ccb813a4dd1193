// A random forest that classifies points as good or bad, with the logarithmic loss (Breiman 2001).
// The votes of its single trees can be used, too.
//
//     struct classifier_rows rows = {x, good, weight, count, width};
//     struct classifier *f = classifier_fit(&rows, 100, &rng);
//     classifier_probability(f, x);
//     int count = classifier_path(f, tree, x, column);
//     classifier_destroy(f);
//
// Each tree is grown on as many rows as there are, drawn with replacement, until its leaves are
// pure or cannot be split. Each split is the best one of a random part of the columns (the square
// root of their number). The probability of a leaf is the good share of its weight.
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

// Fits a forest, the caller's. The rows are not needed afterwards.
struct classifier *classifier_fit(const struct classifier_rows *rows, int trees, struct rng *r);
void classifier_destroy(struct classifier *f); // NULL is fine

double classifier_probability(const struct classifier *f, const int32_t *x); // mean of the trees
// Returns the probability by one tree; gives the number of the leaf (`leaf` may be NULL).
double classifier_vote(const struct classifier *f, int tree, const int32_t *x, int *leaf);
// Gives the columns on the path of `x` through a tree, each once, in that order: [width] at most.
// Returns how many.
int classifier_path(const struct classifier *f, int tree, const int32_t *x, int *column);

#endif
