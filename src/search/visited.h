// What a strategy has given already, and uniform draws from the rest.
//
//     struct visited v;
//     visited_init(&v, problem, only_legal);
//     if (visited_allows(&v, &c)) visited_add(&v, &c);
//     visited_finish(&v);
//
// Everything given is in `given`, in the order of giving, so that no strategy repeats a
// configuration: evaluated, in flight, queued and rejected ones alike. With `only_legal`,
// configurations that the problem calls illegal are never allowed either; nor where the problem has
// a draw of its own, which says that legal ones are rare.
#ifndef TILEWALK_SEARCH_VISITED_H
#define TILEWALK_SEARCH_VISITED_H

#include "search/strategy.h"

enum { VISITED_ENUMERABLE = 65536 }; // points of a space that is searched to the last one

struct visited {
    const struct search_problem *problem;
    bool only_legal;
    struct config_set given;
    int warm; // of the problem's warm points, how many were given or passed over
};

void visited_init(struct visited *v, const struct search_problem *problem, bool only_legal);
void visited_finish(struct visited *v);

bool visited_allows(const struct visited *v, const struct config *c); // new, and legal if it must
int visited_add(struct visited *v, const struct config *c); // its index in `given`; must be new

// The next warm point that is allowed; the same one until it is added. False: none is left.
bool visited_warm(struct visited *v, struct config *out);

// A uniform draw: the problem's own, or one from all of the space. Neither new nor legal for sure.
void visited_sample(const struct search_problem *p, struct rng *r, struct config *out);

// The next warm one, or else a uniform draw among the allowed points. False: none is left, or in a
// space too large to enumerate none turned up in 10 000 draws.
bool visited_draw(struct visited *v, struct rng *r, struct config *out);

#endif
