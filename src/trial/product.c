// Sums of products: matrix products and convolutions.
//
// Their inputs, tolerances and epilogue y = activation(scale * sum + bias + residual) depend on the
// depth alone: the number of products in a sum.

#include "base/mem.h"
#include "base/str.h"
#include "space/tensor.h"
#include "trial/operator_kind.h"

#ifdef TILEWALK_MKL
#include <mkl_cblas.h>
#else
#include <cblas.h>
#endif
#include <math.h>
#include <stdlib.h>

#define LARGEST_ADDEND 8  // of exact bias and residual
#define RUN            32 // numbers of q8_1, of the largest size 127, that have a scale
#define DEVIATIONS     10

// The ways in which kernels may compute a sum.
struct summing {
    int64_t depth; // products of a sum
    double growth; // partial sums may be so many times as large as sums of products are
    double error;  // of sums in floats of random inputs, besides that of adding products up
};

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
//
// Where G g G^T and B^T d B are rounded to halves, a term errs by two numbers more, each of at most
// 2^-10 and of the deviation 2^-10 / sqrt(12); ten deviations of C terms are allowed. Exact inputs
// of halves are at most 7 (product_filling), so that those are whole numbers up to 49 * 7 and
// 100 * 7, which halves hold, and so they do times a power of two.
static struct summing summing_of(const struct operation *o)
{
    if (!str_equal(o->kind->name, "conv2d"))
        return (struct summing){.depth = operation_size(o, "K"), .growth = 1};
    struct summing s = {.depth = operation_size(o, "in_channels") / operation_size(o, "groups") *
                                 operation_size(o, "kernel_h") * operation_size(o, "kernel_w"),
                        .growth = 1};
    bool rounds = operation_chooses(o, "algorithm", "winograd_f16");
    if (!rounds && !operation_chooses(o, "algorithm", "winograd"))
        return s;
    double u = 0x1p-23, d = 1.0 / 3, t = 20; // d: s above
    double channels = (double)(operation_size(o, "in_channels") / operation_size(o, "groups"));
    s.growth = WINOGRAD_GROWTH;
    s.error = t * u * d * 94 * sqrt((channels * (channels + 1) + 2 * channels) / 3 + 24 * channels);
    if (rounds)
        s.error += DEVIATIONS * 0x1p-10 * d * 94 * sqrt(2 * channels / 12);
    return s;
}

// --- inputs ---

static enum element type_of(const struct operation *o)
{
    return element_named(operation_choice(o, "type"));
}

static bool stores_halves(const struct operation *o)
{
    return type_of(o) == ELEMENT_F16 && !operation_blocks(o);
}

static bool is_whole(const struct operation *o)
{
    return !element_is_real(type_of(o));
}

// Returns the bound below which sums represent every whole number: in halves (with room for
// addends), in 32 bits, in fp32.
static double exact_bound(const struct operation *o)
{
    if (stores_halves(o))
        return 2048 - 2 * LARGEST_ADDEND;
    return is_whole(o) ? 0x1p31 - 1 - 2 * LARGEST_ADDEND : 0x1p24;
}

// A sum of K products of integers uniform in [-v, v] has standard deviation sqrt(K) * v(v+1)/3. It
// is kept below a tenth of the bound where that is what a half holds, and no result, nor any
// partial sum, will be ten deviations out. The same rule, with 2^24, serves products so deep that
// not even single bits are safe in the worst case; beyond, inputs get sparse. Behind a clamp the
// deviation is kept at the window's size, or nearly every result would be one of its two ends.
//
// Partial sums that grow are kept among the whole numbers of a float by this rule, too.
static struct filling product_filling(const struct operation *o, enum input_set set, int index)
{
    const struct summing s = summing_of(o);
    bool is_addend = index >= 2, is_half = stores_halves(o),
         is_clamped = operation_chooses(o, "activation", "clamp");
    if (set != INPUT_EXACT && !is_whole(o))
        return (struct filling){.low = -1, .high = 1};
    if (is_addend)
        return (struct filling){.largest = LARGEST_ADDEND, .density = 1};
    if (operation_blocks(o)) // block_draw promises exact sums
        return (struct filling){.largest = 7, .density = 1};
    bool by_deviation = is_half || is_clamped || s.growth > 1;
    double bound = fmin(exact_bound(o), s.growth > 1 ? 0x1p24 / s.growth : INFINITY);
    double root = sqrt((double)s.depth);
    double scale = fmax(fabs(operation_real(o, "scale")), 0x1p-10);
    if (by_deviation)
        bound /= fmax(scale, 1);
    if (is_clamped) {
        double window = operation_real(o, "high") - operation_real(o, "low");
        bound = fmin(bound, DEVIATIONS * fmax(1, window / (2 * scale)));
    }
    // fp32: with b bits, |sum of K products| < 2^(2b + ceil(log2 K)) <= 2^24, so that every partial
    // sum is an integer that a float holds, in whatever order, fused or not. 8 bits are plenty: a
    // lost or doubled term can't hide. (i8 has 7 and a sign, f8 has fewer.)
    int log2_depth = 0, most = (int)fmin(8, log2(element_exact(type_of(o)) + 1));
    while (log2_depth < 62 && ((int64_t)1 << log2_depth) < s.depth)
        log2_depth++;
    int bits = is_half ? most : ((int)log2(exact_bound(o)) - log2_depth) / 2;
    bits = bits < 1 ? 1 : bits > most ? most : bits;
    struct filling f = {.largest = ((int64_t)1 << bits) - 1, .density = 1};
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

// Says if the epilogue of whole numbers rounds nothing: by a power of two near 1 a sum is scaled
// exactly, but an addend may then not fit.
static bool epilogue_is_exact(const struct operation *o)
{
    int exponent;
    double scale = fabs(operation_real(o, "scale"));
    bool adds = operation_chooses(o, "bias", "add") || operation_chooses(o, "residual", "add");
    bool power = scale == 1 || (!adds && frexp(scale, &exponent) == 0.5 && abs(exponent) <= 3);
    return power && !operation_chooses(o, "activation", "leaky") &&
           !(operation_chooses(o, "activation", "clamp") && operation_chooses(o, "type", "f16"));
}

static struct tolerance product_tolerance(const struct operation *o, enum input_set set)
{
    const struct summing s = summing_of(o);
    bool is_half = stores_halves(o), sums_halves = operation_chooses(o, "accumulate", "f16");
    if (is_whole(o) || (set == INPUT_EXACT && epilogue_is_exact(o)))
        return no_tolerance(o, set);
    struct tolerance t = tolerance_of_store(is_half ? ELEMENT_F16 : ELEMENT_F32);
    // Multiply, add, add, multiply: each errs by a unit in the last place of its result, which is
    // at most the result and the addends.
    double unit = sums_halves ? 0x1p-10 : 0x1p-23;
    double addend = set == INPUT_EXACT ? LARGEST_ADDEND : 1;
    t.relative += 4 * unit;
    t.absolute += 4 * unit * 2 * addend;
    if (set == INPUT_EXACT)
        return t;
    bool is_leaky = operation_chooses(o, "activation", "leaky");
    double k = (double)s.depth, slope = is_leaky ? fmax(1, fabs(operation_real(o, "slope"))) : 1;
    double sum = fp32_sum_tolerance(k);
    if (sums_halves)
        sum = half_sum_tolerance(k);
    else if (operation_chooses(o, "accumulate", "mixed")) {
        // Sums of at most 32 products in halves, whose errors are independent, are added up in
        // floats: the bound above for one that wanders far, and ten deviations of all together.
        double few = fmin(k, 32), one = half_sum_tolerance(few), deviation = one / (20 * sqrt(2));
        sum = one + DEVIATIONS * deviation * sqrt(k / few) + fp32_sum_tolerance(k);
    }
    // Weights may become halves before they are multiplied: the errors of products up to 1 have the
    // deviation u / sqrt(12) / sqrt(3), and ten deviations of all together are allowed.
    if (operation_blocks(o) && type_of(o) == ELEMENT_F16)
        sum += DEVIATIONS * 0x1p-11 / 6 * sqrt(k);
    // The same of B, whose unit is the largest of 32 numbers / 127, at most 1 / 127. Scales, and
    // what is subtracted of weights, are halves then: three errors of products up to 2.
    if (operation_blocks(o) && operation_chooses(o, "b", "q8_1"))
        sum += DEVIATIONS * (1.0 / 127 + 6 * 0x1p-11) / 6 * sqrt(k);
    t.absolute += fabs(operation_real(o, "scale")) * slope * (sum + s.error);
    return t;
}

// --- epilogue ---

struct epilogue {
    enum element element;        // of the results, bias and residual
    const void *bias, *residual; // NULL: none
    const char *activation;
    double scale, slope, low, high;
    void *output;
};

// Returns the epilogue of an operation. `inputs` are all buffers but the output, in the order of
// their bindings.
static struct epilogue epilogue_of(const struct operation *o, const void *const *inputs,
                                   void *output)
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

// Stores the result of a sum at `offset` of the output; `channel` picks the bias.
static void epilogue_store(const struct epilogue *p, double sum, int64_t channel, int64_t offset)
{
    double y = p->scale * sum;
    if (p->bias)
        y += element_get(p->bias, p->element, channel);
    if (p->residual)
        y += element_get(p->residual, p->element, offset);
    switch (p->activation[0]) {
    case 'r': y = y < 0 ? 0 : y; break;
    case 'l': y = y < 0 ? p->slope * y : y; break;
    case 'c': y = fmin(fmax(y, p->low), p->high); break;
    default: break;
    }
    element_put(p->output, p->element, offset, y);
}

// --- matmul and batch_matmul: C[N,M] = A[N,K] * B[K,M], row-major; a transposed input is stored as
// [K,N] or [M,K] ---

// Returns matrix `index` of a tensor (0 where it has no batch), packed, as doubles; heap.
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

// Returns A's weights, packed, as doubles; heap.
static double *dequantized(const struct block_format *f, const struct tensor *t, const void *blocks)
{
    int64_t count = tensor_count(t) / block_bytes(f);
    double *wide = mem_alloc((size_t)(count * f->weights) * sizeof *wide);
    for (int64_t b = 0; b < count; b++)
        block_get(f, (const char *)blocks + b * block_bytes(f), wide + b * f->weights);
    return wide;
}

// Fills B with numbers that q8_1 rounds nothing of: the largest of a run is 127 times a power of
// two, the others are whole multiples of that.
static void fill_runs(const struct tensor *t, bool is_transposed, struct rng *r, void *out)
{
    int64_t k = t->size[is_transposed], columns = t->size[!is_transposed];
    int64_t step = t->stride[is_transposed], column = t->stride[!is_transposed];
    for (int64_t m = 0; m < columns; m++)
        for (int64_t run = 0; run < k; run += RUN) {
            double unit = ldexp(1, (int)rng_below(r, 3) - 1);
            int64_t largest = (int64_t)rng_below(r, RUN), sign = rng_below(r, 2) ? 1 : -1;
            for (int64_t i = 0; i < RUN; i++) {
                int64_t q = i == largest ? 127 * sign : (int64_t)rng_below(r, 15) - 7;
                element_put(out, t->element, m * column + (run + i) * step, unit * (double)q);
            }
        }
}

static bool matmul_fill(const struct operation *o, enum input_set set, struct rng *r, int index,
                        void *out)
{
    const struct block_format *f = operation_blocks(o);
    const struct filling by = {.low = -1, .high = 1};
    struct tensor tensor[OPERATION_MAX_TENSORS];
    operation_tensors(o, tensor);
    if (index == 1 && set == INPUT_EXACT && operation_chooses(o, "b", "q8_1")) {
        fill_runs(&tensor[1], operation_choice(o, "layout")[1] == 't', r, out);
        return true;
    }
    if (!f || index > 0)
        return false;
    fill_blocks(f, tensor_count(tensor) / block_bytes(f), set == INPUT_EXACT ? NULL : &by, r, out);
    return true;
}

static void matmul_reference(const struct operation *o, const void *const *inputs, void *output)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    const struct tensor *c = &tensor[operation_tensors(o, tensor) - 1];
    struct epilogue epilogue = epilogue_of(o, inputs, output);
    const char *layout = operation_choice(o, "layout");
    bool left_transposed = layout[0] == 't', right_transposed = layout[1] == 't';
    int n = (int)operation_size(o, "N"), m = (int)operation_size(o, "M"),
        k = (int)operation_size(o, "K");
    int64_t batch = c->rank == 3 ? c->size[0] : 1;
    double *sums = mem_alloc((size_t)n * (size_t)m * sizeof *sums);
    for (int64_t b = 0; b < batch; b++) {
        double *left = operation_blocks(o) ? dequantized(operation_blocks(o), &tensor[0], inputs[0])
                                           : widen(&tensor[0], inputs[0], b);
        double *right = widen(&tensor[1], inputs[1], b);
        cblas_dgemm(CblasRowMajor, left_transposed ? CblasTrans : CblasNoTrans,
                    right_transposed ? CblasTrans : CblasNoTrans, n, m, k, 1, left,
                    left_transposed ? n : k, right, right_transposed ? k : m, 0, sums, m);
        const double *sum = sums;
        for (int64_t i = 0; i < n; i++) {
            int64_t row = tensor_line(c, b * n + i);
            for (int64_t j = 0; j < m; j++)
                epilogue_store(&epilogue, *sum++, j, row + j);
        }
        free(left);
        free(right);
    }
    free(sums);
}

const struct operator_kind operator_matmul = {
    .name = "matmul",
    .filling = product_filling,
    .fill = matmul_fill,
    .reference = matmul_reference,
    .tolerance = product_tolerance,
    .by = "OpenBLAS",
};

const struct operator_kind operator_batch_matmul = {
    .name = "batch_matmul",
    .filling = product_filling,
    .reference = matmul_reference,
    .tolerance = product_tolerance,
    .by = "OpenBLAS",
};

// --- conv2d: per image and group the product of the weights, a row for each output channel, with
// the image's patches, a column for each output pixel (im2col) ---

// Gathers the inputs of kernel element (ky, kx) and input channel `channel` for each pixel of the
// output `y`: zero outside the image.
static void gather_row(const struct operation *o, const struct image *x, const struct image *y,
                       const int64_t at[4], double *out)
{
    int64_t stride = operation_size(o, "stride"), padding = operation_size(o, "padding"),
            dilation = operation_size(o, "dilation");
    for (int64_t i = 0; i < y->height; i++)
        for (int64_t j = 0; j < y->width; j++) {
            int64_t row = i * stride + at[2] * dilation - padding;
            int64_t column = j * stride + at[3] * dilation - padding;
            *out++ = image_has(x, row, column) ? image_get(x, at[0], at[1], row, column) : 0;
        }
}

static void conv2d_reference(const struct operation *o, const void *const *inputs, void *output)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int count = operation_tensors(o, tensor);
    const struct image x = image_of(o, &tensor[0], inputs[0]),
                       w = image_of(o, &tensor[1], inputs[1]),
                       y = image_of(o, &tensor[count - 1], output);
    struct epilogue epilogue = epilogue_of(o, inputs, output);
    int64_t groups = operation_size(o, "groups"), depth = summing_of(o).depth;
    int64_t pixels = y.height * y.width, channels = y.channels / groups;
    double *patches = mem_alloc((size_t)(depth * pixels) * sizeof *patches);
    double *weights = mem_alloc((size_t)(w.outer * depth) * sizeof *weights), *weight = weights;
    double *sums = mem_alloc((size_t)(channels * pixels) * sizeof *sums);
    for (int64_t f = 0; f < w.outer; f++)
        for (int64_t c = 0; c < w.channels; c++)
            for (int64_t ky = 0; ky < w.height; ky++)
                for (int64_t kx = 0; kx < w.width; kx++)
                    *weight++ = image_get(&w, f, c, ky, kx);
    for (int64_t image = 0; image < x.outer; image++)
        for (int64_t g = 0; g < groups; g++) {
            double *row = patches;
            const double *sum = sums;
            int64_t first = g * channels;
            for (int64_t c = 0; c < w.channels; c++)
                for (int64_t ky = 0; ky < w.height; ky++)
                    for (int64_t kx = 0; kx < w.width; kx++, row += pixels)
                        gather_row(o, &x, &y, (const int64_t[]){image, g * w.channels + c, ky, kx},
                                   row);
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)channels, (int)pixels,
                        (int)depth, 1, weights + first * depth, (int)depth, patches, (int)pixels, 0,
                        sums, (int)pixels);
            for (int64_t c = first; c < first + channels; c++)
                for (int64_t i = 0; i < y.height; i++)
                    for (int64_t j = 0; j < y.width; j++)
                        epilogue_store(&epilogue, *sum++, c, image_offset(&y, image, c, i, j));
        }
    free(patches);
    free(weights);
    free(sums);
}

const struct operator_kind operator_conv2d = {
    .name = "conv2d",
    .filling = product_filling,
    .reference = conv2d_reference,
    .tolerance = product_tolerance,
    .by = "OpenBLAS",
};
