// G-BFS (Zhang, Cheng, Zhang, Yang, Wang 2019): greedy best-first search from the untiled state.
//
// The fastest state is taken out of the queue, and rho random neighbours of it are measured and
// queued. The paper leaves some points open. These are our choices (mode=paper follows the paper):
//
// * The sample is drawn among neighbours that are not in the archive, so that every batch uses rho
//    trials; mode=paper draws among all neighbours and drops the known ones.
// * A state that has neighbours left returns to the queue after its sample was measured; mode=paper
//    forgets it, and misses states when rho is less than the number of their neighbours.
// * If a state has no new neighbours, the next state is taken. With an empty queue mode=paper ends;
//    else the search continues from a random new state (custom graphs and rules may divide a space
//    into unconnected parts).
// * Failures are queued behind everything, so that the search can cross a small region of them.
//    Of equal speed the newest comes first.
// * Until a state is valid, states are drawn at random, one at a time; the untiled state is the
//    first.
//
// Rules: with legal=1, the default and the paper's J, only legal states are proposed or queued. An
// illegal neighbour is drawn again, so the sample stays uniform over the legal ones. With legal=0
// illegal states are proposed too, and are failures.
#include "search/actions.h"

#include <stdlib.h>

enum { OPTION_RHO, OPTION_MODE, OPTION_LEGAL };
enum { MODE_DEFAULT, MODE_PAPER };

struct gbfs {
    struct batches batches; // first: a strategy is a struct gbfs
    struct rng rng;
    int rho, mode;

    struct ranking queue;
    struct ranked expanded; // its neighbours are being measured
    bool goes_back;         // `expanded` returns to the queue after them
    bool any_valid;
};

// Adds a sample of the neighbours of g->expanded.
static void expand(struct gbfs *g)
{
    const struct archive *v = &g->batches.archive;
    struct config from, next;
    config_set_get(&v->given, g->expanded.index, &from);
    struct neighbours n;
    neighbours_init(&n, v->problem->space, &from);
    for (int sampled = 0; neighbours_draw(&n, &g->rng, &next);) {
        if (!archive_repair(v, &from, &next))
            continue;
        bool known = config_set_find(&v->given, &next) >= 0;
        if ((known && g->mode != MODE_PAPER) || !archive_permits(v, &next))
            continue;
        if (sampled == g->rho) {
            g->goes_back = g->mode != MODE_PAPER;
            break;
        }
        sampled++;
        if (!known)
            batches_add_child(&g->batches, &next, g->expanded.index);
    }
    neighbours_finish(&n);
}

static void gbfs_make_batch(void *self)
{
    struct gbfs *g = self;
    const struct config_set *given = &g->batches.archive.given;
    int known = given->count;
    if (known == 0) {
        struct config c;
        actions_start(g->batches.problem.space, &c);
        if (archive_permits(&g->batches.archive, &c))
            batches_add(&g->batches, &c, NULL);
        else
            batches_draw(&g->batches, &g->rng);
        batches_add_warm(&g->batches);
        return;
    }
    if (!g->any_valid) {
        batches_draw(&g->batches, &g->rng);
        return;
    }
    while (given->count == known && g->queue.count > 0) {
        g->expanded = ranking_pop(&g->queue);
        expand(g);
    }
    if (given->count == known && g->mode != MODE_PAPER)
        batches_draw(&g->batches, &g->rng);
}

static struct strategy *gbfs_create(const struct search_problem *problem, uint64_t seed,
                                    const double *option, struct err *e)
{
    (void)e;
    struct gbfs *g = mem_zero(1, sizeof *g);
    batches_init(&g->batches, problem, gbfs_make_batch);
    g->batches.archive.only_legal =
        problem->legal && (option[OPTION_LEGAL] != 0 || search_is_sparse(problem));
    rng_seed(&g->rng, seed);
    g->rho = (int)option[OPTION_RHO];
    g->mode = (int)option[OPTION_MODE];
    ranking_init(&g->queue);
    return &g->batches.base;
}

static void gbfs_tell(struct strategy *s, const struct config *c, enum outcome o, double fitness)
{
    struct gbfs *g = (struct gbfs *)s;
    struct batches *r = &g->batches;
    batches_tell(s, c, o, fitness);
    int index = config_set_find(&r->archive.given, c);
    ranking_add(&g->queue, (struct ranked){fitness, index, batches_generation(s)});
    g->any_valid = g->any_valid || fitness > 0;
    if (g->goes_back && r->observed == r->archive.given.count) {
        ranking_add(&g->queue, g->expanded);
        g->goes_back = false;
    }
}

static int gbfs_population(const struct strategy *s, int most, struct individual *out)
{
    const struct gbfs *g = (const struct gbfs *)s;
    return ranking_show(&g->queue, &g->batches, most, out);
}

static void gbfs_destroy(struct strategy *s)
{
    struct gbfs *g = (struct gbfs *)s;
    batches_finish(&g->batches);
    ranking_finish(&g->queue);
    free(g);
}

static const char *const modes[] = {
    [MODE_DEFAULT] = "default",
    [MODE_PAPER] = "paper",
    NULL,
};

static const struct spec_option options[] = {
    [OPTION_RHO] = {"rho", "neighbours measured in a round", 5, 1, 65536, true},
    [OPTION_MODE] = {"mode", "paper: forget states once expanded", 0, 0, 1, true, modes},
    [OPTION_LEGAL] = {"legal", "1: walk on legal states alone", 1, 0, 1, true},
    {NULL},
};

const struct strategy_kind strategy_gbfs = {
    .name = "gbfs",
    .help = "greedy best-first search from the untiled state",
    .options = options,
    .create = gbfs_create,
    .ask = batches_ask,
    .tell = gbfs_tell,
    .population = gbfs_population,
    .generation = batches_generation,
    .origin = batches_origin,
    .destroy = gbfs_destroy,
};
