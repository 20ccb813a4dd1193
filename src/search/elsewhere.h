// What other searches measured, as a trend for a Gaussian process: of each such history a process
// of its own, in the coordinates of the space that is searched here; their weighted sum is what is
// expected where nothing is known yet.
//
//     elsewhere_init(&e, problem, &coordinates, starts, seed);
//     elsewhere_attach(&e, &gp);                         its trend
//     if (elsewhere_weigh(&e, &rounds, told, best, &rng)) ...the trial that is due is random...
//     elsewhere_propose(&e, &proposals);
//     elsewhere_finish(&e);
//
// Configurations of other spaces become the nearest ones here, by the names and values of their
// parameters (space/nearest.h); histories that have none are left out. Speeds are shares of the
// best of their history. Without histories all of this does nothing, and draws nothing.
//
// Weights are learned: those, none negative, with which the sum, and a mean, comes nearest to the
// results here (least squares). They are held to where they begin, 1 / histories, as strongly as
// ELSEWHERE_HOLD results would hold them: a history that predicts nothing here soon counts nothing.
//
// Where all trials go where the histories say, nothing would tell that it is better elsewhere. So
// the first few are random all the same, and after n trials that heeded the histories in vain, as
// none was a new best, the next one heeds them with the chance 1 / (1 + (n / 3)^2). The others see
// what was measured here alone; the first of these are the random ones that the search would have
// begun with.
#ifndef TILEWALK_SEARCH_ELSEWHERE_H
#define TILEWALK_SEARCH_ELSEWHERE_H

#include "model/coordinates.h"
#include "model/gp.h"
#include "search/surrogate.h"

enum {
    ELSEWHERE_MOST = 16,    // histories; of more the last ones
    ELSEWHERE_POINTS = 128, // of one that its process knows
    ELSEWHERE_BEST = 8,     // of one that are proposed
    ELSEWHERE_STARTS = 3,   // random trials, where there is a history
    ELSEWHERE_HOLD = 4
};

struct elsewhere_history {
    struct gp model;
    double weight;
    struct config best[ELSEWHERE_BEST]; // legal here, the fastest there first
    int best_count;
};

struct elsewhere {
    struct coordinates *coordinates;
    int count; // histories
    struct elsewhere_history *history;
    double *said; // [results][count]: what each says of each result here
    int results, capacity;
    int starts;  // random trials that the search begins with, fewer of them at once,
    int to_draw; // and how many are left
    bool heeded; // by the trial that is due
    int vain;    // trials that heeded the histories since the best so far was found
    double best; // so far
};

// `problem` is looked at here alone; `coordinates` outlive it. The search would begin with `starts`
// random trials; `e->starts` is what it does begin with.
void elsewhere_init(struct elsewhere *e, const struct search_problem *problem,
                    struct coordinates *coordinates, int starts, uint64_t seed);
void elsewhere_finish(struct elsewhere *e);
int elsewhere_most(const struct elsewhere *e); // candidates that elsewhere_propose may add
// `e` is not moved afterwards, and outlives `g`.
void elsewhere_attach(struct elsewhere *e, struct gp *g);
// Learns from the first `told` results, of which `best` is the highest fitness, and decides whether
// the trial that is due heeds the histories. True: it is to be a random one.
bool elsewhere_weigh(struct elsewhere *e, const struct rounds *r, int told, double best,
                     struct rng *rng);
// Adds what is the best elsewhere and new here.
void elsewhere_propose(const struct elsewhere *e, struct proposals *p);

#endif
