#include "space/block.h"

#include "base/str.h"

#include <math.h>
#include <string.h>

// Runs of weights share a scale.
enum { MOST_RUNS = 16, K_WEIGHTS = 256, Q4_K_RUN = 32, Q6_K_RUN = 16, Q6_ZERO = 32 };

static const struct {
    const char *name;
    struct block_format format;
} named[] = {
    {"q4_0", {BLOCK_PLAIN, 32, ELEMENT_F16, .bits = 4, .zero = 8}},
    {"q8_0", {BLOCK_PLAIN, 32, ELEMENT_F16, .bits = 8, .is_signed = true}},
    {"q4_K", {BLOCK_Q4_K, K_WEIGHTS, ELEMENT_F16, .has_min = true, .bits = 4}},
    {"q6_K", {BLOCK_Q6_K, K_WEIGHTS, ELEMENT_F16, .bits = 6}},
};

const struct block_format *block_format_named(const char *name)
{
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (str_equal(named[i].name, name))
            return &named[i].format;
    return NULL;
}

bool block_format_valid(const struct block_format *f)
{
    if (f->kind != BLOCK_PLAIN)
        return f->kind < BLOCK_KINDS && f->weights == K_WEIGHTS;
    return f->weights >= 1 && f->weights <= BLOCK_MAX_WEIGHTS &&
           (f->scale == ELEMENT_F16 || f->scale == ELEMENT_F32) &&
           (f->bits == 8 || (f->bits == 4 && f->weights % 2 == 0)) && f->zero >= 0 &&
           f->zero < 1 << f->bits;
}

static int header_bytes(const struct block_format *f)
{
    return (1 + f->has_min) * (int)element_bytes(f->scale);
}

int block_bytes(const struct block_format *f)
{
    switch (f->kind) {
    case BLOCK_Q4_K: return 4 + 12 + K_WEIGHTS / 2;
    case BLOCK_Q6_K: return K_WEIGHTS / 2 + K_WEIGHTS / 4 + K_WEIGHTS / Q6_K_RUN + 2;
    default: return header_bytes(f) + f->weights * f->bits / 8;
    }
}

static double get_scale(const unsigned char *at, enum element e, int index)
{
    uint32_t aligned = 0; // blocks begin anywhere
    memcpy(&aligned, at + index * element_bytes(e), (size_t)element_bytes(e));
    return element_get(&aligned, e, 0);
}

// Returns the rounded value.
static double put_scale(unsigned char *at, enum element e, int index, double value)
{
    uint32_t aligned = 0;
    element_put(&aligned, e, 0, value);
    memcpy(at + index * element_bytes(e), &aligned, (size_t)element_bytes(e));
    return element_get(&aligned, e, 0);
}

// --- plain formats ---

// Returns the smallest and the largest integer of a format.
static void find_range(const struct block_format *f, int *low, int *high)
{
    *low = f->is_signed ? -(1 << (f->bits - 1)) : 0;
    *high = *low + (1 << f->bits) - 1;
}

// Returns the byte of integer i, and its shift there.
static int place_of(const struct block_format *f, int i, int *shift)
{
    int half = f->weights / 2;
    *shift = 0;
    if (f->bits == 8)
        return header_bytes(f) + i;
    *shift = 4 * (f->pairs ? i % 2 : i / half);
    return header_bytes(f) + (f->pairs ? i / 2 : i % half);
}

static void put_integer(const struct block_format *f, unsigned char *block, int i, int q)
{
    int shift, mask = (1 << f->bits) - 1;
    int at = place_of(f, i, &shift);
    block[at] = (unsigned char)((block[at] & ~(mask << shift)) | (q & mask) << shift);
}

static int clamp(double q, int low, int high)
{
    return (int)fmin(fmax(nearbyint(q), low), high);
}

static void quantize_plain(const struct block_format *f, const double *w, unsigned char *block)
{
    int low, high;
    find_range(f, &low, &high);
    low -= f->zero;
    high -= f->zero;
    double smallest = INFINITY, largest = -INFINITY, d = 0, m = 0;
    for (int i = 0; i < f->weights; i++) {
        smallest = fmin(smallest, w[i]);
        largest = fmax(largest, w[i]);
    }
    if (f->has_min)
        d = (largest - smallest) / (high - low);
    else
        d = fmax(low < 0 ? smallest / low : 0, high > 0 ? largest / high : 0);
    d = put_scale(block, f->scale, 0, d);
    if (f->has_min)
        m = put_scale(block, f->scale, 1, smallest - d * low);
    for (int i = 0; i < f->weights; i++)
        put_integer(f, block, i, clamp(d > 0 ? (w[i] - m) / d : 0, low, high) + f->zero);
}

// --- q4_K: scales and minima have scales themselves ---

// Writes 8 scales and 8 minima of 6 bits into 12 bytes. The first four of each have a byte, whose
// upper two bits are those of the last four; these have their lower four bits in the last bytes.
static void put_sixes(unsigned char *s, const int *scale, const int *minimum)
{
    for (int i = 0; i < 4; i++) {
        s[i] = (unsigned char)(scale[i] | scale[i + 4] >> 4 << 6);
        s[i + 4] = (unsigned char)(minimum[i] | minimum[i + 4] >> 4 << 6);
        s[i + 8] = (unsigned char)((scale[i + 4] & 15) | (minimum[i + 4] & 15) << 4);
    }
}

// Returns the byte of weight i, and its shift there: runs of 32 weights have in turns the lower and
// the upper half of 32 bytes.
static const unsigned char *q4_byte(const unsigned char *block, int i, int *shift)
{
    *shift = 4 * (i / 32 % 2);
    return block + 16 + i / 64 * 32 + i % 32;
}

static void put_q4_k(unsigned char *block, const int *q)
{
    int shift;
    memset(block + 16, 0, K_WEIGHTS / 2);
    for (int i = 0; i < K_WEIGHTS; i++) {
        size_t at = (size_t)(q4_byte(block, i, &shift) - block);
        block[at] = (unsigned char)(block[at] | q[i] << shift);
    }
}

static void quantize_q4_k(const double *w, unsigned char *block)
{
    double step[8], below[8], d = 0, m = 0;
    int scale[8], minimum[8], q[K_WEIGHTS];
    for (int run = 0; run < 8; run++) {
        double smallest = 0, largest = 0;
        for (int i = 0; i < Q4_K_RUN; i++) {
            smallest = fmin(smallest, w[run * Q4_K_RUN + i]);
            largest = fmax(largest, w[run * Q4_K_RUN + i]);
        }
        step[run] = (largest - smallest) / 15;
        below[run] = -smallest;
        d = fmax(d, step[run] / 63);
        m = fmax(m, below[run] / 63);
    }
    d = put_scale(block, ELEMENT_F16, 0, d);
    m = put_scale(block, ELEMENT_F16, 1, m);
    for (int run = 0; run < 8; run++) {
        scale[run] = clamp(d > 0 ? step[run] / d : 0, 0, 63);
        minimum[run] = clamp(m > 0 ? below[run] / m : 0, 0, 63);
    }
    for (int i = 0; i < K_WEIGHTS; i++) {
        double by = d * scale[i / Q4_K_RUN];
        q[i] = clamp(by > 0 ? (w[i] + m * minimum[i / Q4_K_RUN]) / by : 0, 0, 15);
    }
    put_sixes(block + 4, scale, minimum);
    put_q4_k(block, q);
}

// --- q6_K ---

// The bytes and shifts of a weight's lower four bits and its upper two. Each half of the block, 128
// weights, has 64 bytes of lower and 32 of upper bits.
struct six_places {
    int low, low_shift, high, high_shift;
};

static struct six_places q6_places(int i)
{
    int half = i / 128, quarter = i % 128 / 32, at = i % 32;
    return (struct six_places){64 * half + 32 * (quarter % 2) + at, 4 * (quarter / 2),
                               128 + 32 * half + at, 2 * quarter};
}

enum { Q6_SCALES = 192, Q6_D = 208 };

static void put_q6_k(unsigned char *block, const int *q)
{
    memset(block, 0, Q6_SCALES);
    for (int i = 0; i < K_WEIGHTS; i++) {
        struct six_places p = q6_places(i);
        block[p.low] = (unsigned char)(block[p.low] | (q[i] & 15) << p.low_shift);
        block[p.high] = (unsigned char)(block[p.high] | q[i] >> 4 << p.high_shift);
    }
}

static void quantize_q6_k(const double *w, unsigned char *block)
{
    double step[MOST_RUNS] = {0}, d = 0;
    int q[K_WEIGHTS], scale[MOST_RUNS];
    for (int i = 0; i < K_WEIGHTS; i++)
        step[i / Q6_K_RUN] = fmax(step[i / Q6_K_RUN], fabs(w[i]) / 31);
    for (int run = 0; run < MOST_RUNS; run++)
        d = fmax(d, step[run] / 127);
    d = put_scale(block + Q6_D, ELEMENT_F16, 0, d);
    for (int run = 0; run < MOST_RUNS; run++)
        scale[run] = clamp(d > 0 ? step[run] / d : 0, 0, 127);
    for (int i = 0; i < K_WEIGHTS; i++) {
        double by = d * scale[i / Q6_K_RUN];
        q[i] = clamp(by > 0 ? w[i] / by : 0, -32, 31) + Q6_ZERO;
    }
    put_q6_k(block, q);
    for (int run = 0; run < MOST_RUNS; run++)
        block[Q6_SCALES + run] = (unsigned char)scale[run];
}

// --- all formats ---

void block_get(const struct block_format *f, const void *block, double *weights)
{
    const unsigned char *bytes = block, *s = bytes + 4;
    int shift, scale[8], minimum[8], low, high;
    double d, m;
    switch (f->kind) {
    case BLOCK_Q4_K:
        d = get_scale(bytes, ELEMENT_F16, 0);
        m = get_scale(bytes, ELEMENT_F16, 1);
        for (int i = 0; i < 4; i++) { // see put_sixes
            scale[i] = s[i] & 63;
            minimum[i] = s[i + 4] & 63;
            scale[i + 4] = (s[i + 8] & 15) | s[i] >> 6 << 4;
            minimum[i + 4] = s[i + 8] >> 4 | s[i + 4] >> 6 << 4;
        }
        for (int i = 0; i < K_WEIGHTS; i++) {
            const unsigned char *byte = q4_byte(bytes, i, &shift);
            weights[i] =
                d * scale[i / Q4_K_RUN] * (*byte >> shift & 15) - m * minimum[i / Q4_K_RUN];
        }
        break;
    case BLOCK_Q6_K:
        d = get_scale(bytes + Q6_D, ELEMENT_F16, 0);
        for (int i = 0; i < K_WEIGHTS; i++) {
            struct six_places p = q6_places(i);
            int q = (bytes[p.low] >> p.low_shift & 15) | (bytes[p.high] >> p.high_shift & 3) << 4;
            weights[i] = d * (signed char)bytes[Q6_SCALES + i / Q6_K_RUN] * (q - Q6_ZERO);
        }
        break;
    default:
        d = get_scale(bytes, f->scale, 0);
        m = f->has_min ? get_scale(bytes, f->scale, 1) : 0;
        find_range(f, &low, &high);
        for (int i = 0; i < f->weights; i++) {
            int at = place_of(f, i, &shift), q = bytes[at] >> shift & ((1 << f->bits) - 1);
            q = q > high ? q - (1 << f->bits) : q;
            weights[i] = d * (q - f->zero) + m;
        }
    }
}

void block_quantize(const struct block_format *f, const double *weights, void *block)
{
    switch (f->kind) {
    case BLOCK_Q4_K: quantize_q4_k(weights, block); break;
    case BLOCK_Q6_K: quantize_q6_k(weights, block); break;
    default: quantize_plain(f, weights, block);
    }
}

// Draws 1, 1/2 or 1/4.
static double draw_scale(struct rng *r)
{
    return ldexp(1, -(int)rng_below(r, 3));
}

void block_draw(const struct block_format *f, struct rng *r, void *block)
{
    enum { NEAR = 8 }; // plain formats get only small integers, even with 8 bits
    unsigned char *bytes = block;
    int scale[8], minimum[8], q[K_WEIGHTS], low, high;
    double d;
    switch (f->kind) {
    case BLOCK_Q4_K:
        d = put_scale(bytes, ELEMENT_F16, 0, draw_scale(r) / 4);
        put_scale(bytes, ELEMENT_F16, 1, d);
        for (int run = 0; run < 8; run++) {
            scale[run] = 1 << rng_below(r, 3);
            minimum[run] = (int)rng_below(r, 64);
        }
        for (int i = 0; i < K_WEIGHTS; i++)
            q[i] = (int)rng_below(r, 16);
        put_sixes(bytes + 4, scale, minimum);
        put_q4_k(bytes, q);
        break;
    case BLOCK_Q6_K:
        for (int i = 0; i < K_WEIGHTS; i++)
            q[i] = (int)rng_below(r, 64);
        put_q6_k(bytes, q);
        put_scale(bytes + Q6_D, ELEMENT_F16, 0, draw_scale(r) / 8);
        for (int run = 0; run < MOST_RUNS; run++) {
            int one = 1 << rng_below(r, 2);
            bytes[Q6_SCALES + run] = (unsigned char)(rng_below(r, 2) ? one : -one);
        }
        break;
    default:
        d = put_scale(bytes, f->scale, 0, draw_scale(r));
        if (f->has_min)
            put_scale(bytes, f->scale, 1, -d * (double)rng_below(r, NEAR));
        find_range(f, &low, &high);
        low = f->zero - NEAR > low ? f->zero - NEAR : low;
        high = f->zero + NEAR < high ? f->zero + NEAR - 1 : high;
        for (int i = 0; i < f->weights; i++)
            put_integer(f, bytes, i, low + (int)rng_below(r, (uint64_t)(high - low + 1)));
    }
}
