// Where a search goes that leaves (excursion.h), by what the results around a place say of it.
//
//     struct leaving l;
//     leaving_init(&l, rounds, coordinates, model);   and l.excursion's `least` and `surprise`
//     leaving_probe(&l, now, &rng, &c)               the next probe
//     leaving_target(&l, now)                        what a follower must promise to be above
//     leaving_follows(&l, now, &c)                   the follower that was chosen
//     leaving_finish(&l);
//
// A model that learns from the best and the latest results forgets the probes, and knows little of
// what is far from the best. So what is expected of a probe and of its followers is learned anew,
// from the results that are nearest to it, with the weights and the noise of the search's model.
// With `surprise` 0 it is what that model itself expects.
#ifndef TILEWALK_SEARCH_LEAVING_H
#define TILEWALK_SEARCH_LEAVING_H

#include "model/coordinates.h"
#include "model/gp.h"
#include "search/excursion.h"
#include "search/field.h"
#include "search/rounds.h"

struct leaving_now {
    double best;   // fitness
    double failed; // what a result that failed counts as
    int results;   // how many are known: the first ones
};

struct leaving {
    struct excursion excursion;
    struct field field;
    const struct rounds *rounds; // these outlive it
    struct coordinates *coordinates;
    struct gp *model;
    struct gp around;
};

// What `model` predicts are shares of the best.
void leaving_init(struct leaving *l, const struct rounds *rounds, struct coordinates *coordinates,
                  struct gp *model);
void leaving_finish(struct leaving *l); // fine on a zeroed one

// The point of the space that is the farthest from all that is known. False: none is left.
bool leaving_probe(struct leaving *l, struct leaving_now now, struct rng *r, struct config *out);
// As a share of the best.
double leaving_target(const struct leaving *l, struct leaving_now now);
// `c` is asked for next. Does nothing where no follower is due.
void leaving_follows(struct leaving *l, struct leaving_now now, const struct config *c);

#endif
