// lrn: local response normalisation across channels (Krizhevsky, Sutskever, Hinton, "ImageNet
// Classification with Deep Convolutional Neural Networks", 2012, section 3.3; alpha is divided by
// the window, as most frameworks do).
#include "trial/image.h"
#include "trial/operator_kind.h"

#include <math.h>

struct lrn {
    struct image x, y;
    int64_t window;
    double alpha, beta, k;
};

// The window around a channel has (window - 1) / 2 channels before it and the others behind.
static double normalise(const struct lrn *p, int64_t image, int64_t channel, int64_t y, int64_t x)
{
    int64_t first = channel - (p->window - 1) / 2;
    double squares = 0;
    for (int64_t c = first; c < first + p->window; c++)
        if (c >= 0 && c < p->x.channels)
            squares += pow(image_get(&p->x, image, c, y, x), 2);
    return image_get(&p->x, image, channel, y, x) /
           pow(p->k + p->alpha / (double)p->window * squares, p->beta);
}

static void reference(const struct operation *o, const void *const *inputs, void *output)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    operation_tensors(o, tensor);
    struct lrn p = {.x = image_of(o, &tensor[0], inputs[0]),
                    .y = image_of(o, &tensor[1], output),
                    .window = operation_size(o, "window"),
                    .alpha = operation_real(o, "alpha"),
                    .beta = operation_real(o, "beta"),
                    .k = operation_real(o, "bias_k")};
    for (int64_t image = 0; image < p.y.outer; image++)
        for (int64_t c = 0; c < p.y.channels; c++)
            for (int64_t i = 0; i < p.y.height; i++)
                for (int64_t j = 0; j < p.y.width; j++)
                    image_put(&p.y, image, c, i, j, normalise(&p, image, c, i, j));
}

// Inputs so large that their squares matter beside bias_k: smaller ones would hide a wrong window.
static double largest_input(const struct operation *o)
{
    double alpha = operation_real(o, "alpha"), k = operation_real(o, "bias_k");
    return alpha > 0 ? fmin(fmax(sqrt(k / alpha), 1), 1000) : 1;
}

static struct filling filling(const struct operation *o, enum input_set set, int index)
{
    (void)index;
    double largest = largest_input(o);
    return set == INPUT_EXACT ? (struct filling){.largest = (int64_t)largest, .density = 1}
                              : (struct filling){.low = -largest, .high = largest};
}

// b^-beta is exp2(-beta log2(b)): log2 errs by 3 units in the last place (2^-21 near 1), exp2(x) by
// 3
// + 2 |x|, the division by 2.5 (Vulkan spec, "Precision and Operation of SPIR-V Instructions"),
// the base by a unit a term. Twice all that.
static struct tolerance tolerance(const struct operation *o, enum input_set set)
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
    .name = "lrn", .filling = filling, .reference = reference, .tolerance = tolerance};
