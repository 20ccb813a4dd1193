#include "synthetic_landscapes.h"

#include "base/mem.h"
#include "bench.h"
#include "spaces.h"
#include "trial/source.h"

#include <math.h>
#include <stdlib.h>

#define STEEPNESS    4.0  // quality at the mean distance 1 from the preferred values is exp(-this)
#define SPREAD       1.0  // of the logarithms of the weights
#define PULL         0.5  // most that an earlier parameter moves a preferred value
#define SWITCHED_OFF 0.35 // fall of the logarithm of quality where a switch is off

enum { SAMPLES = 2000, PARENTS = 2 };

const struct landscape_kind landscape_kinds[LANDSCAPES] = {
    {.name = "interact-7", .sizes = {2, 3, 4, 4, 4, 5, 8}},
    {.name = "trap-7", .is_trap = true, .sizes = {2, 2, 4, 4, 4, 5, 8}},
    {.name = "fails-10", .fails = 0.35, .sizes = {2, 2, 3, 4, 4, 4, 4, 5, 8, 8}},
    {.name = "plateau-14",
     .levels = 20,
     .illegal = 0.75,
     .sizes = {2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 4, 5, 7}},
    {.name = "switch-21", .switches = 3, .sizes = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3,
                                                   3, 3, 3, 3, 4, 4, 4, 5, 8, 16}},
    {.name = "trap-11",
     .held_out = true,
     .is_trap = true,
     .sizes = {2, 2, 3, 4, 4, 8, 8, 8, 8, 8, 16}},
    {.name = "plateau-9", .held_out = true, .levels = 12, .sizes = {2, 2, 3, 3, 4, 4, 4, 5, 6}},
    {.name = "noise-10", .held_out = true, .noise = 0.04, .sizes = {2, 2, 3, 4, 4, 4, 4, 5, 8, 8}},
    {.name = "interact-14",
     .held_out = true,
     .illegal = 0.75,
     .sizes = {2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 4, 5, 7}},
    {.name = "fails-21", .held_out = true, .fails = 0.25, .noise = 0.02, .sizes = {2, 2, 2, 2, 2, 2,
                                                                                   2, 2, 2, 2, 3, 3,
                                                                                   3, 3, 3, 4, 4, 4,
                                                                                   5, 8, 16}},
};

// A part of the space: where a weighted sum of the values is above a limit.
struct region {
    double weight[SPACE_MAX_PARAMS];
    double limit;
};

struct landscape {
    const struct landscape_kind *kind;
    struct space *space;
    struct search_problem problem;
    struct source *trap; // NULL: it is none
    struct config optimum;
    double weight[SPACE_MAX_PARAMS];
    double preferred[SPACE_MAX_PARAMS]; // where the parents have their middle values, in [0, 1]
    int parent[SPACE_MAX_PARAMS][PARENTS];
    double pull[SPACE_MAX_PARAMS][PARENTS];
    int group[SPACE_MAX_PARAMS]; // the switch that it belongs to; -1: none
    struct region illegal, fails;
};

// Returns the value of a parameter, in [0, 1].
static double place(const struct landscape *l, const struct config *c, int param)
{
    return c->slot[param] / fmax(1, l->kind->sizes[param] - 1);
}

// Returns the preferred value, given those of the earlier parameters.
static int preferred(const struct landscape *l, const struct config *c, int param)
{
    double at = l->preferred[param];
    int most = l->kind->sizes[param] - 1;
    for (int k = 0; k < PARENTS && param > 0; k++)
        at += l->pull[param][k] * (place(l, c, l->parent[param][k]) - 0.5);
    return (int)lround(fmin(fmax(at, 0), 1) * most);
}

static bool is_on(const struct landscape *l, const struct config *c, int param)
{
    int group = l->group[param];
    return group < 0 || group == param || c->slot[group] == 1;
}

// --- making one ---

static double sum_of(const struct landscape *l, const struct region *r, const struct config *c)
{
    double sum = 0;
    for (int i = 0; i < l->space->param_count; i++)
        sum += r->weight[i] * place(l, c, i);
    return sum;
}

static int compare_doubles(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// The optimum is outside of the region, and every second parameter is better where it is nearer.
static void make_region(const struct landscape *l, double share, struct rng *r, struct region *out)
{
    double sum[SAMPLES];
    for (int i = 0; i < l->space->param_count; i++) {
        bool is_low = place(l, &l->optimum, i) <= 0.5, away = i % 2 || rng_below(r, 2);
        out->weight[i] = (away == is_low ? 1 : -1) * rng_real(r);
    }
    for (int i = 0; i < SAMPLES; i++) {
        struct config c;
        space_sample(l->space, r, &c);
        sum[i] = sum_of(l, out, &c);
    }
    qsort(sum, SAMPLES, sizeof *sum, compare_doubles);
    int kept = (int)(SAMPLES * (1 - share));
    out->limit = share > 0 ? fmax(sum[kept], sum_of(l, out, &l->optimum)) : INFINITY;
}

static bool is_legal(void *context, const struct config *c)
{
    const struct landscape *l = context;
    return sum_of(l, &l->illegal, c) <= l->illegal.limit;
}

// Draws a number of about a normal distribution.
static double draw_normal(struct rng *r)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += rng_real(r);
    return sum;
}

static void make_preferences(struct landscape *l, struct rng *r)
{
    double sum = 0;
    int params = l->space->param_count, switches = l->kind->switches;
    for (int i = 0; i < params; i++) {
        sum += l->weight[i] = exp(SPREAD * draw_normal(r));
        l->preferred[i] = rng_real(r);
        l->group[i] = i < switches        ? i
                      : switches && i % 2 ? (int)rng_below(r, (uint64_t)switches)
                                          : -1;
        for (int k = 0; k < PARENTS && i > 0; k++) {
            l->parent[i][k] = (int)rng_below(r, (uint64_t)i);
            l->pull[i][k] = PULL * (2 * rng_real(r) - 1);
        }
    }
    for (int i = 0; i < params; i++) {
        l->weight[i] *= STEEPNESS / sum;
        l->optimum.slot[i] = i < switches ? 1 : preferred(l, &l->optimum, i);
    }
}

struct landscape *landscape_create(const struct landscape_kind *kind, uint64_t seed)
{
    struct err e;
    struct rng r;
    struct landscape *l = mem_zero(1, sizeof *l);
    char name[32];
    l->kind = kind;
    l->space = space_create(kind->name);
    for (int i = 0; kind->sizes[i]; i++) {
        snprintf(name, sizeof name, "p%d", i);
        add_discrete(l->space, name, kind->sizes[i]);
    }
    sealed(l->space);
    l->problem = (struct search_problem){.space = l->space, .legal = is_legal, .context = l};
    snprintf(name, sizeof name, "trap:seed=%d", (int)seed);
    l->trap = kind->is_trap ? synthetic_create(name, l->space, 1, 1, &e) : NULL;
    if (kind->is_trap && !l->trap)
        bench_fail("no trap", &e);
    rng_seed(&r, seed);
    make_preferences(l, &r);
    make_region(l, kind->illegal, &r, &l->illegal);
    make_region(l, kind->fails, &r, &l->fails);
    return l;
}

void landscape_destroy(struct landscape *l)
{
    if (l->trap)
        source_destroy(l->trap);
    space_destroy(l->space);
    free(l);
}

const struct search_problem *landscape_problem(const struct landscape *l)
{
    return &l->problem;
}

// --- what a point is worth ---

double landscape_quality(const struct landscape *l, const struct config *c)
{
    double fall = 0;
    if (l->trap)
        return synthetic_quality(l->trap, c, NULL);
    if (sum_of(l, &l->fails, c) > l->fails.limit)
        return 0;
    for (int i = 0; i < l->space->param_count; i++) {
        double apart = abs(c->slot[i] - preferred(l, c, i)) / fmax(1, l->kind->sizes[i] - 1);
        if (i < l->kind->switches)
            fall += c->slot[i] == 1 ? 0 : SWITCHED_OFF;
        else if (is_on(l, c, i))
            fall += l->weight[i] * apart;
    }
    double quality = exp(-fall);
    return l->kind->levels ? floor(quality * l->kind->levels + 1e-9) / l->kind->levels : quality;
}

double landscape_measure(const struct landscape *l, const struct config *c, struct rng *r)
{
    double quality = landscape_quality(l, c);
    return l->kind->noise > 0 ? quality * exp(l->kind->noise * draw_normal(r)) : quality;
}
