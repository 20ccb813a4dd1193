// One operator as a computation: the record behind operator.h. A new operator is a new file with
// one of these, listed in operator.c; what tensors it has and how they lie is said by its
// space/operation.h kind.
//
// Filling and comparison are shared: an element is right when |got - expected| <= absolute +
// relative * |expected|.
#ifndef TILEWALK_TRIAL_OPERATOR_KIND_H
#define TILEWALK_TRIAL_OPERATOR_KIND_H

#include "trial/operator.h"

// What an input is filled with: whole numbers in [-largest, largest], 0 where a draw exceeds
// `density`; or, with `largest` 0, numbers uniform in [low, high).
struct filling {
    int64_t largest;
    double density;
    double low, high;
};

struct tolerance {
    double absolute, relative;
};

struct operator_kind {
    const char *name; // of the operation kind
    struct filling (*filling)(const struct operation *o, enum input_set set, int index);
    // `inputs` as filled; `output` holds what lies in the gaps already.
    void (*reference)(const struct operation *o, const void *const *inputs, void *output);
    struct tolerance (*tolerance)(const struct operation *o, enum input_set set);
    const char *by; // what sums in the reference; NULL: loops of our own
};

extern const struct operator_kind operator_matmul, operator_batch_matmul; // matmul.c
extern const struct operator_kind operator_conv2d;                        // conv2d.c
extern const struct operator_kind operator_max_pool, operator_avg_pool;   // pooling.c
extern const struct operator_kind operator_softmax, operator_copy, operator_elementwise; // plain.c
extern const struct operator_kind operator_lrn;                                          // lrn.c
extern const struct operator_kind operator_custom;                                       // custom.c

// What the store of a result of this type may add: the device may round either way (Vulkan spec,
// "Precision and Operation of SPIR-V Instructions"), the reference rounds to nearest: together 1.5
// units in the last place, and of what is below the smallest normal half the smallest subnormal.
struct tolerance tolerance_of_store(enum element e);

#endif
