// Uniform random search without repetition: the baseline. It never looks at what it is told,
// proposes illegal points like any other, and ends when the whole space was given.
#include "search/visited.h"

#include <stdlib.h>

struct random {
    struct strategy base; // first: a strategy is a struct random
    struct search_problem problem;
    struct visited visited;
    struct rng rng;
};

static struct strategy *create(const struct search_problem *problem, uint64_t seed,
                               const double *option, struct err *e)
{
    (void)option;
    (void)e;
    struct random *r = mem_zero(1, sizeof *r);
    r->problem = *problem;
    visited_init(&r->visited, &r->problem, false);
    rng_seed(&r->rng, seed);
    return &r->base;
}

static enum ask ask(struct strategy *s, struct config *out)
{
    struct random *r = (struct random *)s;
    if (!visited_draw(&r->visited, &r->rng, out))
        return ASK_EXHAUSTED;
    visited_add(&r->visited, out);
    return ASK_NEW;
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
    struct random *r = (struct random *)s;
    visited_finish(&r->visited);
    free(r);
}

static const struct spec_option options[] = {{NULL}};

const struct strategy_kind strategy_random = {
    .name = "random",
    .help = "uniform random search without repetition",
    .options = options,
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = destroy,
};
