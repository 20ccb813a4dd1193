// conv2d: per image and group the product of the weights, a row for each output channel, with the
// image's patches, a column for each output pixel (im2col).
#include "trial/image.h"
#include "trial/product.h"

#include "base/mem.h"

#include <cblas.h>
#include <math.h>
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

// Winograd's minimal filtering Y = A^T [(G g G^T) (B^T d B)] A (Lavin and Gray, "Fast Algorithms
// for Convolutional Neural Networks", 2016), for F(4,3) at the points 0, 1, -1, 2, -2 and infinity,
// whose numbers are larger than those of F(2,3). G and A are taken in whole numbers, so that Y
// comes out 24^2 times too large. In one direction the terms that A^T adds up, a_n (G g)_n (B d)_n,
// are sums of products of a weight and an input; of any number of these terms the root of the
// squared factors' sum is at most 192, of all 24 sqrt(3). The second direction begins with what the
// first one gives, so that partial sums deviate up to 192 * 24 sqrt(3) times as much as a product
// of an input and a weight, sums without a detour 3 times (both times the root of the channels):
// 2660 times as much. 2^12 has some room.
#define WINOGRAD_GROWTH 0x1p12

// Rounding errors of the terms are as good as independent, so that the norms of rows count: by
// those of A^T a term's relative error weighs |a| |G| |B| = 233 in one direction, 233^2 / 24^2 = 94
// products in both. A term has the error of a sum of C products, as half_sum_tolerance has it, and
// 12 roundings of C products each before and 12 after. u = 2^-23, s = 1/3, t = 20 as there.
static double winograd_error(double channels)
{
    double u = 0x1p-23, s = 1.0 / 3, t = 20;
    return t * u * s * 94 * sqrt((channels * (channels + 1) + 2 * channels) / 3 + 24 * channels);
}

static struct summing summing_of(const struct operation *o)
{
    struct summing s = {.depth = depth_of(o), .growth = 1};
    if (operation_chooses(o, "algorithm", "winograd")) {
        s.growth = WINOGRAD_GROWTH;
        s.error = winograd_error(
            (double)(operation_size(o, "in_channels") / operation_size(o, "groups")));
    }
    return s;
}

static struct filling filling(const struct operation *o, enum input_set set, int index)
{
    const struct summing s = summing_of(o);
    return product_filling(o, set, index, &s);
}

static struct tolerance tolerance(const struct operation *o, enum input_set set)
{
    const struct summing s = summing_of(o);
    return product_tolerance(o, set, &s);
}

const struct operator_kind operator_conv2d = {
    .name = "conv2d",
    .filling = filling,
    .reference = conv2d_reference,
    .tolerance = tolerance,
    .by = "OpenBLAS",
};
