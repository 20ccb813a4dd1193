// The points of a space that a model calls best: simulated annealing by many chains at once
// (AutoTVM; sa_model_optimizer.py of tvm 0.6).
//
//     struct chains c;
//     chains_init(&c, problem, &(struct chains_settings){128, 500, 50});
//     int found = chains_search(&c, &goal, &rng, &stop, 64, best); // best[64], best first
//     chains_finish(&c);
//
// A chain's move draws one parameter anew, uniformly, until it differs; it goes there with
// probability exp(d / T), d the score it gains, T falling from 1 to 0. All points met, gone to or
// not, compete for the best; `patience` steps without one of them end the search. The next search
// begins where this one's chains stand.
//
// Two things differ from what was published. Scores below 0 count: there they are dropped, though
// the scores of a ranking model have no zero, and plans came out too short. And only points that
// the goal allows are among the best; it is asked only about points that would be. The chains
// themselves walk through illegal points too, of which the model knows nothing. That does little
// harm, since most of the space is within one move of them. But where legal points are so few that
// the problem draws them itself (strategy.h), a move that ends on an illegal one is replaced by a
// draw.
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
    struct config *here; // [settings.count] where they stand, once `started`
    bool started;
    int movable[SPACE_MAX_PARAMS], movables; // parameters of more than one value
};

struct chains_goal {
    void *context;
    void (*score)(void *context, const struct config *c, int count, float *out);
    bool (*allows)(void *context, const struct config *c); // to be among the best
};

struct scored {
    struct config config;
    float score;
    int met; // when, so that the order of equals is a definite one
};

void chains_init(struct chains *c, const struct search_problem *problem,
                 const struct chains_settings *settings);
void chains_finish(struct chains *c);

// At most `most` different points, best first; returns how many; without a search when none is
// wanted. `stop` ends it early.
int chains_search(struct chains *c, const struct chains_goal *goal, struct rng *r,
                  const atomic_bool *stop, int most, struct scored *best);

// Which of the points that a model calls best to measure together: fast ones that differ.
//
//     int pick[64], picked = diversity_pick(space, candidate, 128, alpha, 64, pick);
//
// AutoTVM's set function (section 3.3): L(S) = sum of the scores in S + alpha times the number of
// different values in S, summed over the parameters. It is submodular, so that picking the point
// that adds most, again and again, comes within 1 - 1/e of the best set where no score is below 0.
// An alpha beyond all scores is what its code does: values alone count.

// The indices of at most `most` of the `count` candidates, in the order picked; of equals the first
// candidate. Returns how many.
int diversity_pick(const struct space *s, const struct scored *candidate, int count, double alpha,
                   int most, int *pick);

#endif
