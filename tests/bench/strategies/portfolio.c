// Several searches that share their results: OpenTuner's portfolio (Ansel and others 2014), over
// walk, local, lfbo and tpe.
//
// The arm with the most credit (portfolio.h) proposes the next trial. Before it is asked, the arm
// imports the results of all others, as soon as its own batch is complete. If it proposes a
// configuration that another arm has proposed, it is observed the known result and asked again, at
// no cost. One trial is open at a time.
#include "portfolio.h"

#include "base/mem.h"
#include "search/batches.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

void credit_init(struct credit *c, int arms, int window, double explore)
{
    *c = (struct credit){.arms = arms,
                         .window = window,
                         .explore = explore,
                         .use = mem_zero((size_t)window, sizeof *c->use)};
}

void credit_finish(struct credit *c)
{
    free(c->use);
}

void credit_use(struct credit *c, int arm, bool gained)
{
    c->use[c->next] = (struct credit_use){arm, gained};
    c->next = (c->next + 1) % c->window;
    c->count += c->count < c->window;
}

double credit_of(const struct credit *c, int arm, int *uses)
{
    double sum = 0;
    int oldest = c->count < c->window ? 0 : c->next, n = 0;
    for (int i = 0; i < c->count; i++) {
        const struct credit_use *use = &c->use[(oldest + i) % c->window];
        if (use->arm == arm && ++n && use->gained)
            sum += n;
    }
    *uses = n;
    return n ? 2 * sum / (n * (n + 1.0)) : 0;
}

int credit_choose(const struct credit *c, const bool *usable)
{
    int chosen = -1;
    double most = -INFINITY;
    for (int arm = 0; arm < c->arms; arm++) {
        int uses;
        double worth = credit_of(c, arm, &uses);
        worth = uses ? worth + c->explore * sqrt(2 * log(c->count) / uses) : INFINITY;
        if (usable[arm] && worth > most) {
            most = worth;
            chosen = arm;
        }
    }
    return chosen;
}

enum { OPTION_WINDOW, OPTION_EXPLORE };

// All arms propose in batches. An arm does not get the cost of a trial, so walk counts trials; and
// walk explores as it did when sessions of portfolios were first stored.
static const char *const specs[] = {"walk", "local", "lfbo", "tpe"};
enum { ARMS = sizeof specs / sizeof *specs };

struct arm {
    struct strategy *search;
    int imported; // number of the portfolio's results that it knows
};

struct portfolio {
    struct strategy base; // first: a strategy is a struct portfolio
    struct arm arm[ARMS];
    bool usable[ARMS]; // not exhausted
    struct credit credit;
    int turn;  // the arm of the next or the open trial; -1: not chosen yet
    bool open; // a trial is open
    double best;
    struct config_set given;
    double *fitness; // of each result, by index
    int observed, capacity;
};

static void portfolio_destroy(struct strategy *s)
{
    struct portfolio *p = (struct portfolio *)s;
    for (int i = 0; i < ARMS; i++)
        strategy_destroy(p->arm[i].search);
    credit_finish(&p->credit);
    config_set_finish(&p->given);
    free(p->fitness);
    free(p);
}

static struct strategy *portfolio_create(const struct search_problem *problem, uint64_t seed,
                                         const double *option, struct err *e)
{
    struct portfolio *p = mem_zero(1, sizeof *p);
    struct rng seeds;
    rng_seed(&seeds, seed);
    credit_init(&p->credit, ARMS, (int)option[OPTION_WINDOW], option[OPTION_EXPLORE]);
    p->given.slots = problem->space->slots;
    p->turn = -1;
    for (int i = 0; i < ARMS; i++) {
        p->usable[i] = true;
        p->arm[i].search = strategy_create(specs[i], problem, rng_next(&seeds), e);
        if (!p->arm[i].search) {
            portfolio_destroy(&p->base);
            return NULL;
        }
    }
    return &p->base;
}

static void import_results(struct portfolio *p, struct arm *a)
{
    struct batches *batches = (struct batches *)a->search;
    for (; a->imported < p->observed && batches_may_plan(batches, 0); a->imported++) {
        struct config c;
        config_set_get(&p->given, a->imported, &c);
        batches_import(batches, &c, p->fitness[a->imported]);
    }
}

static enum ask portfolio_ask(struct strategy *s, struct config *out)
{
    struct portfolio *p = (struct portfolio *)s;
    bool is_new;
    if (p->open)
        return ASK_WAIT;
    for (;;) {
        if (p->turn < 0)
            p->turn = credit_choose(&p->credit, p->usable);
        if (p->turn < 0)
            return ASK_EXHAUSTED;
        // Asks the arm until its proposal is new.
        enum ask asked;
        int known = -1;
        import_results(p, &p->arm[p->turn]);
        while ((asked = strategy_ask(p->arm[p->turn].search, out)) == ASK_NEW &&
               (known = config_set_find(&p->given, out)) >= 0) {
            double fitness = p->fitness[known];
            strategy_tell(p->arm[p->turn].search, out, fitness > 0 ? OUTCOME_OK : OUTCOME_LOST,
                          fitness);
            import_results(p, &p->arm[p->turn]);
        }
        if (asked == ASK_COMPILE)
            return asked;
        p->open = asked == ASK_NEW;
        if (p->open)
            break;
        p->usable[p->turn] = false;
        p->turn = -1;
    }
    config_set_add(&p->given, out, &is_new);
    assert(is_new);
    return ASK_NEW;
}

static void portfolio_tell(struct strategy *s, const struct config *c, enum outcome o,
                           double fitness)
{
    struct portfolio *p = (struct portfolio *)s;
    assert(p->open && config_set_find(&p->given, c) == p->observed);
    MEM_GROW(p->fitness, p->observed, p->capacity);
    p->fitness[p->observed++] = fitness;
    strategy_tell(p->arm[p->turn].search, c, o, fitness);
    credit_use(&p->credit, p->turn, fitness > p->best);
    p->best = fitness > p->best ? fitness : p->best;
    p->turn = -1;
    p->open = false;
}

static const struct spec_option options[] = {
    [OPTION_WINDOW] = {"window", "latest trials by which the searches are judged", 500, 1, 65536,
                       true},
    [OPTION_EXPLORE] = {"explore", "what being used seldom is worth to a search", 0.05, 0, 1000,
                        false},
    {NULL},
};

const struct strategy_kind strategy_portfolio = {
    .name = "portfolio",
    .help = "walk, local, lfbo and tpe with shared results, the one with the late gains next",
    .options = options,
    .create = portfolio_create,
    .ask = portfolio_ask,
    .tell = portfolio_tell,
    .destroy = portfolio_destroy,
};
