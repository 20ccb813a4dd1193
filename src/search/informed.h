// The choice of one of a shortlist, by what the driver says of each: a Gaussian process that knows
// the coordinates and that.
//
//     informed_init(&i, &rounds, &lessons, points);      and its `model` is the caller's to set up
//     informed_look(&i, s);                              is compiled from now on
//     if (!informed_choose(&i, s, &rng)) ...             not everything is compiled yet
//     informed_finish(&i);                               fine on a zeroed one
#ifndef TILEWALK_SEARCH_INFORMED_H
#define TILEWALK_SEARCH_INFORMED_H

#include "search/lessons.h"
#include "search/shortlists.h"

struct informed {
    const struct rounds *rounds; // these outlive it
    struct lessons *lessons;     // its `looks` are those of this one
    struct looks looks;
    struct gp model;
};

// The problem of the rounds has a `look`. `points`: as the lessons have them.
void informed_init(struct informed *i, const struct rounds *rounds, struct lessons *lessons,
                   int points);
void informed_finish(struct informed *i);

// Returns whether it is known already.
bool informed_look(const struct informed *i, const struct shortlist *s);
// Leaves the one that promises the most of those that fit and were not given meanwhile, or the
// first of these where none fits; none where all were given. False: some of it, or of what was
// given before, is being compiled, and nothing has changed.
bool informed_choose(struct informed *i, struct shortlist *s, struct rng *r);

#endif
