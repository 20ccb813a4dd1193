// Simulated annealing on the graphs of the parameters (Kirkpatrick, Gelatt, Vecchi 1983).
//
// A chain stands on a vertex and tries a random move: one parameter goes to a neighbour on its
// graph, or, with chance `jump`, to any value (if it has at most `reach` of them). The chain
// accepts a faster configuration, and a slower one with probability exp(-d / T), where d is the
// relative loss of time, t_new / t_old - 1, so that the unit of fitness does not matter. A failure
// is accepted from another failure alone, and every move from a failure is accepted. T begins at
// `heat` and is multiplied by `cooling` with every trial of the chain. The schedule does not depend
// on a budget, so a search of 100 trials is the beginning of one of 1000. A chain that rejected
// `patience` trials in a row is frozen; it restarts, hot, at a uniform draw.
//
// Jumps are half of the moves by default: on eight recorded spaces of kernels the graphs alone
// reach 0.91 of the optimum after 100 trials, with jumps it is 0.94.
//
// A move to a known vertex is decided at once and costs no trial. A move that ends on an illegal
// vertex goes on from there until it is legal again (moves.h). With several chains a batch has one
// trial of each.
#include "search/batches.h"
#include "search/moves.h"

#include <math.h>
#include <stdlib.h>

enum {
    OPTION_HEAT,
    OPTION_COOLING,
    OPTION_JUMP_LIMIT,
    OPTION_JUMP,
    OPTION_PATIENCE,
    OPTION_CHAINS
};
enum { FREE_MOVES = 1000 }; // moves to known vertices before a chain restarts

struct chain {
    int here;     // index of its configuration, -1: none yet
    int proposal; // index of its open trial, -1: none
    int rejected; // trials rejected in a row
    double heat;
};

struct annealing {
    struct batches batches; // first: a strategy is a struct annealing
    struct rng rng;
    double heat, cooling, jump;
    int jump_limit, patience, chains;
    struct chain *chain;
};

static void restart_chain(const struct annealing *a, struct chain *c)
{
    *c = (struct chain){.here = -1, .proposal = -1, .heat = a->heat};
}

// Decides by the rule of Metropolis. True: the chain has moved.
static bool accept(struct annealing *a, struct chain *c, int there)
{
    double chance = 1;
    if (c->here >= 0 && a->batches.fitness[c->here] > 0) {
        double new = a->batches.fitness[there], old = a->batches.fitness[c->here];
        chance = new > 0 ? exp(-(old / new - 1) / c->heat) : 0; // above 1 when it is faster
    }
    if (chance < 1 && rng_real(&a->rng) >= chance)
        return false;
    c->here = there;
    return true;
}

// Moves until a vertex is new, and proposes it. False: there is no move, or no new vertex was
// found.
static bool propose(struct annealing *a, struct chain *c)
{
    const struct search_problem *p = &a->batches.problem;
    const int most = archive_tries(&a->batches.archive, FREE_MOVES);
    for (int n = 0; n < most; n++) {
        struct config next;
        bool legal = false;
        config_set_get(&a->batches.archive.given, c->here, &next);
        for (int k = 0; k < most && !legal; k++) {
            int jump_limit = a->jump > 0 && rng_real(&a->rng) < a->jump ? a->jump_limit : 0;
            const struct config before = next;
            if (!moves_step(p->space, jump_limit, &a->rng, &next))
                return false;
            legal =
                archive_repair(&a->batches.archive, &before, &next) && search_is_legal(p, &next);
        }
        if (!legal)
            return false;
        int index = config_set_find(&a->batches.archive.given, &next);
        if (index < 0) {
            c->proposal = a->batches.archive.given.count;
            batches_add_child(&a->batches, &next, c->here);
            return true;
        }
        if (index < a->batches.handed_out) // else it is another chain's proposal of this batch
            accept(a, c, index);
    }
    return false;
}

static void annealing_make_batch(void *self)
{
    struct annealing *a = self;
    for (int i = 0; i < a->chains; i++) {
        struct chain *c = &a->chain[i];
        if (c->proposal < 0)
            continue;
        c->rejected = accept(a, c, c->proposal) ? 0 : c->rejected + 1;
        c->proposal = -1;
        c->heat *= a->cooling;
        if (c->rejected >= a->patience)
            restart_chain(a, c);
    }
    for (int i = 0; i < a->chains; i++) {
        struct chain *c = &a->chain[i];
        struct config warm;
        bool is_warm = archive_warm(&a->batches.archive, &warm), goes_on = c->here >= 0;
        if (goes_on && !is_warm && propose(a, c))
            continue;
        if (!goes_on || !is_warm)
            restart_chain(a, c);
        if (batches_draw(&a->batches, &a->rng))
            c->proposal = a->batches.archive.given.count - 1;
    }
}

static struct strategy *annealing_create(const struct search_problem *problem, uint64_t seed,
                                         const double *option, struct err *e)
{
    (void)e;
    struct annealing *a = mem_zero(1, sizeof *a);
    batches_init(&a->batches, problem, annealing_make_batch);
    rng_seed(&a->rng, seed);
    a->heat = option[OPTION_HEAT];
    a->cooling = option[OPTION_COOLING];
    a->jump_limit = (int)option[OPTION_JUMP_LIMIT];
    a->jump = option[OPTION_JUMP];
    a->patience = (int)option[OPTION_PATIENCE];
    a->chains = (int)option[OPTION_CHAINS];
    a->chain = mem_zero((size_t)a->chains, sizeof *a->chain);
    for (int i = 0; i < a->chains; i++)
        restart_chain(a, &a->chain[i]);
    return &a->batches.base;
}

static void annealing_destroy(struct strategy *s)
{
    struct annealing *a = (struct annealing *)s;
    batches_finish(&a->batches);
    free(a->chain);
    free(a);
}

static const struct spec_option options[] = {
    [OPTION_HEAT] = {"heat", "temperature at the start, as a relative loss", 0.1, 1e-6, 1e6, false},
    [OPTION_COOLING] = {"cooling", "factor of the temperature at each trial", 0.99, 0.5, 1, false},
    [OPTION_JUMP_LIMIT] = {"reach", "parameters of at most so many values may jump to any", 64, 0,
                           65536, true},
    [OPTION_JUMP] = {"jump", "chance that a move is such a jump", 0.5, 0, 1, false},
    [OPTION_PATIENCE] = {"patience", "trials without a step before a new start", 30, 1, 1000000,
                         true},
    [OPTION_CHAINS] = {"chains", "that take turns", 1, 1, 4096, true},
    {NULL},
};

const struct strategy_kind strategy_annealing = {
    .name = "annealing",
    .help = "simulated annealing on the graphs of the parameters",
    .options = options,
    .create = annealing_create,
    .ask = batches_ask,
    .tell = batches_tell,
    .origin = batches_origin,
    .destroy = annealing_destroy,
};
