// The record of one operator's computation behind operator.h. A new operator is a new record, named
// in OPERATIONS; its tensors and their layout are those of its kind in space/operation.h.
//
// All operators share filling and comparison. An element is right when |got - expected| <= absolute
// + relative * |expected|; `nmse` limits the error of all elements together.
#ifndef TILEWALK_TRIAL_OPERATOR_KIND_H
#define TILEWALK_TRIAL_OPERATOR_KIND_H

#include "base/rng.h"
#include "space/block.h"
#include "trial/operator.h"

// The values of an input: whole numbers in [-largest, largest], 0 where a draw exceeds `density`;
// or, with `largest` 0, numbers uniform in [low, high). Elements without a sign
// get absolute values, and integer ones only whole numbers.
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
    // `inputs` as filled; the gaps of `output` are poisoned already.
    void (*reference)(const struct operation *o, const void *const *inputs, void *output);
    struct tolerance (*tolerance)(const struct operation *o, enum input_set set);
    const char *by; // the library of the reference; NULL: loops of our own
};

#define AS_OPERATOR(name) extern const struct operator_kind operator_##name;
OPERATIONS(AS_OPERATOR)
extern const struct operator_kind operator_custom; // custom.c: of a space file

// Fills a buffer with blocks: quantised numbers of a filling, or (NULL) exact weights.
void fill_blocks(const struct block_format *f, int64_t count, const struct filling *by,
                 struct rng *r, void *out);

// The error that storing a result of this type may add: the device may round either way (Vulkan
// spec, "Precision and Operation of SPIR-V Instructions"), the reference rounds to nearest.
// Together that is 1.5 units in the last place, and below the smallest normal number half the
// smallest subnormal.
struct tolerance tolerance_of_store(enum element e);

// Tolerances of operators that compute nothing, and the usual inputs of those that do: in the exact
// set whole numbers up to 45, whose sums and products of two are exact in halves.
struct tolerance no_tolerance(const struct operation *o, enum input_set set);
struct filling usual_filling(const struct operation *o, enum input_set set, int index);
enum { USUAL_LARGEST = 45 };

// Tensors of four dimensions by their meaning, whatever their order in memory: images (outer: which
// image), kernels of a convolution (outer: which output channel).

struct image {
    void *buffer; // only read, of an input
    enum element element;
    int64_t outer, channels, height, width;
    int64_t outer_stride, channel_stride, row_stride, column_stride;
};

// The image of a tensor in the order of the operation's layout.
struct image image_of(const struct operation *o, const struct tensor *t, const void *buffer);
int64_t image_offset(const struct image *m, int64_t outer, int64_t channel, int64_t y, int64_t x);
bool image_has(const struct image *m, int64_t y, int64_t x);
double image_get(const struct image *m, int64_t outer, int64_t channel, int64_t y, int64_t x);

#endif
