// Products that saturate at the largest number instead of overflowing, for sizes that a user may
// choose freely and that are then compared with a limit.
#ifndef TILEWALK_BASE_TIMES_H
#define TILEWALK_BASE_TIMES_H

#include <stdint.h>

static inline uint64_t times_unsigned(uint64_t a, uint64_t b)
{
    return a && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

// Neither is negative.
static inline int64_t times_signed(int64_t a, int64_t b)
{
    return a && b > INT64_MAX / a ? INT64_MAX : a * b;
}

#endif
