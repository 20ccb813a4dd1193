// Simulated annealing on the scores of a model, with many chains at once: finds the points of a
// space with the best scores (AutoTVM; sa_model_optimizer.py of tvm 0.6).
//
//     struct chains c;
//     chains_init(&c, problem, &(struct chains_settings){128, 500, 50});
//     int found = chains_search(&c, &goal, &rng, &stop, 64, best); // best[64], best first
//     chains_finish(&c);
//
// A move draws one parameter anew, uniformly, until it differs. It is accepted with probability
// exp(d / T), where d is the gain of score and T falls from 1 to 0. All points met, accepted or
// not, compete for the best ones; `patience` steps without a new one end the search. The next
// search begins at the points of the chains.
//
// Two things differ from TVM. Scores below 0 count: TVM drops them, although the scores of a
// ranking model have no zero, and its plans were too short. And only points that the goal allows
// can be among the best. The chains may move through illegal points, which the model does not know.
// This does little harm, because most of the space is within one move of them. But where legal
// points are so rare that the problem draws them itself (strategy.h), a move that ends on an
// illegal point is replaced by a draw.
#ifndef TILEWALK_SEARCH_CHAINS_H
#define TILEWALK_SEARCH_CHAINS_H

#include "search/strategy.h"

#include <stdatomic.h>

struct chains_settings {
    int count, steps, patience;
};

struct chains {
    const struct search_problem *problem;
    struct chains_settings settings;
    struct config *here; // [settings.count] points of the chains, once `started`
    bool started;
    int movable[SPACE_MAX_PARAMS], movables; // parameters of more than one value
};

struct chains_goal {
    void *context;
    void (*score)(void *context, const struct config *c, int count, float *out);
    bool (*allows)(void *context, const struct config *c); // may be among the best
};

struct scored {
    struct config config;
    float score;
    int met; // order in which the points were met, which decides between equals
};

void chains_init(struct chains *c, const struct search_problem *problem,
                 const struct chains_settings *settings);
void chains_finish(struct chains *c);

// Fills in at most `most` different points, best first, and returns how many. `stop` ends it early.
int chains_search(struct chains *c, const struct chains_goal *goal, struct rng *r,
                  const atomic_bool *stop, int most, struct scored *best);

// Choice of points to measure together: good scores, and values that differ.
//
//     int pick[64], picked = diversity_pick(space, candidate, 128, alpha, 64, pick);
//
// AutoTVM's set function (section 3.3): L(S) = sum of the scores in S + alpha times the number of
// different values in S, summed over the parameters. It is submodular, so that picking the point
// that adds most, again and again, comes within 1 - 1/e of the best set where no score is below 0.
// TVM's code uses an alpha beyond all scores: values alone count.

// Picks the indices of at most `most` of the `count` candidates, of equals the first candidate.
// Returns how many.
int diversity_pick(const struct space *s, const struct scored *candidate, int count, double alpha,
                   int most, int *pick);

#endif
