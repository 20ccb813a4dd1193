// Counts the work of one invocation of a compute shader by running it. Control flow and whole
// numbers are computed; floating-point numbers and the contents of memory are unknown.
//
//     struct spirv_count n;
//     spirv_count(&spirv, 32, &n, e);    of invocation 0 of workgroup 0; adds to what `n` has
//
// Operations on matrices, which the `lanes` invocations of a subgroup share, count by their share.
//
// Supports the instructions of the shipped shaders as glslang compiles them. An unsupported
// instruction, and a branch that depends on an unknown value, is an error.
#ifndef TILEWALK_TESTS_SPIRV_COUNT_H
#define TILEWALK_TESTS_SPIRV_COUNT_H

#include "kernel/kernel.h"

enum spirv_memory { SPIRV_SHARED, SPIRV_GLOBAL, SPIRV_MEMORIES };

struct spirv_count {
    // Floating-point operations, each component one: additions and subtractions, multiplications,
    // divisions, comparisons (minima and maxima too), other functions.
    double add, multiply, divide, compare, special;
    double integer; // additions, multiplications, minima and maxima of signed whole numbers
    double read[SPIRV_MEMORIES], written[SPIRV_MEMORIES]; // bytes
    // Iterations of loops that are not to be unrolled, where there is more than one.
    double trips;
    double shared_bytes;    // that the module declares
    uint32_t local_size[3]; // of the last module
};

bool spirv_count(const struct spirv *s, int lanes, struct spirv_count *n, struct err *e);

#endif
