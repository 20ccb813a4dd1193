// The smaller and the larger of two numbers, and one held within bounds.
//
//     top = int_clamp(top, 0, count - rows);
//
// Where the bounds cross (there are fewer items than rows) the low one holds, so that an index
// never gets below its first place. A NaN compares as not smaller and not larger: of it and another
// number the second is taken.
#ifndef TILEWALK_BASE_MINMAX_H
#define TILEWALK_BASE_MINMAX_H

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

#endif
