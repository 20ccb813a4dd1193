#include "space/element.h"

#include <math.h>
#include <string.h>

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

// Drops `shift` low bits, 1 .. 31, rounding to nearest, ties to even.
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
    if (exponent > 0) // a carry out of the fraction goes where it belongs, also into infinity
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
