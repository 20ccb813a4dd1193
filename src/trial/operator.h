// Operators as computations: their buffers, inputs, and the right result on the CPU.
//
// Inputs come in two sets. `exact`: random numbers of few bits, so that every partial sum is
// representable and a right kernel has error 0 whatever its order of summation (a few units in the
// last place where what follows the sum rounds). `random`: uniform in [-1, 1), compared with a
// tolerance that grows with the number of additions. The reference computes in double, by OpenBLAS
// where there are products to be summed. What lies between the elements of a strided buffer is
// poison (bytes 0xff): an input's must not matter, the output's must stay.
#ifndef TILEWALK_TRIAL_OPERATOR_H
#define TILEWALK_TRIAL_OPERATOR_H

#include "base/err.h"
#include "space/limits.h"
#include "space/operation.h"

#include <stdint.h>

#define OPERATOR_MAX_BUFFERS 8

struct operator_buffer {
    const char *name; // "A", "B", "C"
    uint64_t bytes;   // multiple of 4
    bool is_output;   // exactly one, the last
};

enum input_set { INPUT_EXACT, INPUT_RANDOM };

struct tolerance {
    double absolute, relative;
    double nmse; // above 0: of all together, the mean squared error over the mean square
};

struct operator_layout {
    int count;
    struct operator_buffer buffer[OPERATOR_MAX_BUFFERS];
};

struct operator_layout operator_layout(const struct operation *o);

// False when the device lacks the type, or a buffer is larger than it allows (`e` names the first,
// its bytes and the limit), or there are more of them than a kernel can bind.
bool operator_fits(const struct operation *o, const struct limits *l, struct err *e);

// Fills input `index` (buffer[index].bytes at `out`). Deterministic in (operation, set, seed).
void operator_fill(const struct operation *o, enum input_set set, uint64_t seed, int index,
                   void *out);

// Computes the right output from inputs as filled, in the output's own type, gaps poisoned.
void operator_reference(const struct operation *o, const void *const *inputs, void *output);
// What that is, for people: "OpenBLAS", "loops of tilewalk's own, in double", ...
const char *operator_reference_name(const struct operation *o);

struct operator_verdict {
    bool right;
    double worst; // the largest error, relative to the tolerance
};

// Compares a whole output with the reference. `reason` gets "", or one sentence such as "C[17,3] =
// nan, expected 12 (4096 of 65536 wrong)".
struct operator_verdict operator_compare(const struct operation *o, enum input_set set,
                                         const void *output, const void *reference, char *reason,
                                         size_t size);
// The same for inputs that nobody filled, such as what an earlier layer gave: as random ones, and
// errors may be `magnitude` times as large, the relative ones up to a hundredth. What an operation
// allows is made for inputs below 1; sums of products grow with both factors, so the magnitude is
// operator_magnitude, which has to be finite.
struct operator_verdict operator_compare_flow(const struct operation *o, double magnitude,
                                              const void *output, const void *reference,
                                              char *reason, size_t size);
// The same against what somebody else says is right, within absolute + relative |expected|.
struct operator_verdict operator_compare_within(const struct operation *o, struct tolerance t,
                                                const void *output, const void *expected,
                                                char *reason, size_t size);
// The product of the largest of its first two inputs, where they are above 1, or the largest of the
// others (what is added) where that is more.
double operator_magnitude(const struct operation *o, const void *const *inputs);

// A constant input of a network's layer: random, and of a size that keeps what flows through the
// layer at its size, by what a result sums (He et al., "Delving Deep into Rectifiers", 2015,
// section 2.2). `out` as for operator_fill.
void operator_fill_weight(const struct operation *o, uint64_t seed, int index, void *out);

#endif
