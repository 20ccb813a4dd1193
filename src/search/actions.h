// Moves as numbered actions: a fixed list for a policy to choose from, and draws of neighbours.
//
//     struct actions a;
//     actions_init(&a, space);
//     actions_mask(&a, &c, mask);                 // true for those of a.count that change c
//     if (actions_apply(&a, k, &c, &next)) ...    // and the inverse:
//     assert(actions_between(&a, &c, &next) == k);
//
// The actions are the edges of the parameters' graphs; each direction of an edge is one action.
// They are sorted by parameter, in order of declaration:
//
//     factorization  take prime p from part i, give it to part j: by i, then j, then p
//     permutation    swap positions a < b
//     discrete       down, up
//     categorical    set to value v
//     custom         go to the k-th neighbour; as many as the largest degree of a value
//
// An action that would change nothing, or that does not exist at a state, is illegal there. The
// spaces of Zhang, Cheng et al. (2019), powers of two in 4, 2 and 4 parts, have 26 actions.
#ifndef TILEWALK_SEARCH_ACTIONS_H
#define TILEWALK_SEARCH_ACTIONS_H

#include "search/batches.h"
#include "space/space.h"

struct actions {
    const struct space *space;
    int count;
    int first[SPACE_MAX_PARAMS + 1]; // parameter i has the actions first[i] .. first[i + 1] - 1
};

void actions_init(struct actions *a, const struct space *space); // the space outlives it

// Takes action k. False: it is illegal at `from`; then `to` equals `from`. `to` may be `from`.
bool actions_apply(const struct actions *a, int k, const struct config *from, struct config *to);
void actions_mask(const struct actions *a, const struct config *c, bool *legal); // [count]
// Returns the action that leads from one configuration to the other, which are neighbours.
int actions_between(const struct actions *a, const struct config *from, const struct config *to);

// Gives the untiled state where these searches start: the first part of a factorization has all,
// items are in the order of declaration, other parameters have their first value.
void actions_start(const struct space *space, struct config *out);

// Draws of the neighbours of a state in random order, each once:
//
//     struct neighbours n;
//     neighbours_init(&n, space, &c);
//     while (neighbours_draw(&n, rng, &next)) ...
//     neighbours_finish(&n);
struct neighbours {
    const struct space *space;
    const struct config *from;
    int left, *edge; // the neighbours not drawn yet, by number
};

void neighbours_init(struct neighbours *n, const struct space *space, const struct config *from);
void neighbours_finish(struct neighbours *n);
bool neighbours_draw(struct neighbours *n, struct rng *r, struct config *out); // false: all drawn

// The results, best first: the queue of a search that goes on from the best one, and its
// population.
//
//     struct ranking r;
//     ranking_init(&r);
//     ranking_add(&r, (struct ranked){fitness, index, generation});
//     struct ranked best = ranking_pop(&r);
//     ranking_finish(&r);
//
// It is a sorted list: new results are usually near its good end, where an insertion moves little.
// Among equal fitness the newest comes first; failures have fitness 0 and come last.

struct ranked {
    double fitness;
    int index;      // in the archive
    int generation; // the batch, from 0
};

struct ranking {
    struct ranked *item; // worst first
    int count, capacity;
    struct config *shown; // result of the last ranking_show
};

enum { RANKING_SHOWN = 64 }; // the most that ranking_show gives

void ranking_init(struct ranking *r);
void ranking_finish(struct ranking *r);
void ranking_add(struct ranking *r, struct ranked item);
struct ranked ranking_pop(struct ranking *r); // the best; there must be one

// Implements a strategy's `population`: gives the best results without failures, at most `most` and
// RANKING_SHOWN of them.
int ranking_show(const struct ranking *r, const struct batches *of, int most,
                 struct individual *out);

#endif
