// conv2d: per image and group the product of the weights, a row for each output channel, with the
// image's patches, a column for each output pixel (im2col).
#include "trial/image.h"
#include "trial/product.h"

#include "base/mem.h"

#include <cblas.h>
#include <stdlib.h>

struct conv2d {
    struct image x, w, y;
    int64_t stride, padding, dilation, groups;
    int64_t depth, pixels; // products of a sum; results of an image and channel
    double *patches, *weights, *sums;
};

// What kernel element (ky, kx) of input channel `channel` meets, for each output pixel: zero
// outside the image.
static void gather_row(const struct conv2d *p, int64_t image, int64_t channel, int64_t ky,
                       int64_t kx, double *out)
{
    for (int64_t i = 0; i < p->y.height; i++)
        for (int64_t j = 0; j < p->y.width; j++) {
            int64_t y = i * p->stride + ky * p->dilation - p->padding;
            int64_t x = j * p->stride + kx * p->dilation - p->padding;
            *out++ = image_has(&p->x, y, x) ? image_get(&p->x, image, channel, y, x) : 0;
        }
}

static void gather_patches(const struct conv2d *p, int64_t image, int64_t group)
{
    double *out = p->patches;
    for (int64_t c = 0; c < p->w.channels; c++)
        for (int64_t ky = 0; ky < p->w.height; ky++)
            for (int64_t kx = 0; kx < p->w.width; kx++, out += p->pixels)
                gather_row(p, image, group * p->w.channels + c, ky, kx, out);
}

static void gather_weights(const struct conv2d *p)
{
    double *out = p->weights;
    for (int64_t f = 0; f < p->w.outer; f++)
        for (int64_t c = 0; c < p->w.channels; c++)
            for (int64_t ky = 0; ky < p->w.height; ky++)
                for (int64_t kx = 0; kx < p->w.width; kx++)
                    *out++ = image_get(&p->w, f, c, ky, kx);
}

static void store(const struct conv2d *p, const struct epilogue *epilogue, int64_t image,
                  int64_t first, int64_t channels)
{
    const double *sum = p->sums;
    for (int64_t c = first; c < first + channels; c++)
        for (int64_t y = 0; y < p->y.height; y++)
            for (int64_t x = 0; x < p->y.width; x++)
                epilogue_store(epilogue, *sum++, c, image_offset(&p->y, image, c, y, x));
}

static void convolve(const struct conv2d *p, const struct epilogue *epilogue)
{
    int64_t channels = p->y.channels / p->groups;
    gather_weights(p);
    for (int64_t image = 0; image < p->x.outer; image++)
        for (int64_t g = 0; g < p->groups; g++) {
            gather_patches(p, image, g);
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)channels,
                        (blasint)p->pixels, (blasint)p->depth, 1,
                        p->weights + g * channels * p->depth, (blasint)p->depth, p->patches,
                        (blasint)p->pixels, 0, p->sums, (blasint)p->pixels);
            store(p, epilogue, image, g * channels, channels);
        }
}

static int64_t depth_of(const struct operation *o)
{
    return operation_size(o, "in_channels") / operation_size(o, "groups") *
           operation_size(o, "kernel_h") * operation_size(o, "kernel_w");
}

static void conv2d_reference(const struct operation *o, const void *const *inputs, void *output)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int count = operation_tensors(o, tensor);
    struct conv2d p = {.x = image_of(o, &tensor[0], inputs[0]),
                       .w = image_of(o, &tensor[1], inputs[1]),
                       .y = image_of(o, &tensor[count - 1], output),
                       .stride = operation_size(o, "stride"),
                       .padding = operation_size(o, "padding"),
                       .dilation = operation_size(o, "dilation"),
                       .groups = operation_size(o, "groups"),
                       .depth = depth_of(o)};
    struct epilogue epilogue = epilogue_of(o, inputs, output);
    p.pixels = p.y.height * p.y.width;
    p.patches = mem_alloc((size_t)(p.depth * p.pixels) * sizeof *p.patches);
    p.weights = mem_alloc((size_t)(p.w.outer * p.depth) * sizeof *p.weights);
    p.sums = mem_alloc((size_t)(p.y.channels / p.groups * p.pixels) * sizeof *p.sums);
    convolve(&p, &epilogue);
    free(p.patches);
    free(p.weights);
    free(p.sums);
}

static struct filling filling(const struct operation *o, enum input_set set, int index)
{
    return product_filling(o, set, index, depth_of(o));
}

static struct tolerance tolerance(const struct operation *o, enum input_set set)
{
    return product_tolerance(o, set, depth_of(o));
}

const struct operator_kind operator_conv2d = {
    .name = "conv2d",
    .filling = filling,
    .reference = conv2d_reference,
    .tolerance = tolerance,
    .by = "OpenBLAS",
};
