// Images: how they lie in memory, pooling, and local response normalisation.

#include "space/tensor.h"
#include "trial/operator_kind.h"

#include <math.h>

struct image image_of(const struct operation *o, const struct tensor *t, const void *buffer)
{
    bool channels_last = operation_chooses(o, "layout", "nhwc");
    int c = channels_last ? 3 : 1, y = channels_last ? 1 : 2, x = channels_last ? 2 : 3;
    return (struct image){
        .buffer = (void *)(uintptr_t)buffer,
        .element = t->element,
        .outer = t->size[0],
        .channels = t->size[c],
        .height = t->size[y],
        .width = t->size[x],
        .outer_stride = t->stride[0],
        .channel_stride = t->stride[c],
        .row_stride = t->stride[y],
        .column_stride = t->stride[x],
    };
}

int64_t image_offset(const struct image *m, int64_t outer, int64_t channel, int64_t y, int64_t x)
{
    return outer * m->outer_stride + channel * m->channel_stride + y * m->row_stride +
           x * m->column_stride;
}

bool image_has(const struct image *m, int64_t y, int64_t x)
{
    return y >= 0 && y < m->height && x >= 0 && x < m->width;
}

double image_get(const struct image *m, int64_t outer, int64_t channel, int64_t y, int64_t x)
{
    return element_get(m->buffer, m->element, image_offset(m, outer, channel, y, x));
}

// Computes the value of a pixel of the output.
typedef double pixel(const void *context, int64_t image, int64_t channel, int64_t y, int64_t x);

static void fill_image(const struct image *out, pixel *value, const void *context)
{
    for (int64_t image = 0; image < out->outer; image++)
        for (int64_t c = 0; c < out->channels; c++)
            for (int64_t y = 0; y < out->height; y++)
                for (int64_t x = 0; x < out->width; x++)
                    element_put(out->buffer, out->element, image_offset(out, image, c, y, x),
                                value(context, image, c, y, x));
}

// --- lrn: local response normalisation across channels (Krizhevsky, Sutskever, Hinton, "ImageNet
// Classification with Deep Convolutional Neural Networks", 2012, section 3.3; alpha is divided by
// the window, as most frameworks do) ---

struct lrn {
    struct image x;
    int64_t window;
    double alpha, beta, k;
};

// The window of a channel begins (window - 1) / 2 channels before it.
static double normalise(const void *context, int64_t image, int64_t channel, int64_t y, int64_t x)
{
    const struct lrn *p = context;
    int64_t first = channel - (p->window - 1) / 2;
    double squares = 0;
    for (int64_t c = first; c < first + p->window; c++)
        if (c >= 0 && c < p->x.channels)
            squares += pow(image_get(&p->x, image, c, y, x), 2);
    return image_get(&p->x, image, channel, y, x) /
           pow(p->k + p->alpha / (double)p->window * squares, p->beta);
}

static void lrn_reference(const struct operation *o, const void *const *inputs, void *output)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    operation_tensors(o, tensor);
    struct image y = image_of(o, &tensor[1], output);
    struct lrn p = {.x = image_of(o, &tensor[0], inputs[0]),
                    .window = operation_size(o, "window"),
                    .alpha = operation_real(o, "alpha"),
                    .beta = operation_real(o, "beta"),
                    .k = operation_real(o, "bias_k")};
    fill_image(&y, normalise, &p);
}

// Returns a bound of the inputs for which their squares matter beside bias_k: smaller inputs would
// hide a wrong window.
static double largest_input(const struct operation *o)
{
    double alpha = operation_real(o, "alpha"), k = operation_real(o, "bias_k");
    return alpha > 0 ? fmin(fmax(sqrt(k / alpha), 1), 1000) : 1;
}

static struct filling lrn_filling(const struct operation *o, enum input_set set, int index)
{
    (void)index;
    double largest = largest_input(o);
    return set == INPUT_EXACT ? (struct filling){.largest = (int64_t)largest, .density = 1}
                              : (struct filling){.low = -largest, .high = largest};
}

// b^-beta is exp2(-beta log2(b)). log2 errs by 3 units in the last place (2^-21 near 1), exp2(x) by
// 3 + 2 |x|, the division by 2.5 (Vulkan spec, "Precision and Operation of SPIR-V Instructions"),
// the base by a unit a term. The tolerance is twice their sum.
static struct tolerance lrn_tolerance(const struct operation *o, enum input_set set)
{
    (void)set;
    struct tolerance t =
        tolerance_of_store(operation_chooses(o, "type", "f16") ? ELEMENT_F16 : ELEMENT_F32);
    double k = operation_real(o, "bias_k"), beta = fabs(operation_real(o, "beta"));
    double most = k + operation_real(o, "alpha") * pow(largest_input(o), 2);
    double log = fmax(fabs(log2(k)), fabs(log2(most)));
    double units = 3 + 2.5 + 1 + beta * (4 + 3 * log + 2 * log) +
                   beta * (2 + (double)operation_size(o, "window"));
    t.relative += 2 * units * 0x1p-23;
    return t;
}

const struct operator_kind operator_lrn = {
    .name = "lrn", .filling = lrn_filling, .reference = lrn_reference, .tolerance = lrn_tolerance};

// --- max_pool and avg_pool ---

struct pooling {
    struct image x;
    int64_t window, stride, padding;
    bool is_max, by_window; // the mean's divisor counts the places outside the image
};

static double pool_window(const void *context, int64_t image, int64_t channel, int64_t i, int64_t j)
{
    const struct pooling *p = context;
    double largest = -INFINITY, sum = 0;
    int64_t count = 0;
    for (int64_t ky = 0; ky < p->window; ky++)
        for (int64_t kx = 0; kx < p->window; kx++) {
            int64_t y = i * p->stride + ky - p->padding, x = j * p->stride + kx - p->padding;
            if (!image_has(&p->x, y, x))
                continue;
            double value = image_get(&p->x, image, channel, y, x);
            largest = fmax(largest, value);
            sum += value;
            count++;
        }
    return p->is_max ? largest : sum / (double)(p->by_window ? p->window * p->window : count);
}

static void pooling_reference(const struct operation *o, const void *const *inputs, void *output)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    operation_tensors(o, tensor);
    struct image y = image_of(o, &tensor[1], output);
    struct pooling p = {.x = image_of(o, &tensor[0], inputs[0]),
                        .window = operation_size(o, "window"),
                        .stride = operation_size(o, "stride"),
                        .padding = operation_size(o, "padding")};
    p.is_max = o->kind == operation_kind_find("max_pool");
    p.by_window = !p.is_max && operation_chooses(o, "divisor", "window");
    fill_image(&y, pool_window, &p);
}

// A division is within 2.5 units in the last place (Vulkan spec, "Precision and Operation of SPIR-V
// Instructions"). The sum of n numbers below 1 errs by at most n units of n, of which the mean
// keeps a share of 1/n.
static struct tolerance avg_tolerance(const struct operation *o, enum input_set set)
{
    struct tolerance t =
        tolerance_of_store(operation_chooses(o, "type", "f16") ? ELEMENT_F16 : ELEMENT_F32);
    double window = (double)operation_size(o, "window");
    t.relative += 4 * 0x1p-23;
    t.absolute += set == INPUT_RANDOM ? window * window * 0x1p-23 : 0;
    return t;
}

// The sums of exact inputs over any usual window are exact in fp32.
const struct operator_kind operator_max_pool = {.name = "max_pool",
                                                .filling = usual_filling,
                                                .reference = pooling_reference,
                                                .tolerance = no_tolerance};

const struct operator_kind operator_avg_pool = {.name = "avg_pool",
                                                .filling = usual_filling,
                                                .reference = pooling_reference,
                                                .tolerance = avg_tolerance};
