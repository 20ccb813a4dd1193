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
// The others describe the program, by its loop nest (space/nest.h). Their numbers are logarithms,
// log2(x + 1) with the sign of x, so that 0 and 1 stay what they are. A statement that is not there
// leaves 0 behind. Columns are the same for all configurations of a space, and those of AutoTVM
// (NeurIPS 2018) and Ansor (OSDI 2020) as their code in TVM has them, but for what is said here.
//
// ITERVAR: of each loop, as declared: length, level (1: outermost), product of the lengths down to
// it and up to it, its kind (eleven columns), additions, multiplications and divisions that stand
// in it directly; of each access that it surrounds: stride, count and reuse (the product of the
// lengths of the loops from here inwards that move the access, and that do not), and, where the
// loop is parallel, both by what they are at the first loop inside that is less so. Then the
// options: the KNOB columns of the parameters that are neither factorizations nor permutations.
// Without the constant "mod"; and a loop keeps its columns wherever a permutation moves it.
//
// CURVE: of each access of the statement that is executed most: count and reuse over the loops from
// the innermost, product of the lengths from the outermost, all as logarithms, and of count against
// reuse, reuse against count, count against product, product against count, at x = 0 ... 19 the y
// of the last point that is not to the right, and how far that is. Then the options. Nothing here
// depends on how the loops are arranged: what was learned from one operator fits another.
//
// STATEMENTS: a row for each statement, of Ansor's 164 numbers: operations, loops by annotation,
// launch, five accesses (access.h), intensity, allocation, outer loops. The score of a program is
// the sum over its rows. Intensity (operations by bytes) is taken along the logarithm of
// operations.
//
// TREE, for tree_gru.h: a row for each loop of the loop tree, as the statements stand in it,
// parents first; loops of one iteration only where a statement stands in them directly. The first
// row is the program, which has the options. Columns: the row of the loop around it (-1: none),
// ITERVAR's of the loop, and for each kind of memory the sum of ITERVAR's over the accesses below.
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
// Rows of one configuration at most: 1, except for STATEMENTS and TREE.
int features_most_rows(const struct features *f);

// The rows of `c`, one after the other; returns how many. `out` has room for width * most_rows
// numbers. The object has scratch memory: one thread at a time.
int features_fill(struct features *f, const struct config *c, float *out);

// Whether rows of both mean the same, column by column: what was learned from one says something
// about the other.
bool features_are_like(const struct features *a, const struct features *b);

#endif
