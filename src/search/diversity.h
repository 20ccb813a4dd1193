// Which of the points that a model calls best to measure together: fast ones that differ.
//
//     int pick[64], picked = diversity_pick(space, candidate, 128, alpha, 64, pick);
//
// AutoTVM's set function (section 3.3): L(S) = sum of the scores in S + alpha times the number of
// different values in S, summed over the parameters. It is submodular, so that picking the point
// that adds most, again and again, comes within 1 - 1/e of the best set where no score is below 0.
// An alpha beyond all scores is what its code does: values alone count.
#ifndef TILEWALK_SEARCH_DIVERSITY_H
#define TILEWALK_SEARCH_DIVERSITY_H

#include "search/chains.h"

// The indices of at most `most` of the `count` candidates, in the order picked; of equals the first
// candidate. Returns how many.
int diversity_pick(const struct space *s, const struct scored *candidate, int count, double alpha,
                   int most, int *pick);

#endif
