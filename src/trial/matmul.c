// matmul: C[N,M] = A[N,K] * B[K,M], row-major; a transposed input is stored as [K,N] or [M,K].
#include "trial/operator_kind.h"

#include "base/mem.h"
#include "base/rng.h"
#include "trial/half.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>

struct matmul {
    int64_t n, m, k;
    bool a_transposed, b_transposed, f16;
};

static struct matmul read_operation(const struct operation *o)
{
    const char *layout = operation_choice(o, "layout");
    return (struct matmul){.n = operation_size(o, "N"),
                           .m = operation_size(o, "M"),
                           .k = operation_size(o, "K"),
                           .a_transposed = layout[0] == 't',
                           .b_transposed = layout[1] == 't',
                           .f16 = operator_is_f16(o)};
}

static int64_t elements(const struct matmul *p, int index)
{
    return index == 0 ? p->n * p->k : index == 1 ? p->k * p->m : p->n * p->m;
}

static struct operator_layout matmul_layout(const struct operation *o)
{
    struct matmul p = read_operation(o);
    struct operator_layout l = {.count = 3};
    for (int i = 0; i < l.count; i++) {
        uint64_t bytes = (uint64_t)elements(&p, i) * (p.f16 ? 2 : 4);
        l.buffer[i] = (struct operator_buffer){.name = i == 0   ? "A"
                                                       : i == 1 ? "B"
                                                                : "C",
                                               .bytes = (bytes + 3) / 4 * 4,
                                               .is_output = i == 2};
    }
    return l;
}

static struct operator_shape matmul_shape(const struct operation *o)
{
    struct matmul p = read_operation(o);
    return (struct operator_shape){.rank = 2, .size = {p.n, p.m}};
}

// Exact inputs are integers in [-largest, largest], other than zero with probability `density`.
struct integers {
    int64_t largest;
    double density;
};

// fp32: with b bits, |sum of K products| < 2^(2b + ceil(log2 K)) <= 2^24, so that every partial sum
// is an integer that a float holds, in whatever order, fused or not. 8 bits are plenty: a lost or
// doubled term can't hide.
static int fp32_bits(int64_t k)
{
    int log2_k = 0;
    while (log2_k < 62 && ((int64_t)1 << log2_k) < k)
        log2_k++;
    int bits = (24 - log2_k) / 2;
    return bits < 1 ? 1 : bits > 8 ? 8 : bits;
}

// The device may round a store to half either way, so the results themselves must be halves:
// integers up to 2048. A sum of K products of integers uniform in [-v, v] has standard deviation
// sqrt(K) * v(v+1)/3; we keep it below a tenth of the bound, and no result will be ten deviations
// out. The same rule, with 2^24, serves products so deep that not even single bits are safe in the
// worst case; beyond, inputs get sparse.
static struct integers exact_integers(const struct matmul *p)
{
    double bound = p->f16 ? 2048 : 0x1p24, deviation_of_one = sqrt((double)p->k);
    struct integers i = {.largest = ((int64_t)1 << fp32_bits(p->k)) - 1, .density = 1};
    while (p->f16 && i.largest > 1 &&
           10 * deviation_of_one * (double)(i.largest * (i.largest + 1)) / 3 > bound)
        i.largest /= 2;
    double deviation = deviation_of_one * 2 / 3; // with v = 1, the last resort
    if (i.largest == 1 && 10 * deviation > bound)
        i.density = bound / (10 * deviation);
    return i;
}

static float draw(enum input_set set, const struct integers *i, struct rng *r)
{
    if (set == INPUT_RANDOM)
        return (float)(2 * rng_real(r) - 1);
    if (i->density < 1 && rng_real(r) >= i->density)
        return 0;
    return (float)((int64_t)rng_below(r, (uint64_t)(2 * i->largest + 1)) - i->largest);
}

static void matmul_fill(const struct operation *o, enum input_set set, uint64_t seed, int index,
                        void *out)
{
    struct matmul p = read_operation(o);
    struct integers integers = exact_integers(&p);
    struct rng r;
    rng_seed(&r, seed + 2 * (uint64_t)index + (uint64_t)set);
    int64_t count = elements(&p, index);
    for (int64_t i = 0; i < count; i++) {
        float x = draw(set, &integers, &r);
        if (p.f16)
            ((uint16_t *)out)[i] = half_from_float(x);
        else
            ((float *)out)[i] = x;
    }
    if (p.f16 && count % 2)
        ((uint16_t *)out)[count] = 0; // fills the last word
}

static float *widen(const uint16_t *half, int64_t count)
{
    float *wide = mem_alloc((size_t)count * sizeof *wide);
    for (int64_t i = 0; i < count; i++)
        wide[i] = half_to_float(half[i]);
    return wide;
}

static void multiply(const struct matmul *p, const float *a, const float *b, float *c)
{
    cblas_sgemm(CblasRowMajor, p->a_transposed ? CblasTrans : CblasNoTrans,
                p->b_transposed ? CblasTrans : CblasNoTrans, (blasint)p->n, (blasint)p->m,
                (blasint)p->k, 1, a, (blasint)(p->a_transposed ? p->n : p->k), b,
                (blasint)(p->b_transposed ? p->k : p->m), 0, c, (blasint)p->m);
}

static void matmul_reference(const struct operation *o, const void *const *inputs, void *output)
{
    struct matmul p = read_operation(o);
    if (!p.f16) {
        multiply(&p, inputs[0], inputs[1], output);
        return;
    }
    int64_t count = elements(&p, 2);
    float *a = widen(inputs[0], elements(&p, 0)), *b = widen(inputs[1], elements(&p, 1));
    float *c = mem_alloc((size_t)count * sizeof *c);
    multiply(&p, a, b, c);
    for (int64_t i = 0; i < count; i++)
        ((uint16_t *)output)[i] = half_from_float(c[i]);
    if (count % 2)
        ((uint16_t *)output)[count] = 0;
    free(a);
    free(b);
    free(c);
}

// |computed - true| <= gamma_K * sum |a||b| for any order of summation, gamma_K = K u / (1 - K u),
// u = 2^-24 (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1). The reference
// errs as well: twice that. For inputs uniform in [-1, 1) the sum has mean K/4 and deviation sqrt(7
// K)/12; ten deviations are added, at most K in all.
static double matmul_tolerance(const struct operation *o, enum input_set set)
{
    if (set == INPUT_EXACT)
        return 0;
    double k = (double)operation_size(o, "K"), u = 0x1p-24;
    double gamma = k * u < 0.5 ? k * u / (1 - k * u) : 1;
    return 2 * gamma * fmin(k, k / 4 + 10 * sqrt(7 * k) / 12);
}

const struct operator_kind operator_matmul = {
    .name = "matmul",
    .layout = matmul_layout,
    .output_shape = matmul_shape,
    .fill = matmul_fill,
    .reference = matmul_reference,
    .tolerance = matmul_tolerance,
};
