// Bayesian search with a random forest, the idea of SMAC (Hutter, Hoos, Leyton-Brown 2011).
//
// After every `plan` results a forest is fitted to the logarithms of all speeds, with the
// parameters as numbers; a failure counts as the slowest result. The candidates are 1000 legal
// draws and all configurations met by climbs from the best `starts` results. Each step of a climb
// tries `near` random moves of one parameter and goes to the best of them while it is better. The
// candidates with the largest expected improvement over the best result are proposed. A share
// `epsilon` of a plan is drawn, so that the search does not depend on an error of its model.
#include "base/err.h"
#include "search/evolution.h"
#include "search/moves.h"
#include "search/surrogate.h"

#include "model/trees.h"

#include <math.h>
#include <stdlib.h>

enum {
    OPTION_PLAN,
    OPTION_TREES,
    OPTION_STARTS,
    OPTION_NEIGHBOURHOODS,
    OPTION_EPSILON,
    OPTION_LOOK
};
enum {
    DRAWS = 1000,
    STEPS = 20,      // of a climb, at most
    JUMP_LIMIT = 64, // as in moves.h
    MOST_STARTS = 256
};

struct forest_search {
    struct surrogate surrogate; // first: a strategy is a struct forest_search
    struct rng rng;             // of plans
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
    int width = features_width(f->surrogate.features);
    float *x = mem_zero((size_t)count * (size_t)width, sizeof *x);
    for (int i = 0; i < count; i++)
        features_fill(f->surrogate.features, &c[i], x + (size_t)i * (size_t)width);
    forest_predict(f->model, x, count, mean, variance);
    free(x);
}

static void forest_search_predict(void *self, const struct config *c, int count, float *out)
{
    float *variance = mem_zero((size_t)count, sizeof *variance);
    evaluate(self, c, count, out, variance);
    free(variance);
}

// Returns the expected improvement of a normal distribution (Jones, Schonlau, Welch 1998) over the
// best result, whose logarithm is 0.
static double improvement(double mean, double variance)
{
    double s = sqrt(variance), off = mean, z = off / s;
    if (s < 1e-9)
        return fmax(0, off);
    double density = exp(-z * z / 2) * 0.3989422804014327;
    return off * erfc(-z * 0.7071067811865476) / 2 + s * density;
}

static void forest_search_score(void *self, const struct config *c, int count, float *out)
{
    float *variance = mem_zero((size_t)count, sizeof *variance);
    evaluate(self, c, count, out, variance);
    for (int i = 0; i < count; i++)
        out[i] = (float)improvement((double)out[i], (double)variance[i]);
    free(variance);
}

static bool forest_search_rate(void *self, const struct samples *known, const struct samples *asked,
                               float *out, const atomic_bool *stop)
{
    (void)stop;
    struct forest *compiler_surrogate = fit(self, known);
    if (!compiler_surrogate)
        return false;
    float *variance = mem_zero((size_t)asked->programs, sizeof *variance);
    forest_predict(compiler_surrogate, asked->x, asked->programs, out, variance);
    for (int i = 0; i < asked->programs; i++)
        out[i] = (float)improvement((double)out[i], (double)variance[i]);
    free(variance);
    forest_destroy(compiler_surrogate);
    return true;
}

// --- the search ---

// Adds the best results to the pool, and their indices there to `place`. Returns how many.
static int add_starts(struct forest_search *f, struct evolution *pool, int *place)
{
    const struct batches *b = &f->surrogate.batches;
    const double *fitness = b->fitness;
    int best[MOST_STARTS], count = 0;
    for (int i = 0; i < b->observed; i++) {
        if (fitness[i] <= 0 || (count == f->starts && fitness[i] <= fitness[best[count - 1]]))
            continue;
        int at = count < f->starts ? count++ : count - 1;
        for (; at > 0 && fitness[best[at - 1]] < fitness[i]; at--)
            best[at] = best[at - 1];
        best[at] = i;
    }
    for (int i = 0; i < count; i++) {
        struct config c;
        config_set_get(&b->archive.given, best[i], &c);
        evolution_add(pool, &c);
        place[i] = config_set_find(&pool->pool, &c);
    }
    return count;
}

// Takes one step of all climbs, so that their moves are scored together. The place -1 is a climb at
// its top. False: all climbs are at their tops.
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
        if (!moves_step(v->space, JUMP_LIMIT, &f->rng, &c) || !surrogate_knows(f, &c))
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

static bool forest_search_plan(void *self, const atomic_bool *stop)
{
    struct forest_search *f = self;
    struct forest *model = fit(f, &f->surrogate.samples);
    if (!model)
        return false;
    forest_destroy(f->model);
    f->model = model;
    f->surrogate.model_bytes = (double)forest_bytes(model);
    struct evolution v = {
        // used for its pool and scores, without generations
        .space = f->surrogate.batches.problem.space,
        .rng = &f->rng,
        .legal = surrogate_knows,
        .score = forest_search_score,
        .self = f,
        .pool = {.slots = f->surrogate.batches.problem.space->slots},
    };
    int place[MOST_STARTS], climbs = add_starts(f, &v, place);
    for (int n = 0; n < DRAWS; n++) {
        struct config c;
        archive_sample(&f->surrogate.batches.problem, &f->rng, &c);
        if (config_set_find(&v.pool, &c) < 0 && surrogate_allows(&f->surrogate, &c))
            evolution_add(&v, &c);
    }
    evolution_run(&v, stop);
    for (int n = 0; n < STEPS && !*stop && climb(f, &v, climbs, place, stop); n++)
        continue;
    int *order = mem_zero((size_t)v.pool.count, sizeof *order);
    int places = f->plan;
    for (int i = 0; i < f->plan; i++) // the base draws for the places that are left
        places -= rng_real(&f->rng) < f->epsilon;
    evolution_rank(&v, order);
    for (int i = 0, left = places * f->surrogate.look; i < v.pool.count && left > 0; i++) {
        struct config c;
        config_set_get(&v.pool, order[i], &c);
        left -= surrogate_propose(&f->surrogate, &c);
    }
    surrogate_contest(&f->surrogate, places);
    free(order);
    evolution_finish(&v);
    return !*stop;
}

// --- the strategy ---

static const struct surrogate_kind surrogate_kind = {forest_search_plan, forest_search_predict,
                                                     forest_search_rate};

static void forest_search_destroy(struct strategy *s)
{
    struct forest_search *f = (struct forest_search *)s;
    surrogate_finish(&f->surrogate);
    forest_destroy(f->model);
    free(f);
}

static struct strategy *forest_search_create(const struct search_problem *problem, uint64_t seed,
                                             const double *option, struct err *e)
{
    struct forest_search *f = mem_zero(1, sizeof *f);
    f->plan = (int)option[OPTION_PLAN];
    f->trees = (int)option[OPTION_TREES];
    f->starts = (int)option[OPTION_STARTS];
    f->near = (int)option[OPTION_NEIGHBOURHOODS];
    f->epsilon = option[OPTION_EPSILON];
    rng_seed(&f->rng, seed);
    const struct surrogate_settings settings = {.features = FEATURES_KNOB,
                                                .batch = f->plan,
                                                .look = (int)option[OPTION_LOOK],
                                                .seed = rng_next(&f->rng)};
    if (surrogate_init(&f->surrogate, &surrogate_kind, f, problem, &settings, e))
        return &f->surrogate.batches.base;
    forest_search_destroy(&f->surrogate.batches.base);
    return NULL;
}

static bool forest_possible(const double *option, struct err *e)
{
    (void)option;
    return trees_available(e);
}

static const struct spec_option options[] = {
    [OPTION_PLAN] = {"plan", "points asked for between two fits", 16, 1, 4096, true},
    [OPTION_TREES] = {"trees", "trees of the forest", 50, 2, 1000, true},
    [OPTION_STARTS] = {"starts", "best results that climbs start from", 10, 1, MOST_STARTS, true},
    [OPTION_NEIGHBOURHOODS] = {"near", "moves looked at before each step of a climb", 40, 1, 4096,
                               true},
    [OPTION_EPSILON] = {"epsilon", "chance of a point to be drawn", 0.1, 0, 1, false},
    [OPTION_LOOK] = LOOK_OPTION,
    {NULL},
};

const struct strategy_kind strategy_forest = {
    .name = "forest",
    .help = "expected improvement by a random forest, as SMAC",
    .options = options,
    .learns = LEARNS_ALL,
    .possible = forest_possible,
    .create = forest_search_create,
    .ask = surrogate_ask,
    .tell = surrogate_tell,
    .generation = batches_generation,
    .wait_fd = surrogate_wait_fd,
    .take_refit = surrogate_take_refit,
    .destroy = forest_search_destroy,
};
