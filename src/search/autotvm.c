// AutoTVM: a cost model learns from what was measured, and simulated annealing on the model plans
// what is measured next (Chen et al. 2018, "Learning to optimize tensor programs"; XGBTuner of tvm
// 0.6, whose defaults these are where nothing else is said).
//
// A plan is 64 points. The first is drawn at random; each later one are the points that boosted
// trees, fitted anew to all results, call best (chains.h), but for the last 5 %, which are random:
// epsilon-greedy. Results that failed are samples of label 0. While everything fails there is no
// model, and plans are random.
//
// The loss is the rank loss or the squared error of the speed relative to the best. Features
// (model/features.h): what the loop nest says of each loop (itervar), relations between touched
// memory and reuse (curve), or the parameters themselves (knob), which need no loop nest. With
// `diversity` the plan is chosen among twice as many points so that they differ (diversity.h).
//
// With `model=treegru` a recurrent network over the loop tree (model/tree_gru.h) takes the place of
// the trees; it needs a loop nest.
//
// Transfer. From 50 records of other searches on (TVM asks for 500), whose rows mean the same, a
// base model is fitted to them, each task's labels relative to its own best (there: to the best of
// all, which makes slow shapes look bad). The first plan is its own. Later models start from its
// predictions, times 2^(-n/64) after n results (there each row got another row's prediction); below
// 0.05 it is forgotten.
//
// Other than there a plan is asked for as a whole, and the next one is made when all of it was
// told: what is asked does not depend on how many trials run at once. Hist, not exact: as good on
// 1000 results, at a third of the time.
#include "base/log.h"
#include "model/cost_model.h"
#include "search/chains.h"
#include "search/learner.h"

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

#define FORGET_BELOW 0.05 // weight of the base model

struct autotvm {
    struct learner learner; // first: a strategy is a struct autotvm
    struct rng rng;
    int plan, proposals, ratio; // proposals: of a plan, the others are random
    double diversity;
    bool by_rank, is_network;
    struct chains chains;
    struct cost_model *model;
    // From other searches: its predictions, times weight, are where the model starts.
    struct cost_model *global;
    double weight;
    bool looked_back; // a global model was fitted, or could not be
    // Of the points that are scored together: features, where each begins, one model's scores.
    float *row, *part;
    int *first;
};

static const struct learner_kind learning;

static const char *const feature_words[] = {"auto", "knob", "itervar", "curve", NULL};

// False: the network has features of its own.
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

static struct strategy *create(const struct search_problem *problem, uint64_t seed,
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
    struct learner_settings settings = {
        .batch = a->plan, .look = (int)option[OPTION_LOOK], .seed = rng_next(&a->rng)};
    if (!choose_features(problem->space, a->is_network, (int)option[OPTION_FEATURES],
                         &settings.features, e) ||
        !learner_init(&a->learner, &learning, a, problem, &settings, e)) {
        free(a);
        return NULL;
    }
    chains_init(&a->chains, &a->learner.rounds.problem,
                &(struct chains_settings){(int)option[OPTION_CHAINS], (int)option[OPTION_STEPS],
                                          (int)option[OPTION_PATIENCE]});
    size_t rows = (size_t)features_most_rows(a->learner.features);
    assert(a->is_network || rows == 1);
    int chains = a->chains.settings.count;
    size_t together = (size_t)(a->plan > chains ? a->plan : chains);
    a->row = mem_alloc(together * rows * (size_t)a->learner.samples.width * sizeof *a->row);
    a->first = mem_zero(together + 1, sizeof *a->first);
    a->part = mem_alloc(together * sizeof *a->part);
    return &a->learner.rounds.base;
}

// --- the model ---

static struct cost_model *fit(const struct autotvm *a, const struct booster_rows *r, bool is_global,
                              const atomic_bool *stop)
{
    const struct cost_model_options o = {
        .is_network = a->is_network,
        .network = {.rank = a->by_rank},
        .trees = {.objective = a->by_rank ? BOOSTER_PAIRWISE : BOOSTER_SQUARED,
                  .depth = 3,
                  .eta = 0.3,
                  .gamma = 1e-4,
                  .child_weight = 1,
                  .lambda = 1,
                  .recall_at = is_global ? 2 * a->plan : a->plan,
                  .most_rounds = is_global ? 400 : 8000,
                  .patience = is_global ? 100 : 20,
                  .look_every = 1,
                  .hist = true},
    };
    struct err e;
    struct cost_model *m = cost_model_fit(&o, r, stop, &e);
    if (!m && !atomic_load(stop))
        log_warning("autotvm: no model: %s", e.text);
    return m;
}

static struct booster_rows rows_of(const struct samples *s, int from, int count)
{
    return (struct booster_rows){
        .x = s->x + (size_t)s->first[from] * (size_t)s->width,
        .y = s->y + from,
        .first = s->first + from,
        .rows = s->first[from + count] - s->first[from],
        .programs = count,
        .width = s->width,
    };
}

static void fit_model(struct autotvm *a, int results, const atomic_bool *stop)
{
    const struct learner *l = &a->learner;
    cost_model_destroy(a->model);
    a->model = NULL;
    if (l->best <= 0)
        return;
    struct booster_rows r = rows_of(&l->samples, l->history, results);
    float *margin = NULL;
    if (a->global) {
        r.margin = margin = mem_alloc((size_t)results * sizeof *margin);
        cost_model_predict(a->global, r.x, r.first, results, margin);
        for (int i = 0; i < results; i++)
            margin[i] *= (float)a->weight;
    }
    a->model = fit(a, &r, false, stop);
    free(margin);
}

static void predict(void *self, const struct config *config, int count, float *out)
{
    struct autotvm *a = self;
    size_t width = (size_t)a->learner.samples.width;
    for (int i = 0; i < count; i++)
        a->first[i + 1] = a->first[i] + features_fill(a->learner.features, &config[i],
                                                      a->row + (size_t)a->first[i] * width);
    // Of what is in a->row, by both models together.
    memset(out, 0, (size_t)count * sizeof *out);
    if (a->model)
        cost_model_predict(a->model, a->row, a->first, count, out);
    if (!a->global)
        return;
    cost_model_predict(a->global, a->row, a->first, count, a->part);
    for (int i = 0; i < count; i++)
        out[i] += (float)a->weight * a->part[i];
}

// --- the plan ---

static bool allows(void *self, const struct config *c)
{
    return learner_allows(&((struct autotvm *)self)->learner, c);
}

static bool plan(void *self, const atomic_bool *stop)
{
    struct autotvm *a = self;
    int results = a->learner.samples.programs - a->learner.history;
    const struct learner *l = &a->learner;
    if (l->history > 0 && !a->looked_back) {
        struct booster_rows r = rows_of(&l->samples, 0, l->history);
        a->global = fit(a, &r, true, stop);
        a->looked_back = true;
    }
    a->weight = exp2(-results / 64.0);
    if (a->weight < FORGET_BELOW) {
        cost_model_destroy(a->global);
        a->global = NULL;
    }
    fit_model(a, results, stop);
    if (!a->model && !a->global)
        return false;
    int places = a->proposals * a->learner.look;
    int wanted = a->diversity > 0 ? places * a->ratio : places;
    struct chains_goal goal = {a, predict, allows};
    struct scored *best = mem_alloc((size_t)wanted * sizeof *best);
    int *pick = mem_alloc((size_t)wanted * sizeof *pick);
    int found = chains_search(&a->chains, &goal, &a->rng, stop, wanted, best);
    int picked =
        diversity_pick(a->learner.rounds.problem.space, best, found, a->diversity, places, pick);
    for (int i = 0; i < picked; i++)
        learner_propose(&a->learner, &best[pick[i]].config);
    learner_contest(&a->learner, a->proposals);
    free(best);
    free(pick);
    a->learner.model_bytes = (double)(cost_model_bytes(a->model) + cost_model_bytes(a->global));
    return !atomic_load(stop);
}

static bool rate(void *self, const struct samples *known, const struct samples *asked, float *out,
                 const atomic_bool *stop)
{
    struct booster_rows r = rows_of(known, 0, known->programs);
    struct cost_model *informed = fit(self, &r, false, stop);
    if (informed)
        cost_model_predict(informed, asked->x, asked->first, asked->programs, out);
    cost_model_destroy(informed);
    return informed != NULL;
}

static const struct learner_kind learning = {plan, predict, rate};

// --- the strategy ---

static void destroy(struct strategy *s)
{
    struct autotvm *a = (struct autotvm *)s;
    learner_finish(&a->learner);
    chains_finish(&a->chains);
    cost_model_destroy(a->model);
    cost_model_destroy(a->global);
    free(a->row);
    free(a->first);
    free(a->part);
    free(a);
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
    [OPTION_LOOK] = LOOKS_OPTION,
    {NULL},
};

const struct strategy_kind strategy_autotvm = {
    .name = "autotvm",
    .help = "a model learns what is fast, annealing on it plans what to measure (AutoTVM)",
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
