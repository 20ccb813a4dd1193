// max_pool and avg_pool.
#include "trial/image.h"
#include "trial/operator_kind.h"

#include <math.h>

enum { LARGEST = 45 }; // its sums over any usual window are exact in fp32, itself in halves

struct pool {
    struct image x, y;
    int64_t window, stride, padding;
    bool is_max, by_window; // the mean's divisor counts what is outside
};

static double pool_one(const struct pool *p, int64_t image, int64_t channel, int64_t i, int64_t j)
{
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

static void reference(const struct operation *o, const void *const *inputs, void *output)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    operation_tensors(o, tensor);
    struct pool p = {.x = image_of(o, &tensor[0], inputs[0]),
                     .y = image_of(o, &tensor[1], output),
                     .window = operation_size(o, "window"),
                     .stride = operation_size(o, "stride"),
                     .padding = operation_size(o, "padding")};
    p.is_max = o->kind == operation_kind_find("max_pool");
    p.by_window = !p.is_max && operation_chooses(o, "divisor", "window");
    for (int64_t image = 0; image < p.y.outer; image++)
        for (int64_t c = 0; c < p.y.channels; c++)
            for (int64_t i = 0; i < p.y.height; i++)
                for (int64_t j = 0; j < p.y.width; j++)
                    image_put(&p.y, image, c, i, j, pool_one(&p, image, c, i, j));
}

static struct filling filling(const struct operation *o, enum input_set set, int index)
{
    (void)o;
    (void)index;
    return set == INPUT_EXACT ? (struct filling){.largest = LARGEST, .density = 1}
                              : (struct filling){.low = -1, .high = 1};
}

static struct tolerance max_tolerance(const struct operation *o, enum input_set set)
{
    (void)o;
    (void)set;
    return (struct tolerance){0, 0};
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

const struct operator_kind operator_max_pool = {
    .name = "max_pool", .filling = filling, .reference = reference, .tolerance = max_tolerance};

const struct operator_kind operator_avg_pool = {
    .name = "avg_pool", .filling = filling, .reference = reference, .tolerance = avg_tolerance};
