#include "trial/trap.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FALL 0.7 // of quality from an end to where every parameter is far off

enum { SAMPLES = 1000, TRIES = 1000 };

// About how many steps the farthest values are apart.
static int diameter(const struct param *p)
{
    switch (p->kind) {
    case PARAM_CATEGORICAL: return 1;
    case PARAM_PERMUTATION: return p->width - 1;
    case PARAM_FACTORIZATION: {
        int steps = 0;
        for (int i = 0; i < p->prime_count; i++)
            steps += p->exponent[i];
        return steps;
    }
    default: return (int)p->size - 1;
    }
}

// In [0, 1].
static double distance(const struct trap *t, const struct config *a, const struct config *b)
{
    double sum = 0;
    for (int i = 0; i < t->space->param_count; i++) {
        const struct param *p = &t->space->param[i];
        int steps = param_distance(p, a->slot + p->offset, b->slot + p->offset);
        sum += steps < 0 ? t->weight[i] : steps * t->step[i];
    }
    return sum;
}

static double quality_by_ends(const struct trap *t, const struct config *c)
{
    double nearest = 1;
    for (int i = 0; i < TRAP_ENDS; i++)
        nearest = fmin(nearest, distance(t, c, &t->end[i]));
    return TRAP_END - FALL * nearest;
}

double trap_quality(const struct trap *t, const struct config *c)
{
    return fmax(quality_by_ends(t, c), 1 - t->steepness * distance(t, c, &t->optimum));
}

// Another value of every one of TRAP_APART parameters that have one.
static void move_away(const struct space *s, struct rng *r, struct config *c)
{
    int order[SPACE_MAX_PARAMS], moved = 0;
    for (int i = 0; i < s->param_count; i++) {
        int k = (int)rng_below(r, (uint64_t)i + 1);
        order[i] = order[k];
        order[k] = i;
    }
    for (int i = 0; i < s->param_count && moved < TRAP_APART; i++) {
        const struct param *p = &s->param[order[i]];
        const struct config old = *c;
        for (int n = 0; n < TRIES && p->size > 1 && config_equal(c, &old); n++) {
            param_sample(p, r, c->slot + p->offset);
            space_settle(s, c);
        }
        moved += p->size > 1;
    }
}

static void place_end(struct trap *t, struct rng *r, struct config *end)
{
    for (int n = 0; n < TRIES; n++) {
        struct verdict v;
        *end = t->optimum;
        move_away(t->space, r, end);
        if (space_judge(t->space, NULL, end, &v, NULL) && v.legal)
            return;
    }
}

// Where the steepest climb by single steps leads.
static struct config climb(const struct trap *t, struct config c)
{
    double quality = trap_quality(t, &c), before = 0;
    while (quality > before) {
        const struct config here = c;
        before = quality;
        for (int k = 0; k < space_degree(t->space, &here); k++) {
            struct config next;
            space_neighbour(t->space, &here, k, &next);
            double q = trap_quality(t, &next);
            if (q > quality) {
                quality = q;
                c = next;
            }
        }
    }
    return c;
}

// Of `count` points those stay, in front, whose climbs lead to the optimum. Returns how many.
static int keep_free(const struct trap *t, struct config *from, int count)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        struct config end = climb(t, from[i]);
        if (config_equal(&end, &t->optimum))
            from[kept++] = from[i];
    }
    return kept;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// With this steepness so many of the points are on the slope of the optimum, and not of an end.
// More climb it: from next to it, too.
static double gentle(const struct trap *t, const struct config *c, int count)
{
    double *foot = mem_zero((size_t)count, sizeof *foot);
    for (int i = 0; i < count; i++)
        foot[i] = (1 - quality_by_ends(t, &c[i])) / fmax(distance(t, &c[i], &t->optimum), 1e-9);
    qsort(foot, (size_t)count, sizeof *foot, by_value);
    double at = foot[(int)(count * (1 - TRAP_SHARE))];
    free(foot);
    return at;
}

// The steeper, the fewer lead there.
static void steepen(struct trap *t, struct rng *r)
{
    struct config *from = mem_zero(SAMPLES, sizeof *from);
    for (int i = 0; i < SAMPLES; i++)
        space_sample(t->space, r, &from[i]);
    t->steepness = gentle(t, from, SAMPLES);
    for (int left = SAMPLES; (left = keep_free(t, from, left)) > SAMPLES * TRAP_SHARE;)
        t->steepness *= 1.02;
    free(from);
}

void trap_init(struct trap *t, const struct space *space, const struct config *optimum,
               uint64_t seed)
{
    double sum = 0;
    struct rng r;
    rng_seed(&r, seed);
    *t = (struct trap){.space = space, .optimum = *optimum};
    for (int i = 0; i < space->param_count; i++)
        sum += t->weight[i] = 0.5 + rng_real(&r);
    for (int i = 0; i < space->param_count; i++)
        t->step[i] = (t->weight[i] /= sum) / fmax(diameter(&space->param[i]), 1);
    for (int i = 0; i < TRAP_ENDS; i++)
        place_end(t, &r, &t->end[i]);
    steepen(t, &r);
}
