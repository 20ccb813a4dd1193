// Computes the right results for run_export.c: products of matrices, alone or in batches, and
// convolutions, of f32, f16 and i8, in plain C.
//
// Inputs are small random integers, so that every sum is exact whatever its order: the result must
// be equal. It lies in memory as the operator says (docs/guide/operators.md): f16 as 16 bits, the
// sums of i8 as 32.
#ifndef TILEWALK_SAMPLE_REFERENCE_H
#define TILEWALK_SAMPLE_REFERENCE_H

#include "numbers.h"

// From -3 to 3; of f16, which has exact integers up to 2048 only, from -1 to 1.
static void number_draw(void *array, enum number type, size_t i)
{
    static const uint16_t halves[] = {0xbc00, 0, 0x3c00};
    int value = type == F16 ? rand() % 3 : rand() % 7 - 3;
    if (type == F16)
        ((uint16_t *)array)[i] = halves[value];
    else if (type == I8)
        ((int8_t *)array)[i] = (int8_t)value;
    else
        ((float *)array)[i] = (float)value;
}

// --- the problem --------------------------------------------------------------------------------

struct problem {
    const struct tilewalk_kernel *kernel;
    enum number in, out;
    const char *layout;
    bool is_product;
};

static bool has_size(const struct tilewalk_kernel *kernel, const char *name)
{
    for (const struct tilewalk_size *s = kernel->sizes; s->name; s++)
        if (!strcmp(s->name, name))
            return true;
    return false;
}

static size_t size_of(const struct problem *p, const char *name)
{
    for (const struct tilewalk_size *s = p->kernel->sizes; s->name; s++)
        if (!strcmp(s->name, name))
            return (size_t)s->value;
    die("the kernel lacks a size");
    return 0;
}

static const char *choice_of(const struct tilewalk_kernel *kernel, const char *name)
{
    for (const struct tilewalk_choice *c = kernel->choices; c->name; c++)
        if (!strcmp(c->name, name))
            return c->value;
    return "";
}

static struct problem read_problem(const struct tilewalk_kernel *kernel)
{
    static const char *const added[] = {"bias", "residual", "activation"};
    const char *type = choice_of(kernel, "type");
    bool is_half = !strcmp(type, "f16"), is_byte = !strcmp(type, "i8");
    bool is_product =
        !strcmp(kernel->operation, "matmul") || !strcmp(kernel->operation, "batch_matmul");
    if (!is_product && strcmp(kernel->operation, "conv2d"))
        die("this sample knows products and convolutions only");
    for (int i = 0; i < 3; i++)
        if (*choice_of(kernel, added[i]) && strcmp(choice_of(kernel, added[i]), "none"))
            die("this sample knows nothing that is added to the sums");
    return (struct problem){
        .kernel = kernel,
        .in = is_half   ? F16
              : is_byte ? I8
                        : F32,
        .out = is_half   ? F16
               : is_byte ? I32
                         : F32,
        .layout = choice_of(kernel, "layout"),
        .is_product = is_product,
    };
}

// --- products: C[N,M] = A[N,K] B[K,M] -----------------------------------------------------------

static double largest(double worst, double error)
{
    return isnan(error) ? INFINITY : error > worst ? error : worst;
}

static double error_of_product(const struct problem *p, const void *a, const void *b, const void *c)
{
    bool batched = has_size(p->kernel, "batch");
    size_t n = size_of(p, "N"), m = size_of(p, "M"), depth = size_of(p, "K");
    size_t row_a = size_of(p, "row_a"), row_b = size_of(p, "row_b"), row_c = size_of(p, "row_c");
    bool turned_a = p->layout[0] == 't', turned_b = p->layout[1] == 't';
    double worst = 0;
    for (size_t batch = 0; batch < (batched ? size_of(p, "batch") : 1); batch++) {
        size_t at_a = batched ? batch * size_of(p, "batch_a") : 0;
        size_t at_b = batched ? batch * size_of(p, "batch_b") : 0;
        size_t at_c = batched ? batch * size_of(p, "batch_c") : 0;
        for (size_t i = 0; i < n * m; i++) {
            size_t row = i / m, column = i % m;
            double sum = 0;
            for (size_t k = 0; k < depth; k++)
                sum += number_at(a, p->in, at_a + (turned_a ? k * row_a + row : row * row_a + k)) *
                       number_at(b, p->in,
                                 at_b + (turned_b ? column * row_b + k : k * row_b + column));
            worst = largest(worst, fabs(number_at(c, p->out, at_c + row * row_c + column) - sum));
        }
    }
    return worst;
}

// --- convolutions: Y = X * W --------------------------------------------------------------------

struct images { // [first][channels][height][width], or with the channels last
    size_t first, channels, height, width;
    bool channels_last;
};

static size_t place(const struct images *i, size_t first, size_t channel, size_t y, size_t x)
{
    return i->channels_last ? ((first * i->height + y) * i->width + x) * i->channels + channel
                            : ((first * i->channels + channel) * i->height + y) * i->width + x;
}

struct convolution {
    const struct problem *p;
    struct images x, w, y;
    const void *input, *kernel;
    size_t stride, padding, dilation, groups;
};

static double convolved(const struct convolution *c, size_t image, size_t channel, size_t row,
                        size_t column)
{
    size_t group = channel / (c->y.channels / c->groups);
    double sum = 0;
    for (size_t i = 0; i < c->w.channels * c->w.height * c->w.width; i++) {
        size_t in = i / (c->w.height * c->w.width), at = i % (c->w.height * c->w.width);
        size_t ky = at / c->w.width, kx = at % c->w.width;
        size_t y = row * c->stride + ky * c->dilation - c->padding; // wraps round below 0
        size_t x = column * c->stride + kx * c->dilation - c->padding;
        if (y >= c->x.height || x >= c->x.width)
            continue;
        sum +=
            number_at(c->input, c->p->in, place(&c->x, image, group * c->w.channels + in, y, x)) *
            number_at(c->kernel, c->p->in, place(&c->w, channel, in, ky, kx));
    }
    return sum;
}

static size_t steps(size_t size, size_t kernel, const struct convolution *c)
{
    return (size + 2 * c->padding - c->dilation * (kernel - 1) - 1) / c->stride + 1;
}

static double error_of_convolution(const struct problem *p, const void *input, const void *kernel,
                                   const void *output)
{
    bool last = !strcmp(p->layout, "nhwc");
    size_t batch = size_of(p, "batch"), in = size_of(p, "in_channels"),
           channels = size_of(p, "out_channels"), groups = size_of(p, "groups");
    size_t height = size_of(p, "height"), width = size_of(p, "width");
    struct convolution c = {.p = p,
                            .input = input,
                            .kernel = kernel,
                            .groups = groups,
                            .stride = size_of(p, "stride"),
                            .padding = size_of(p, "padding"),
                            .dilation = size_of(p, "dilation")};
    c.x = (struct images){batch, in, height, width, last};
    c.w = (struct images){channels, in / groups, size_of(p, "kernel_h"), size_of(p, "kernel_w"),
                          last};
    c.y = (struct images){batch, channels, steps(height, c.w.height, &c),
                          steps(width, c.w.width, &c), last};
    double worst = 0;
    for (size_t i = 0; i < batch * channels * c.y.height * c.y.width; i++) {
        size_t x = i % c.y.width, y = i / c.y.width % c.y.height;
        size_t channel = i / c.y.width / c.y.height % channels;
        size_t image = i / c.y.width / c.y.height / channels;
        double got = number_at(output, p->out, place(&c.y, image, channel, y, x));
        worst = largest(worst, fabs(got - convolved(&c, image, channel, y, x)));
    }
    return worst;
}

static double largest_error(const struct problem *p, const void *a, const void *b, const void *c)
{
    return (p->is_product ? error_of_product : error_of_convolution)(p, a, b, c);
}

#endif
