#include "search/evolution.h"

#include "base/mem.h"
#include "search/moves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TILES = 0.9; // share of the mutations that change a tile
enum { TRIES = 4, CHUNK = 256 }; // children made for one wanted, at most; programs scored at once

// Chooses uniformly among the live parameters with a second value that are tiles, or that are not.
// NULL: there is none.
static const struct param *choose(const struct space *s, const struct config *c, bool tile,
                                  struct rng *r)
{
    const struct param *chosen = NULL;
    uint64_t seen = 0;
    for (int i = 0; i < s->param_count; i++)
        if ((s->param[i].kind == PARAM_FACTORIZATION) == tile && s->param[i].size > 1 &&
            space_is_live(s, c, i) && rng_below(r, ++seen) == 0)
            chosen = &s->param[i];
    return chosen;
}

bool breed_mutate(const struct space *s, struct rng *r, struct config *c)
{
    const struct param *tile = choose(s, c, true, r), *other = choose(s, c, false, r);
    if (!other || (tile && rng_real(r) < TILES)) {
        if (tile) {
            int32_t *v = c->slot + tile->offset;
            int order[PARAM_MAX_WIDTH], from = 0;
            for (int i = 0; i < tile->width; i++) {
                int j = (int)rng_below(r, (uint64_t)i + 1);
                order[i] = order[j];
                order[j] = i;
            }
            while (v[order[from]] == 1)
                from++;
            // Draws uniformly among the divisors of `part` except 1.
            int32_t part = v[order[from]];
            int times[PARAM_MAX_PRIMES], divisors = 1;
            for (int m = 0; m < tile->prime_count; m++) {
                times[m] = 0;
                for (int32_t rest = part; rest % tile->prime[m] == 0; rest /= tile->prime[m])
                    times[m]++;
                divisors *= times[m] + 1;
            }
            int index = 1 + (int)rng_below(r, (uint64_t)divisors - 1);
            int32_t divisor = 1;
            for (int m = 0; m < tile->prime_count; index /= times[m++] + 1)
                for (int n = index % (times[m] + 1); n > 0; n--)
                    divisor *= tile->prime[m];
            v[order[from]] /= divisor;
            v[order[(from + 1) % tile->width]] *= divisor;
        }
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

void evolution_add(struct evolution *v, const struct config *c)
{
    MEM_GROW(v->member, v->members, v->member_capacity);
    v->member[v->members++] = config_set_add(&v->pool, c, NULL);
}

static void score_new(struct evolution *v)
{
    struct config c[CHUNK];
    while (v->scored < v->pool.count) {
        int count = 0;
        for (; count < CHUNK && v->scored + count < v->pool.count; count++) {
            config_set_get(&v->pool, v->scored + count, &c[count]);
            MEM_GROW(v->value, v->scored + count, v->value_capacity);
        }
        v->score(v->self, c, count, v->value + v->scored);
        v->scored += count;
    }
}

static void draw_parent(const struct evolution *v, const double *sum, struct config *out)
{
    double at = rng_real(v->rng) * sum[v->members - 1];
    int low = 0, high = v->members - 1; // the first whose sum is above `at`
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (sum[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    config_set_get(&v->pool, v->member[low], out);
}

void evolution_run(struct evolution *v, const atomic_bool *stop)
{
    score_new(v);
    for (int g = 0; g < v->generations && v->members > 0 && !*stop; g++) {
        // Running sums of the members' chances.
        double *sum = mem_zero((size_t)v->members, sizeof *sum), total = 0;
        for (int i = 0; i < v->members; i++)
            sum[i] = total += fmax(0, (double)v->value[v->member[i]]);
        for (int i = 0; i < v->members && total <= 0; i++)
            sum[i] = i + 1;
        int *child = mem_zero((size_t)v->population, sizeof *child), children = 0;
        for (int n = 0; n < v->population * TRIES && children < v->population; n++) {
            struct config c, first, second;
            bool made = true;
            draw_parent(v, sum, &first);
            c = first;
            if (rng_real(v->rng) < v->crossover) {
                draw_parent(v, sum, &second);
                breed_cross(v->space, v->rng, &first, &second, &c);
            } else if (rng_real(v->rng) < v->mutation) {
                made = breed_mutate(v->space, v->rng, &c);
            }
            if (made && (config_set_find(&v->pool, &c) >= 0 || v->legal(v->self, &c)))
                child[children++] = config_set_add(&v->pool, &c, NULL);
        }
        free(sum);
        free(v->member);
        v->member = child;
        v->members = children;
        v->member_capacity = v->population;
        score_new(v);
    }
}

struct place {
    float value;
    int index;
};

static int evolution_best_first(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

void evolution_rank(const struct evolution *v, int *order)
{
    struct place *all = mem_zero((size_t)v->pool.count, sizeof *all);
    for (int i = 0; i < v->pool.count; i++)
        all[i] = (struct place){v->value[i], i};
    if (v->pool.count)
        qsort(all, (size_t)v->pool.count, sizeof *all, evolution_best_first);
    for (int i = 0; i < v->pool.count; i++)
        order[i] = all[i].index;
    free(all);
}

void evolution_finish(struct evolution *v)
{
    config_set_finish(&v->pool);
    free(v->value);
    free(v->member);
}
