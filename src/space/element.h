// Elements of buffers, of any type, as numbers: a double holds each of them exactly.
#ifndef TILEWALK_SPACE_ELEMENT_H
#define TILEWALK_SPACE_ELEMENT_H

#include "space/operation.h"

#include <stdint.h>

double element_get(const void *buffer, enum element e, int64_t index);
// Rounds to nearest, through float to half. An integer must fit.
void element_put(void *buffer, enum element e, int64_t index, double value);

// IEEE 754 binary16 ("half") to and from binary32, by hand: C11 has no such type.
//
//     float x = half_to_float(0x3c00);      1.0, exact for every half
//     uint16_t h = half_from_float(0.1f);   round to nearest, ties to even
//
// Layout: 1 sign bit, 5 exponent bits (bias 15), 10 fraction bits. The largest finite half is
// 65504; integers are exact up to 2048. A NaN stays a NaN, an overflow becomes an infinity.

float half_to_float(uint16_t h);
uint16_t half_from_float(float x);

#endif
