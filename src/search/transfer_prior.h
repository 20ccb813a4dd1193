// The results of other searches as the prior mean of a Gaussian process. Each history (a source
// task) gets a process of its own, in the coordinates of the space that is searched here. The prior
// mean is the weighted sum of their predictions.
//
//     transfer_prior_init(&t, problem, &coordinates, starts, seed);
//     gp.prior_mean = transfer_prior_mean;               with &t as its context
//     if (transfer_prior_weigh(&t, &batches, observed, best, &rng)) ...the next trial is random...
//     transfer_prior_propose(&t, &candidates);
//     transfer_prior_finish(&t);
//
// A configuration of another space becomes the nearest one here, by the names and values of the
// parameters (space/nearest.h). A history without any is left out. Speeds are shares of the best
// speed of their history. Without histories nothing is done and no random number is drawn.
//
// The weights are learned by least squares: no weight is negative, and the weighted sum plus a
// constant is as close as possible to the results here. They are regularised towards the equal
// weights that they begin with, as strongly as PRIOR_HOLD results. So a history that predicts
// nothing here soon counts nothing.
//
// If the histories guided all trials, the search would never see what they miss. So the first few
// trials are random, and after a failed streak of n guided trials without a new best the next trial
// is guided with probability 1 / (1 + (n / 3)^2). The other trials use the results from here alone;
// the first of them are the random ones that the search would have begun with.
#ifndef TILEWALK_SEARCH_TRANSFER_PRIOR_H
#define TILEWALK_SEARCH_TRANSFER_PRIOR_H

#include "model/coordinates.h"
#include "model/gp.h"
#include "search/training.h"

enum {
    PRIOR_SOURCES = 16, // histories used, the last ones
    PRIOR_POINTS = 128, // results of a history that its process learns
    PRIOR_BEST = 8,     // configurations of a history that are proposed
    PRIOR_STARTS = 3,   // random trials at the beginning, where there is a history
    PRIOR_HOLD = 4
};

struct prior_source {
    struct gp model;
    double weight;
    struct config best[PRIOR_BEST]; // legal here, the fastest in the history first
    int best_count;
};

struct transfer_prior {
    struct coordinates *coordinates;
    int count; // sources
    struct prior_source *source;
    double *predicted; // [results][count]: each source's prediction of each result here
    int results, capacity;
    int starts;        // random trials that the search begins with
    int to_draw;       // random trials that were put off and are left
    bool guided;       // the next trial uses the prior
    int failed_streak; // guided trials since the best result was found
    double best;       // fitness
};

// Reads `problem` only here; `coordinates` outlive the prior. `starts` is the number of random
// trials without a prior; `t->starts` becomes the number with it.
void transfer_prior_init(struct transfer_prior *t, const struct search_problem *problem,
                         struct coordinates *coordinates, int starts, uint64_t seed);
void transfer_prior_finish(struct transfer_prior *t);
// Returns the prior mean at a point; 0 if the next trial is not guided. `self` is the prior.
double transfer_prior_mean(void *self, const double *x);
// Learns the weights from the first `observed` results, of which `best` is the highest fitness, and
// decides if the next trial is guided. True: it is a random one.
bool transfer_prior_weigh(struct transfer_prior *t, const struct batches *b, int observed,
                          double best, struct rng *rng);
// Adds the best configurations of the sources that are new here, at most PRIOR_BEST of each.
void transfer_prior_propose(const struct transfer_prior *t, struct candidates *c);

#endif
