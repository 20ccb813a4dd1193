// GLSL that makes floats of the bits of bf16, f8e4m3 and f8e5m2 (space/tensor.h), which whole
// numbers hold.
//
//     decoder_write(ELEMENT_F8E4M3, &text);
//
// writes functions float_of_f8e4m3 that take a uint, a uvec2 or a uvec4 and return a float or as
// many. Every number comes out exact, infinities and NaNs as such. An exponent is moved to where a
// float has it and given a float's bias; with the exponent 0 the fraction is a number of its own;
// what is no finite number gets the bias twice, and so a float's last exponent.
#ifndef TILEWALK_DEFINE_DECODER_H
#define TILEWALK_DEFINE_DECODER_H

#include "base/str.h"
#include "space/tensor.h"

// Writes nothing for an element that GLSL knows.
void decoder_write(enum element e, struct str *out);
// Writes the other way, a function bits_of_f8e4m3 that takes a float and returns a uint. It rounds
// to nearest, ties to even; what is too large becomes infinity, in 8 bits the largest number (OCP's
// "saturating" conversion, ONNX's default).
void encoder_write(enum element e, struct str *out);

#endif
