// Several searches that share what they find, each as often as it deserves: OpenTuner's portfolio
// (Ansel and others 2014), over walk, local, lfbo and tpe.
//
// The next trial is that of the arm with the most credit (credit.h): the one that brought new bests
// of late, with some curiosity for those that were seldom used. Before an arm is asked it hears of
// the results of all others, once its own round is over; and where it asks for what another one
// had asked for, it is told what came of that, and asked again, at no cost. One trial is open at a
// time.

#include "search/portfolio.h"

#include "base/mem.h"
#include "search/rounds.h"

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

static double area(const struct credit *c, int arm, int *uses)
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

double credit_of(const struct credit *c, int arm)
{
    int uses;
    return area(c, arm, &uses);
}

int credit_choose(const struct credit *c, const bool *usable)
{
    int chosen = -1;
    double most = -INFINITY;
    for (int arm = 0; arm < c->arms; arm++) {
        int uses;
        double worth = area(c, arm, &uses);
        worth = uses ? worth + c->explore * sqrt(2 * log(c->count) / uses) : INFINITY;
        if (usable[arm] && worth > most) {
            most = worth;
            chosen = arm;
        }
    }
    return chosen;
}

enum { OPTION_WINDOW, OPTION_EXPLORE };

// All are searches in rounds. An arm is not told what a trial took, so that walk counts trials; and
// walk leaves as it did when sessions of portfolios were first stored.
static const char *const specs[] = {"walk:cost=0:surprise=0", "local", "lfbo", "tpe"};
enum { ARMS = sizeof specs / sizeof *specs };

struct arm {
    struct strategy *search;
    int heard; // of the results of all
};

struct portfolio {
    struct strategy base; // first: a strategy is a struct portfolio
    struct arm arm[ARMS];
    bool usable[ARMS]; // it has more to ask for
    struct credit credit;
    int turn;  // the arm that is to be asked, or was; -1: it is to be chosen
    bool open; // its trial
    double best;
    struct config_set given;
    double *fitness; // of what was told, by index
    int told, capacity;
};

static void destroy(struct strategy *s)
{
    struct portfolio *p = (struct portfolio *)s;
    for (int i = 0; i < ARMS; i++)
        strategy_destroy(p->arm[i].search);
    credit_finish(&p->credit);
    config_set_finish(&p->given);
    free(p->fitness);
    free(p);
}

static struct strategy *create(const struct search_problem *problem, uint64_t seed,
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
            destroy(&p->base);
            return NULL;
        }
    }
    return &p->base;
}

static void hear(struct portfolio *p, struct arm *a)
{
    struct rounds *rounds = (struct rounds *)a->search;
    for (; a->heard < p->told && rounds_is_due(rounds); a->heard++) {
        struct config c;
        config_set_get(&p->given, a->heard, &c);
        rounds_hear(rounds, &c, p->fitness[a->heard]);
    }
}

static enum ask ask(struct strategy *s, struct config *out)
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
        // What the arm asks for that is new.
        enum ask asked;
        int known = -1;
        hear(p, &p->arm[p->turn]);
        while ((asked = strategy_ask(p->arm[p->turn].search, out)) == ASK_NEW &&
               (known = config_set_find(&p->given, out)) >= 0) {
            double fitness = p->fitness[known];
            strategy_tell(p->arm[p->turn].search, out, fitness > 0 ? OUTCOME_OK : OUTCOME_LOST,
                          fitness);
            hear(p, &p->arm[p->turn]);
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

static void tell(struct strategy *s, const struct config *c, enum outcome o, double fitness)
{
    struct portfolio *p = (struct portfolio *)s;
    assert(p->open && config_set_find(&p->given, c) == p->told);
    MEM_GROW(p->fitness, p->told, p->capacity);
    p->fitness[p->told++] = fitness;
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
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = destroy,
};
