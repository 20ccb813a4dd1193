// Weights in blocks, as in quantised models: a row of numbers is a number of blocks, each with its
// own scales and small integers.
//
//     const struct block_format *f = block_format_named("q4_0");
//     block_quantize(f, weights, block);     the nearest weights that the format has
//     block_draw(f, &rng, block);            random exact weights: scales are powers of two
//     block_get(f, block, weights);          f->weights numbers
//
// q4_0, q8_0, q4_K and q6_K are those of ggml. A user's own format is plain: a scale d, perhaps a
// minimum m, then the integers q, and a weight is d (q - zero) + m. All is little-endian and
// without gaps.
#ifndef TILEWALK_SPACE_BLOCK_H
#define TILEWALK_SPACE_BLOCK_H

#include "base/rng.h"
#include "space/tensor.h"

#define BLOCK_MAX_WEIGHTS 1024
#define BLOCK_NAMES       "q4_0, q8_0, q4_K, q6_K"

enum block_kind { BLOCK_PLAIN, BLOCK_Q4_K, BLOCK_Q6_K, BLOCK_KINDS };

struct block_format {
    enum block_kind kind;
    int weights; // in a block; 0: the buffer has no blocks
    // Plain formats:
    enum element scale; // of scale and minimum: f16 or f32
    bool has_min;
    int bits;       // of an integer: 4 or 8
    bool is_signed; // two's complement
    int zero;
    bool pairs; // with 4 bits: neighbours share a byte, else weights i and i + weights / 2
};

#define BLOCK_NUMBERS 8 // members of struct block_format

const struct block_format *block_format_named(const char *name); // NULL: there is none
bool block_format_valid(const struct block_format *f);
int block_bytes(const struct block_format *f);

void block_get(const struct block_format *f, const void *block, double *weights);
void block_quantize(const struct block_format *f, const double *weights, void *block);
// Sums of some thousand of these weights times whole numbers below 8 are exact in 32 bits.
void block_draw(const struct block_format *f, struct rng *r, void *block);

#endif
