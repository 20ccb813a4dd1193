// What sums of products share, whatever they are sums of: matrix products and convolutions.
//
// Inputs, tolerances and the epilogue y = activation(scale * sum + bias + residual) depend on the
// depth alone: how many products a sum has.
#ifndef TILEWALK_TRIAL_PRODUCT_H
#define TILEWALK_TRIAL_PRODUCT_H

#include "trial/operator_kind.h"

// How kernels may come to a sum.
struct summing {
    int64_t depth; // products of a sum
    double growth; // partial sums may be so many times as large as sums of products are
    double error;  // of sums in floats of random inputs, besides that of adding products up
};

struct filling product_filling(const struct operation *o, enum input_set set, int index,
                               const struct summing *s);
struct tolerance product_tolerance(const struct operation *o, enum input_set set,
                                   const struct summing *s);

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
