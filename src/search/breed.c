#include "search/breed.h"

#include "search/moves.h"

#include <string.h>

static const double TILES = 0.9; // share of mutations

static bool is_tile(const struct param *p)
{
    return p->kind == PARAM_FACTORIZATION;
}

// A uniform one of the live parameters that have a second value and are tiles, or are not. NULL:
// none.
static const struct param *choose(const struct space *s, const struct config *c, bool tile,
                                  struct rng *r)
{
    const struct param *chosen = NULL;
    uint64_t seen = 0;
    for (int i = 0; i < s->param_count; i++)
        if (is_tile(&s->param[i]) == tile && s->param[i].size > 1 && space_is_live(s, c, i) &&
            rng_below(r, ++seen) == 0)
            chosen = &s->param[i];
    return chosen;
}

// Uniform among the divisors of `part`, which is not 1, but 1.
static int32_t draw_divisor(const struct param *p, int32_t part, struct rng *r)
{
    int times[PARAM_MAX_PRIMES], divisors = 1;
    for (int m = 0; m < p->prime_count; m++) {
        times[m] = 0;
        for (int32_t rest = part; rest % p->prime[m] == 0; rest /= p->prime[m])
            times[m]++;
        divisors *= times[m] + 1;
    }
    int index = 1 + (int)rng_below(r, (uint64_t)divisors - 1);
    int32_t divisor = 1;
    for (int m = 0; m < p->prime_count; index /= times[m++] + 1)
        for (int n = index % (times[m] + 1); n > 0; n--)
            divisor *= p->prime[m];
    return divisor;
}

static void mutate_tile(const struct param *p, struct rng *r, int32_t *v)
{
    int order[PARAM_MAX_WIDTH], from = 0;
    for (int i = 0; i < p->width; i++) {
        int j = (int)rng_below(r, (uint64_t)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    while (v[order[from]] == 1)
        from++;
    int32_t divisor = draw_divisor(p, v[order[from]], r);
    v[order[from]] /= divisor;
    v[order[(from + 1) % p->width]] *= divisor;
}

bool breed_mutate(const struct space *s, struct rng *r, struct config *c)
{
    const struct param *tile = choose(s, c, true, r), *other = choose(s, c, false, r);
    if (!other || (tile && rng_real(r) < TILES)) {
        if (tile)
            mutate_tile(tile, r, c->slot + tile->offset);
        return tile;
    }
    if (!tile && rng_real(r) < TILES)
        return moves_step(s, 0, r, c);
    param_sample(other, r, c->slot + other->offset);
    space_settle(s, c);
    return true;
}

void breed_cross(const struct space *s, struct rng *r, const struct config *a,
                 const struct config *b, struct config *out)
{
    *out = *a;
    for (int i = 0; i < s->param_count; i++) {
        const struct param *p = &s->param[i];
        if (rng_below(r, 2))
            memcpy(out->slot + p->offset, b->slot + p->offset,
                   (size_t)p->width * sizeof *out->slot);
    }
    space_settle(s, out);
}
