// Grid search: all points in the order of the space's index; the last parameter changes fastest.
//
// Skips illegal points, and combinations that are no points of a conditional space. Counts with one
// digit per parameter, so any size of space works, even beyond 2^64. A run of 2^22 illegal points
// ends the search (a smaller space is always searched to the end).
//
// The legal points of a sparse space come in the order in which they were built (legal.h);
// where they could not be built, they are drawn, each once.
#include "search/archive.h"

#include <stdlib.h>

enum { ILLEGAL_RUN = 1 << 22 };

struct grid {
    struct strategy base; // first: a strategy is a struct grid
    struct search_problem problem;
    uint64_t digit[SPACE_MAX_PARAMS];
    struct config point; // the next point, of these digits
    int warm;            // number of warm points proposed or skipped
    bool done;
    uint64_t next;          // number of the next legal point of a sparse space
    struct archive archive; // of one whose legal points are drawn
    struct rng rng;
};

static void set_digit(struct grid *g, int i, uint64_t digit)
{
    const struct param *p = &g->problem.space->param[i];
    g->digit[i] = digit;
    param_value(p, digit, g->point.slot + p->offset);
}

static struct strategy *grid_create(const struct search_problem *problem, uint64_t seed,
                                    const double *option, struct err *e)
{
    (void)option;
    (void)e;
    struct grid *g = mem_zero(1, sizeof *g);
    g->problem = *problem;
    archive_init(&g->archive, &g->problem, true);
    rng_seed(&g->rng, seed);
    for (int i = 0; i < problem->space->param_count; i++)
        set_digit(g, i, 0);
    return &g->base;
}

// Returns true if `c` is a legal point that is not among the first `warm` warm points.
static bool is_proposed(const struct grid *g, int warm, const struct config *c)
{
    int i = 0;
    while (i < warm && !config_equal(&g->problem.warm[i], c))
        i++;
    return i == warm && space_is_settled(g->problem.space, c) && search_is_legal(&g->problem, c);
}

// Gives the next point of a sparse space.
static enum ask ask_sparse(struct grid *g, struct config *out)
{
    if (!legal_is_built(g->problem.sparse)) {
        if (!archive_draw(&g->archive, &g->rng, out))
            return ASK_EXHAUSTED;
        archive_add(&g->archive, out);
        return ASK_NEW;
    }
    while (legal_point(g->problem.sparse, g->next, out)) {
        g->next++;
        if (is_proposed(g, g->warm, out))
            return ASK_NEW;
    }
    return ASK_EXHAUSTED;
}

static enum ask grid_ask(struct strategy *s, struct config *out)
{
    struct grid *g = (struct grid *)s;
    if (g->problem.sparse && !legal_is_built(g->problem.sparse))
        return ask_sparse(g, out);
    while (g->warm < g->problem.warm_count) {
        *out = g->problem.warm[g->warm++];
        if (is_proposed(g, g->warm - 1, out))
            return ASK_NEW;
    }
    if (g->problem.sparse)
        return ask_sparse(g, out);
    for (int run = 0; run < ILLEGAL_RUN && !g->done; run++) {
        *out = g->point;
        int i = g->problem.space->param_count - 1;
        while (i >= 0 && g->digit[i] + 1 == g->problem.space->param[i].size)
            set_digit(g, i--, 0);
        if (i >= 0)
            set_digit(g, i, g->digit[i] + 1);
        else
            g->done = true;
        if (is_proposed(g, g->warm, out))
            return ASK_NEW;
    }
    return ASK_EXHAUSTED;
}

static void grid_destroy(struct strategy *s)
{
    struct grid *g = (struct grid *)s;
    archive_finish(&g->archive);
    free(g);
}

static const struct spec_option options[] = {{NULL}};

const struct strategy_kind strategy_grid = {
    .name = "grid",
    .help = "all points in order, illegal ones left out",
    .options = options,
    .create = grid_create,
    .ask = grid_ask,
    .destroy = grid_destroy,
};
