#include "space/tensor.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    int bytes;
} elements[ELEMENT_COUNT] = {
    [ELEMENT_F32] = {"f32", 4},
    [ELEMENT_F16] = {"f16", 2},
    [ELEMENT_I8] = {"i8", 1},
    [ELEMENT_I32] = {"i32", 4},
};

const char *element_name(enum element e)
{
    return elements[e].name;
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
    return elements[e].bytes;
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
    uint64_t count = (uint64_t)tensor_extent(t), bytes = (uint64_t)elements[t->element].bytes;
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

enum {
    HALF_INFINITY = 0x7c00,
    HALF_NAN = 0x7e00,
    FRACTION_SHIFT = 23 - 10,
    BIAS_DIFFERENCE = 127 - 15,
};

float half_to_float(uint16_t h)
{
    int exponent = (h >> 10) & 31, fraction = h & 1023;
    float magnitude;
    if (exponent == 31)
        magnitude = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        magnitude = ldexpf((float)fraction, -24);
    else
        magnitude = ldexpf((float)(1024 + fraction), exponent - 25);
    return h & 0x8000 ? -magnitude : magnitude;
}

// Drops `shift` low bits, 1 .. 31, and rounds to nearest, ties to even.
static uint32_t round_off(uint32_t bits, int shift)
{
    uint32_t half = 1u << (shift - 1), rest = bits & (2 * half - 1), kept = bits >> shift;
    return kept + (rest > half || (rest == half && (kept & 1)));
}

uint16_t half_from_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    uint32_t magnitude = bits & 0x7fffffff;
    int exponent = (int)(magnitude >> 23) - BIAS_DIFFERENCE;
    if (isnan(x))
        return sign | HALF_NAN;
    if (exponent >= 31)
        return sign | HALF_INFINITY;
    if (exponent > 0) // a carry out of the fraction increases the exponent, also to infinity
        return sign |
               (uint16_t)round_off(magnitude - ((uint32_t)BIAS_DIFFERENCE << 23), FRACTION_SHIFT);
    if (exponent < -10) // below half of the smallest subnormal
        return sign;
    uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
    return sign | (uint16_t)round_off(significand, FRACTION_SHIFT + 1 - exponent);
}

double element_get(const void *buffer, enum element e, int64_t index)
{
    switch (e) {
    case ELEMENT_F16: return (double)half_to_float(((const uint16_t *)buffer)[index]);
    case ELEMENT_I8: return ((const int8_t *)buffer)[index];
    case ELEMENT_I32: return ((const int32_t *)buffer)[index];
    case ELEMENT_F32:
    case ELEMENT_COUNT: break;
    }
    return (double)((const float *)buffer)[index];
}

void element_put(void *buffer, enum element e, int64_t index, double value)
{
    switch (e) {
    case ELEMENT_F32: ((float *)buffer)[index] = (float)value; break;
    case ELEMENT_F16: ((uint16_t *)buffer)[index] = half_from_float((float)value); break;
    case ELEMENT_I8: ((int8_t *)buffer)[index] = (int8_t)value; break;
    case ELEMENT_I32: ((int32_t *)buffer)[index] = (int32_t)value; break;
    case ELEMENT_COUNT: break;
    }
}
