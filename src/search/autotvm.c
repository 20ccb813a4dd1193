// AutoTVM: a cost model learns from the results, and simulated annealing on the model plans the
// next trials (Chen et al. 2018, "Learning to optimize tensor programs"; XGBTuner of tvm 0.6, with
// its defaults unless stated otherwise).
//
// A plan has 64 points. The first plan is random. For each later one, boosted trees are fitted to
// all results, and the plan has the points with the best scores (chains.h), but 5 % of it is random
// (epsilon-greedy). Failures are samples with label 0. Without a valid result there is no model,
// and plans are random.
//
// The loss is the rank loss, or the squared error of the speed relative to the best. The features
// (model/features.h) describe each loop of the loop nest (itervar), relations between touched
// memory and reuse (curve), or the parameters themselves (knob), which need no loop nest. With
// `diversity` the plan is chosen among twice as many points, so that they differ (chains.h).
//
// With `model=treegru` a recurrent network over the loop tree (model/tree_gru.h) replaces the
// trees; it needs a loop nest.
//
// Transfer. A base model is fitted to at least 50 records of other searches with the same features
// (TVM: 500). The labels of each task are relative to its own best (TVM: to the best of all, so
// that slow shapes look bad). The first plan comes from the base model. Later models start from its
// predictions, times 2^(-n/64) after n results (TVM: each row gets another row's prediction). With
// a factor below 0.05 the base model is dropped.
//
// Unlike in TVM, the next plan is made when all results of the last one are known. So the proposals
// do not depend on the number of trials that run at once. The trees are built from histograms,
// which is as good as exact on 1000 results, in a third of the time.
#include "base/err.h"
#include "model/tree_gru.h"
#include "search/chains.h"
#include "search/surrogate.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_PLAN,
    OPTION_EPSILON,
    OPTION_MODEL,
    OPTION_LOSS,
    OPTION_FEATURES,
    OPTION_CHAINS,
    OPTION_STEPS,
    OPTION_PATIENCE,
    OPTION_DIVERSITY,
    OPTION_RATIO,
    OPTION_LOOK
};

#define FORGET_BELOW 0.05 // smallest weight of the base model

struct cost_model { // one of the two, or none
    struct booster *trees;
    struct tree_gru *network;
};

struct autotvm {
    struct surrogate surrogate; // first: a strategy is a struct autotvm
    struct rng rng;
    int plan, proposals, ratio; // points of a plan; those that are not random
    double diversity;
    bool by_rank, is_network;
    struct chains chains;
    struct cost_model model;
    struct cost_model base; // of other searches; the model starts from its predictions times weight
    double weight;
    bool base_tried;   // the base model was fitted, or could not be
    float *row, *part; // of the points scored together: features, scores of one model
    int *first;        // [points + 1] the first row of each
};

static const char *const feature_words[] = {"auto", "knob", "itervar", "curve", NULL};

// --- the cost model ---

static bool exists(const struct cost_model *m)
{
    return m->trees || m->network;
}

static void discard(struct cost_model *m)
{
    booster_destroy(m->trees);
    tree_gru_destroy(m->network);
    *m = (struct cost_model){0};
}

// Fits a model to `count` programs from `from` on. `margin` has the score that each starts from;
// NULL: it starts at 0.5, or at 0 for a network.
static struct cost_model fit(const struct autotvm *a, const struct samples *s, int from, int count,
                             const float *margin, const atomic_bool *stop)
{
    bool is_base = s == &a->surrogate.samples && from < a->surrogate.history;
    const struct tree_gru_options network = {.rank = a->by_rank};
    const struct booster_options trees = {
        .objective = a->by_rank ? BOOSTER_PAIRWISE : BOOSTER_SQUARED,
        .depth = 3,
        .eta = 0.3,
        .gamma = 1e-4,
        .child_weight = 1,
        .lambda = 1,
        .recall_at = is_base ? 2 * a->plan : a->plan,
        .most_rounds = is_base ? 400 : 8000,
        .patience = is_base ? 100 : 20,
        .look_every = 1,
        .hist = true,
    };
    struct booster_rows r = {
        .x = s->x + (size_t)s->first[from] * (size_t)s->width,
        .y = s->y + from,
        .first = a->is_network ? s->first + from : NULL,
        .margin = margin,
        .rows = s->first[from + count] - s->first[from],
        .programs = count,
        .width = s->width,
    };
    struct err e;
    struct cost_model m = {0};
    if (a->is_network)
        m.network = tree_gru_fit(&network, &r, stop, &e);
    else
        m.trees = booster_fit(&trees, &r, stop, &e);
    if (!exists(&m) && !atomic_load(stop))
        log_warning("autotvm: no model: %s", e.text);
    return m;
}

// `x` begins with the rows of the first program, which are first[1] - first[0], and so on.
static void autotvm_score(const struct cost_model *m, const float *x, const int *first,
                          int programs, float *out)
{
    if (m->network)
        tree_gru_predict(m->network, x, first, programs, out);
    else
        booster_predict(m->trees, x, programs, out);
}

static size_t bytes_of(const struct cost_model *m)
{
    return m->network ? tree_gru_bytes(m->network) : m->trees ? booster_bytes(m->trees) : 0;
}

// Predicts by both models together.
static void autotvm_predict(void *self, const struct config *config, int count, float *out)
{
    struct autotvm *a = self;
    size_t width = (size_t)a->surrogate.samples.width;
    for (int i = 0; i < count; i++)
        a->first[i + 1] = a->first[i] + features_fill(a->surrogate.features, &config[i],
                                                      a->row + (size_t)a->first[i] * width);
    memset(out, 0, (size_t)count * sizeof *out);
    if (exists(&a->model))
        autotvm_score(&a->model, a->row, a->first, count, out);
    if (!exists(&a->base))
        return;
    autotvm_score(&a->base, a->row, a->first, count, a->part);
    for (int i = 0; i < count; i++)
        out[i] += (float)a->weight * a->part[i];
}

static bool autotvm_rate(void *self, const struct samples *known, const struct samples *asked,
                         float *out, const atomic_bool *stop)
{
    struct cost_model m = fit(self, known, 0, known->programs, NULL, stop);
    bool fitted = exists(&m);
    if (fitted)
        autotvm_score(&m, asked->x, asked->first, asked->programs, out);
    discard(&m);
    return fitted;
}

// --- the plan ---

static void fit_models(struct autotvm *a, const atomic_bool *stop)
{
    const struct samples *s = &a->surrogate.samples;
    int history = a->surrogate.history, results = s->programs - history;
    if (history > 0 && !a->base_tried) {
        a->base = fit(a, s, 0, history, NULL, stop);
        a->base_tried = true;
    }
    a->weight = exp2(-results / 64.0);
    if (a->weight < FORGET_BELOW)
        discard(&a->base);
    discard(&a->model);
    if (a->surrogate.best <= 0)
        return;
    float *margin = NULL;
    if (exists(&a->base)) {
        margin = mem_alloc((size_t)results * sizeof *margin);
        autotvm_score(&a->base, s->x + (size_t)s->first[history] * (size_t)s->width,
                      s->first + history, results, margin);
        for (int i = 0; i < results; i++)
            margin[i] *= (float)a->weight;
    }
    a->model = fit(a, s, history, results, margin, stop);
    free(margin);
}

static bool autotvm_plan(void *self, const atomic_bool *stop)
{
    struct autotvm *a = self;
    fit_models(a, stop);
    if (!exists(&a->model) && !exists(&a->base))
        return false;
    int places = a->proposals * a->surrogate.look;
    int wanted = a->diversity > 0 ? places * a->ratio : places;
    struct chains_goal goal = {a, autotvm_predict, surrogate_allows};
    struct scored *best = mem_alloc((size_t)wanted * sizeof *best);
    int *pick = mem_alloc((size_t)wanted * sizeof *pick);
    int found = chains_search(&a->chains, &goal, &a->rng, stop, wanted, best);
    int picked =
        diversity_pick(a->surrogate.batches.problem.space, best, found, a->diversity, places, pick);
    for (int i = 0; i < picked; i++)
        surrogate_propose(&a->surrogate, &best[pick[i]].config);
    surrogate_contest(&a->surrogate, a->proposals);
    free(best);
    free(pick);
    a->surrogate.model_bytes = (double)(bytes_of(&a->model) + bytes_of(&a->base));
    return !atomic_load(stop);
}

// --- the strategy ---

static const struct surrogate_kind kind = {autotvm_plan, autotvm_predict, autotvm_rate};

static void autotvm_destroy(struct strategy *s)
{
    struct autotvm *a = (struct autotvm *)s;
    surrogate_finish(&a->surrogate);
    chains_finish(&a->chains);
    discard(&a->model);
    discard(&a->base);
    free(a->row);
    free(a->first);
    free(a->part);
    free(a);
}

// Chooses the features of the model. False: the network has its own features.
static bool choose_features(const struct space *s, bool is_network, int option,
                            enum feature_kind *out, struct err *e)
{
    static const enum feature_kind kinds[] = {FEATURES_KNOB, FEATURES_KNOB, FEATURES_ITERVAR,
                                              FEATURES_CURVE};
    if (is_network && option > 0)
        return err_usage(e, "features=%s is for model=trees", feature_words[option]);
    if (is_network && !s->nest)
        return err_set(e,
                       "model=treegru needs a loop nest, and space '%s' declares none (model=trees "
                       "does without)",
                       s->name);
    *out = option == 0 && s->nest ? FEATURES_ITERVAR : kinds[option];
    if (is_network)
        *out = FEATURES_TREE;
    return true;
}

static struct strategy *autotvm_create(const struct search_problem *problem, uint64_t seed,
                                       const double *option, struct err *e)
{
    struct autotvm *a = mem_zero(1, sizeof *a);
    rng_seed(&a->rng, seed);
    a->plan = (int)option[OPTION_PLAN];
    a->proposals = a->plan - (int)(option[OPTION_EPSILON] * a->plan);
    a->ratio = (int)option[OPTION_RATIO];
    a->diversity = option[OPTION_DIVERSITY];
    a->by_rank = option[OPTION_LOSS] == 0;
    a->is_network = option[OPTION_MODEL] == 1;
    struct surrogate_settings settings = {
        .batch = a->plan, .look = (int)option[OPTION_LOOK], .seed = rng_next(&a->rng)};
    if (!choose_features(problem->space, a->is_network, (int)option[OPTION_FEATURES],
                         &settings.features, e) ||
        !surrogate_init(&a->surrogate, &kind, a, problem, &settings, e)) {
        free(a);
        return NULL;
    }
    chains_init(&a->chains, &a->surrogate.batches.problem,
                &(struct chains_settings){(int)option[OPTION_CHAINS], (int)option[OPTION_STEPS],
                                          (int)option[OPTION_PATIENCE]});
    size_t rows = (size_t)features_most_rows(a->surrogate.features);
    assert(a->is_network || rows == 1);
    int chains = a->chains.settings.count;
    size_t together = (size_t)(a->plan > chains ? a->plan : chains);
    a->row = mem_alloc(together * rows * (size_t)a->surrogate.samples.width * sizeof *a->row);
    a->first = mem_zero(together + 1, sizeof *a->first);
    a->part = mem_alloc(together * sizeof *a->part);
    return &a->surrogate.batches.base;
}

static bool autotvm_possible(const double *option, struct err *e)
{
    return option[OPTION_MODEL] == 1 || trees_available(e);
}

static const char *const models[] = {"trees", "treegru", NULL};
static const char *const losses[] = {"rank", "reg", NULL};

static const struct spec_option options[] = {
    [OPTION_PLAN] = {"plan", "configurations between two fits", 64, 1, 4096, true},
    [OPTION_EPSILON] = {"epsilon", "share of a plan that is random", 0.05, 0, 1, false},
    [OPTION_MODEL] = {"model", "boosted trees, or a recurrent network over the loop tree", 0, 0, 1,
                      true, models},
    [OPTION_LOSS] = {"loss", "of the order, or of the speed", 0, 0, 1, true, losses},
    [OPTION_FEATURES] = {"features",
                         "what the trees see; auto: itervar with a loop nest, else knob", 0, 0, 3,
                         true, feature_words},
    [OPTION_CHAINS] = {"chains", "of the simulated annealing", 128, 1, 4096, true},
    [OPTION_STEPS] = {"steps", "that each chain takes at most", 500, 1, 100000, true},
    [OPTION_PATIENCE] = {"patience", "steps without a better point before it ends", 50, 1, 100000,
                         true},
    [OPTION_DIVERSITY] = {"diversity", "weight of values that differ within a plan", 0, 0, 1000,
                          false},
    [OPTION_RATIO] = {"ratio", "points to choose from a place, with diversity", 2, 1, 64, true},
    [OPTION_LOOK] = LOOK_OPTION,
    {NULL},
};

const struct strategy_kind strategy_autotvm = {
    .name = "autotvm",
    .help = "a model learns what is fast, annealing on it plans what to measure (AutoTVM)",
    .options = options,
    .learns = LEARNS_ALL,
    .possible = autotvm_possible,
    .create = autotvm_create,
    .ask = surrogate_ask,
    .tell = surrogate_tell,
    .generation = batches_generation,
    .wait_fd = surrogate_wait_fd,
    .take_refit = surrogate_take_refit,
    .destroy = autotvm_destroy,
};
