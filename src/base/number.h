// Small arithmetic: the smaller and the larger of two numbers, one held within bounds, products
// that saturate, medians.
//
//     top = int_clamp(top, 0, count - rows);
//
// Where the bounds cross (there are fewer items than rows) the low one holds, so that an index
// never gets below its first place. A NaN compares as not smaller and not larger: of a NaN and
// another number the second argument is taken.
#ifndef TILEWALK_BASE_NUMBER_H
#define TILEWALK_BASE_NUMBER_H

#include <stdint.h>

static inline int int_min(int a, int b)
{
    return a < b ? a : b;
}

static inline int int_max(int a, int b)
{
    return a > b ? a : b;
}

static inline int int_clamp(int value, int low, int high)
{
    return int_max(int_min(value, high), low);
}

static inline int64_t int64_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t int64_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t int64_clamp(int64_t value, int64_t low, int64_t high)
{
    return int64_max(int64_min(value, high), low);
}

static inline uint64_t uint64_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t uint64_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline double double_min(double a, double b)
{
    return a < b ? a : b;
}

static inline double double_max(double a, double b)
{
    return a > b ? a : b;
}

// Products that saturate at the largest number instead of overflowing, for sizes that a user may
// choose freely and that are then compared with a limit.
static inline uint64_t times_unsigned(uint64_t a, uint64_t b)
{
    return a && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

// Neither number may be negative.
static inline int64_t times_signed(int64_t a, int64_t b)
{
    return a && b > INT64_MAX / a ? INT64_MAX : a * b;
}

void median_sort(double *x, int64_t count);           // ascending; `x` may be NULL if count is 0
double median_sorted(const double *x, int64_t count); // of sorted numbers, at least one
double median_of(double *x, int64_t count);           // sorts them

// Returns the greatest number that divides both; one of them is not 0.
static inline uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
