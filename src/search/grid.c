// Grid search: all points in the order of the space's index, the last parameter changing fastest.
//
// Illegal points are passed over. It counts with one digit a parameter, so the size of the space
// is of no matter: nothing is allocated, and an index past 2^64 is as good as any. A run of
// illegal points longer than 2^24 ends it (a smaller space is always searched to the end).
#include "search/strategy.h"

#include <stdlib.h>

enum { ILLEGAL_RUN = 1 << 24 };

struct grid {
    struct strategy base; // first: a strategy is a struct grid
    struct search_problem problem;
    uint64_t digit[SPACE_MAX_PARAMS]; // of the next point
    bool done;
};

static struct strategy *create(const struct search_problem *problem, uint64_t seed,
                               const double *option, struct err *e)
{
    (void)seed;
    (void)option;
    (void)e;
    struct grid *g = mem_zero(1, sizeof *g);
    g->problem = *problem;
    return &g->base;
}

static void advance(struct grid *g)
{
    const struct space *s = g->problem.space;
    int i = s->param_count - 1;
    while (i >= 0 && ++g->digit[i] == s->param[i].size)
        g->digit[i--] = 0;
    g->done = i < 0;
}

static void point(const struct grid *g, struct config *out)
{
    *out = (struct config){0};
    for (int i = 0; i < g->problem.space->param_count; i++) {
        const struct param *p = &g->problem.space->param[i];
        param_value(p, g->digit[i], out->slot + p->offset);
    }
}

static enum ask ask(struct strategy *s, struct config *out)
{
    struct grid *g = (struct grid *)s;
    for (int run = 0; run < ILLEGAL_RUN && !g->done; run++) {
        point(g, out);
        advance(g);
        if (!g->problem.legal || g->problem.legal(g->problem.context, out))
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

static const struct strategy_option options[] = {{NULL}};

const struct strategy_kind strategy_grid = {
    .name = "grid",
    .help = "all points in order, illegal ones left out",
    .options = options,
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = destroy,
};
