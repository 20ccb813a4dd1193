// One operator as a computation: the record behind operator.h. A new operator is a new file with
// one of these, listed in operator.c.
//
// Comparison is shared: an element is right when |got - expected| <= tolerance, plus one rounding
// for 16-bit outputs of random inputs. `tolerance` is 0 for exact inputs, where every partial sum
// is representable.
#ifndef TILEWALK_TRIAL_OPERATOR_KIND_H
#define TILEWALK_TRIAL_OPERATOR_KIND_H

#include "trial/operator.h"

#define OPERATOR_MAX_RANK 4

struct operator_shape {
    int rank;
    int64_t size[OPERATOR_MAX_RANK]; // slowest first
};

struct operator_kind {
    const char *name; // of the operation kind
    struct operator_layout (*layout)(const struct operation *o);
    struct operator_shape (*output_shape)(const struct operation *o);
    void (*fill)(const struct operation *o, enum input_set set, uint64_t seed, int index,
                 void *out);
    void (*reference)(const struct operation *o, const void *const *inputs, void *output);
    double (*tolerance)(const struct operation *o, enum input_set set); // absolute
};

extern const struct operator_kind operator_matmul;

bool operator_is_f16(const struct operation *o);

#endif
