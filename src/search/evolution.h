// Evolution on the scores of a cost model: how Ansor looks for programs that are predicted fast.
//
//     struct evolution v = {space, &rng, 2048, 4, 0.85, 0, legal, score, self}; // the rest is 0
//     evolution_add(&v, &c);       // each of the first generation
//     evolution_run(&v, &stop);
//     evolution_rank(&v, order);   // indices into v.pool, best first
//     evolution_finish(&v);
//
// A generation is scored; then `population` children are made for the next. A parent is drawn with
// a chance in proportion to its score (all alike where no score is above 0); the child is a
// crossover with a second parent with chance `crossover`, else a mutation with chance `mutation`,
// else a copy (breed.h). Children that are illegal are never scored: another is made instead, until
// four times as many were made as are wanted. Every program met is scored once and stays in the
// pool, whatever generation it was of.
#ifndef TILEWALK_SEARCH_EVOLUTION_H
#define TILEWALK_SEARCH_EVOLUTION_H

#include "space/space.h"

#include <stdatomic.h>

struct evolution {
    const struct space *space;
    struct rng *rng;
    int population, generations; // children of a generation; of them after the first
    double mutation, crossover;
    bool (*legal)(void *self, const struct config *c);
    void (*score)(void *self, const struct config *c, int count, float *out);
    void *self;

    struct config_set pool; // set pool.slots
    float *value;           // score of each in the pool
    int scored, value_capacity;
    int *member; // of this generation: indices into the pool, copies more than once
    int members, member_capacity;
};

void evolution_add(struct evolution *v, const struct config *c);  // must be legal
void evolution_run(struct evolution *v, const atomic_bool *stop); // `stop`: end early
void evolution_rank(const struct evolution *v, int *order); // [pool.count]; equals as they were met
void evolution_finish(struct evolution *v);

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

// In place. False: no parameter has a second value.
bool breed_mutate(const struct space *s, struct rng *r, struct config *c);
void breed_cross(const struct space *s, struct rng *r, const struct config *a,
                 const struct config *b, struct config *out);

#endif
