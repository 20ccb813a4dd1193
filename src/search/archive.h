// The archive of a search: every configuration that it has proposed, and uniform draws from the
// rest.
//
//     struct archive a;
//     archive_init(&a, problem, only_legal);
//     if (archive_allows(&a, &c)) archive_add(&a, &c);
//     archive_finish(&a);
//
// `given` holds the configurations in the order in which they were proposed: evaluated, in flight,
// queued and rejected ones. No strategy proposes one of them again. With `only_legal` an illegal
// configuration is never allowed. The same holds where legal configurations are rare
// (search_is_sparse).
#ifndef TILEWALK_SEARCH_ARCHIVE_H
#define TILEWALK_SEARCH_ARCHIVE_H

#include "search/strategy.h"

enum {
    ARCHIVE_ENUMERABLE = 65536, // spaces of up to this size are searched to the last point
    ARCHIVE_VERDICTS = 8192     // configurations whose legality is remembered
};

struct archive_verdict {
    struct config config;
    bool is_known, is_legal;
};

struct archive {
    const struct search_problem *problem;
    bool only_legal;
    struct config_set given;
    struct archive_verdict *verdict; // [ARCHIVE_VERDICTS], by hash: the neighbours of a good
                                     // result come again at each trial; NULL: all are legal
    int warm; // number of the problem's warm points that were proposed or skipped
};

void archive_init(struct archive *a, const struct search_problem *problem, bool only_legal);
void archive_finish(struct archive *a);

// Returns true if `c` is legal, or if illegal configurations are allowed.
bool archive_permits(const struct archive *a, const struct config *c);
bool archive_allows(const struct archive *a, const struct config *c); // permitted, and new
int archive_add(struct archive *a, const struct config *c); // returns its index; `c` must be new

// Gives the next warm point that is allowed, the same one until it is added. False: none is left.
bool archive_warm(struct archive *a, struct config *out);

// Moves an illegal configuration to the nearest legal point, where the problem has the legal points
// of a sparse space; elsewhere it does nothing. `from`: the configuration that `c` is one move away
// from; the result has another value of the parameter that moved. NULL: none. False: there is no
// such point.
bool archive_repair(const struct archive *a, const struct config *from, struct config *c);
// Returns how often a proposal is moved on before it is given up: `usual`, or fewer times where
// each move is repaired.
int archive_tries(const struct archive *a, int usual);
// Moves `c` to the nearest legal point. False: none was found near it.
bool search_nearest_legal(const struct search_problem *p, struct config *c);

// Draws uniformly: from the legal points of a sparse space, by the problem's own `draw`, or else
// from the whole space. The result may be known or illegal. False: of a sparse space no legal
// point was found, and `out` is none.
bool archive_sample(const struct search_problem *p, struct rng *r, struct config *out);

// Gives the next warm point, or else a uniform draw among the allowed points. False: none is left,
// or 10 000 draws found none in a space that is too large to enumerate and whose legal points are
// not counted.
bool archive_draw(struct archive *a, struct rng *r, struct config *out);

#endif
