// Configurations as rows of numbers, for a cost model to learn from.
//
//     struct features *f = features_create(space, FEATURES_KNOB, e);
//     float *row = mem_zero(features_width(f) * features_most_rows(f), sizeof *row);
//     int rows = features_fill(f, &c, row);
//     features_destroy(f);
//
// KNOB needs nothing but the space. By parameter, in order of declaration, without a logarithm:
//
//     factorization       all its parts, the outermost too
//     permutation         the item at each position, by its index
//     discrete, custom    the number
//     categorical, custom without numbers: for each value 1 if it is this one, else 0
//
// A permutation of n items is n numbers, not n^2: trees split them as they are.
#ifndef TILEWALK_MODEL_FEATURES_H
#define TILEWALK_MODEL_FEATURES_H

#include "space/space.h"

enum feature_kind { FEATURES_KNOB, FEATURES_ITERVAR, FEATURES_CURVE, FEATURES_STATEMENTS };

struct features;

// `space` outlives it. NULL and an error for all kinds but KNOB when the space has no loop nest.
struct features *features_create(const struct space *space, enum feature_kind kind, struct err *e);
void features_destroy(struct features *f); // NULL is fine

int features_width(const struct features *f);     // columns of a row
int features_most_rows(const struct features *f); // of one configuration; 1 but for STATEMENTS

// The rows of `c`, one after the other; returns how many. `out` has room for width * most_rows
// numbers. The object has scratch memory: one thread at a time.
int features_fill(struct features *f, const struct config *c, float *out);

// Whether rows of both mean the same, column by column: what was learned from one says something
// about the other.
bool features_are_like(const struct features *a, const struct features *b);

#endif
