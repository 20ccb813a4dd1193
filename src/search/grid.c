// Grid search: all points in the order of the space's index, the last parameter changing fastest.
//
// Illegal points are passed over, and what are no points of a conditional space. It counts with one
// digit a parameter, so the size of the space is of no matter: nothing is allocated, and an index
// past 2^64 is as good as any. A run of 2^22 illegal points ends it (a smaller space is always
// searched to the end).
#include "search/strategy.h"

#include <stdlib.h>

enum { ILLEGAL_RUN = 1 << 22 };

struct grid {
    struct strategy base; // first: a strategy is a struct grid
    struct search_problem problem;
    uint64_t digit[SPACE_MAX_PARAMS];
    struct config point; // of these digits: the next one
    int warm;            // warm points that were given or passed over
    bool done;
};

static void set_digit(struct grid *g, int i, uint64_t digit)
{
    const struct param *p = &g->problem.space->param[i];
    g->digit[i] = digit;
    param_value(p, digit, g->point.slot + p->offset);
}

static struct strategy *create(const struct search_problem *problem, uint64_t seed,
                               const double *option, struct err *e)
{
    (void)seed;
    (void)option;
    (void)e;
    struct grid *g = mem_zero(1, sizeof *g);
    g->problem = *problem;
    for (int i = 0; i < problem->space->param_count; i++)
        set_digit(g, i, 0);
    return &g->base;
}

// Whether `c` is among the first `count` warm points.
static bool is_warm(const struct grid *g, int count, const struct config *c)
{
    int i = 0;
    while (i < count && !config_equal(&g->problem.warm[i], c))
        i++;
    return i < count;
}

static bool is_legal(const struct grid *g, const struct config *c)
{
    return space_is_settled(g->problem.space, c) &&
           (!g->problem.legal || g->problem.legal(g->problem.context, c));
}

static enum ask ask(struct strategy *s, struct config *out)
{
    struct grid *g = (struct grid *)s;
    while (g->warm < g->problem.warm_count) {
        *out = g->problem.warm[g->warm++];
        if (!is_warm(g, g->warm - 1, out) && is_legal(g, out))
            return ASK_NEW;
    }
    for (int run = 0; run < ILLEGAL_RUN && !g->done; run++) {
        *out = g->point;
        int i = g->problem.space->param_count - 1;
        while (i >= 0 && g->digit[i] + 1 == g->problem.space->param[i].size)
            set_digit(g, i--, 0);
        if (i >= 0)
            set_digit(g, i, g->digit[i] + 1);
        else
            g->done = true;
        if (!is_warm(g, g->warm, out) && is_legal(g, out))
            return ASK_NEW;
    }
    return ASK_EXHAUSTED;
}

static void tell(struct strategy *s, const struct config *c, enum outcome o, double fitness)
{
    (void)s;
    (void)c;
    (void)o;
    (void)fitness;
}

static void destroy(struct strategy *s)
{
    free(s);
}

static const struct spec_option options[] = {{NULL}};

const struct strategy_kind strategy_grid = {
    .name = "grid",
    .help = "all points in order, illegal ones left out",
    .options = options,
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = destroy,
};
