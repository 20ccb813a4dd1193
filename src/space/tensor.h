// Tensors: elements of a type, and how they lie in memory.
#ifndef TILEWALK_SPACE_TENSOR_H
#define TILEWALK_SPACE_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

#define TENSOR_MAX_RANK 4

enum element { ELEMENT_F32, ELEMENT_F16, ELEMENT_I8, ELEMENT_I32, ELEMENT_COUNT };

const char *element_name(enum element e);     // "f32"
enum element element_named(const char *name); // ELEMENT_COUNT: no type has the name
int element_bytes(enum element e);            // 4

struct tensor {
    const char *name; // "A", "bias"
    enum element element;
    int rank;
    int64_t size[TENSOR_MAX_RANK];   // slowest first
    int64_t stride[TENSOR_MAX_RANK]; // in elements; no two elements have the same offset
};

int64_t tensor_count(const struct tensor *t);  // elements; saturates at 2^63-1
int64_t tensor_extent(const struct tensor *t); // elements and the gaps between them
uint64_t tensor_bytes(const struct tensor *t); // its buffer's, gaps included, a multiple of 4
// A line of a tensor is the elements along the last dimension.
int64_t tensor_lines(const struct tensor *t);
int64_t tensor_line(const struct tensor *t, int64_t line); // the offset of its first element
bool tensor_has(const struct tensor *t, int64_t offset);   // false in a gap
// Returns a tensor without gaps.
struct tensor tensor_packed(const char *name, enum element element, int rank, const int64_t *size);

// --- elements as numbers: a double holds each of them exactly ---

double element_get(const void *buffer, enum element e, int64_t index);
// Rounds to nearest, through float to half. An integer must fit.
void element_put(void *buffer, enum element e, int64_t index, double value);

// Conversion of IEEE 754 binary16 ("half") to and from binary32, by hand: C11 has no such type.
//
//     float x = half_to_float(0x3c00);      1.0, exact for every half
//     uint16_t h = half_from_float(0.1f);   round to nearest, ties to even
//
// Layout: 1 sign bit, 5 exponent bits (bias 15), 10 fraction bits. The largest finite half is
// 65504; integers are exact up to 2048. A NaN stays a NaN, an overflow becomes an infinity.

float half_to_float(uint16_t h);
uint16_t half_from_float(float x);

#endif
