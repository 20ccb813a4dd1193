// Seeded random numbers: xoshiro256** (Blackman, Vigna 2018), seeded through splitmix64.
//
// The same seed gives the same numbers on every machine. Nothing in tilewalk uses another source: a
// search is a function of its seed and of its observations. A generator is a value: a copy
// continues the same sequence, rng_split starts another one.
#ifndef TILEWALK_BASE_RNG_H
#define TILEWALK_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
    uint64_t state[4];
};

void rng_seed(struct rng *r, uint64_t seed);
struct rng rng_split(struct rng *r); // an independent stream; advances `r`
uint64_t rng_next(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t n); // uniform in [0, n), unbiased; n >= 1
double rng_real(struct rng *r);                // uniform in [0, 1), 53 bits

// Returns index i with probability weight[i] / sum. The weights are >= 0, their sum is finite and
// > 0; zero weights are never drawn.
size_t rng_weighted(struct rng *r, size_t n, const double *weight);

#endif
