// Max and average pooling: of each window of an image, channel by channel, one number.
#include "space/operation_kinds.h"

#define POOL_CHOICES                                                                               \
    {"type", (const char *const[]){"f32", "f16", NULL}, true},                                     \
    {                                                                                              \
        "layout", (const char *const[]){"nchw", "nhwc", NULL}, true                                \
    }

static int64_t pooled(const struct operation *o, const char *size)
{
    int64_t padded =
        operation_size(o, size) + 2 * operation_size(o, "padding") + operation_size(o, "extra");
    return (padded - operation_size(o, "window")) / operation_size(o, "stride") + 1;
}

static int64_t out_height(const struct operation *o)
{
    return pooled(o, "height");
}

static int64_t out_width(const struct operation *o)
{
    return pooled(o, "width");
}

static double pool_flop(const struct operation *o)
{
    double window = (double)operation_size(o, "window");
    return (double)operation_size(o, "batch") * (double)operation_size(o, "channels") *
           (double)out_height(o) * (double)out_width(o) * window * window;
}

// Every window meets the image: there is no number for one that does not.
static bool pool_complete(struct operation *o, struct err *e)
{
    int64_t window = operation_size(o, "window"), padding = operation_size(o, "padding");
    int64_t extra = operation_size(o, "extra");
    if (padding >= window)
        return err_set(e, "%s: the padding is not smaller than the window", o->kind->name);
    if (window > operation_size(o, "height") + 2 * padding + extra ||
        window > operation_size(o, "width") + 2 * padding + extra)
        return err_set(e, "%s: the window is larger than the padded image", o->kind->name);
    int64_t reach = operation_size(o, "stride");
    if ((out_height(o) - 1) * reach - padding >= operation_size(o, "height") ||
        (out_width(o) - 1) * reach - padding >= operation_size(o, "width"))
        return err_set(e, "%s: a window lies outside of the image (extra is too much)",
                       o->kind->name);
    return true;
}

static int pool_tensors(const struct operation *o, struct tensor out[OPERATION_MAX_TENSORS])
{
    int64_t batch = operation_size(o, "batch"), channels = operation_size(o, "channels");
    const int64_t x[4] = {batch, channels, operation_size(o, "height"), operation_size(o, "width")};
    const int64_t y[4] = {batch, channels, out_height(o), out_width(o)};
    out[0] = tensor_image(o, "X", operation_element(o), x);
    out[1] = tensor_image(o, "Y", operation_element(o), y);
    return 2;
}

static const struct operation_size sizes[] = {
    {"batch", SIZE_REQUIRED, 1},
    {"channels", SIZE_REQUIRED, 1},
    {"height", SIZE_REQUIRED, 1},
    {"width", SIZE_REQUIRED, 1},
    {"window", SIZE_REQUIRED, 1},
    {"stride", 1, 1},
    {"padding", 0, 0},
    {"extra", 0, 0}, // more rows and columns of padding behind the image than before it
    {NULL, 0, 0},
};

static const struct operation_derived derived[] = {
    {"out_height", out_height}, {"out_width", out_width}, {NULL, NULL}};

const struct operation_kind operation_max_pool = {
    .name = "max_pool",
    .help = "the largest number of each square window (padding is left out)",
    .sizes = sizes,
    .derived = derived,
    .choices = (const struct operation_choice[]){POOL_CHOICES, {NULL, NULL, false}},
    .flop = pool_flop,
    .work = operation_moved,
    .complete = pool_complete,
    .tensors = pool_tensors,
};

const struct operation_kind operation_avg_pool = {
    .name = "avg_pool",
    .help = "the mean of each square window: of what is inside the image, or with zeros around it",
    .sizes = sizes,
    .derived = derived,
    .choices =
        (const struct operation_choice[]){
            POOL_CHOICES,
            {"divisor", (const char *const[]){"inside", "window", NULL}, false},
            {NULL, NULL, false},
        },
    .flop = pool_flop,
    .work = operation_moved,
    .complete = pool_complete,
    .tensors = pool_tensors,
};
