// An operation that a space file defines itself: its buffers, how they are filled, what is right.
//
//     struct custom_operation *c = custom_create("attention", flop, NULL);
//     custom_add_tensor(c, &tensor, &filling, e);    the inputs in order, then the output
//     custom_add_step(c, &operation, names, n, e);   what is right: built-in operations in order
//     custom_is_computed(c, e);                      by the steps
//     operation_init(&o, &c->kind);                  from here on an operation like any other
//     custom_destroy(c);                             when no operation uses it any more
//
// Without steps a kernel computes what is right, which is not known here: it is a job of its own
// (script_reference). A step reads buffers that are written and writes one that is not: the output,
// or a new one by a name of its own, which lies in memory as the step's operation says and is gone
// afterwards. A buffer of blocks (space/block.h) is one of bytes, which a step makes numbers of.
#ifndef TILEWALK_SPACE_CUSTOM_OPERATION_H
#define TILEWALK_SPACE_CUSTOM_OPERATION_H

#include "base/mem.h"
#include "base/rng.h"
#include "space/operation.h"

// Weights in blocks, as quantised models have them: a row of numbers is so many blocks, each with
// scales of its own and small integers.
//
//     const struct block_format *f = block_format_named("q4_0");
//     block_quantize(f, weights, block);     the nearest that the format can say
//     block_draw(f, &rng, block);            any that is exact: scales are powers of two
//     block_get(f, block, weights);          f->weights numbers
//
// q4_0, q8_0, q4_K and q6_K are those of ggml. One's own are plain: a scale d, perhaps a minimum m,
// then the integers q, and a weight is d (q - zero) + m. All is little-endian and without gaps.

#define BLOCK_MAX_WEIGHTS 1024
#define BLOCK_NAMES       "q4_0, q8_0, q4_K, q6_K"

enum block_kind { BLOCK_PLAIN, BLOCK_Q4_K, BLOCK_Q6_K, BLOCK_KINDS };

struct block_format {
    enum block_kind kind;
    int weights; // of a block; 0: the buffer has none
    // Of plain ones:
    enum element scale; // f16 or f32, and the minimum's
    bool has_min;
    int bits;       // of an integer: 4 or 8
    bool is_signed; // two's complement
    int zero;
    bool pairs; // of 4 bits: neighbours share a byte, else weights i and i + weights / 2
};

#define BLOCK_NUMBERS 8 // members of it

const struct block_format *block_format_named(const char *name); // NULL: there is none
bool block_format_valid(const struct block_format *f);
int block_bytes(const struct block_format *f);

void block_get(const struct block_format *f, const void *block, double *weights);
void block_quantize(const struct block_format *f, const double *weights, void *block);
// Sums of some thousand of them times whole numbers below 8 are exact in 32 bits.
void block_draw(const struct block_format *f, struct rng *r, void *block);

#define CUSTOM_MAX_STEPS   8
#define CUSTOM_MAX_BUFFERS (OPERATION_MAX_TENSORS + CUSTOM_MAX_STEPS)

struct custom_step {
    struct operation operation; // kind NULL: makes numbers (f32) of the first buffer
    int count;
    int buffer[OPERATION_MAX_TENSORS]; // of its tensors, in their order; the last is written
};

// What is in an input: numbers from `low` to `high`, real ones or whole ones, which those of
// integer elements are in any case. Of a buffer of blocks the second set of inputs is made by
// quantising such numbers; in the first one all weights are exact.
struct custom_filling {
    double low, high;
    bool whole;
    struct block_format block; // no weights: it has no blocks
};

struct custom_operation {
    struct operation_kind kind; // the first member; its lists belong to whoever sets them
    double flop;
    struct workload work; // what it is rated by
    int tensor_count;     // the inputs and the output
    int buffer_count;     // and what the steps keep in between
    struct tensor buffer[CUSTOM_MAX_BUFFERS];
    struct custom_filling filling[OPERATION_MAX_TENSORS];
    // Right: |got - expected| <= absolute + relative * |expected|, for each number; and, where nmse
    // is above 0, the sum of all (got - expected)^2 <= nmse * the sum of all expected^2.
    double absolute, relative, nmse;
    bool exact;     // no error at all with the first set of inputs
    int step_count; // 0: a kernel computes what is right, or a definition
    struct custom_step step[CUSTOM_MAX_STEPS];
    const char *definition; // or this computes what is right: its text (define/definition.h)
    struct arena arena;     // names
};

// `work` (NULL: its FLOP) is what it is rated by.
struct custom_operation *custom_create(const char *name, double flop, const struct workload *work);
void custom_destroy(struct custom_operation *c);

// Of an operation that was defined; NULL for the built-in ones.
const struct custom_operation *custom_of(const struct operation *o);

// A tensor without gaps; copies the name; the strides need not be set. One of blocks has as many
// numbers as `t` says, in whole blocks for each row.
bool custom_add_tensor(struct custom_operation *c, const struct tensor *t,
                       const struct custom_filling *f, struct err *e);
// As it was added: the numbers that its blocks are.
struct tensor custom_tensor(const struct custom_operation *c, int index);
// `names` are the buffers of a complete operation's tensors, in their order.
bool custom_add_step(struct custom_operation *c, const struct operation *o,
                     const char *const *names, int count, struct err *e);
// A step that makes numbers (f32) of the blocks, or the halves, of `from`.
bool custom_add_dequantize(struct custom_operation *c, const char *from, const char *to,
                           struct err *e);
bool custom_is_computed(const struct custom_operation *c,
                        struct err *e); // the steps give the output

#endif
