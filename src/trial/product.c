#include "trial/product.h"

#include "base/mem.h"
#include "space/tensor.h"
#include "trial/image.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>

// matmul and batch_matmul: C[N,M] = A[N,K] * B[K,M], row-major; a transposed input is stored as
// [K,N] or [M,K].

// Matrix `index` of a tensor (0 of one without a batch), packed, as doubles; heap.
static double *widen(const struct tensor *t, const void *buffer, int64_t index)
{
    const int64_t *size = t->size + t->rank - 2, *stride = t->stride + t->rank - 2;
    int64_t base = t->rank == 3 ? index * t->stride[0] : 0;
    double *wide = mem_alloc((size_t)(size[0] * size[1]) * sizeof *wide), *at = wide;
    for (int64_t i = 0; i < size[0]; i++)
        for (int64_t j = 0; j < size[1]; j++)
            *at++ = element_get(buffer, t->element, base + i * stride[0] + j);
    return wide;
}

static void multiply(const struct operation *o, const double *a, const double *b, double *c)
{
    const char *layout = operation_choice(o, "layout");
    bool a_turned = layout[0] == 't', b_turned = layout[1] == 't';
    blasint n = (blasint)operation_size(o, "N"), m = (blasint)operation_size(o, "M"),
            k = (blasint)operation_size(o, "K");
    cblas_dgemm(CblasRowMajor, a_turned ? CblasTrans : CblasNoTrans,
                b_turned ? CblasTrans : CblasNoTrans, n, m, k, 1, a, a_turned ? n : k, b,
                b_turned ? k : m, 0, c, m);
}

static void product_reference(const struct operation *o, const void *const *inputs, void *output)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    const struct tensor *c = &tensor[operation_tensors(o, tensor) - 1];
    struct epilogue epilogue = epilogue_of(o, inputs, output);
    int64_t batch = c->rank == 3 ? c->size[0] : 1;
    int64_t n = operation_size(o, "N"), m = operation_size(o, "M");
    double *sums = mem_alloc((size_t)(n * m) * sizeof *sums);
    for (int64_t b = 0; b < batch; b++) {
        double *left = widen(&tensor[0], inputs[0], b), *right = widen(&tensor[1], inputs[1], b);
        multiply(o, left, right, sums);
        for (int64_t i = 0; i < n; i++) {
            int64_t row = tensor_line(c, b * n + i);
            for (int64_t j = 0; j < m; j++)
                epilogue_store(&epilogue, sums[i * m + j], j, row + j);
        }
        free(left);
        free(right);
    }
    free(sums);
}

static struct filling filling(const struct operation *o, enum input_set set, int index)
{
    const struct summing s = {.depth = operation_size(o, "K"), .growth = 1};
    return product_filling(o, set, index, &s);
}

static struct tolerance tolerance(const struct operation *o, enum input_set set)
{
    const struct summing s = {.depth = operation_size(o, "K"), .growth = 1};
    return product_tolerance(o, set, &s);
}

const struct operator_kind operator_matmul = {
    .name = "matmul",
    .filling = filling,
    .reference = product_reference,
    .tolerance = tolerance,
    .by = "OpenBLAS",
};

const struct operator_kind operator_batch_matmul = {
    .name = "batch_matmul",
    .filling = filling,
    .reference = product_reference,
    .tolerance = tolerance,
    .by = "OpenBLAS",
};

// conv2d: per image and group the product of the weights, a row for each output channel, with the
// image's patches, a column for each output pixel (im2col).

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

static void gather_weights(const struct conv2d *p)
{
    double *out = p->weights;
    for (int64_t f = 0; f < p->w.outer; f++)
        for (int64_t c = 0; c < p->w.channels; c++)
            for (int64_t ky = 0; ky < p->w.height; ky++)
                for (int64_t kx = 0; kx < p->w.width; kx++)
                    *out++ = image_get(&p->w, f, c, ky, kx);
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
    int64_t channels = p.y.channels / p.groups;
    gather_weights(&p);
    for (int64_t image = 0; image < p.x.outer; image++)
        for (int64_t g = 0; g < p.groups; g++) {
            double *out = p.patches;
            for (int64_t c = 0; c < p.w.channels; c++)
                for (int64_t ky = 0; ky < p.w.height; ky++)
                    for (int64_t kx = 0; kx < p.w.width; kx++, out += p.pixels)
                        gather_row(&p, image, g * p.w.channels + c, ky, kx, out);
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)channels,
                        (blasint)p.pixels, (blasint)p.depth, 1, p.weights + g * channels * p.depth,
                        (blasint)p.depth, p.patches, (blasint)p.pixels, 0, p.sums,
                        (blasint)p.pixels);
            int64_t first = g * channels;
            const double *sum = p.sums;
            for (int64_t c = first; c < first + channels; c++)
                for (int64_t y = 0; y < p.y.height; y++)
                    for (int64_t x = 0; x < p.y.width; x++)
                        epilogue_store(&epilogue, *sum++, c, image_offset(&p.y, image, c, y, x));
        }
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

static struct filling conv2d_filling(const struct operation *o, enum input_set set, int index)
{
    const struct summing s = summing_of(o);
    return product_filling(o, set, index, &s);
}

static struct tolerance conv2d_tolerance(const struct operation *o, enum input_set set)
{
    const struct summing s = summing_of(o);
    return product_tolerance(o, set, &s);
}

const struct operator_kind operator_conv2d = {
    .name = "conv2d",
    .filling = conv2d_filling,
    .reference = conv2d_reference,
    .tolerance = conv2d_tolerance,
    .by = "OpenBLAS",
};

#define LARGEST_ADDEND 8 // of exact bias and residual
#define DEVIATIONS     10

static bool is_clamped(const struct operation *o)
{
    return operation_chooses(o, "activation", "clamp");
}

// --- inputs ---

// Up to where every whole number has its place among the sums: in fp32, in halves (stored, or also
// added up: partial sums are no larger), in 32 bits.
static double exact_bound(const struct operation *o)
{
    if (operation_chooses(o, "type", "f16"))
        return 2048 - 2 * LARGEST_ADDEND;
    return operation_chooses(o, "type", "i8") ? 0x1p31 - 1 - 2 * LARGEST_ADDEND : 0x1p24;
}

// fp32: with b bits, |sum of K products| < 2^(2b + ceil(log2 K)) <= 2^24, so that every partial sum
// is an integer that a float holds, in whatever order, fused or not. 8 bits are plenty: a lost or
// doubled term can't hide. (7 with a sign are what i8 has.)
static int most_bits(const struct operation *o, int64_t depth)
{
    int log2_depth = 0, most = operation_chooses(o, "type", "i8") ? 7 : 8;
    double room = log2(exact_bound(o));
    while (log2_depth < 62 && ((int64_t)1 << log2_depth) < depth)
        log2_depth++;
    int bits = ((int)room - log2_depth) / 2;
    if (operation_chooses(o, "type", "f16"))
        bits = most;
    return bits < 1 ? 1 : bits > most ? most : bits;
}

struct filling product_filling(const struct operation *o, enum input_set set, int index,
                               const struct summing *s)
{
    bool is_addend = index >= 2,
         is_exact = set == INPUT_EXACT || operation_chooses(o, "type", "i8");
    if (!is_exact)
        return (struct filling){.low = -1, .high = 1};
    if (is_addend)
        return (struct filling){.largest = LARGEST_ADDEND, .density = 1};
    // A sum of K products of integers uniform in [-v, v] has standard deviation sqrt(K) * v(v+1)/3;
    // it is kept below a tenth of the bound where that is what a half holds, and no result, nor any
    // partial sum, will be ten deviations out. The same rule, with 2^24, serves products so deep
    // that not even single bits are safe in the worst case; beyond, inputs get sparse. Behind a
    // clamp the deviation is kept at the window's size, else nearly every result would be one of
    // its two ends.
    //
    // Where partial sums grow they are kept among the whole numbers of a float by this rule, too.
    bool by_deviation = operation_chooses(o, "type", "f16") || is_clamped(o) || s->growth > 1;
    double bound = fmin(exact_bound(o), s->growth > 1 ? 0x1p24 / s->growth : INFINITY);
    double root = sqrt((double)s->depth);
    double scale = fmax(fabs(operation_real(o, "scale")), 0x1p-10);
    if (by_deviation)
        bound /= fmax(scale, 1);
    if (is_clamped(o)) {
        double window = operation_real(o, "high") - operation_real(o, "low");
        bound = fmin(bound, DEVIATIONS * fmax(1, window / (2 * scale)));
    }
    struct filling f = {.largest = ((int64_t)1 << most_bits(o, s->depth)) - 1, .density = 1};
    while (by_deviation && f.largest > 1 &&
           DEVIATIONS * root * (double)(f.largest * (f.largest + 1)) / 3 > bound)
        f.largest /= 2;
    double deviation = root * 2 / 3; // with v = 1, the last resort
    if (f.largest == 1 && DEVIATIONS * deviation > bound)
        f.density = bound / (DEVIATIONS * deviation);
    return f;
}

// --- tolerances ---

// |computed - true| <= gamma_K * sum |a||b| for any order of summation, gamma_K = K u / (1 - K u)
// (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1), with u = 2^-23: the device
// may round either way. For inputs uniform in [-1, 1) the sum of |a||b| has mean K/4 and deviation
// sqrt(7 K)/12; ten deviations are added, at most K in all.
static double fp32_sum_tolerance(double k)
{
    double u = 0x1p-23, gamma = k * u < 0.5 ? k * u / (1 - k * u) : 1;
    return gamma * fmin(k, k / 4 + DEVIATIONS * sqrt(7 * k) / 12);
}

// With u = 2^-11 that bound soon exceeds the sums themselves. Roundings to nearest are as good as
// independent and of mean 0 (Higham and Mary, "A new approach to probabilistic rounding error
// analysis", SIAM J. Sci. Comput. 41, 2019), and partial sums of random numbers of mean 0 grow with
// the root of their length only ("Sharper probabilistic backward error analysis for basic linear
// algebra kernels with random data", SIAM J. Sci. Comput. 42, 2020). So step j of K, whose partial
// sum has variance j s^2 (s^2 = 1/9, a product's), adds an error of variance u^2/3 j s^2: in all
// u^2 s^2 K(K+1)/6, and the roundings of the products u^2 s^2 K/3. Some sums wander further than
// others: for a Brownian path W, integral W^2 > x has probability of about exp(-pi^2 x/8), so that
// an error of t u s K / sqrt(3) has one of exp(-pi t/2). t = 20 (28 deviations) is met once in
// 10^13 sums, and is sqrt(K)/177 of the root mean square of a sum: a fortieth for K = 16, a fifth
// for K = 1024.
static double half_sum_tolerance(double k)
{
    double u = 0x1p-11, s = 1.0 / 3, t = 20;
    return t * u * s * sqrt((k * (k + 1) + 2 * k) / 3);
}

static bool is_leaky(const struct operation *o)
{
    return operation_chooses(o, "activation", "leaky");
}

// Whether the epilogue of whole numbers rounds nothing: by a power of two near 1 a sum is scaled
// exactly, but an addend may then not fit.
static bool epilogue_is_exact(const struct operation *o)
{
    int exponent;
    double scale = fabs(operation_real(o, "scale"));
    bool adds = operation_chooses(o, "bias", "add") || operation_chooses(o, "residual", "add");
    bool power = scale == 1 || (!adds && frexp(scale, &exponent) == 0.5 && abs(exponent) <= 3);
    return power && !is_leaky(o) && !(is_clamped(o) && operation_chooses(o, "type", "f16"));
}

struct tolerance product_tolerance(const struct operation *o, enum input_set set,
                                   const struct summing *s)
{
    bool is_half = operation_chooses(o, "type", "f16"),
         sums_halves = operation_chooses(o, "accumulate", "f16");
    if (operation_chooses(o, "type", "i8") || (set == INPUT_EXACT && epilogue_is_exact(o)))
        return (struct tolerance){0, 0};
    struct tolerance t = tolerance_of_store(is_half ? ELEMENT_F16 : ELEMENT_F32);
    // Multiply, add, add, multiply, each within a unit in the last place of what it gives, which is
    // at most the result and the addends.
    double unit = sums_halves ? 0x1p-10 : 0x1p-23;
    double addend = set == INPUT_EXACT ? LARGEST_ADDEND : 1;
    t.relative += 4 * unit;
    t.absolute += 4 * unit * 2 * addend;
    if (set == INPUT_EXACT)
        return t;
    double k = (double)s->depth,
           slope = is_leaky(o) ? fmax(1, fabs(operation_real(o, "slope"))) : 1;
    double sum = fp32_sum_tolerance(k);
    if (sums_halves)
        sum = half_sum_tolerance(k);
    else if (operation_chooses(o, "accumulate", "mixed")) {
        // Sums of at most 32 products in halves, whose errors are independent, are added up in
        // floats: the bound above for one that wanders far, and ten deviations of all together.
        double few = fmin(k, 32), one = half_sum_tolerance(few), deviation = one / (20 * sqrt(2));
        sum = one + DEVIATIONS * deviation * sqrt(k / few) + fp32_sum_tolerance(k);
    }
    t.absolute += fabs(operation_real(o, "scale")) * slope * (sum + s->error);
    return t;
}

// --- epilogue ---

struct epilogue epilogue_of(const struct operation *o, const void *const *inputs, void *output)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int count = operation_tensors(o, tensor), next = 2;
    struct epilogue p = {
        .element = tensor[count - 1].element,
        .activation = operation_choice(o, "activation"),
        .scale = operation_real(o, "scale"),
        .slope = operation_real(o, "slope"),
        .low = operation_real(o, "low"),
        .high = operation_real(o, "high"),
        .output = output,
    };
    if (operation_chooses(o, "bias", "add"))
        p.bias = inputs[next++];
    if (operation_chooses(o, "residual", "add"))
        p.residual = inputs[next++];
    return p;
}

static double activate(const struct epilogue *p, double y)
{
    switch (p->activation[0]) {
    case 'r': return y < 0 ? 0 : y;
    case 'l': return y < 0 ? p->slope * y : y;
    case 'c': return fmin(fmax(y, p->low), p->high);
    default: return y;
    }
}

void epilogue_store(const struct epilogue *p, double sum, int64_t channel, int64_t offset)
{
    double y = p->scale * sum;
    if (p->bias)
        y += element_get(p->bias, p->element, channel);
    if (p->residual)
        y += element_get(p->residual, p->element, offset);
    element_put(p->output, p->element, offset, activate(p, y));
}
