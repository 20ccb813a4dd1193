#include "space/tensor.h"

#include "base/number.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define ELEMENT_TRAITS(e, ...) [ELEMENT_##e] = {__VA_ARGS__},

const struct element_traits element_traits[ELEMENT_COUNT] = {ELEMENTS(ELEMENT_TRAITS)};

const struct element_float element_floats[ELEMENT_COUNT] = {
    [ELEMENT_BF16] = {"bfloat16_t", "GL_EXT_bfloat16", "uintBitsToBFloat16EXT"},
    [ELEMENT_F8E4M3] = {"floate4m3_t", "GL_EXT_float_e4m3", "uintBitsToFloate4m3EXT"},
    [ELEMENT_F8E5M2] = {"floate5m2_t", "GL_EXT_float_e5m2", "uintBitsToFloate5m2EXT"},
};

const char *element_name(enum element e)
{
    return element_traits[e].name;
}

enum element element_named(const char *name)
{
    int e = 0;
    while (e < ELEMENT_COUNT && strcmp(name, element_name((enum element)e)) != 0)
        e++;
    return (enum element)e;
}

int element_bytes(enum element e)
{
    return element_traits[e].bytes;
}

bool element_is_real(enum element e)
{
    return element_traits[e].exponent > 0;
}

bool element_is_bits(enum element e)
{
    return element_is_real(e) && element_traits[e].scalar[0] == 'u';
}

static bool is_signed(enum element e)
{
    return element_traits[e].exponent || element_traits[e].fraction % 8;
}

double element_least(enum element e)
{
    double most = element_most(e);
    return !is_signed(e) ? 0 : element_is_real(e) ? -most : -most - 1;
}

double element_saturated(enum element e, double x)
{
    bool saturates = element_is_real(e) && element_bytes(e) == 1 && !isnan(x);
    return saturates ? fmin(fmax(x, element_least(e)), element_most(e)) : x;
}

double element_exact(enum element e)
{
    double beyond = ldexp(1, element_traits[e].fraction + element_is_real(e));
    return element_is_real(e) ? beyond : beyond > 0x1p53 ? nextafter(beyond, 0) : beyond - 1;
}

int64_t tensor_count(const struct tensor *t)
{
    int64_t count = 1;
    for (int d = 0; d < t->rank; d++)
        count = times_signed(count, t->size[d]);
    return count;
}

int64_t tensor_extent(const struct tensor *t)
{
    int64_t extent = 1;
    for (int d = 0; d < t->rank; d++) {
        int64_t here = times_signed(t->size[d], t->stride[d]);
        extent = here > extent ? here : extent;
    }
    return extent;
}

uint64_t tensor_bytes(const struct tensor *t)
{
    uint64_t count = (uint64_t)tensor_extent(t), bytes = (uint64_t)element_bytes(t->element);
    return count > (UINT64_MAX - 3) / bytes ? UINT64_MAX - 3 : (count * bytes + 3) / 4 * 4;
}

int64_t tensor_lines(const struct tensor *t)
{
    return tensor_count(t) / t->size[t->rank - 1];
}

int64_t tensor_line(const struct tensor *t, int64_t line)
{
    int64_t offset = 0;
    for (int d = t->rank - 2; d >= 0; d--) {
        offset += line % t->size[d] * t->stride[d];
        line /= t->size[d];
    }
    return offset;
}

// Divides by the strides, from the largest to the smallest: since no two elements have the same
// offset, the quotients are the indices. Dimensions of one element may have any stride and do not
// matter.
bool tensor_has(const struct tensor *t, int64_t offset)
{
    for (int64_t limit = INT64_MAX;;) {
        int next = -1; // the dimension with the largest stride below `limit`
        for (int d = 0; d < t->rank; d++)
            if (t->stride[d] < limit && (next < 0 || t->stride[d] > t->stride[next]))
                next = d;
        if (next < 0)
            return offset == 0;
        limit = t->stride[next];
        int64_t size = 1; // of dimensions with equal strides at most one has more than one element
        for (int d = 0; d < t->rank; d++)
            if (t->stride[d] == limit && t->size[d] > size)
                size = t->size[d];
        if (size > 1 && offset / limit >= size)
            return false;
        if (size > 1)
            offset %= limit;
    }
}

struct tensor tensor_packed(const char *name, enum element element, int rank, const int64_t *size)
{
    struct tensor t = {.name = name, .element = element, .rank = rank};
    int64_t stride = 1;
    for (int d = rank - 1; d >= 0; d--) {
        t.size[d] = size[d];
        t.stride[d] = stride;
        stride = times_signed(stride, size[d]);
    }
    return t;
}

// --- elements as numbers ---

uint64_t element_limit(enum element e)
{
    const struct element_traits *t = &element_traits[e];
    uint64_t exponents = ((uint64_t)1 << t->exponent) - 1;
    return (exponents << t->fraction) + (e == ELEMENT_F8E4M3 ? 7 : 0);
}

static int bias_of(const struct element_traits *t)
{
    return (1 << (t->exponent - 1)) - 1;
}

// Returns the number with these bits, a float that C has no type for.
static double real_of(enum element e, uint32_t bits)
{
    const struct element_traits *t = &element_traits[e];
    uint32_t sign = bits >> (8 * t->bytes - 1), magnitude = bits ^ sign << (8 * t->bytes - 1);
    uint32_t exponent = magnitude >> t->fraction, one = 1u << t->fraction;
    uint32_t significand = (magnitude & (one - 1)) + (exponent ? one : 0);
    double value = ldexp(significand, (exponent ? (int)exponent : 1) - bias_of(t) - t->fraction);
    if (magnitude >= element_limit(e))
        value =
            magnitude > element_limit(e) || e == ELEMENT_F8E4M3 ? (double)NAN : (double)INFINITY;
    return sign ? -value : value;
}

// Returns the bits of the nearest one, of two the even one. A carry out of the fraction increases
// the exponent, also to infinity.
static uint32_t bits_of(enum element e, double x)
{
    const struct element_traits *t = &element_traits[e];
    uint32_t sign = (uint32_t)(signbit(x) != 0) << (8 * t->bytes - 1),
             limit = (uint32_t)element_limit(e);
    double magnitude = fabs(x);
    if (isnan(x))
        return sign | limit | 1u << (t->fraction - 1);
    if (isinf(x))
        return sign | limit;
    int least = 1 - bias_of(t), exponent = magnitude > 0 ? ilogb(magnitude) : least;
    if (exponent > bias_of(t) + 1)
        return sign | limit;
    exponent = exponent < least ? least : exponent;
    double significand = nearbyint(ldexp(magnitude, t->fraction - exponent));
    uint32_t bits = ((uint32_t)(exponent - least) << t->fraction) + (uint32_t)significand;
    return sign | (bits < limit ? bits : limit);
}

double element_most(enum element e)
{
    switch (e) {
    case ELEMENT_F32: return FLT_MAX;
    case ELEMENT_F64: return DBL_MAX;
    default:
        return element_is_real(e) ? real_of(e, (uint32_t)element_limit(e) - 1) : element_exact(e);
    }
}

float half_to_float(uint16_t h)
{
    return (float)real_of(ELEMENT_F16, h);
}

uint16_t half_from_float(float x)
{
    return (uint16_t)bits_of(ELEMENT_F16, (double)x);
}

double element_get(const void *buffer, enum element e, int64_t index)
{
    switch (e) {
    case ELEMENT_F32: return (double)((const float *)buffer)[index];
    case ELEMENT_F64: return ((const double *)buffer)[index];
    case ELEMENT_I8: return ((const int8_t *)buffer)[index];
    case ELEMENT_I16: return ((const int16_t *)buffer)[index];
    case ELEMENT_I32: return ((const int32_t *)buffer)[index];
    case ELEMENT_I64: return (double)((const int64_t *)buffer)[index];
    case ELEMENT_U8: return ((const uint8_t *)buffer)[index];
    case ELEMENT_U16: return ((const uint16_t *)buffer)[index];
    case ELEMENT_U32: return ((const uint32_t *)buffer)[index];
    case ELEMENT_U64: return (double)((const uint64_t *)buffer)[index];
    default: break;
    }
    return real_of(e, element_bytes(e) == 1 ? ((const uint8_t *)buffer)[index]
                                            : ((const uint16_t *)buffer)[index]);
}

// Whole numbers are cut to their bytes.
void element_put(void *buffer, enum element e, int64_t index, double value)
{
    uint64_t bits;
    if (e == ELEMENT_F32) {
        ((float *)buffer)[index] = (float)value;
        return;
    }
    if (e == ELEMENT_F64) {
        ((double *)buffer)[index] = value;
        return;
    }
    if (element_is_real(e))
        bits = bits_of(e, (double)(float)value);
    else
        bits = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
    switch (element_bytes(e)) {
    case 1: ((uint8_t *)buffer)[index] = (uint8_t)bits; break;
    case 2: ((uint16_t *)buffer)[index] = (uint16_t)bits; break;
    case 4: ((uint32_t *)buffer)[index] = (uint32_t)bits; break;
    default: ((uint64_t *)buffer)[index] = bits; break;
    }
}

void element_move(void *to, int64_t index, const void *from, int64_t from_index, enum element e)
{
    int bytes = element_bytes(e);
    memcpy((char *)to + index * bytes, (const char *)from + from_index * bytes, (size_t)bytes);
}

double element_distance(const void *a, const void *b, enum element e, int64_t index)
{
    if (element_is_real(e) || element_bytes(e) < 8)
        return fabs(element_get(a, e, index) - element_get(b, e, index));
    uint64_t x = ((const uint64_t *)a)[index], y = ((const uint64_t *)b)[index];
    bool is_less = e == ELEMENT_I64 ? (int64_t)x < (int64_t)y : x < y;
    return (double)(is_less ? y - x : x - y);
}
