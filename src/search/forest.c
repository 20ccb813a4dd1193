// Bayesian search with a random forest, the idea of SMAC (Hutter, Hoos, Leyton-Brown 2011).
//
// After every `plan` results a forest is fitted to the logarithms of all speeds (what failed is as
// slow as the slowest), on the parameters as numbers. What is asked for next has the largest
// expected improvement over the best result, among 1000 legal draws and what climbs from the best
// `starts` results meet: at each step `near` random moves of one parameter are looked at, and the
// best of them is the next place while it is better. A share `epsilon` of a plan is drawn, so that
// the search does not hang on an error of its model.
#include "base/log.h"
#include "search/evolution.h"
#include "search/learner.h"
#include "search/moves.h"

#include "model/forest.h"

#include <math.h>
#include <stdlib.h>

enum { OPTION_PLAN, OPTION_TREES, OPTION_STARTS, OPTION_NEAR, OPTION_EPSILON, OPTION_LOOK };
enum {
    DRAWS = 1000,
    STEPS = 20, // of a climb, at most
    REACH = 64, // parameters of at most so many values move to any of them
    MOST_STARTS = 256
};

struct forest_search {
    struct learner learner; // first: a strategy is a struct forest_search
    struct rng rng;         // of plans
    int plan, trees, starts, near;
    double epsilon;
    struct forest *model;
};

// --- the model ---

static struct forest *fit(const struct forest_search *f, const struct samples *s)
{
    const struct forest_options options = {
        .trees = f->trees, .depth = 20, .leaf = 3, .rows = 0.8, .columns = 0.8, .seed = 1};
    float *y = mem_zero((size_t)s->programs, sizeof *y), slowest = 1;
    for (int i = 0; i < s->programs; i++)
        if (s->y[i] > 0 && s->y[i] < slowest)
            slowest = s->y[i];
    for (int i = 0; i < s->programs; i++)
        y[i] = logf(s->y[i] > 0 ? s->y[i] : slowest);
    struct err e;
    struct forest *model = forest_fit(&options, s->x, y, s->programs, s->width, &e);
    free(y);
    if (!model)
        log_warning("forest: no model: %s", e.text);
    return model;
}

static void evaluate(struct forest_search *f, const struct config *c, int count, float *mean,
                     float *variance)
{
    int width = features_width(f->learner.features);
    float *x = mem_zero((size_t)count * (size_t)width, sizeof *x);
    for (int i = 0; i < count; i++)
        features_fill(f->learner.features, &c[i], x + (size_t)i * (size_t)width);
    forest_predict(f->model, x, count, mean, variance);
    free(x);
}

static void predict(void *self, const struct config *c, int count, float *out)
{
    float *variance = mem_zero((size_t)count, sizeof *variance);
    evaluate(self, c, count, out, variance);
    free(variance);
}

// Expected improvement of a normal distribution (Jones, Schonlau, Welch 1998) over the best, whose
// logarithm is 0: labels are relative to it.
static double improvement(double mean, double variance)
{
    double s = sqrt(variance), off = mean, z = off / s;
    if (s < 1e-9)
        return fmax(0, off);
    double density = exp(-z * z / 2) * 0.3989422804014327;
    return off * erfc(-z * 0.7071067811865476) / 2 + s * density;
}

// Of means, in place.
static void improve(float *mean, const float *variance, int count)
{
    for (int i = 0; i < count; i++)
        mean[i] = (float)improvement((double)mean[i], (double)variance[i]);
}

static void score(void *self, const struct config *c, int count, float *out)
{
    float *variance = mem_zero((size_t)count, sizeof *variance);
    evaluate(self, c, count, out, variance);
    improve(out, variance, count);
    free(variance);
}

static bool rate(void *self, const struct samples *known, const struct samples *asked, float *out,
                 const atomic_bool *stop)
{
    (void)stop;
    struct forest *informed = fit(self, known);
    if (!informed)
        return false;
    float *variance = mem_zero((size_t)asked->programs, sizeof *variance);
    forest_predict(informed, asked->x, asked->programs, out, variance);
    improve(out, variance, asked->programs);
    free(variance);
    forest_destroy(informed);
    return true;
}

// --- the search ---

static bool is_legal(void *self, const struct config *c)
{
    struct forest_search *f = self;
    return config_set_find(&f->learner.rounds.visited.given, c) >= 0 ||
           learner_allows(&f->learner, c);
}

// The best results, as indices into the pool; returns how many.
static int add_starts(struct forest_search *f, struct evolution *pool, int *place)
{
    const struct rounds *r = &f->learner.rounds;
    int best[MOST_STARTS], count = 0;
    for (int i = 0; i < r->told; i++) {
        if (r->fitness[i] <= 0 ||
            (count == f->starts && r->fitness[i] <= r->fitness[best[count - 1]]))
            continue;
        int at = count < f->starts ? count++ : count - 1;
        for (; at > 0 && r->fitness[best[at - 1]] < r->fitness[i]; at--)
            best[at] = best[at - 1];
        best[at] = i;
    }
    for (int i = 0; i < count; i++) {
        struct config c;
        config_set_get(&r->visited.given, best[i], &c);
        evolution_add(pool, &c);
        place[i] = config_set_find(&pool->pool, &c);
    }
    return count;
}

// One step of all climbs, so that their neighbours are scored together; -1: it is at its top.
// False: all are.
static bool climb(struct forest_search *f, struct evolution *v, int climbs, int *place,
                  const atomic_bool *stop)
{
    int *next = mem_zero((size_t)(climbs * f->near), sizeof *next);
    for (int i = 0; i < climbs * f->near; i++) {
        struct config c;
        next[i] = -1;
        if (place[i / f->near] < 0)
            continue;
        config_set_get(&v->pool, place[i / f->near], &c);
        if (!moves_step(v->space, REACH, &f->rng, &c) || !is_legal(f, &c))
            continue;
        evolution_add(v, &c);
        next[i] = config_set_find(&v->pool, &c);
    }
    evolution_run(v, stop);
    bool moved = false;
    for (int k = 0; k < climbs; k++) {
        int from = place[k];
        for (int i = k * f->near; from >= 0 && i < (k + 1) * f->near; i++)
            if (next[i] >= 0 && v->value[next[i]] > v->value[place[k]])
                place[k] = next[i];
        place[k] = place[k] == from ? -1 : place[k];
        moved = moved || place[k] >= 0;
    }
    free(next);
    return moved;
}

static bool plan(void *self, const atomic_bool *stop)
{
    struct forest_search *f = self;
    struct forest *model = fit(f, &f->learner.samples);
    if (!model)
        return false;
    forest_destroy(f->model);
    f->model = model;
    f->learner.model_bytes = (double)forest_bytes(model);
    struct evolution v = {
        // its pool and scores; no generations
        .space = f->learner.rounds.problem.space,
        .rng = &f->rng,
        .legal = is_legal,
        .score = score,
        .self = f,
        .pool = {.slots = f->learner.rounds.problem.space->slots},
    };
    int place[MOST_STARTS], climbs = add_starts(f, &v, place);
    for (int n = 0; n < DRAWS; n++) {
        struct config c;
        visited_sample(&f->learner.rounds.problem, &f->rng, &c);
        if (config_set_find(&v.pool, &c) < 0 && learner_allows(&f->learner, &c))
            evolution_add(&v, &c);
    }
    evolution_run(&v, stop);
    for (int n = 0; n < STEPS && !*stop && climb(f, &v, climbs, place, stop); n++) {
    }
    int *order = mem_zero((size_t)v.pool.count, sizeof *order);
    int places = f->plan;
    for (int i = 0; i < f->plan; i++) // the learner draws for the places that are left
        places -= rng_real(&f->rng) < f->epsilon;
    evolution_rank(&v, order);
    for (int i = 0, left = places * f->learner.look; i < v.pool.count && left > 0; i++) {
        struct config c;
        config_set_get(&v.pool, order[i], &c);
        left -= learner_propose(&f->learner, &c);
    }
    learner_contest(&f->learner, places);
    free(order);
    evolution_finish(&v);
    return !*stop;
}

// --- the strategy ---

static const struct learner_kind learner_kind = {plan, predict, rate};

static void destroy(struct strategy *s)
{
    struct forest_search *f = (struct forest_search *)s;
    learner_finish(&f->learner);
    forest_destroy(f->model);
    free(f);
}

static struct strategy *create(const struct search_problem *problem, uint64_t seed,
                               const double *option, struct err *e)
{
    struct forest_search *f = mem_zero(1, sizeof *f);
    f->plan = (int)option[OPTION_PLAN];
    f->trees = (int)option[OPTION_TREES];
    f->starts = (int)option[OPTION_STARTS];
    f->near = (int)option[OPTION_NEAR];
    f->epsilon = option[OPTION_EPSILON];
    rng_seed(&f->rng, seed);
    const struct learner_settings settings = {.features = FEATURES_KNOB,
                                              .batch = f->plan,
                                              .look = (int)option[OPTION_LOOK],
                                              .seed = rng_next(&f->rng)};
    if (learner_init(&f->learner, &learner_kind, f, problem, &settings, e))
        return &f->learner.rounds.base;
    destroy(&f->learner.rounds.base);
    return NULL;
}

static const struct spec_option options[] = {
    [OPTION_PLAN] = {"plan", "points asked for between two fits", 16, 1, 4096, true},
    [OPTION_TREES] = {"trees", "trees of the forest", 50, 2, 1000, true},
    [OPTION_STARTS] = {"starts", "best results that climbs start from", 10, 1, MOST_STARTS, true},
    [OPTION_NEAR] = {"near", "moves looked at before each step of a climb", 40, 1, 4096, true},
    [OPTION_EPSILON] = {"epsilon", "chance of a point to be drawn", 0.1, 0, 1, false},
    [OPTION_LOOK] = LOOKS_OPTION,
    {NULL},
};

const struct strategy_kind strategy_forest = {
    .name = "forest",
    .help = "expected improvement by a random forest, as SMAC",
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
