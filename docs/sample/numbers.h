// Numbers as they lie in buffers: f32, f16 (16 bits), i8 and i32.
#ifndef TILEWALK_SAMPLE_NUMBERS_H
#define TILEWALK_SAMPLE_NUMBERS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *what)
{
    fprintf(stderr, "run: %s\n", what);
    exit(EXIT_FAILURE);
}

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory)
        die("out of memory");
    return memory;
}

// --- numbers ------------------------------------------------------------------------------------

enum number { F32, F16, I8, I32 };

static size_t number_bytes(enum number type)
{
    return type == F16 ? 2 : type == I8 ? 1 : 4;
}

static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31;
    double part = bits & 1023;
    double value = exponent == 31  ? (part > 0 ? NAN : INFINITY)
                   : exponent == 0 ? ldexp(part, -24)
                                   : ldexp(1024 + part, exponent - 25);
    return bits & 0x8000 ? -value : value;
}

static double number_at(const void *array, enum number type, size_t i)
{
    switch (type) {
    case F32: return ((const float *)array)[i];
    case F16: return half_value(((const uint16_t *)array)[i]);
    case I8: return ((const int8_t *)array)[i];
    case I32: return ((const int32_t *)array)[i];
    }
    return NAN;
}

#endif
