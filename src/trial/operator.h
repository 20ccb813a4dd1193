// Operators as computations: their buffers, inputs, and the right result on the CPU.
//
// Inputs come in two sets. `exact`: random numbers of few bits, so that every partial sum is
// representable and a right kernel has error 0 whatever its order of summation (a few units in the
// last place where an epilogue rounds). `random`: uniform in [-1, 1), compared with a tolerance
// that grows with the number of additions. The reference computes in double, by OpenBLAS where
// there are products to be summed. The gaps between the elements of a strided buffer are poison
// (bytes 0xff): those of an input must not matter, those of the output must stay.
#ifndef TILEWALK_TRIAL_OPERATOR_H
#define TILEWALK_TRIAL_OPERATOR_H

#include "base/err.h"
#include "kernel/job.h"
#include "space/limits.h"
#include "space/operation.h"

#include <stddef.h>
#include <stdint.h>

#define OPERATOR_MAX_BUFFERS 16

struct operator_buffer {
    const char *name; // "A", "B", "C"
    uint64_t bytes;   // multiple of 4
    bool is_output;   // the last ones, mostly one
};

enum input_set { INPUT_EXACT, INPUT_RANDOM };
#define INPUT_SETS 2

struct tolerance {
    double absolute, relative;
    double nmse; // above 0: of all together, the mean squared error over the mean square
};

struct operator_layout {
    int count;
    int inputs; // the others are outputs
    struct operator_buffer buffer[OPERATOR_MAX_BUFFERS];
};

struct operator_layout operator_layout(const struct operation *o);
struct job_roles operator_roles(const struct operator_layout *l);

// Where functions here take an output, they take all of them: one behind the other, each at an
// offset that is a multiple of 64. operator_output_offset(l, l->count) is the size of them all.
size_t operator_output_offset(const struct operator_layout *l, int buffer);

// False when the device lacks the type, or a buffer is larger than it allows (`e` names the first,
// its bytes and the limit), or there are more buffers than a kernel can bind.
bool operator_fits(const struct operation *o, const struct limits *l, struct err *e);

// Fills input `index` (buffer[index].bytes at `out`). Deterministic in (operation, set, seed).
void operator_fill(const struct operation *o, enum input_set set, uint64_t seed, int index,
                   void *out);

// Computes the right output from inputs as filled, in the output's own type, gaps poisoned.
void operator_reference(const struct operation *o, const void *const *inputs, void *output);
// Names the reference for the user: "OpenBLAS", "loops of tilewalk's own, in double", ...
const char *operator_reference_name(const struct operation *o);
// Returns the bytes that computing references needs beside tensors, once in a process. Whoever
// computes the first one expects them before (mem_expect): a library would wait for ever.
size_t operator_reference_bytes(const struct operation *o);
// Returns the seconds in which the references of both input sets are computed, with room for slow
// and busy machines.
double operator_reference_seconds(const struct operation *o);

struct operator_verdict {
    bool right;
    double worst; // the largest error, relative to the tolerance
};

// Compares whole outputs with the reference. Of several, those of whole numbers have to be equal.
// `reason` gets "", or one sentence such as "C[17,3] = nan, expected 12 (4096 of 65536 wrong)".
struct operator_verdict operator_compare(const struct operation *o, enum input_set set,
                                         const void *output, const void *reference, char *reason,
                                         size_t size);
// The same for inputs from elsewhere, such as the output of an earlier layer. The tolerance is that
// of random inputs, and errors may be `magnitude` times as large, the relative ones up to a
// hundredth: an operation's tolerance holds for inputs below 1, and sums of products grow with both
// factors. `magnitude` is operator_magnitude, and finite.
struct operator_verdict operator_compare_flow(const struct operation *o, double magnitude,
                                              const void *output, const void *reference,
                                              char *reason, size_t size);
// The same against a result of another program, within absolute + relative |expected|.
struct operator_verdict operator_compare_within(const struct operation *o, struct tolerance t,
                                                const void *output, const void *expected,
                                                char *reason, size_t size);
// The product of the largest elements of the first two inputs, where they are above 1, or the
// largest element of the others (the addends) where that is more.
double operator_magnitude(const struct operation *o, const void *const *inputs);

// Fills a constant input of a network's layer: random, and scaled by the length of a result's sum
// so that values keep their size from layer to layer (He et al., "Delving Deep into Rectifiers",
// 2015, section 2.2). `out` as for operator_fill.
void operator_fill_weight(const struct operation *o, uint64_t seed, int index, void *out);

// The memory that the pool and all its workers share: the operator's inputs, and the right result,
// for both input sets.
//
// One worker computes it all (PHASE_PREPARE) through a writable mapping. From then on it is mapped
// read-only, so that no driver can change the reference. Layout: for each set, the operator's
// buffers in their order, each on a 64-byte boundary; the places of outputs hold the reference.
struct shared {
    struct operator_layout layout;
    unsigned char *bytes;
    size_t size;
};

// False when nothing of that size can be mapped.
bool shared_size(const struct operation *o, size_t *size, struct err *e);
bool shared_map(struct shared *s, const struct operation *o, int fd, bool writable, struct err *e);
void shared_unmap(struct shared *s);
// Buffer `index` of a set; the first output is where the reference begins.
void *shared_buffer(const struct shared *s, enum input_set set, int index);

// Fills everything; `s` is writable.
void shared_prepare(struct shared *s, const struct operation *o, uint64_t seed);

#endif
