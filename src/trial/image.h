// Tensors of four dimensions by their meaning, whatever their order in memory: images (outer: which
// image), kernels of a convolution (outer: which output channel).
#ifndef TILEWALK_TRIAL_IMAGE_H
#define TILEWALK_TRIAL_IMAGE_H

#include "space/operation.h"

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
