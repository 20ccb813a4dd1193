#ifndef TILEWALK_SEARCH_SURROGATE_H
#define TILEWALK_SEARCH_SURROGATE_H

#include "model/coordinates.h"
#include "model/gp.h"
#include "search/rounds.h"

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

// Candidates that a model chooses among: near the best results, bred from them, or drawn. All are
// legal and were not given yet; one may be there twice.
//
//     struct proposals p = {.rounds = &rounds, .rng = &rng, .parents = 8, .children = 40, ...};
//     proposals_begin(&p);
//     proposals_add_neighbours(&p, index);          single moves from a result: `places` at most
//     proposals_add_moves(&p, &candidate);          the same from what was not measured
//     proposals_add_children(&p, ranked, results);  recombined, then walked (OpEvo, Eq. 2 and 1)
//     proposals_add_strangers(&p);                  drawn, then walked
//     ...p.candidate[0 .. p.count)
//     proposals_finish(&p);

struct candidate {
    struct config config;
    int from[SPACE_MAX_PARAMS]; // as rounds_add takes it
};

struct proposals {
    const struct rounds *rounds; // outlives them, as does the generator
    struct rng *rng;
    int parents, children, strangers;
    int others;        // added one by one, beside these
    int places, reach; // of neighbours; `reach` as in moves.h
    double q;          // of walks, as in space_walk
    struct candidate *candidate;
    int count;
};

int proposals_most(const struct proposals *p);
void proposals_begin(struct proposals *p);                          // forgets those that are there
void proposals_add(struct proposals *p, const struct candidate *c); // past the most it is left out
void proposals_add_neighbours(struct proposals *p, int index);
void proposals_add_moves(struct proposals *p, const struct candidate *here); // of the same origin
// `ranked`: indices of results, best first; of the first `parents`, by their fitness.
void proposals_add_children(struct proposals *p, const int *ranked, int results);
void proposals_add_strangers(struct proposals *p);
void proposals_finish(struct proposals *p);

#endif
