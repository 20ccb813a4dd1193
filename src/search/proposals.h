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
#ifndef TILEWALK_SEARCH_PROPOSALS_H
#define TILEWALK_SEARCH_PROPOSALS_H

#include "search/rounds.h"

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
