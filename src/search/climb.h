// Local maximization of an acquisition value: hill climbs by single moves from the best of some
// candidates, under the model alone.
//
//     struct climbs k = {.most = 3};
//     climbs_begin(&k);
//     climbs_add(&k, &candidate, value);               each start; the best `most` are kept
//     climbs_run(&k, &candidates, best, self);         overwrites the candidates
//     ...k.peak[0 .. k.count), the best first
#ifndef TILEWALK_SEARCH_CLIMB_H
#define TILEWALK_SEARCH_CLIMB_H

#include "search/training.h"

enum { CLIMBS_MOST = 64 };

struct peak {
    struct candidate at;
    double value; // its acquisition value
};

struct climbs {
    int most; // at most CLIMBS_MOST
    struct peak peak[CLIMBS_MOST];
    int count;
};

// Returns the candidate with the largest value above `*value`, and sets `*value` to it; -1: none.
typedef int climbs_best(void *self, double *value);

void climbs_begin(struct climbs *k);
void climbs_add(struct climbs *k, const struct candidate *start, double value); // once each
// Climbs from each start, move by move, while the value grows. `best` chooses among the moves
// in `c`, which may be illegal or known: see candidates_allowed.
void climbs_run(struct climbs *k, struct candidates *c, climbs_best *best, void *self);

#endif
