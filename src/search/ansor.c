// Ansor (Zheng et al., OSDI 2020), but for sketches and its task scheduler: programs are evolved on
// the score of a cost model, and only the best are measured.
//
// A round: boosted trees are fitted to all results, the packed loss summing the rows of a
// program's statements (where the space declares no loop nest a program is one row of its
// parameters). The first generation is what at least `sample` of 2048 draws at a time leave when
// the illegal ones are dropped, and the best measured programs, 0.2 * `pop` at most; four
// generations follow (evolution.h). Of all programs met the best `plan` are measured, but a share
// `epsilon` of them, which are draws of the first generation. Nothing is measured twice.
//
// Before there are `warmup` results, those of histories counted, scores are random. With
// adaptive=1 the model is fitted anew only when there are a fifth more results than the last time.
//
// What differs from TVM's code: illegal children are made again instead of bred with weight 0, so
// none can be measured; what is drawn for `epsilon` is not drawn twice; where 2048 draws give
// nothing new five times with little asked for, the search goes on with what it has; the model is
// used from `warmup` results on, not from the round after.
#include "base/log.h"
#include "search/evolution.h"
#include "search/learner.h"

#include "model/booster.h"

#include <stdlib.h>
#include <string.h>

enum {
    OPTION_PLAN,
    OPTION_POP,
    OPTION_GENERATIONS,
    OPTION_SAMPLE,
    OPTION_MUTATION,
    OPTION_CROSSOVER,
    OPTION_EPSILON,
    OPTION_WARMUP,
    OPTION_ADAPTIVE,
    OPTION_TREES,
    OPTION_LOOK
};
enum {
    DRAWS = 2048,
    PATIENCE = 5,      // times DRAWS draws without a new program before fewer will do
    MOST_ROUNDS = 500, // 60 to 250 are usual; now and then tiny gains would go on to 10 000
    CHUNK = 128        // programs predicted at once
};

static const double REUSED = 0.2, GROWTH = 0.2; // of the population; of the results

struct ansor {
    struct learner learner; // first: a strategy is a struct ansor
    struct rng rng;         // of plans
    int batch, population, generations, sample, warmup;
    double mutation, crossover, epsilon;
    bool adaptive, hist;
    struct booster *model; // NULL: scores are random
    int64_t told;          // results it was fitted to
    int programs;          // histories included
    float *row, *value;    // of CHUNK programs
    int *first;            // [CHUNK + 1] their rows
};

// --- the model ---

static struct booster *fit(const struct ansor *a, const struct samples *s, const atomic_bool *stop)
{
    const struct booster_options options = {
        .objective = BOOSTER_PACKED,
        .depth = 10,
        .eta = 0.2,
        .gamma = 0.001,
        .lambda = 1,
        .most_rounds = MOST_ROUNDS,
        .patience = 50,
        .look_every = 2,
        .seed = 43,
        .hist = a->hist,
    };
    const struct booster_rows rows = {s->x, s->y, s->first, NULL, s->rows, s->width, s->programs};
    struct err e;
    struct booster *model = booster_fit(&options, &rows, stop, &e);
    if (!model && !*stop)
        log_warning("ansor: no model: %s", e.text);
    return model;
}

static bool refit(struct ansor *a, const atomic_bool *stop)
{
    const struct samples *s = &a->learner.samples;
    struct booster *model = fit(a, s, stop);
    if (!model)
        return false;
    booster_destroy(a->model);
    a->model = model;
    a->told = s->programs - a->learner.history;
    a->programs = s->programs;
    a->learner.model_bytes = (double)booster_bytes(model);
    return true;
}

// Of each program: `value` is of each row.
static void add_rows(const float *value, const int *first, int programs, float *out)
{
    for (int i = 0; i < programs; i++) {
        out[i] = 0;
        for (int k = first[i]; k < first[i + 1]; k++)
            out[i] += value[k];
    }
}

static void predict_chunk(struct ansor *a, const struct config *c, int count, float *out)
{
    struct features *f = a->learner.features;
    int width = features_width(f);
    a->first[0] = 0;
    for (int i = 0; i < count; i++)
        a->first[i + 1] =
            a->first[i] + features_fill(f, &c[i], a->row + (size_t)a->first[i] * (size_t)width);
    booster_predict(a->model, a->row, a->first[count], a->value);
    add_rows(a->value, a->first, count, out);
}

static void predict(void *self, const struct config *c, int count, float *out)
{
    for (int i = 0; i < count; i += CHUNK)
        predict_chunk(self, c + i, count - i < CHUNK ? count - i : CHUNK, out + i);
}

static bool rate(void *self, const struct samples *known, const struct samples *asked, float *out,
                 const atomic_bool *stop)
{
    struct booster *informed = fit(self, known, stop);
    if (!informed)
        return false;
    float *value = mem_zero((size_t)asked->rows, sizeof *value);
    booster_predict(informed, asked->x, asked->rows, value);
    add_rows(value, asked->first, asked->programs, out);
    free(value);
    booster_destroy(informed);
    return true;
}

static void score(void *self, const struct config *c, int count, float *out)
{
    struct ansor *a = self;
    if (a->model)
        predict(a, c, count, out);
    for (int i = 0; i < count && !a->model; i++)
        out[i] = (float)rng_real(&a->rng);
}

// --- the search ---

static bool is_legal(void *self, const struct config *c)
{
    struct ansor *a = self;
    return config_set_find(&a->learner.rounds.visited.given, c) >= 0 ||
           learner_allows(&a->learner, c);
}

struct result {
    double fitness;
    int index;
};

static int compare(const void *a, const void *b)
{
    const struct result *x = a, *y = b;
    if (x->fitness != y->fitness)
        return x->fitness > y->fitness ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void reuse_measured(struct ansor *a, struct evolution *v)
{
    const struct rounds *r = &a->learner.rounds;
    int most = (int)(REUSED * a->population), told = r->told;
    struct result *all = mem_zero((size_t)told, sizeof *all);
    for (int i = 0; i < told; i++)
        all[i] = (struct result){r->fitness[i], i};
    if (told > 0)
        qsort(all, (size_t)told, sizeof *all, compare);
    for (int i = 0; i < told && i < most && all[i].fitness > 0; i++) {
        struct config c;
        config_set_get(&r->visited.given, all[i].index, &c);
        evolution_add(v, &c);
    }
    free(all);
}

// The first `drawn` of the pool, in a random order.
static void propose_draws(struct ansor *a, const struct evolution *v, int drawn, int count)
{
    int *order = mem_zero((size_t)drawn, sizeof *order);
    for (int i = 0; i < drawn; i++) {
        int j = (int)rng_below(&a->rng, (uint64_t)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (int i = 0; i < drawn && count > 0; i++) {
        struct config c;
        config_set_get(&v->pool, order[i], &c);
        count -= learner_propose(&a->learner, &c);
    }
    free(order);
}

// The best of the pool, of which few may be left when they were compiled; then some of its draws,
// then the best that are left.
static void propose(struct ansor *a, const struct evolution *v, int drawn)
{
    int *order = mem_zero((size_t)v->pool.count, sizeof *order);
    int random = (int)(a->epsilon * a->batch), best = a->batch - random, at = 0;
    evolution_rank(v, order);
    for (int left = a->model ? best * a->learner.look : best; at < v->pool.count && left > 0;
         at++) {
        struct config c;
        config_set_get(&v->pool, order[at], &c);
        left -= learner_propose(&a->learner, &c);
    }
    if (a->model)
        learner_contest(&a->learner, best);
    propose_draws(a, v, drawn, random);
    for (int places = random; at < v->pool.count && places > 0; at++) {
        struct config c;
        config_set_get(&v->pool, order[at], &c);
        places -= learner_propose(&a->learner, &c);
    }
    free(order);
}

static bool plan(void *self, const atomic_bool *stop)
{
    struct ansor *a = self;
    int programs = a->learner.samples.programs;
    bool grown = !a->model || !a->adaptive || programs - a->programs >= GROWTH * a->programs;
    if (programs >= a->warmup && grown && !refit(a, stop))
        return false;
    a->learner.report.told = a->told;
    struct evolution v = {
        .space = a->learner.rounds.problem.space,
        .rng = &a->rng,
        .population = a->population,
        .generations = a->generations,
        .mutation = a->mutation,
        .crossover = a->crossover,
        .legal = is_legal,
        .score = score,
        .self = a,
        .pool = {.slots = a->learner.rounds.problem.space->slots},
    };
    for (int wanted = a->sample, fruitless = 0; v.pool.count < wanted && !*stop;) {
        int before = v.pool.count;
        for (int n = 0; n < DRAWS && !*stop; n++) {
            struct config c;
            visited_sample(&a->learner.rounds.problem, &a->rng, &c);
            if (config_set_find(&v.pool, &c) < 0 && is_legal(a, &c))
                evolution_add(&v, &c);
        }
        fruitless = v.pool.count == before ? fruitless + 1 : 0;
        if (fruitless == PATIENCE) {
            wanted /= 2;
            fruitless = 0;
        }
    }
    int drawn = v.pool.count;
    reuse_measured(a, &v);
    evolution_run(&v, stop);
    if (!*stop)
        propose(a, &v, drawn);
    evolution_finish(&v);
    return a->model && !*stop;
}

// --- the strategy ---

static const struct learner_kind learner_kind = {plan, predict, rate};

static void destroy(struct strategy *s)
{
    struct ansor *a = (struct ansor *)s;
    learner_finish(&a->learner);
    booster_destroy(a->model);
    free(a->row);
    free(a->value);
    free(a->first);
    free(a);
}

static struct strategy *create(const struct search_problem *problem, uint64_t seed,
                               const double *option, struct err *e)
{
    struct ansor *a = mem_zero(1, sizeof *a);
    a->batch = (int)option[OPTION_PLAN];
    a->population = (int)option[OPTION_POP];
    a->generations = (int)option[OPTION_GENERATIONS];
    a->sample = (int)option[OPTION_SAMPLE];
    a->mutation = option[OPTION_MUTATION];
    a->crossover = option[OPTION_CROSSOVER];
    a->epsilon = option[OPTION_EPSILON];
    a->warmup = (int)option[OPTION_WARMUP];
    a->adaptive = option[OPTION_ADAPTIVE] != 0;
    a->hist = option[OPTION_TREES] != 0;
    rng_seed(&a->rng, seed);
    const struct learner_settings settings = {
        .features = problem->space->nest ? FEATURES_STATEMENTS : FEATURES_KNOB,
        .batch = a->batch,
        .look = (int)option[OPTION_LOOK],
        .seed = rng_next(&a->rng),
    };
    if (!learner_init(&a->learner, &learner_kind, a, problem, &settings, e)) {
        destroy(&a->learner.rounds.base);
        return NULL;
    }
    size_t rows = (size_t)features_most_rows(a->learner.features) * CHUNK;
    a->row = mem_zero(rows * (size_t)features_width(a->learner.features), sizeof *a->row);
    a->value = mem_zero(rows, sizeof *a->value);
    a->first = mem_zero(CHUNK + 1, sizeof *a->first);
    return &a->learner.rounds.base;
}

static const char *const tree_words[] = {"exact", "hist", NULL};

static const struct spec_option options[] = {
    [OPTION_PLAN] = {"plan", "programs measured in a round", 64, 1, 4096, true},
    [OPTION_POP] = {"pop", "programs of a generation", 2048, 2, 65536, true},
    [OPTION_GENERATIONS] = {"generations", "mutation rounds before each measured one", 4, 0, 100,
                            true},
    [OPTION_SAMPLE] = {"sample", "legal draws in the first generation, at least", 50, 1, 4096,
                       true},
    [OPTION_MUTATION] = {"mutation", "chance of a child to be mutated", 0.85, 0, 1, false},
    [OPTION_CROSSOVER] = {"crossover", "chance of a child to have two parents", 0, 0, 1, false},
    [OPTION_EPSILON] = {"epsilon", "share of a round that is drawn", 0.05, 0, 1, false},
    [OPTION_WARMUP] = {"warmup", "results before there is a model", 64, 1, 65536, true},
    [OPTION_ADAPTIVE] = {"adaptive", "1: fit anew only when results grew by a fifth", 0, 0, 1,
                         true},
    [OPTION_TREES] = {"trees", "how splits are looked for: hist: among 256 bins", 1, 0, 1, true,
                      tree_words},
    [OPTION_LOOK] = LOOKS_OPTION,
    {NULL},
};

const struct strategy_kind strategy_ansor = {
    .name = "ansor",
    .help = "Ansor's evolution on a learned cost model",
    .options = options,
    .learns = LEARNS_ALL,
    .create = create,
    .ask = learner_ask,
    .tell = learner_tell,
    .generation = rounds_generation,
    .wait_fd = learner_wait_fd,
    .take_refit = learner_take_refit,
    .destroy = destroy,
};
