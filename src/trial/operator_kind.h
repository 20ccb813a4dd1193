// One operator as a computation: the record behind operator.h. A new operator is a new file with
// one of these, named in OPERATIONS; what tensors it has and how they lie is said by its
// space/operation.h kind.
//
// Filling and comparison are shared: an element is right when |got - expected| <= absolute +
// relative * |expected|, and the whole as `nmse` has it.
#ifndef TILEWALK_TRIAL_OPERATOR_KIND_H
#define TILEWALK_TRIAL_OPERATOR_KIND_H

#include "base/rng.h"
#include "trial/operator.h"

// What an input is filled with: whole numbers in [-largest, largest], 0 where a draw exceeds
// `density`; or, with `largest` 0, numbers uniform in [low, high).
struct filling {
    int64_t largest;
    double density;
    double low, high;
    bool whole; // only whole numbers of these, `high` among them
};

struct operator_kind {
    const char *name; // of the operation kind
    struct filling (*filling)(const struct operation *o, enum input_set set, int index);
    // Fills an input that is no tensor of numbers; false: it is one. NULL: they all are.
    bool (*fill)(const struct operation *o, enum input_set set, struct rng *r, int index,
                 void *out);
    // `inputs` as filled; `output` holds what lies in the gaps already.
    void (*reference)(const struct operation *o, const void *const *inputs, void *output);
    struct tolerance (*tolerance)(const struct operation *o, enum input_set set);
    const char *by; // what sums in the reference; NULL: loops of our own
};

#define AS_OPERATOR(name) extern const struct operator_kind operator_##name;
OPERATIONS(AS_OPERATOR)
extern const struct operator_kind operator_custom; // custom.c: of a space file

// What the store of a result of this type may add: the device may round either way (Vulkan spec,
// "Precision and Operation of SPIR-V Instructions"), the reference rounds to nearest: together 1.5
// units in the last place, and of what is below the smallest normal half the smallest subnormal.
struct tolerance tolerance_of_store(enum element e);

#endif
