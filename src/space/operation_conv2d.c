// Y = X * W: a convolution (in the sense of networks: the kernel is not turned) of images with a
// kernel for each output channel, in groups of channels that do not see each other.
#include "space/operation_kinds.h"

static const struct operation_choice choices[] = {
    SUM_TYPES,
    {"layout", (const char *const[]){"nchw", "nhwc", NULL}, true},
    SUM_ACCUMULATE,
    EPILOGUE_CHOICES,
    {"algorithm", (const char *const[]){"sums", "winograd", NULL}, false}, // how it may round
    {NULL, NULL, false},
};

static int64_t dilated(const struct operation *o, const char *kernel)
{
    return operation_size(o, "dilation") * (operation_size(o, kernel) - 1) + 1;
}

static int64_t padded(const struct operation *o, const char *size)
{
    return operation_size(o, size) + 2 * operation_size(o, "padding") + operation_size(o, "extra");
}

static int64_t out_height(const struct operation *o)
{
    return (padded(o, "height") - dilated(o, "kernel_h")) / operation_size(o, "stride") + 1;
}

static int64_t out_width(const struct operation *o)
{
    return (padded(o, "width") - dilated(o, "kernel_w")) / operation_size(o, "stride") + 1;
}

static double conv2d_flop(const struct operation *o)
{
    static const char *const factors[] = {"batch",       "out_channels", "out_height", "out_width",
                                          "in_channels", "kernel_h",     "kernel_w"};
    double flop = 2 / (double)operation_size(o, "groups");
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        flop *= (double)operation_size(o, factors[i]);
    return flop;
}

static bool conv2d_complete(struct operation *o, struct err *e)
{
    if (padded(o, "height") < dilated(o, "kernel_h") || padded(o, "width") < dilated(o, "kernel_w"))
        return err_set(e, "conv2d: the kernel is larger than the padded image");
    int64_t groups = operation_size(o, "groups");
    if (operation_size(o, "in_channels") % groups || operation_size(o, "out_channels") % groups)
        return err_set(e, "conv2d: groups does not divide in_channels and out_channels");
    return epilogue_check(o, e);
}

static int conv2d_tensors(const struct operation *o, struct tensor out[OPERATION_MAX_TENSORS])
{
    int64_t batch = operation_size(o, "batch"), in = operation_size(o, "in_channels"),
            channels = operation_size(o, "out_channels");
    const int64_t x[4] = {batch, in, operation_size(o, "height"), operation_size(o, "width")};
    const int64_t w[4] = {channels, in / operation_size(o, "groups"), operation_size(o, "kernel_h"),
                          operation_size(o, "kernel_w")};
    const int64_t y[4] = {batch, channels, out_height(o), out_width(o)};
    out[0] = tensor_image(o, "X", operation_element(o), x);
    out[1] = tensor_image(o, "W", operation_element(o), w);
    struct tensor output = tensor_image(o, "Y", epilogue_element(o), y);
    return epilogue_tensors(o, 2, channels, &output, out);
}

const struct operation_kind operation_conv2d = {
    .name = "conv2d",
    .help = "Y = X * W: images [batch, in_channels, height, width] and kernels",
    .sizes =
        (const struct operation_size[]){
            {"batch", SIZE_REQUIRED, 1},
            {"in_channels", SIZE_REQUIRED, 1},
            {"height", SIZE_REQUIRED, 1},
            {"width", SIZE_REQUIRED, 1},
            {"out_channels", SIZE_REQUIRED, 1},
            {"kernel_h", SIZE_REQUIRED, 1},
            {"kernel_w", SIZE_REQUIRED, 1},
            {"stride", 1, 1},
            {"padding", 0, 0},
            {"extra", 0, 0}, // more rows and columns of padding behind than before
            {"dilation", 1, 1},
            {"groups", 1, 1},
            {NULL, 0, 0},
        },
    .derived = (const struct operation_derived[]){{"out_height", out_height},
                                                  {"out_width", out_width},
                                                  {NULL, NULL}},
    .choices = choices,
    .reals = epilogue_reals,
    .flop = conv2d_flop,
    .complete = conv2d_complete,
    .tensors = conv2d_tensors,
};
