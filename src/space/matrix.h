// Matrix units: what the invocations of a subgroup can multiply and add together, C += A B with A
// of m x k, B of k x n and C of m x n elements.
//
// Vulkan has them twice: VK_KHR_cooperative_matrix, and VK_NV_cooperative_matrix, which came first.
// A device may have both; which one kernels use depends on the compiler too (see devices.h).
#ifndef TILEWALK_SPACE_MATRIX_H
#define TILEWALK_SPACE_MATRIX_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

#define MATRIX_MAX_SHAPES 24

enum matrix_api { MATRIX_NONE, MATRIX_NV, MATRIX_KHR, MATRIX_API_COUNT };

struct matrix_shape {
    uint16_t m, n, k;
    char input[4], sum[4]; // elements of A and B, of C: "f16" and "f16" or "f32", "i8" and "i32"
};

struct matrix_units {
    enum matrix_api api; // MATRIX_NONE exactly when there is no shape
    int count;
    struct matrix_shape shape[MATRIX_MAX_SHAPES];
};

const char *matrix_api_name(enum matrix_api api); // "none", "nv", "khr"

// A shape that is there already, or one too many, is left out.
void matrix_units_add(struct matrix_units *u, const struct matrix_shape *s);

// "16x8x16 f16 f32"
void matrix_shape_add_text(const struct matrix_shape *s, struct str *out);

// As one word for records and messages: "khr 16x16x16.f16.f32 16x8x16.f16.f16", "none".
void matrix_units_add_text(const struct matrix_units *u, struct str *out);
bool matrix_units_parse(const char *text, struct matrix_units *out);

#endif
