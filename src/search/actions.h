// Moves as numbered actions: a fixed list for a policy to choose from, and draws of neighbours.
//
//     struct actions a;
//     actions_init(&a, space);
//     actions_mask(&a, &c, mask);                 // which of a.count change c
//     if (actions_apply(&a, k, &c, &next)) ...    // and back:
//     assert(actions_between(&a, &c, &next) == k);
//
// The edges are those of the parameters' graphs, so every edge can be walked both ways, and each
// direction is exactly one action. Those of a parameter stand together, in order of declaration:
//
//     factorization  take prime p from part i, give it to part j: by i, then j, then p
//     permutation    swap positions a < b
//     discrete       down, up
//     categorical    set to value v
//     custom         go to the k-th neighbour; as many as the value with the most neighbours has
//
// An action that would change nothing, or that its state does not have, is illegal there. In the
// spaces of Zhang, Cheng et al. (2019), powers of two in 4, 2 and 4 parts, there are 26.
#ifndef TILEWALK_SEARCH_ACTIONS_H
#define TILEWALK_SEARCH_ACTIONS_H

#include "search/rounds.h"
#include "space/space.h"

struct actions {
    const struct space *space;
    int count;
    int first[SPACE_MAX_PARAMS + 1]; // those of parameter i are first[i] .. first[i + 1] - 1
};

void actions_init(struct actions *a, const struct space *space); // the space outlives it

// False: illegal at `from`; then `to` equals `from`. `to` may be `from`.
bool actions_apply(const struct actions *a, int k, const struct config *from, struct config *to);
void actions_mask(const struct actions *a, const struct config *c, bool *legal); // `count` of them
// The action that leads from one to the other; they must be neighbours.
int actions_between(const struct actions *a, const struct config *from, const struct config *to);

// The untiled state where these searches start: of a factorization all in the first part, items as
// they were declared, else the first value.
void actions_start(const struct space *space, struct config *out);

// The neighbours of a state, each once, in random order; as many as are wanted and no more work
// than that:
//
//     struct neighbours n;
//     neighbours_init(&n, space, &c);
//     while (neighbours_draw(&n, rng, &next)) ...
//     neighbours_finish(&n);
struct neighbours {
    const struct space *space;
    const struct config *from;
    int left, *edge; // the numbers of those not drawn yet
};

void neighbours_init(struct neighbours *n, const struct space *space, const struct config *from);
void neighbours_finish(struct neighbours *n);
bool neighbours_draw(struct neighbours *n, struct rng *r, struct config *out); // false: all drawn

// What was told, best first: the queue of a search that goes on from the best, and what it shows.
//
//     struct ranking r;
//     ranking_init(&r);
//     ranking_add(&r, (struct ranked){fitness, index, generation});
//     struct ranked best = ranking_pop(&r);
//     ranking_finish(&r);
//
// A sorted list: new results are usually near its good end, where adding moves little. Of equal
// fitness the newest comes first; failures, of fitness 0, come last.

struct ranked {
    double fitness;
    int index;      // in the `visited.given` of its rounds
    int generation; // the round, from 0
};

struct ranking {
    struct ranked *item; // worst first
    int count, capacity;
    struct config *shown; // what ranking_show gave last
};

enum { RANKING_SHOWN = 64 }; // at most

void ranking_init(struct ranking *r);
void ranking_finish(struct ranking *r);
void ranking_add(struct ranking *r, struct ranked item);
struct ranked ranking_pop(struct ranking *r); // the best; there must be one

// What a strategy's `population` returns: the best results, at most `most` and RANKING_SHOWN of
// them, without failures.
int ranking_show(const struct ranking *r, const struct rounds *of, int most,
                 struct individual *out);

#endif
