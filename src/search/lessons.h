// What the Gaussian processes of a search are taught: of its results the best and the latest.
//
//     struct lessons l;
//     lessons_init(&l, &rounds, &coordinates, &looks, points, tries);
//     lessons_told(&l, index);        each result, by rising index
//     lessons_teach(&l, &gp, &rng);   the process forgets what it was taught before
//     lessons_finish(&l);
//
// Speeds are shares of the best, so that their unit does not matter. A failed trial counts as the
// lower quartile of the others. Trials that are still open count as what the process itself
// predicts for them (Ginsbourger, Le Riche, Carraro 2010, "kriging believer").
//
// A process with further values (gp_keep) is taught what each trial took, and whether it succeeded.
//
// A process may be wider than the coordinates: it then knows what the driver says (looks.h), too.
#ifndef TILEWALK_SEARCH_LESSONS_H
#define TILEWALK_SEARCH_LESSONS_H

#include "model/coordinates.h"
#include "model/gp.h"
#include "search/looks.h"
#include "search/rounds.h"

enum { LESSON_COST, LESSON_SUCCESS, LESSON_FURTHER }; // logarithm of seconds; 1, or 0: it failed

struct lessons {
    const struct rounds *rounds; // these outlive it
    struct coordinates *coordinates;
    const struct looks *looks;
    int points, tries; // results that a process is taught; weights it tries, once so many are there
    int *ranked;       // indices of all results, best first; of equals the older one
    int results, valid, capacity; // valid: did not fail
    double cost; // of all results of which is known what they took, the logarithms in all
    int costs;
    struct lesson *supposed; // taught as the process expects them: failed ones, then open ones
    double *x;               // of these: [width] each
    int supposing;
    // Set after lessons_init: what is taught are the logarithms of these shares, and no failures.
    bool logarithms;
    bool apart; // what failed is no result: it counts as what the process expects there
    const struct config *planned; // to be given next: taught as if they were open; [plans]
    int plans;
};

// `rounds->open` is set.
void lessons_init(struct lessons *l, const struct rounds *rounds, struct coordinates *coordinates,
                  const struct looks *looks, int points, int tries);
void lessons_finish(struct lessons *l);

void lessons_told(struct lessons *l, int index);
double lessons_fitness(const struct lessons *l, int place); // of the result at that place
double lessons_failed(const struct lessons *l);             // what a failed trial counts as

// A configuration that was given, as `g` sees it: [g->width]. Planned ones have the next indices,
// and are seen by processes that are no wider than the coordinates alone.
void lessons_point(const struct lessons *l, const struct gp *g, int index, double *x);
// There is a result that did not fail. `g` holds, and predicts, as many points as are taught, open
// and planned; of the last two there are `rounds->open` at most.
void lessons_teach(struct lessons *l, struct gp *g, struct rng *r);

#endif
