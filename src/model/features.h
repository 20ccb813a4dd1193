// Configurations as rows of numbers: the inputs of a cost model.
//
//     struct features *f = features_create(space, FEATURES_KNOB, e);
//     float *row = mem_zero(features_width(f) * features_most_rows(f), sizeof *row);
//     int rows = features_fill(f, &c, row);
//     features_destroy(f);
//
// KNOB needs the space alone. It has, by parameter, in order of declaration, without a logarithm:
//
//     factorization       all its parts, the outermost too
//     permutation         the item at each position, by its index
//     discrete, custom    the number
//     categorical, custom without numbers: for each value 1 if it is this one, else 0
//
// The other kinds describe the loop nest of the program (space/nest.h). Their numbers are
// logarithms, log2(x + 1) with the sign of x, so that 0 and 1 do not change. A statement that is
// not present has 0. The columns are the same for all configurations of a space. They are those of
// AutoTVM (NeurIPS 2018) and Ansor (OSDI 2020) in TVM's code, with the differences stated here.
//
// ITERVAR has for each loop, as declared: its length, its level (1: outermost), the product of the
// lengths down to it and up to it, its kind (eleven columns), and the additions, multiplications
// and divisions directly in it. For each access inside the loop it has the stride, the count and
// the reuse (the product of the lengths of the loops from here inwards that move the access, and
// that do not). For a parallel loop it also has both divided by their values at the first less
// parallel loop inside. The options follow: the KNOB columns of the parameters that are neither
// factorizations nor permutations. The constant "mod" is left out, and a loop keeps its columns
// when a permutation moves it.
//
// CURVE has for each access of the statement that is executed most often the count and the reuse
// over the loops from the innermost, and the product of the lengths from the outermost, all as
// logarithms. It samples count against reuse, reuse against count, count against product and
// product against count at x = 0 ... 19: the y of the last point that is not right of x, and the
// distance to it. The options follow. The columns do not depend on the arrangement of the loops, so
// that a model of one operator can be used for another.
//
// STATEMENTS has a row of Ansor's 164 numbers for each statement: operations, loops by annotation,
// launch, five accesses (feature_kind.h), intensity, allocation, outer loops. The score of a
// program is the sum over its rows. Intensity (operations by bytes) is sampled along the logarithm
// of the operations.
//
// TREE, for tree_gru.h, has a row for each loop of the loop tree of the present statements, parents
// first. A loop of one iteration is left out unless a statement is directly in it. The first row is
// the program, with the options. The columns are the row of the loop around it (-1: none), those of
// ITERVAR for the loop, and for each kind of memory the sum of ITERVAR's columns over the accesses
// below.
#ifndef TILEWALK_MODEL_FEATURES_H
#define TILEWALK_MODEL_FEATURES_H

#include "space/space.h"

enum feature_kind {
    FEATURES_KNOB,
    FEATURES_ITERVAR,
    FEATURES_CURVE,
    FEATURES_STATEMENTS,
    FEATURES_TREE
};

struct features;

// `space` outlives it. NULL and an error for all kinds but KNOB when the space has no loop nest.
struct features *features_create(const struct space *space, enum feature_kind kind, struct err *e);
void features_destroy(struct features *f); // NULL is fine

int features_width(const struct features *f); // columns of a row
// Returns the most rows of a configuration: 1, except for STATEMENTS and TREE.
int features_most_rows(const struct features *f);

// Fills in the rows of `c`, one after the other; returns how many. `out` has room for width *
// most_rows numbers. One thread at a time, because the object has scratch memory.
int features_fill(struct features *f, const struct config *c, float *out);

// Returns true if the rows of both have the same meaning, column by column, so that a model of one
// can be used for the other.
bool features_are_like(const struct features *a, const struct features *b);

#endif
