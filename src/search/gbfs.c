// G-BFS (Zhang, Cheng, Zhang, Yang, Wang 2019): greedy best-first search from the untiled state.
//
// The fastest state in the queue is taken out, and at random rho of its neighbours are measured and
// queued. What the paper leaves open is settled so (mode=paper stays with what it says):
//
//  * The sample is drawn among neighbours that were never given, so that every round uses rho
//    trials; mode=paper draws among all and drops those that are known.
//  * A state of which neighbours are left goes back into the queue once its sample was measured;
//    mode=paper forgets it for ever, and misses states when rho is less than their neighbours.
//  * A state without new neighbours is no reason to end: the next is taken. The search ends with an
//    empty queue in mode=paper; else there is nothing left that could be reached, and it goes on
//    from a random state in what is left (custom graphs and rules may cut a space in pieces).
//  * Failures are queued behind everything, so that the search can cross a small region of them.
//    Of equal speed the newest comes first.
//  * While nothing was valid yet, the untiled state first of all, states are drawn at random, one
//    at a time.
//
// Rules: with legal=1, the default and the paper's J, only legal states are given or queued: a
// neighbour is drawn again while it is illegal, so the sample stays uniform over the legal ones.
// With legal=0 illegal ones are given as well, and are failures.
#include "search/actions.h"

#include <stdlib.h>

enum { OPTION_RHO, OPTION_MODE, OPTION_LEGAL };
enum { MODE_DEFAULT, MODE_PAPER };

struct gbfs {
    struct rounds rounds; // first: a strategy is a struct gbfs
    struct rng rng;
    int rho, mode;

    struct ranking queue;
    struct ranked expanded; // whose neighbours are being measured
    bool goes_back;         // to the queue, after them
    bool any_valid;
};

static struct strategy *create(const struct search_problem *problem, uint64_t seed,
                               const double *option, struct err *e)
{
    (void)e;
    struct gbfs *g = mem_zero(1, sizeof *g);
    rounds_init(&g->rounds, problem);
    g->rounds.visited.only_legal = problem->legal && option[OPTION_LEGAL] != 0;
    rng_seed(&g->rng, seed);
    g->rho = (int)option[OPTION_RHO];
    g->mode = (int)option[OPTION_MODE];
    ranking_init(&g->queue);
    return &g->rounds.base;
}

static bool is_legal(const struct gbfs *g, const struct config *c)
{
    const struct visited *v = &g->rounds.visited;
    return !v->only_legal || v->problem->legal(v->problem->context, c);
}

// Adds a sample of the neighbours of g->expanded.
static void expand(struct gbfs *g)
{
    const struct visited *v = &g->rounds.visited;
    struct config from, next;
    config_set_get(&v->given, g->expanded.index, &from);
    int origin[SPACE_MAX_PARAMS];
    for (int i = 0; i < SPACE_MAX_PARAMS; i++)
        origin[i] = g->expanded.index + 1;

    struct neighbours n;
    neighbours_init(&n, v->problem->space, &from);
    for (int sampled = 0; neighbours_draw(&n, &g->rng, &next);) {
        bool known = config_set_find(&v->given, &next) >= 0;
        if ((known && g->mode != MODE_PAPER) || !is_legal(g, &next))
            continue;
        if (sampled == g->rho) {
            g->goes_back = g->mode != MODE_PAPER;
            break;
        }
        sampled++;
        if (!known)
            rounds_add(&g->rounds, &next, origin);
    }
    neighbours_finish(&n);
}

static void make_round(void *self)
{
    struct gbfs *g = self;
    const struct config_set *given = &g->rounds.visited.given;
    int known = given->count;
    if (known == 0) {
        struct config c;
        actions_start(g->rounds.problem.space, &c);
        if (is_legal(g, &c))
            rounds_add(&g->rounds, &c, NULL);
        else
            rounds_draw(&g->rounds, &g->rng);
        rounds_add_warm(&g->rounds);
        return;
    }
    if (!g->any_valid) {
        rounds_draw(&g->rounds, &g->rng);
        return;
    }
    while (given->count == known && g->queue.count > 0) {
        g->expanded = ranking_pop(&g->queue);
        expand(g);
    }
    if (given->count == known && g->mode != MODE_PAPER)
        rounds_draw(&g->rounds, &g->rng);
}

static enum ask ask(struct strategy *s, struct config *out)
{
    struct gbfs *g = (struct gbfs *)s;
    return rounds_ask(&g->rounds, out, make_round, g);
}

static void tell(struct strategy *s, const struct config *c, enum outcome o, double fitness)
{
    struct gbfs *g = (struct gbfs *)s;
    struct rounds *r = &g->rounds;
    rounds_tell(s, c, o, fitness);
    int index = config_set_find(&r->visited.given, c);
    ranking_add(&g->queue, (struct ranked){fitness, index, rounds_generation(s)});
    g->any_valid = g->any_valid || fitness > 0;
    if (g->goes_back && r->told == r->visited.given.count) {
        ranking_add(&g->queue, g->expanded);
        g->goes_back = false;
    }
}

static int population(const struct strategy *s, int most, struct individual *out)
{
    const struct gbfs *g = (const struct gbfs *)s;
    return ranking_show(&g->queue, &g->rounds, most, out);
}

static void destroy(struct strategy *s)
{
    struct gbfs *g = (struct gbfs *)s;
    rounds_finish(&g->rounds);
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
    .create = create,
    .ask = ask,
    .tell = tell,
    .population = population,
    .generation = rounds_generation,
    .origin = rounds_origin,
    .destroy = destroy,
};
