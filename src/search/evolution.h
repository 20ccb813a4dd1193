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

#endif
