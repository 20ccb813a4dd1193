#include "base/rng.h"

#include <assert.h>

static uint64_t rotate_left(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

void rng_seed(struct rng *r, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        // splitmix64 (Steele, Lea, Flood 2014) spreads a seed over the state, which must not be
        // all zero.
        uint64_t z = seed += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        r->state[i] = z ^ (z >> 31);
    }
}

struct rng rng_split(struct rng *r)
{
    struct rng stream;
    rng_seed(&stream, rng_next(r));
    return stream;
}

// xoshiro256** (Blackman, Vigna 2018)
uint64_t rng_next(struct rng *r)
{
    uint64_t *s = r->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

// Cuts the 2^64 numbers into runs of n and draws again when it hits the last, shorter run: a whole
// run starts at 2^64 - n at the latest.
uint64_t rng_below(struct rng *r, uint64_t n)
{
    assert(n > 0);
    uint64_t x, rest;
    do {
        x = rng_next(r);
        rest = x % n;
    } while (x - rest > -n);
    return rest;
}

double rng_real(struct rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}

size_t rng_weighted(struct rng *r, size_t n, const double *weight)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += weight[i];
    assert(sum > 0);

    double left = rng_real(r) * sum;
    size_t drawn = n;
    for (size_t i = 0; i < n; i++) {
        if (weight[i] <= 0)
            continue;
        drawn = i; // rounding may leave a rest after the last weight: then the last one is drawn
        if (left < weight[i])
            break;
        left -= weight[i];
    }
    return drawn;
}
