// Common spaces for tests and benches, built in C, and the statistics they need.
//
//     struct space *s = space_create("mine");
//     add_factorization(s, "tile", 1024, 3);
//     sealed(s);
//
// Everything here asserts instead of returning errors. Spaces are sealed and the caller's
// (space_destroy).
#ifndef TILEWALK_TESTS_SPACES_H
#define TILEWALK_TESTS_SPACES_H

#include "space/space.h"

struct space *space_mm(int n, int m, int k); // the paper's: tile_k in 3, tile_n and tile_m in 4
struct space *space_mixed(void);             // one of each kind: 3 * 6 * 4 * 3 * 5 = 1080 points
struct space *space_of_one(void); // one of each kind, of one value: a single point, no moves at all
struct space *space_conditional(
    void);                      // a chooser of 3 values: 5 * (4 * 2 + 6 * 2 + 2) = 110 points
struct space *space_24(void);   // 24 points: categorical 4 and permutation 3
struct space *space_huge(void); // more than 2^64 points

// Spaces by hand: create, add, seal.
void add_factorization(struct space *s, const char *name, int64_t product, int parts);
void add_permutation(struct space *s, const char *name, int count);
void add_discrete(struct space *s, const char *name, int count);    // 0, 1, 4, 9, ...
void add_categorical(struct space *s, const char *name, int count); // "0", "1", ...
void add_ring(struct space *s, const char *name, int count); // custom: a cycle, i next to i +- 1
struct space *sealed(struct space *s);

// Pearson's chi-square of counts against probabilities (those that are 0 must have no count), and
// the value that it exceeds with probability 1e-4 (Wilson and Hilferty).
double chi_square(int cells, const int *count, const double *probability);
double chi_square_limit(int degrees_of_freedom);

#endif
