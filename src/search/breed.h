// How Ansor (OSDI 2020, section 5.1) makes programs of programs, for any space.
//
//     struct config child = parent;
//     if (breed_mutate(space, &rng, &child)) ...
//     breed_cross(space, &rng, &a, &b, &child);
//
// Mutation changes one parameter. Nine times of ten it is a tile, a factorization: the parts are
// walked through in a random order, and the first that is not 1 gives any divisor of it but 1 to
// the one after it, cyclically; so the product stays. Else it is one of the others, of which Ansor
// has the unroll limit: drawn anew, all values alike, its own too. Where there is nothing to tile,
// as on recordings, the nine of ten are steps to a neighbour on the graph of a parameter.
//
// Crossover takes each node's steps from one of two programs; a node of ours is a parameter. What
// comes out may be illegal either way.
#ifndef TILEWALK_SEARCH_BREED_H
#define TILEWALK_SEARCH_BREED_H

#include "space/space.h"

// In place. False: no parameter has a second value.
bool breed_mutate(const struct space *s, struct rng *r, struct config *c);
void breed_cross(const struct space *s, struct rng *r, const struct config *a,
                 const struct config *b, struct config *out);

#endif
