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
#ifndef TILEWALK_SEARCH_RANKING_H
#define TILEWALK_SEARCH_RANKING_H

#include "search/rounds.h"

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
