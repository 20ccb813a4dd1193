#include "model/feature_kind.h"

#include <math.h>
#include <string.h>

// log2 of x >= 1: the exponent, and of a mantissa m within 2^-1/2 and 2^1/2 the first terms of
// 2 / ln 2 * artanh((m - 1) / (m + 1)). No call and no branch, so that a row goes through vectors.
static inline float log2_of(float x)
{
    const uint32_t least_mantissa = 0x3f3504f3; // 2^-1/2
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits -= least_mantissa;
    float exponent = (float)(int32_t)(bits >> 23);
    bits = (bits & 0x7fffff) + least_mantissa;
    float m;
    memcpy(&m, &bits, sizeof m);
    float s = (m - 1) / (m + 1), square = s * s;
    return exponent +
           s * (2.885390082f +
                square * (0.961796694f + square * (0.577078016f + square * 0.41219859f)));
}

void feature_log(int count, float *x)
{
    for (int i = 0; i < count; i++)
        x[i] = copysignf(log2_of(fabsf(x[i]) + 1), x[i]);
}
