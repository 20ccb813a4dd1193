// Simulated annealing on the graphs of the parameters (Kirkpatrick, Gelatt, Vecchi 1983).
//
// A chain stands on a vertex and looks at a random move: one parameter to a neighbour on its graph,
// or, with chance `jump`, to any value within `reach`. It goes there when that is faster, and else
// with probability exp(-d / T), where d is the relative loss of time, t_new / t_old - 1, so that
// the unit of fitness does not matter. What failed is always left, whatever comes next, and gone to
// from another failure alone. T begins at `heat` and is multiplied by `cooling` with every trial of
// the chain: the schedule knows no budget, so a search of 100 trials is the beginning of one of
// 1000. After `patience` trials in a row without a step a chain is frozen; it starts anew, hot, at
// a uniform draw.
//
// Jumps are half of the moves by default: on eight recorded spaces of kernels the graphs alone
// reach 0.91 of the optimum after 100 trials, with jumps it is 0.94.
//
// Moves to vertices that are known already are decided at once and cost no trial. A move that would
// end on something illegal goes on from there until it is out again (moves.h). With several chains
// a round is one trial of each.
#include "search/moves.h"
#include "search/rounds.h"

#include <math.h>
#include <stdlib.h>

enum { OPTION_HEAT, OPTION_COOLING, OPTION_REACH, OPTION_JUMP, OPTION_PATIENCE, OPTION_CHAINS };
enum { FREE_MOVES = 1000 }; // among known vertices before a chain starts anew

struct chain {
    int here;     // index of where it stands, -1: nowhere yet
    int proposal; // index of what it asked last, -1: nothing
    int cold;     // trials since it last took a step
    double heat;
};

struct annealing {
    struct rounds rounds; // first: a strategy is a struct annealing
    struct rng rng;
    double heat, cooling, jump;
    int reach, patience, chains;
    struct chain *chain;
};

static void start_anew(const struct annealing *a, struct chain *c)
{
    *c = (struct chain){.here = -1, .proposal = -1, .heat = a->heat};
}

static struct strategy *create(const struct search_problem *problem, uint64_t seed,
                               const double *option, struct err *e)
{
    (void)e;
    struct annealing *a = mem_zero(1, sizeof *a);
    rounds_init(&a->rounds, problem);
    rng_seed(&a->rng, seed);
    a->heat = option[OPTION_HEAT];
    a->cooling = option[OPTION_COOLING];
    a->reach = (int)option[OPTION_REACH];
    a->jump = option[OPTION_JUMP];
    a->patience = (int)option[OPTION_PATIENCE];
    a->chains = (int)option[OPTION_CHAINS];
    a->chain = mem_zero((size_t)a->chains, sizeof *a->chain);
    for (int i = 0; i < a->chains; i++)
        start_anew(a, &a->chain[i]);
    return &a->rounds.base;
}

// Metropolis. True: the chain stands there now.
static bool decide(struct annealing *a, struct chain *c, int there)
{
    double chance = 1;
    if (c->here >= 0 && a->rounds.fitness[c->here] > 0) {
        double new = a->rounds.fitness[there], old = a->rounds.fitness[c->here];
        chance = new > 0 ? exp(-(old / new - 1) / c->heat) : 0; // above 1 when it is faster
    }
    if (chance < 1 && rng_real(&a->rng) >= chance)
        return false;
    c->here = there;
    return true;
}

static bool legal(const struct search_problem *p, const struct config *c)
{
    return !p->legal || p->legal(p->context, c);
}

// A move from where the chain stands. False: none was found, or there is none.
static bool draw_move(struct annealing *a, const struct chain *c, struct config *out)
{
    config_set_get(&a->rounds.visited.given, c->here, out);
    for (int n = 0; n < FREE_MOVES; n++) {
        int reach = a->jump > 0 && rng_real(&a->rng) < a->jump ? a->reach : 0;
        if (!moves_step(a->rounds.problem.space, reach, &a->rng, out))
            return false;
        if (legal(&a->rounds.problem, out))
            return true;
    }
    return false;
}

// Moves among known vertices until one is new. False: it went round in circles.
static bool propose(struct annealing *a, struct chain *c)
{
    struct config move;
    for (int n = 0; n < FREE_MOVES && draw_move(a, c, &move); n++) {
        int index = config_set_find(&a->rounds.visited.given, &move);
        if (index < 0) {
            int from[SPACE_MAX_PARAMS];
            for (int i = 0; i < a->rounds.problem.space->param_count; i++)
                from[i] = c->here + 1;
            c->proposal = a->rounds.visited.given.count;
            rounds_add(&a->rounds, &move, from);
            return true;
        }
        if (index < a->rounds.handed_out) // not another chain's proposal of this round
            decide(a, c, index);
    }
    return false;
}

static void make_round(void *self)
{
    struct annealing *a = self;
    for (int i = 0; i < a->chains; i++) {
        if (!(a->chain[i].proposal < 0)) {
            a->chain[i].cold =
                decide(a, &a->chain[i], a->chain[i].proposal) ? 0 : a->chain[i].cold + 1;
            a->chain[i].proposal = -1;
            a->chain[i].heat *= a->cooling;
            if (a->chain[i].cold >= a->patience)
                start_anew(a, &a->chain[i]);
        }
    }
    for (int i = 0; i < a->chains; i++) {
        struct chain *c = &a->chain[i];
        struct config warm; // looked at before anything else
        bool goes_on = c->here >= 0;
        bool is_warm = visited_warm(&a->rounds.visited, &warm);
        if (goes_on && !is_warm && propose(a, c))
            continue;
        if (!goes_on || !is_warm)
            start_anew(a, c);
        if (rounds_draw(&a->rounds, &a->rng))
            c->proposal = a->rounds.visited.given.count - 1;
    }
}

static enum ask ask(struct strategy *s, struct config *out)
{
    struct annealing *a = (struct annealing *)s;
    return rounds_ask(&a->rounds, out, make_round, a);
}

static void destroy(struct strategy *s)
{
    struct annealing *a = (struct annealing *)s;
    rounds_finish(&a->rounds);
    free(a->chain);
    free(a);
}

static const struct spec_option options[] = {
    [OPTION_HEAT] = {"heat", "temperature at the start, as a relative loss", 0.1, 1e-6, 1e6, false},
    [OPTION_COOLING] = {"cooling", "factor of the temperature at each trial", 0.99, 0.5, 1, false},
    [OPTION_REACH] = {"reach", "parameters of at most so many values may jump to any", 64, 0, 65536,
                      true},
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
    .create = create,
    .ask = ask,
    .tell = rounds_tell,
    .origin = rounds_origin,
    .destroy = destroy,
};
