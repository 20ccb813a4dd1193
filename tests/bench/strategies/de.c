// Differential evolution (Storn, Price 1997), best/1/bin or rand/1/bin, on the values' own
// geometry.
//
// A trial challenges each member of the population. Its mutant is x + f (y - z) of three others,
// where x is the best member, or with best=0 a random one. Every parameter comes from the mutant
// with chance `cr`, at least one for sure; the others are the member's own. The trial replaces the
// member if it is at least as good. The definition of x + f (y - z) by kind of parameter:
//   discrete             on ranks of the sorted numbers, rounded and limited to the range
//   factorization        for each prime, on its exponents in the parts; their sum is kept because
//                        y - z sums to zero; rounded to whole exponents of that sum
//   permutation          the swaps of positions that lead from z to y, each applied to x with
//                        chance f
//   categorical, custom  y's value with chance f if y and z differ, else x's
//
// The defaults are for budgets of a few hundred trials: on eight recorded spaces of kernels best/1
// is ahead of rand/1 until 500 trials (after 100: 0.924 and 0.895 of the optimum), and a population
// of 20 is ahead of one of 80 (0.893), which is closer to the customary ten per parameter.
//
// A trial that is illegal or known is made again from three others, a few times; then it takes
// random steps on the graphs until it is legal and new (moves.h). In a converged population these
// steps remain: the search becomes a local one.
#include "search/batches.h"
#include "search/moves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_POP, OPTION_F, OPTION_CR, OPTION_BEST };
enum {
    FEWEST = 4,   // members needed to make a trial
    ATTEMPTS = 20 // to make a trial before it takes random steps
};

struct member {
    int index; // in the archive
    int generation;
    double fitness;
    struct config config;
};

struct de {
    struct batches batches; // first: a strategy is a struct de
    struct rng rng;
    int pop;
    double f, cr;
    bool from_best;
    struct member *member;
    int members, best; // `best`: index of the best member
};

static void take_member(struct de *d, int place, int index)
{
    struct member *m = &d->member[place];
    *m = (struct member){.index = index,
                         .generation = batches_generation(&d->batches.base),
                         .fitness = d->batches.fitness[index]};
    config_set_get(&d->batches.archive.given, index, &m->config);
}

// Mutates a factorization prime by prime.
static void mutate_factorization(struct de *d, const struct param *p, const int32_t *const v[3],
                                 int32_t *out)
{
    int32_t part[PARAM_MAX_WIDTH];
    for (int i = 0; i < p->width; i++)
        part[i] = 1;
    for (int m = 0; m < p->prime_count; m++) {
        double wish[PARAM_MAX_WIDTH];
        int exponent[PARAM_MAX_WIDTH];
        for (int i = 0; i < p->width; i++) {
            int x = factor_multiplicity(v[0][i], p->prime[m]),
                y = factor_multiplicity(v[1][i], p->prime[m]);
            wish[i] = x + d->f * (y - factor_multiplicity(v[2][i], p->prime[m]));
        }
        // Whole exponents >= 0 near `wish` with the right sum: rounded, then changed by one where
        // that costs least.
        int total = 0, sum = p->exponent[m];
        for (int i = 0; i < p->width; i++) {
            exponent[i] = wish[i] > 0 ? (int)floor(wish[i] + 0.5) : 0;
            total += exponent[i];
        }
        for (int step = total < sum ? 1 : -1; total != sum; total += step) {
            int cheapest = -1;
            for (int i = 0; i < p->width; i++)
                if ((step > 0 || exponent[i] > 0) &&
                    (cheapest < 0 ||
                     step * (wish[i] - exponent[i]) > step * (wish[cheapest] - exponent[cheapest])))
                    cheapest = i;
            exponent[cheapest] += step;
        }
        for (int i = 0; i < p->width; i++)
            for (int n = 0; n < exponent[i]; n++)
                part[i] *= p->prime[m];
    }
    memcpy(out, part, (size_t)p->width * sizeof *out);
}

static void mutate(struct de *d, const struct param *p, const struct config *const base[3],
                   struct config *out)
{
    const int32_t *const v[3] = {base[0]->slot + p->offset, base[1]->slot + p->offset,
                                 base[2]->slot + p->offset};
    int32_t *mutant = out->slot + p->offset;
    switch (p->kind) {
    case PARAM_DISCRETE: {
        double rank = v[0][0] + d->f * (v[1][0] - v[2][0]);
        double inside = fmin(fmax(rank, 0), p->count - 1);
        *mutant = (int32_t)floor(inside + 0.5);
    } break;
    case PARAM_FACTORIZATION: mutate_factorization(d, p, v, mutant); break;
    case PARAM_PERMUTATION: {
        int32_t path[PARAM_MAX_WIDTH]; // from z to y
        memcpy(path, v[2], (size_t)p->width * sizeof *path);
        memcpy(mutant, v[0], (size_t)p->width * sizeof *mutant);
        for (int i = 0; i < p->width; i++) {
            int j = i;
            while (path[j] != v[1][i])
                j++;
            if (j == i)
                continue;
            int32_t item = mutant[i];
            path[j] = path[i];
            path[i] = v[1][i];
            if (rng_real(&d->rng) < d->f) {
                mutant[i] = mutant[j];
                mutant[j] = item;
            }
        }
    } break;
    case PARAM_CATEGORICAL:
    case PARAM_CUSTOM: {
        bool differ = v[1][0] != v[2][0];
        *mutant = differ && rng_real(&d->rng) < d->f ? v[1][0] : v[0][0];
    } break;
    }
}

// Adds the trial that challenges a member. False: nothing new is left, or could be found.
static bool add_trial(struct de *d, int target)
{
    struct config trial;
    int from[SPACE_MAX_PARAMS];
    bool good = false;
    if (archive_warm(&d->batches.archive, &trial))
        return batches_draw(&d->batches, &d->rng);
    for (int n = 0; n < ATTEMPTS && !good; n++) {
        const struct space *s = d->batches.problem.space;
        int base[3];
        // x, y and z are different members, none of them `target`; only the best may be it.
        for (int i = 0; i < 3; i++) {
            bool taken;
            do {
                base[i] = i == 0 && d->from_best ? d->best
                                                 : (int)rng_below(&d->rng, (uint64_t)d->members);
                taken = base[i] == target && !(i == 0 && d->from_best);
                for (int j = 0; j < i; j++)
                    taken = taken || base[i] == base[j];
            } while (taken);
        }
        const struct config *const config[3] = {
            &d->member[base[0]].config, &d->member[base[1]].config, &d->member[base[2]].config};
        trial = d->member[target].config;
        int surely = (int)rng_below(&d->rng, (uint64_t)s->param_count);
        for (int i = 0; i < s->param_count; i++) {
            bool mutant = i == surely || rng_real(&d->rng) < d->cr;
            if (mutant)
                mutate(d, &s->param[i], config, &trial);
            from[i] = d->member[mutant ? base[0] : target].index + 1;
        }
        space_settle(s, &trial);
        good = archive_repair(&d->batches.archive, NULL, &trial) &&
               archive_allows(&d->batches.archive, &trial);
    }
    if (!good && !moves_settle(&d->batches.archive, 0, &d->rng, &trial))
        return batches_draw(&d->batches, &d->rng);
    batches_add(&d->batches, &trial, from);
    return true;
}

static void de_make_batch(void *self)
{
    struct de *d = self;
    if (d->batches.number > 0) {
        // The first draws become members; later results challenge them, in order.
        bool filling = d->members < FEWEST;
        for (int i = d->batches.start, challenged = 0; i < d->batches.handed_out; i++) {
            if (filling && d->members < d->pop)
                take_member(d, d->members++, i);
            else if (!filling && d->batches.fitness[i] >= d->member[challenged++].fitness)
                take_member(d, challenged - 1, i);
        }
        d->best = 0;
        for (int i = 1; i < d->members; i++)
            if (d->member[i].fitness > d->member[d->best].fitness)
                d->best = i;
    }
    bool breeds = d->members >= FEWEST; // false: the space is too small, or exhausted
    for (int i = 0; i < (breeds ? d->members : d->pop); i++)
        if (!(breeds ? add_trial(d, i) : batches_draw(&d->batches, &d->rng)))
            return;
}

static struct strategy *de_create(const struct search_problem *problem, uint64_t seed,
                                  const double *option, struct err *e)
{
    (void)e;
    struct de *d = mem_zero(1, sizeof *d);
    batches_init(&d->batches, problem, de_make_batch);
    rng_seed(&d->rng, seed);
    d->pop = (int)option[OPTION_POP];
    d->f = option[OPTION_F];
    d->cr = option[OPTION_CR];
    d->from_best = option[OPTION_BEST] != 0;
    d->member = mem_zero((size_t)d->pop, sizeof *d->member);
    return &d->batches.base;
}

static int de_best_first(const void *a, const void *b)
{
    const struct individual *x = a, *y = b;
    if (x->fitness != y->fitness)
        return x->fitness > y->fitness ? -1 : 1;
    return (x->ask > y->ask) - (x->ask < y->ask);
}

static int de_population(const struct strategy *s, int most, struct individual *out)
{
    const struct de *d = (const struct de *)s;
    struct individual *all = mem_zero((size_t)d->members, sizeof *all);
    for (int i = 0; i < d->members; i++) {
        const struct member *m = &d->member[i];
        all[i] = (struct individual){&m->config, m->index + 1, m->fitness, m->generation};
    }
    if (d->members)
        qsort(all, (size_t)d->members, sizeof *all, de_best_first);
    int count = d->members < most ? d->members : most;
    if (count > 0)
        memcpy(out, all, (size_t)count * sizeof *out);
    free(all);
    return count;
}

static void de_destroy(struct strategy *s)
{
    struct de *d = (struct de *)s;
    batches_finish(&d->batches);
    free(d->member);
    free(d);
}

static const struct spec_option options[] = {
    [OPTION_POP] = {"pop", "members of the population", 20, FEWEST, 4096, true},
    [OPTION_F] = {"f", "weight of the difference", 0.5, 0.01, 2, false},
    [OPTION_CR] = {"cr", "chance of each parameter to come from the mutant", 0.6, 0, 1, false},
    [OPTION_BEST] = {"best", "1: mutants start from the best, 0: from any", 1, 0, 1, true},
    {NULL},
};

const struct strategy_kind strategy_de = {
    .name = "de",
    .help = "differential evolution on ranks, exponents and swaps",
    .options = options,
    .create = de_create,
    .ask = batches_ask,
    .tell = batches_tell,
    .population = de_population,
    .generation = batches_generation,
    .origin = batches_origin,
    .destroy = de_destroy,
};
