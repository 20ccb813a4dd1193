// Ansor (Zheng et al., OSDI 2020), without its sketches and its task scheduler: programs evolve by
// the score of a cost model, and only the best are measured.
//
// For a batch, boosted trees are fitted to all results. The packed loss sums the rows of a
// program's statements; without a loop nest a program is one row of its parameters. The first
// generation has at least `sample` legal programs, drawn 2048 at a time, and the best measured
// programs, at most 0.2 * `pop`. Four generations follow (evolution.h). The best `plan` of all
// programs are measured, but a share `epsilon` are draws of the first generation. Nothing is
// measured twice.
//
// With fewer than `warmup` results, histories included, scores are random. With adaptive=1 the
// model is fitted again only when the number of results has grown by a fifth.
//
// Differences from TVM's code: illegal children are made again instead of getting the weight 0, so
// none is measured; no draw for `epsilon` occurs twice; when 2048 draws give nothing new five
// times, fewer programs are enough; the model is used from `warmup` results on, not from the next
// batch.
#include "base/err.h"
#include "model/trees.h"
#include "search/evolution.h"
#include "search/surrogate.h"

#include <stdlib.h>

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
    PATIENCE = 5,      // times DRAWS draws without a new program before fewer are enough
    MOST_ROUNDS = 500, // 60 to 250 are usual; rarely tiny gains would go on to 10 000
    CHUNK = 128        // programs predicted at once
};

static const double REUSED = 0.2, GROWTH = 0.2; // shares of the population, of the results

struct ansor {
    struct surrogate surrogate; // first: a strategy is a struct ansor
    struct rng rng;             // of plans
    int batch, population, generations, sample, warmup;
    double mutation, crossover, epsilon;
    bool adaptive, hist;
    struct booster *model; // NULL: scores are random
    int64_t observed;      // results that the model was fitted to
    int programs;          // the same, histories included
    float *row, *value;    // features and predictions of CHUNK programs
    int *first;            // [CHUNK + 1] the first row of each
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

// Adds up the predictions of each program's rows.
static void add_rows(const float *value, const int *first, int programs, float *out)
{
    for (int i = 0; i < programs; i++) {
        out[i] = 0;
        for (int k = first[i]; k < first[i + 1]; k++)
            out[i] += value[k];
    }
}

static void ansor_predict(void *self, const struct config *c, int count, float *out)
{
    struct ansor *a = self;
    struct features *f = a->surrogate.features;
    int width = features_width(f);
    a->first[0] = 0;
    for (int done = 0, chunk; done < count; done += chunk) {
        chunk = count - done < CHUNK ? count - done : CHUNK;
        for (int i = 0; i < chunk; i++)
            a->first[i + 1] =
                a->first[i] +
                features_fill(f, &c[done + i], a->row + (size_t)a->first[i] * (size_t)width);
        booster_predict(a->model, a->row, a->first[chunk], a->value);
        add_rows(a->value, a->first, chunk, out + done);
    }
}

static bool ansor_rate(void *self, const struct samples *known, const struct samples *asked,
                       float *out, const atomic_bool *stop)
{
    struct booster *compiler_surrogate = fit(self, known, stop);
    if (!compiler_surrogate)
        return false;
    float *value = mem_zero((size_t)asked->rows, sizeof *value);
    booster_predict(compiler_surrogate, asked->x, asked->rows, value);
    add_rows(value, asked->first, asked->programs, out);
    free(value);
    booster_destroy(compiler_surrogate);
    return true;
}

static void ansor_score(void *self, const struct config *c, int count, float *out)
{
    struct ansor *a = self;
    if (a->model)
        ansor_predict(a, c, count, out);
    for (int i = 0; i < count && !a->model; i++)
        out[i] = (float)rng_real(&a->rng);
}

// --- the search ---

// Adds the best valid results to the first generation.
static void add_measured(const struct ansor *a, struct evolution *v)
{
    const struct batches *b = &a->surrogate.batches;
    int most = (int)(REUSED * a->population);
    bool *taken = mem_zero((size_t)b->observed, sizeof *taken);
    for (int n = 0; n < most; n++) {
        int best = -1;
        for (int i = 0; i < b->observed; i++)
            if (!taken[i] && b->fitness[i] > 0 && (best < 0 || b->fitness[i] > b->fitness[best]))
                best = i;
        if (best < 0)
            break;
        struct config c;
        taken[best] = true;
        config_set_get(&b->archive.given, best, &c);
        evolution_add(v, &c);
    }
    free(taken);
}

// Proposes configurations of the pool in the given order, from `at` on; returns where it ended.
static int propose(struct ansor *a, const struct evolution *v, const int *order, int at, int end,
                   int places)
{
    for (; at < end && places > 0; at++) {
        struct config c;
        config_set_get(&v->pool, order[at], &c);
        places -= surrogate_propose(&a->surrogate, &c);
    }
    return at;
}

// Proposes the best of the pool, then some of the `drawn` first ones in random order, then the best
// that are left: few of the first may fit the device.
static void propose_all(struct ansor *a, const struct evolution *v, int drawn)
{
    int *order = mem_zero((size_t)v->pool.count, sizeof *order);
    int *shuffled = mem_zero((size_t)drawn, sizeof *shuffled);
    int random = (int)(a->epsilon * a->batch), best = a->batch - random;
    evolution_rank(v, order);
    int at = propose(a, v, order, 0, v->pool.count, a->model ? best * a->surrogate.look : best);
    if (a->model)
        surrogate_contest(&a->surrogate, best);
    for (int i = 0; i < drawn; i++) {
        int j = (int)rng_below(&a->rng, (uint64_t)i + 1);
        shuffled[i] = shuffled[j];
        shuffled[j] = i;
    }
    propose(a, v, shuffled, 0, drawn, random);
    propose(a, v, order, at, v->pool.count, random);
    free(order);
    free(shuffled);
}

static bool ansor_plan(void *self, const atomic_bool *stop)
{
    struct ansor *a = self;
    int programs = a->surrogate.samples.programs;
    bool grown = !a->model || !a->adaptive || programs - a->programs >= GROWTH * a->programs;
    if (programs >= a->warmup && grown) {
        struct booster *model = fit(a, &a->surrogate.samples, stop);
        if (!model)
            return false;
        booster_destroy(a->model);
        a->model = model;
        a->observed = programs - a->surrogate.history;
        a->programs = programs;
        a->surrogate.model_bytes = (double)booster_bytes(model);
    }
    a->surrogate.report.told = a->observed;
    struct evolution v = {
        .space = a->surrogate.batches.problem.space,
        .rng = &a->rng,
        .population = a->population,
        .generations = a->generations,
        .mutation = a->mutation,
        .crossover = a->crossover,
        .legal = surrogate_knows,
        .score = ansor_score,
        .self = a,
        .pool = {.slots = a->surrogate.batches.problem.space->slots},
    };
    for (int wanted = a->sample, fruitless = 0; v.pool.count < wanted && !*stop;) {
        int before = v.pool.count;
        for (int n = 0; n < DRAWS && !*stop; n++) {
            struct config c;
            archive_sample(&a->surrogate.batches.problem, &a->rng, &c);
            if (config_set_find(&v.pool, &c) < 0 && surrogate_knows(a, &c))
                evolution_add(&v, &c);
        }
        fruitless = v.pool.count == before ? fruitless + 1 : 0;
        if (fruitless == PATIENCE) {
            wanted /= 2;
            fruitless = 0;
        }
    }
    int drawn = v.pool.count;
    add_measured(a, &v);
    evolution_run(&v, stop);
    if (!*stop)
        propose_all(a, &v, drawn);
    evolution_finish(&v);
    return a->model && !*stop;
}

// --- the strategy ---

static const struct surrogate_kind surrogate_kind = {ansor_plan, ansor_predict, ansor_rate};

static void ansor_destroy(struct strategy *s)
{
    struct ansor *a = (struct ansor *)s;
    surrogate_finish(&a->surrogate);
    booster_destroy(a->model);
    free(a->row);
    free(a->value);
    free(a->first);
    free(a);
}

static struct strategy *ansor_create(const struct search_problem *problem, uint64_t seed,
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
    const struct surrogate_settings settings = {
        .features = problem->space->nest ? FEATURES_STATEMENTS : FEATURES_KNOB,
        .batch = a->batch,
        .look = (int)option[OPTION_LOOK],
        .seed = rng_next(&a->rng),
    };
    if (!surrogate_init(&a->surrogate, &surrogate_kind, a, problem, &settings, e)) {
        ansor_destroy(&a->surrogate.batches.base);
        return NULL;
    }
    size_t rows = (size_t)features_most_rows(a->surrogate.features) * CHUNK;
    a->row = mem_zero(rows * (size_t)features_width(a->surrogate.features), sizeof *a->row);
    a->value = mem_zero(rows, sizeof *a->value);
    a->first = mem_zero(CHUNK + 1, sizeof *a->first);
    return &a->surrogate.batches.base;
}

static const char *const tree_words[] = {"exact", "hist", NULL};

static bool ansor_possible(const double *option, struct err *e)
{
    (void)option;
    return trees_available(e);
}

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
    [OPTION_LOOK] = LOOK_OPTION,
    {NULL},
};

const struct strategy_kind strategy_ansor = {
    .name = "ansor",
    .help = "Ansor's evolution on a learned cost model",
    .options = options,
    .learns = LEARNS_ALL,
    .possible = ansor_possible,
    .create = ansor_create,
    .ask = surrogate_ask,
    .tell = surrogate_tell,
    .generation = batches_generation,
    .wait_fd = surrogate_wait_fd,
    .take_refit = surrogate_take_refit,
    .destroy = ansor_destroy,
};
