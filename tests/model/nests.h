// Small loop nests for tests. Their loops are also run, one iteration after the other: the oracle
// for everything that is computed from a nest.
//
//     struct config c;
//     struct space *s = space_with_product(&c);    // owned: space_and_nest_destroy
//     struct run r = run_innermost(&point, statement, access, 3);
#ifndef TILEWALK_TESTS_NESTS_H
#define TILEWALK_TESTS_NESTS_H

#include "space/nest.h"

// C[8,16] = A[8,4] B[4,16] in f32, a workgroup of 2 x 4 invocations computing 4 x 8 elements of C,
// each of them 2 x 2 at `c`; B through shared memory, two elements of depth at a time:
//
//     block_y 2, block_x 2, thread_y 2, thread_x 4
//         tile 2
//             round 2                 fill:    B_tile[round, t] = B[2 tile + round, 8 block_x + t]
//                                              where t = 4 thread_y + thread_x
//             k 2, i 2, j 2           product: sum[i, j] += A[row, 2 tile + k] * B_tile[k, column]
//         i 2, j 2                    store:   C[row, column] = sum[i, j]
//
// The space has one parameter more, "unroll", a number that is the nest's unroll limit: 0, 1 or, at
// `c`, 4.
enum { BLOCK_Y, BLOCK_X, THREAD_Y, THREAD_X, TILE, ROUND, K, I, J, PRODUCT_LOOPS };
enum { FILL, PRODUCT, STORE, PRODUCT_STATEMENTS };

struct space *space_with_product(struct config *c);

// i 4, j 3 { one: X[i, j] = Y[j] }, i 4 { two: Z[i] = X[i, 0] }: the loop over i is shared.
struct space *space_with_chain(struct config *c);

// A nest of up to 6 loops and 3 statements. All indices are dense: loops that move an access meet
// every element of a rectangle once.
struct space *space_with_random_nest(struct rng *r, struct config *c);

void space_and_nest_destroy(struct space *s);

// Returns the element that an access touches when the loops of its path are at `at`.
long address_of(const struct nest_point *p, int statement, int access, const int *at);

// Runs the innermost `loops` loops of a path, with those outside at 0.
struct run {
    long iterations;
    long different;   // addresses
    long longest;     // of them side by side
    long to_the_same; // iterations from an address to the same one again, at least; 0: never
};

struct run run_innermost(const struct nest_point *p, int statement, int access, int loops);
// Returns the number of different addresses in its first `iterations` iterations.
long different_in(const struct nest_point *p, int statement, int access, long iterations);

#endif
