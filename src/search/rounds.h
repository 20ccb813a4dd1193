// Searches in rounds: a round is made at once, handed out, and only when all of it was told (but
// the latest `open`, of who sets that) is the next one made. What they share: the record of what
// was given, what came of it, and where it came from.
//
//     rounds_init(&r, problem);
//     rounds_ask(&r, out, make, self); // calls make(self) when a round must be made; that calls
//     rounds_add(&r, &c, from);        // this for each configuration; none: exhausted
//     rounds_tell(&r.base, &c, outcome, fitness);
//     rounds_finish(&r);
//
// What has index i in `visited.given` was ask i + 1. Inside make() everything given was told, but
// the latest `open`: whether these were is not to be looked at, as it depends on how many trials
// run at a time. The results of the last round are those from `start` on. Every search in rounds
// proposes only what the problem calls legal; a struct rounds is not moved after rounds_init.
#ifndef TILEWALK_SEARCH_ROUNDS_H
#define TILEWALK_SEARCH_ROUNDS_H

#include "search/visited.h"

struct lineage {
    bool bred; // not drawn
    int ask[SPACE_MAX_PARAMS];
};

// What a strategy in rounds begins with.
struct rounds {
    struct strategy base;
    struct search_problem problem;
    struct visited visited;
    double *fitness; // of what was told, by index
    int fitness_capacity;
    int start;  // index of the first of the newest round
    int number; // rounds made
    int handed_out, told;
    int open;                // 0 unless set after rounds_init: results that a round is made without
    struct lineage *lineage; // of the newest round
    int lineage_capacity;
};

void rounds_init(struct rounds *r, const struct search_problem *problem);
void rounds_finish(struct rounds *r);

enum ask rounds_ask(struct rounds *r, struct config *out, void (*make)(void *self), void *self);

// `c` is new and legal. `from`: for each parameter the ask it was taken from, 0 when it was drawn;
// NULL: all were.
void rounds_add(struct rounds *r, const struct config *c, const int from[SPACE_MAX_PARAMS]);
bool rounds_draw(struct rounds *r, struct rng *rng); // adds a visited_draw; false: none is left
void rounds_add_warm(struct rounds *r);              // adds all warm points that are left

// For the kind of a strategy in rounds.
void rounds_tell(struct strategy *s, const struct config *c, enum outcome o, double fitness);
bool rounds_origin(const struct strategy *s, int64_t ask[SPACE_MAX_PARAMS]);
int rounds_generation(const struct strategy *s);

#endif
