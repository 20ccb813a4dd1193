// Evolution on the scores of a cost model: how Ansor looks for programs that are predicted fast.
//
//     struct evolution v = {space, &rng, 2048, 4, 0.85, 0, legal, score, self}; // the rest is 0
//     evolution_add(&v, &c);       // each of the first generation
//     evolution_run(&v, &stop);
//     evolution_rank(&v, order);   // indices into v.pool, best first
//     evolution_finish(&v);
//
// A generation is scored; then `population` children are made for the next one. A parent is drawn
// with a chance in proportion to its score (uniformly if no score is above 0). The child is a
// crossover with a second parent with chance `crossover`, else a mutation with chance `mutation`,
// else a copy. Illegal children are never scored: another one is made instead, until four times the
// wanted number were made. Every program is scored once and stays in the pool.
#ifndef TILEWALK_SEARCH_EVOLUTION_H
#define TILEWALK_SEARCH_EVOLUTION_H

#include "space/space.h"

#include <stdatomic.h>

struct evolution {
    const struct space *space;
    struct rng *rng;
    int population, generations; // children of a generation; generations after the first
    double mutation, crossover;
    bool (*legal)(void *self, const struct config *c);
    void (*score)(void *self, const struct config *c, int count, float *out);
    void *self;

    struct config_set pool; // set pool.slots
    float *value;           // score of each in the pool
    int scored, value_capacity;
    int *member; // this generation, as indices into the pool; copies occur more than once
    int members, member_capacity;
};

void evolution_add(struct evolution *v, const struct config *c);  // must be legal
void evolution_run(struct evolution *v, const atomic_bool *stop); // `stop` ends it early
// Fills in the indices of the pool by score, the best first, of equals the older first.
void evolution_rank(const struct evolution *v, int *order);
void evolution_finish(struct evolution *v);

// Mutation and crossover of programs as in Ansor (OSDI 2020, section 5.1), for any space.
//
//     struct config child = parent;
//     if (breed_mutate(space, &rng, &child)) ...
//     breed_cross(space, &rng, &a, &b, &child);
//
// A mutation changes one parameter. With chance 0.9 it is a tile, that is a factorization: in a
// random order of the parts, the first one that is not 1 gives a divisor of it, not 1, to the next
// part, cyclically; so the product is kept. Else it is another parameter (Ansor: the unroll limit),
// which is drawn anew, uniformly among all its values. A space without tiles, like a recording, has
// steps to a neighbour on the graph of a parameter instead of tile mutations.
//
// A crossover takes each parameter (Ansor: the steps of each node) from one of two programs. The
// results of both may be illegal.

// Works in place. False: no parameter has a second value.
bool breed_mutate(const struct space *s, struct rng *r, struct config *c);
void breed_cross(const struct space *s, struct rng *r, const struct config *a,
                 const struct config *b, struct config *out);

#endif
