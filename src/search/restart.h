#ifndef TILEWALK_SEARCH_RESTART_H
#define TILEWALK_SEARCH_RESTART_H

#include "model/coordinates.h"
#include "model/gp.h"
#include "search/batches.h"

#include <stdbool.h>

// The exploration phases of a search: when they begin, and what they evaluate.
//
//     struct exploration e = {.least = 1e-5};
//     switch (exploration_next(&e)) ...                 before each ask; then one of
//     exploration_expect(&e, gain);                     TRIAL_MODEL: its expected improvement, as
//                                                       a share of the best
//     exploration_probe(&e, index, mean, deviation);    TRIAL_PROBE: its predicted fitness
//     exploration_local(&e, index, mean, deviation);    TRIAL_LOCAL: its predicted fitness
//     exploration_end(&e);                              there is nothing to probe or to move to
//     exploration_observe(&e, index, fitness, asked);   every result, by rising index
//
// A search exploits while its model expects an improvement of `least` for the next trial, or did so
// recently. Expected improvements are corrected by experience: by the sum of the actual gains over
// the sum of the expected ones. Below `least` an exploration phase begins with a few probes, which
// are points far from all results. If the results of the probes are as predicted, the model is
// right and the phase ends. A probe with a high z-score (result minus predicted mean, in predicted
// deviations) shows a place where the model is wrong. A local search by single moves starts there;
// it ends when `patience` results in a row did not improve on the best result of this place. Any
// new best result of the whole search ends the phase.
//
// There are two kinds of local search. A probe with a z-score of at least `z_at_once` starts a
// strict one at once: only results that have a high z-score themselves are moved from, because the
// other moves lead back to known places. The predictions of its trials use the results from before
// the probe (exploration_known). The remaining probes follow later. When all probes are observed
// and the last one started no strict search, the probe with the highest z-score, if this is at
// least 1.5, starts a lenient search: every result counts, and the patience grows with the z-score.
// With `z_at_once` 0 there are only lenient searches, from a z-score of 1.

enum {
    EXPLORATION_LOCAL_BEST = 3,
    EXPLORATION_OPEN = 256 // trials that may be open at once
};

struct exploration_prediction {
    int ask; // index + 1; 0: none
    double mean, deviation;
    double fitness; // the result; 0: not observed, or failed
};

struct exploration {
    double least;     // 0: the search never explores
    double z_at_once; // 0: no probe starts a strict local search

    enum { EXPLORATION_OFF, EXPLORATION_PROBING, EXPLORATION_LOCAL } phase;
    double best;                     // fitness
    int idle;                        // results since `best` rose
    double expected;                 // the largest recent expected improvement
    double expected_sum, gained_sum; // decaying sums over the trials
    struct exploration_prediction prediction[EXPLORATION_OPEN]; // each at its index modulo the size
    int first, asked, observed; // probes: index of the first, how many were asked and observed
    struct exploration_prediction runner_up; // highest z-score among the probes below `z_at_once`
    bool strict;                             // kind of the local search
    int start;                               // index of the probe where it started
    int begun;                               // trials from this index on belong to it
    int local[EXPLORATION_LOCAL_BEST];       // indices of its best results, the best first
    double local_fitness[EXPLORATION_LOCAL_BEST];
    int local_count;
    int failed_streak, patience; // results in a row without improvement; how many are allowed
};

enum exploration_trial { TRIAL_MODEL, TRIAL_PROBE, TRIAL_LOCAL };
enum exploration_trial exploration_next(struct exploration *e);
void exploration_expect(struct exploration *e, double gain);
void exploration_probe(struct exploration *e, int index, double mean, double deviation);
void exploration_local(struct exploration *e, int index, double mean, double deviation);
void exploration_end(struct exploration *e);
// `asked`: number of trials asked by now.
void exploration_observe(struct exploration *e, int index, double fitness, int asked);
// Returns how many of the first `results` the prediction of the next trial may use.
int exploration_known(const struct exploration *e, int results);

// Maximin sampler (farthest point): of many legal points, the one with the largest distance to the
// nearest result. A model of distances is the least certain there.
//
//     struct maximin m = {.problem = problem, .coordinates = &coordinates};
//     if (maximin_farthest(&m, &given, count, weight, &rng, &c)) ...
//     maximin_finish(&m);
//
// A small space contributes all its legal points, as long as they have at most MAXIMIN_NUMBERS
// coordinates in all; a larger space contributes as many random draws. The pool grows by
// MAXIMIN_STEP at each call, because a check of legality takes microseconds. Each point keeps the
// distance to its nearest result, so that a new result costs one pass over the pool: 0.1 ms.

enum { MAXIMIN_NUMBERS = 200000, MAXIMIN_STEP = 2048 };

struct maximin {
    const struct search_problem *problem;
    struct coordinates *coordinates;
    struct config_set points;
    int tried, most; // points of the space, or draws
    float *x;        // [coordinates][most]
    float *nearest;  // [most] distance to the nearest result
    float *distance; // [most] scratch
    int results;     // number of results that all points were compared with
};

// Compares the points with the first `count` of `given`. `weight` has the weight of each
// coordinate, used for new comparisons. False: no point is left.
bool maximin_farthest(struct maximin *m, const struct config_set *given, int count,
                      const double *weight, struct rng *r, struct config *out);
void maximin_finish(struct maximin *m); // a zeroed one is fine

// The trials of the exploration phases.
//
//     struct restart r;
//     restart_init(&r, batches, coordinates, model);   then set r.exploration's options
//     restart_probe(&r, now, &rng, &c)                 the next probe
//     restart_local(&r, now, &c)                       the move that was chosen
//     restart_finish(&r);
//
// The training set of the search has the best and the latest results. It soon drops the probes, and
// has little from their surroundings. Therefore the prediction of a probe and of its moves comes
// from a local model, fitted to the results nearest to that point with the weights and the noise of
// the search's model. With `z_at_once` 0 the search's own model predicts.

enum {
    RESTART_LATEST = 1024, // results among which the nearest ones are sought
    RESTART_ROWS = 2 * RESTART_LATEST
};

struct restart_now {
    double best;   // fitness
    double failed; // fitness that a failed trial counts as
    int results;   // the first results, which are known
};

struct restart {
    struct exploration exploration;
    struct maximin maximin;
    const struct batches *batches; // these three outlive it
    struct coordinates *coordinates;
    struct gp *model;
    struct gp local_model;
    double *x;   // coordinates of the latest results: [coordinates][RESTART_ROWS], each result at
                 // its index modulo that
    int located; // results whose coordinates were computed
};

// The predictions of `model` are shares of the best fitness.
void restart_init(struct restart *r, const struct batches *batches, struct coordinates *coordinates,
                  struct gp *model);
void restart_finish(struct restart *r); // a zeroed one is fine

// Chooses the point that is the farthest from all results. False: none is left.
bool restart_probe(struct restart *r, struct restart_now now, struct rng *rng, struct config *out);
// Says that `c` is proposed next. Does nothing unless a strict local search is under way.
void restart_local(struct restart *r, struct restart_now now, const struct config *c);

#endif
