// What sums of products share, whatever they are sums of: matrix products and convolutions.
//
// Inputs, tolerances and the epilogue y = activation(scale * sum + bias + residual) depend on the
// depth alone: how many products a sum has.
#ifndef TILEWALK_TRIAL_PRODUCT_H
#define TILEWALK_TRIAL_PRODUCT_H

#include "trial/operator_kind.h"

struct filling product_filling(const struct operation *o, enum input_set set, int index,
                               int64_t depth);
struct tolerance product_tolerance(const struct operation *o, enum input_set set, int64_t depth);

// Turns sums into results.
struct epilogue {
    enum element element;        // of the results, bias and residual
    const void *bias, *residual; // NULL: none
    const char *activation;
    double scale, slope, low, high;
    void *output;
};

// `inputs`: all buffers but the output, in the order of their bindings.
struct epilogue epilogue_of(const struct operation *o, const void *const *inputs, void *output);
// Stores the result at `offset` of the output; `channel` picks the bias.
void epilogue_store(const struct epilogue *p, double sum, int64_t channel, int64_t offset);

#endif
