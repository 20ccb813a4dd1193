// Bayesian optimisation: a Gaussian process chooses, by expected improvement, among neighbours and
// children of the best results and random points (docs/internals/walk.md).
//
// The first trials are random. Later ones are of three kinds. Most have as candidates the
// neighbours of the very best results, children that OpEvo's evolution breeds of the best results,
// and random immigrants (training.h); some of these refine and have the neighbours alone. The
// candidate with the highest acquisition value is proposed: the expected improvement over a target
// that lies a random share of `xi` deviations above the best result. Other trials climb the
// expected improvement over the best result itself, move by move (climb.h). When the model expects
// no more improvement, an exploration phase begins (restart.h). The Gaussian process is fitted to
// the best and the latest results. Guesses of somebody else take every second trial (guesses.h).
//
// With `ahead`, the model takes its own predictions for results that are not known yet. Where the
// compiler reports statistics, the best `look` candidates are compiled, and a second surrogate that
// uses these statistics chooses among those that fit the device. Meanwhile the candidates of the
// next trials are compiled, too (compiler_surrogate.h).
#include "model/gp.h"
#include "search/climb.h"
#include "search/compiler_surrogate.h"
#include "search/guesses.h"
#include "search/restart.h"
#include "search/transfer_prior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_STARTS,
    OPTION_ELITES,
    OPTION_CHILDREN,
    OPTION_IMMIGRANTS,
    OPTION_NEIGHBOURHOODS,
    OPTION_REFINE,
    OPTION_REFINE_XI,
    OPTION_Q,
    OPTION_POINTS,
    OPTION_LEARN,
    OPTION_PROFILE,
    OPTION_XI,
    OPTION_JUMP_LIMIT,
    OPTION_LEAST_GAIN,
    OPTION_Z_SCORE,
    OPTION_LOOK,
    OPTION_BATCHES,
    OPTION_AHEAD,
    OPTION_COST,
    OPTION_CHANCE,
    OPTION_CLIMB
};

enum { PREDICTIONS = 256 };           // more than trials that may be open at once
enum { CLIMB_FROM = 20, CLIMBS = 1 }; // results from which on it climbs; climbs of such a trial
#define LEAST_CHANCE 0.01             // of success: nothing is excluded for good

struct prediction {
    int ask;                // index + 1; 0: none
    double mean, deviation; // of the fitness
};

struct walk {
    struct batches batches; // first: a strategy is a struct walk
    struct rng rng;
    int first; // size of the first batch; all later ones have one trial
    double refine, refine_xi, xi, cost, chance, climb;
    struct training_set training;
    struct config *elite; // result of population(): [elites]

    struct coordinates coordinates;
    struct gp model;
    struct candidates candidates;
    struct climbs climbs;
    struct restart restart;
    struct transfer_prior prior;
    struct guesses guesses;
    double *x, *mean, *deviation, *acquisition; // of the candidates: [width] each, and one each
    struct candidate_queue queue;
    struct config *planned; // the first candidate of each batch in the queue: [queue.most]
    int look;               // candidates compiled before one is chosen; 1: none is compiled
    struct compiler_surrogate compiled;
    struct prediction prediction[PREDICTIONS]; // each at its index modulo the size
    struct intervals intervals;
};

// Returns the factor of an acquisition value: one over the predicted seconds to the power `cost`
// (expected improvement per second with 1: Snoek, Larochelle, Adams 2012), times the predicted
// chance of success to the power `chance`.
static double walk_factor(void *self, int query, const double *output)
{
    (void)query;
    const struct walk *w = self;
    double succeeds = fmin(fmax(output[TRAINING_SUCCESS], LEAST_CHANCE), 1);
    return exp(-w->cost * output[TRAINING_COST]) * pow(succeeds, w->chance);
}

static void set_up_model(struct walk *w, struct gp *g)
{
    if (w->cost != 0 || w->chance != 0) {
        gp_add_outputs(g, TRAINING_OUTPUTS);
        g->factor = walk_factor;
        g->factor_context = w;
    }
    g->prior_mean = w->prior.count ? transfer_prior_mean : NULL;
    g->prior_context = &w->prior;
}

// --- the choice of a trial ---

static void collect_neighbours(struct walk *w)
{
    struct candidates *c = &w->candidates;
    candidates_begin(c);
    for (int i = 0; i < c->neighbourhoods && i < w->training.valid; i++)
        candidates_add_neighbours(c, w->training.ranked[i]);
}

// Collects the candidates of the next trial; returns its exploration weight.
static double collect_candidates(struct walk *w)
{
    struct candidates *c = &w->candidates;
    collect_neighbours(w);
    if (c->count > 0 && rng_real(&w->rng) < w->refine)
        return w->refine_xi * w->xi;
    candidates_add_children(c, w->training.ranked, w->training.results);
    candidates_add_immigrants(c);
    transfer_prior_propose(&w->prior, c);
    return w->xi;
}

static void locate_candidates(struct walk *w)
{
    const struct candidates *c = &w->candidates;
    for (int i = 0; i < c->count; i++)
        coordinates_of(&w->coordinates, &c->candidate[i].config, w->x + i * w->coordinates.count);
}

// Predicts the fitness of each candidate of the batch, with the noise of a measurement. Returns the
// expected improvement of the first one, without noise, as a share of the best fitness.
static double predict_batch(struct walk *w, struct candidate_batch *b)
{
    const struct gp *g = &w->model;
    double best = training_fitness(&w->training, 0), gain = 0;
    for (int i = 0; i < b->count; i++) {
        double mean, deviation;
        coordinates_of(&w->coordinates, &b->candidate[i].config, w->x);
        gp_predict(&w->model, w->x, 1, &mean, &deviation);
        gain = i ? gain : gp_expected_improvement(mean, deviation, 1);
        b->mean[i] = best * mean;
        b->deviation[i] = best * hypot(deviation, sqrt(g->noise) * g->now.scale);
    }
    return gain;
}

// Fills the batch with the candidates of the highest acquisition values; returns the same as
// predict_batch(). For one candidate it is enough to know which one has the highest value.
static double choose(struct walk *w, struct candidate_batch *b, double target)
{
    const struct candidates *c = &w->candidates;
    int width = w->coordinates.count;
    locate_candidates(w);
    if (w->look == 1) {
        gp_acquisition(&w->model, w->x, c->count, target, w->acquisition);
    } else {
        gp_predict(&w->model, w->x, c->count, w->mean, w->deviation);
        for (int i = 0; i < c->count; i++)
            w->acquisition[i] = gp_factor(&w->model, w->x + i * width, i) *
                                gp_expected_improvement(w->mean[i], w->deviation[i], target);
    }
    candidate_batch_fill(b, &w->queue, c, w->acquisition, w->look);
    return predict_batch(w, b);
}

// --- climbs ---
//
// The usual candidates lie around the best results. A climb goes on to where the expected
// improvement is the largest, without an exploration weight: it finds what the model knows to be
// better, however many parameters away.

static bool is_allowed(void *self, int candidate)
{
    return candidates_allowed(&((struct walk *)self)->candidates, candidate);
}

static int best_move(void *self, double *value)
{
    struct walk *w = self;
    const struct gp_filter allowed = {is_allowed, w};
    locate_candidates(w);
    return gp_best(&w->model, w->x, w->candidates.count, 1, allowed, value);
}

// Fills the batch with the end of a climb from the best neighbour or immigrant; returns the same as
// predict_batch(). Leaves it empty where there is none of these.
static double climb(struct walk *w, struct candidate_batch *b)
{
    struct candidates *c = &w->candidates;
    collect_neighbours(w);
    candidates_add_immigrants(c);
    locate_candidates(w);
    gp_acquisition(&w->model, w->x, c->count, 1, w->acquisition);
    climbs_begin(&w->climbs);
    for (int i = 0; i < c->count; i++)
        climbs_add(&w->climbs, &c->candidate[i], w->acquisition[i]);
    climbs_run(&w->climbs, c, best_move, w);
    candidates_begin(c);
    for (int i = 0; i < w->climbs.count; i++)
        candidates_add(c, &w->climbs.peak[i].at);
    candidate_batch_fill(b, &w->queue, c, w->acquisition, 1);
    return predict_batch(w, b);
}

// --- exploration phases ---

static struct restart_now now(const struct walk *w)
{
    return (struct restart_now){training_fitness(&w->training, 0), training_failure(&w->training),
                                w->training.results};
}

// Chooses a trial of an exploration phase. False: there is none, or it has no trial.
static bool explore(struct walk *w, struct candidate_batch *b)
{
    struct exploration *e = &w->restart.exploration;
    enum exploration_trial next = exploration_next(e);
    struct candidate probe = {0};
    if (next == TRIAL_MODEL)
        return false;
    if (next == TRIAL_PROBE && restart_probe(&w->restart, now(w), &w->rng, &probe.config)) {
        b->candidate[b->count++] = probe;
        predict_batch(w, b);
        return true;
    }
    candidates_begin(&w->candidates);
    for (int i = 0; i < e->local_count && next == TRIAL_LOCAL; i++)
        candidates_add_neighbours(&w->candidates, e->local[i]);
    if (w->candidates.count == 0) {
        exploration_end(e);
        return false;
    }
    b->xi = 0;
    b->is_local = true;
    // A strict local search seeks improvements over the best of all, a lenient one over its own
    // best.
    choose(w, b, e->strict ? 1 : e->local_fitness[0] / training_fitness(&w->training, 0));
    return true;
}

// Fills the batch from the usual candidates; returns the same as predict_batch().
static double breed(struct walk *w, struct candidate_batch *b)
{
    b->xi = collect_candidates(w);
    if (w->candidates.count == 0)
        return 0;
    b->xi *= rng_real(&w->rng);
    return choose(w, b, 1 + b->xi * w->model.now.scale);
}

// Fills the batch with a random one of the usual candidates.
static void pick_any(struct walk *w, struct candidate_batch *b)
{
    const struct candidates *c = &w->candidates;
    collect_candidates(w);
    if (c->count)
        b->candidate[b->count++] = c->candidate[rng_below(&w->rng, (uint64_t)c->count)];
}

// Returns true if the trial whose batch is the last of the queue is to be a guess.
static bool guess_is_due(const struct walk *w)
{
    return guesses_are_due(&w->guesses, w->batches.handed_out + w->queue.count - 1);
}

// Chooses a trial among the guesses. False: it is not their turn, or none is left.
static bool guess(struct walk *w, struct candidate_batch *b)
{
    struct candidate chosen = {0};
    if (!guess_is_due(w) || !guesses_choose(&w->guesses, &w->model, &chosen.config))
        return false;
    b->candidate[b->count++] = chosen;
    predict_batch(w, b);
    return true;
}

// Fills the batch of a trial; leaves it empty where the trial is a random one.
static void fill_batch(struct walk *w, struct candidate_batch *b)
{
    struct config warm;
    double best = w->training.results ? training_fitness(&w->training, 0) : 0;
    if (w->batches.handed_out < w->prior.starts || best <= 0 ||
        archive_warm(&w->batches.archive, &warm))
        return;
    if (w->training.points == 0) { // there is no model
        if (!guess_is_due(w))
            pick_any(w, b);
        return;
    }
    if (transfer_prior_weigh(&w->prior, &w->batches, w->training.results, best, &w->rng))
        return;
    training_fit(&w->training, &w->model, &w->rng);
    if (guess(w, b))
        return;
    if (w->restart.exploration.least && explore(w, b))
        return;
    bool climbs = w->climb > 0 && w->training.results >= CLIMB_FROM && rng_real(&w->rng) < w->climb;
    double gain = climbs ? climb(w, b) : 0;
    if (b->count == 0)
        gain = breed(w, b);
    if (b->count)
        exploration_expect(&w->restart.exploration, gain);
}

// --- the queue of trials ---

// Returns the prediction of a trial; NULL: it was a random one.
static const struct prediction *prediction_of(const struct walk *w, int index)
{
    const struct prediction *p = &w->prediction[index % PREDICTIONS];
    return p->ask == index + 1 ? p : NULL;
}

// Takes the results that the next trial to be planned depends on.
static void observe(struct walk *w)
{
    int planned = w->batches.handed_out + w->queue.count;
    while (w->training.results < planned - w->batches.open) {
        int index = w->training.results;
        double fitness = w->batches.fitness[index];
        const struct prediction *p = prediction_of(w, index);
        training_observe(&w->training, index);
        if (p && fitness > 0)
            intervals_observe(&w->intervals, (fitness - p->mean) / p->deviation);
        exploration_observe(&w->restart.exploration, index, fitness, planned);
    }
}

// Plans trials until the queue is full. False: a result must be observed first. The number of open
// results depends on the number of asks, never on time; so the proposals do not depend on time.
static bool plan(struct walk *w)
{
    struct candidate_queue *q = &w->queue;
    while (q->count == 0 || (!q->closed && q->count < q->most)) {
        if (!batches_may_plan(&w->batches, q->count))
            return false;
        observe(w);
        // A trial of an exploration phase is planned only when no other trial is in the queue.
        q->closed = q->count && w->restart.exploration.least &&
                    exploration_next(&w->restart.exploration) != TRIAL_MODEL;
        if (q->closed)
            continue;
        for (int i = 0; i < q->count; i++)
            w->planned[i] = q->batch[i].candidate[0].config;
        w->training.plans = q->count;
        struct candidate_batch *b = &q->batch[q->count++];
        struct compile_probe probe[PROBES_MOST];
        *b = (struct candidate_batch){0};
        fill_batch(w, b);
        q->closed = b->count <= 1;
        if (q->most > 1 && !q->closed)
            compiler_surrogate_probe(&w->compiled, b, probe); // so that it is compiled early
    }
    return true;
}

// Adds a random trial, or a guess where it is their turn. False: no point is left.
static bool draw(struct walk *w)
{
    struct config c;
    if (!guesses_are_due(&w->guesses, w->batches.archive.given.count) ||
        !guesses_take(&w->guesses, &c))
        return batches_draw(&w->batches, &w->rng);
    batches_add(&w->batches, &c, NULL);
    return true;
}

static void walk_make_batch(void *self)
{
    struct walk *w = self;
    const struct candidate_batch *b = &w->queue.batch[0];
    int size = w->batches.number == 0 ? w->prior.starts : 1, index = w->batches.handed_out;
    if (b->count) {
        const struct candidate *c = &b->candidate[0];
        if (b->is_local)
            restart_local(&w->restart, now(w), &c->config);
        batches_add(&w->batches, &c->config, c->from[0] ? c->from : NULL);
        if (w->training.points)
            w->prediction[index % PREDICTIONS] =
                (struct prediction){index + 1, b->mean[0], b->deviation[0]};
    } else {
        while (size-- > 0 && draw(w))
            continue;
    }
    if (w->batches.number == 0)
        w->first = w->batches.archive.given.count;
    struct candidate_queue *q = &w->queue;
    q->count--;
    q->closed &= q->count > 0;
    memmove(q->batch, q->batch + 1, (size_t)q->count * sizeof *q->batch);
}

// --- the strategy ---

static struct strategy *walk_create(const struct search_problem *problem, uint64_t seed,
                                    const double *option, struct err *e)
{
    (void)e;
    struct walk *w = mem_zero(1, sizeof *w);
    int points = (int)option[OPTION_POINTS];
    batches_init(&w->batches, problem, walk_make_batch);
    w->batches.open = (int)option[OPTION_AHEAD];
    rng_seed(&w->rng, seed);
    w->refine = option[OPTION_REFINE];
    w->refine_xi = option[OPTION_REFINE_XI];
    w->xi = option[OPTION_XI];
    w->cost = option[OPTION_COST];
    w->chance = option[OPTION_CHANCE];
    w->climb = option[OPTION_CLIMB];
    w->climbs.most = CLIMBS;
    w->elite = mem_zero((size_t)option[OPTION_ELITES], sizeof *w->elite);
    coordinates_init(&w->coordinates, problem->space, option[OPTION_PROFILE] != 0);
    training_init(&w->training, &w->batches, &w->coordinates, &w->compiled.probes, points,
                  (int)option[OPTION_LEARN]);
    w->training.impute_failed = w->chance > 0;
    transfer_prior_init(&w->prior, problem, &w->coordinates, (int)option[OPTION_STARTS], seed);
    w->candidates = (struct candidates){.batches = &w->batches,
                                        .rng = &w->rng,
                                        .parents = (int)option[OPTION_ELITES],
                                        .children = (int)option[OPTION_CHILDREN],
                                        .immigrants = (int)option[OPTION_IMMIGRANTS],
                                        .others = w->prior.count * PRIOR_BEST,
                                        .neighbourhoods = (int)option[OPTION_NEIGHBOURHOODS],
                                        .jump_limit = (int)option[OPTION_JUMP_LIMIT],
                                        .q = option[OPTION_Q]};
    guesses_init(&w->guesses, &w->batches, &w->coordinates);
    intervals_init(&w->intervals);
    restart_init(&w->restart, &w->batches, &w->coordinates, &w->model);
    w->restart.exploration.least = points ? option[OPTION_LEAST_GAIN] : 0;
    w->restart.exploration.z_at_once = option[OPTION_Z_SCORE];
    size_t most = (size_t)(candidates_most(&w->candidates) + w->batches.open);
    int width = w->coordinates.count + STATISTIC_KIND_COUNT;
    w->x = mem_zero(most * (size_t)(width + 3), sizeof *w->x);
    w->mean = w->x + most * (size_t)width;
    w->deviation = w->mean + most;
    w->acquisition = w->deviation + most;
    gp_init(&w->model, w->coordinates.count, points + w->batches.open, (int)most);
    set_up_model(w, &w->model);
    w->compiled.probes.problem = &w->batches.problem;
    w->look = problem->probe && points ? (int)option[OPTION_LOOK] : 1;
    int at_once = w->look > 1 ? (int)option[OPTION_BATCHES] : 1;
    w->queue.most = at_once < w->batches.open ? at_once : (int)fmax(w->batches.open, 1);
    w->queue.batch = mem_zero((size_t)w->queue.most, sizeof *w->queue.batch);
    w->training.planned = w->planned = mem_zero((size_t)w->queue.most, sizeof *w->planned);
    if (w->look > 1) {
        compiler_surrogate_init(&w->compiled, &w->batches, &w->training, points);
        set_up_model(w, &w->compiled.model);
    }
    return &w->batches.base;
}

static enum ask walk_ask(struct strategy *s, struct config *out)
{
    struct walk *w = (struct walk *)s;
    if (batches_may_plan(&w->batches, 0)) {
        if (!plan(w))
            return ASK_WAIT;
        struct candidate_batch *next = &w->queue.batch[0];
        if (next->count > 1 && !compiler_surrogate_choose(&w->compiled, next, &w->rng))
            return ASK_COMPILE;
    }
    return batches_ask(s, out);
}

static bool walk_forecast(struct strategy *s, struct forecast *out)
{
    const struct walk *w = (const struct walk *)s;
    const struct prediction *p = prediction_of(w, w->batches.handed_out - 1);
    if (p)
        *out =
            (struct forecast){p->mean, p->deviation, w->intervals.half, w->intervals.nine_in_ten};
    return p != NULL;
}

static struct guess_report walk_guesses(const struct strategy *s)
{
    return ((const struct walk *)s)->guesses.report;
}

static int walk_population(const struct strategy *s, int most, struct individual *out)
{
    const struct walk *w = (const struct walk *)s;
    int count = 0;
    while (count < most && count < w->candidates.parents && count < w->training.results &&
           training_fitness(&w->training, count) > 0) {
        int index = w->training.ranked[count];
        config_set_get(&w->batches.archive.given, index, &w->elite[count]);
        out[count] = (struct individual){.config = &w->elite[count],
                                         .ask = index + 1,
                                         .fitness = training_fitness(&w->training, count),
                                         .generation = index < w->first ? 0 : index - w->first + 1};
        count++;
    }
    return count;
}

static void walk_destroy(struct strategy *s)
{
    struct walk *w = (struct walk *)s;
    batches_finish(&w->batches);
    gp_finish(&w->model);
    compiler_surrogate_finish(&w->compiled);
    restart_finish(&w->restart);
    guesses_finish(&w->guesses);
    free(w->queue.batch);
    free(w->planned);
    transfer_prior_finish(&w->prior);
    coordinates_finish(&w->coordinates);
    candidates_finish(&w->candidates);
    training_finish(&w->training);
    free(w->elite);
    free(w->x);
    free(w);
}

// Those without `hidden` are for users; the others are for benchmarks and stored sessions.
static const struct spec_option options[] = {
    [OPTION_STARTS] = {"starts", "random points before the model", 10, 1, 4096, true},
    [OPTION_ELITES] = {"elites", "results that breed", 8, 1, 4096, true, .hidden = true},
    [OPTION_CHILDREN] = {"children", "bred for each trial", 40, 0, 4096, true, .hidden = true},
    [OPTION_IMMIGRANTS] = {"strangers", "drawn for each trial", 8, 0, 4096, true, .hidden = true},
    [OPTION_NEIGHBOURHOODS] = {"near", "best results whose neighbours are candidates too", 6, 0, 64,
                               true, .hidden = true},
    [OPTION_REFINE] = {"refine", "chance that a trial has only those neighbours", 0.4, 0, 1, false,
                       .hidden = true},
    [OPTION_REFINE_XI] = {"doubt", "margin of such a trial, times as large", 2, 0, 1000, false,
                          .hidden = true},
    [OPTION_Q] = {"q", "mutation: chance of each further step of a walk", 0.2, 0.001, 0.999, false,
                  .hidden = true},
    [OPTION_POINTS] = {"points", "results the model learns from; 0: no model", 128, 0, 512, true,
                       .hidden = true},
    [OPTION_LEARN] = {"learn", "weights of the model tried at each trial", 2, 0, 1000, true,
                      .hidden = true},
    [OPTION_PROFILE] = {"profile", "knows of loops and memory, where declared", 1, 0, 1, true,
                        .hidden = true},
    [OPTION_XI] = {"margin", "exploration weight: improvement sought, at most, in deviations", 0.8,
                   0, 100, false},
    [OPTION_JUMP_LIMIT] = {"reach", "parameters of at most so many values may jump to any", 64, 0,
                           65536, true, .hidden = true},
    [OPTION_LEAST_GAIN] = {"leave",
                           "expected improvement, as a share of the best, below which it explores; "
                           "0: never",
                           1e-5, 0, 1, false, .hidden = true},
    [OPTION_Z_SCORE] = {"surprise",
                        "z-score of a probe that starts a local search at once; 0: none", 2.5, 0,
                        100, false, .hidden = true},
    [OPTION_LOOK] = LOOK_OPTION,
    [OPTION_BATCHES] = {"shortlists",
                        "batches whose candidates are compiled at a time, up to `ahead` (tune: 2 "
                        "where it looks)",
                        1, 1, 255, true, .if_given = true, .hidden = true},
    [OPTION_AHEAD] = {"ahead", "results not waited for (tune: workers - 1)", 0, 0, 255, true},
    [OPTION_COST] = {"cost",
                     "expected improvements are divided by the predicted seconds, to that power "
                     "(tune: 1 with a budget of seconds)",
                     0, 0, 100, false},
    [OPTION_CHANCE] = {"chance",
                       "expected improvements are multiplied by the chance of success, to that "
                       "power; 0: what fails is a slow result",
                       0, 0, 100, false, .hidden = true},
    [OPTION_CLIMB] = {"climb", "chance that a trial climbs the expected improvement", 0.3, 0, 1,
                      false},
    {NULL},
};

const struct strategy_kind strategy_walk = {
    .name = "walk",
    .help = "Bayesian optimisation: a Gaussian process chooses among neighbours, children and "
            "random points",
    .options = options,
    .learns = LEARNS_WEIGHED,
    .create = walk_create,
    .ask = walk_ask,
    .tell = batches_tell,
    .took = batches_took,
    .population = walk_population,
    .generation = batches_generation,
    .origin = batches_origin,
    .forecast = walk_forecast,
    .guesses = walk_guesses,
    .destroy = walk_destroy,
};
