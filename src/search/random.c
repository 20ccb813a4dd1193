// Uniform random search without repetition: the baseline. It ignores all results, proposes illegal
// points like any other, and ends when it has proposed the whole space.
#include "search/archive.h"

#include <stdlib.h>

struct random {
    struct strategy base; // first: a strategy is a struct random
    struct search_problem problem;
    struct archive archive;
    struct rng rng;
};

static struct strategy *random_create(const struct search_problem *problem, uint64_t seed,
                                      const double *option, struct err *e)
{
    (void)option;
    (void)e;
    struct random *r = mem_zero(1, sizeof *r);
    r->problem = *problem;
    archive_init(&r->archive, &r->problem, false);
    rng_seed(&r->rng, seed);
    return &r->base;
}

static enum ask random_ask(struct strategy *s, struct config *out)
{
    struct random *r = (struct random *)s;
    if (!archive_draw(&r->archive, &r->rng, out))
        return ASK_EXHAUSTED;
    archive_add(&r->archive, out);
    return ASK_NEW;
}

static void random_destroy(struct strategy *s)
{
    struct random *r = (struct random *)s;
    archive_finish(&r->archive);
    free(r);
}

static const struct spec_option options[] = {{NULL}};

const struct strategy_kind strategy_random = {
    .name = "random",
    .help = "uniform random search without repetition",
    .options = options,
    .create = random_create,
    .ask = random_ask,
    .destroy = random_destroy,
};
