// The choice of one of a shortlist, by what the driver says of each: a Gaussian process that knows
// the coordinates and that.
//
//     informed_init(&i, &rounds, &lessons, points);      and its `model` is the caller's to set up
//     informed_look(&i, s);                              is compiled from now on
//     if (!informed_choose(&i, s, &rng)) ...             not everything is compiled yet
//     informed_finish(&i);                               fine on a zeroed one
#ifndef TILEWALK_SEARCH_INFORMED_H
#define TILEWALK_SEARCH_INFORMED_H

#include "search/rounds.h"
#include "search/surrogate.h"

// What the next rounds of a search may ask for: for each a shortlist, the most promising of the
// candidates that its model saw. One of them is asked for, once the driver has said of all what it
// makes of them; while it compiles them, the shortlists of the rounds after it are made.
//
//     shortlists_init(&l, most);
//     while (shortlists_have_room(&l)) {
//         struct shortlist *s = shortlists_add(&l);
//         shortlist_fill(s, &l, &proposals, promise, 3);
//         l.closed = ...;                        none is made behind it before it is asked for
//     }
//     l.of[0] ...; shortlists_drop(&l);          the round that is next, once it is made
//     shortlists_finish(&l);
//
// Of a shortlist nobody knows yet which one will be asked for: those behind it suppose that it is
// the first, and leave that one out. Its others may be on theirs, too.

struct shortlist {
    struct candidate candidate[LOOKS_MOST];         // by what they promise, most first
    double mean[LOOKS_MOST], deviation[LOOKS_MOST]; // of fitness, as it is expected
    int count;                                      // 0: the round is drawn at random
    double sought;                                  // exploration weight that they were chosen with
    bool follows;                                   // on an excursion (excursion.h)
};

struct shortlists {
    struct shortlist *of; // in the order of their rounds
    int most, count;
    bool closed; // until all of them are dropped
};

void shortlists_init(struct shortlists *l, int most);
void shortlists_finish(struct shortlists *l); // fine on a zeroed one
bool shortlists_have_room(const struct shortlists *l);
struct shortlist *shortlists_add(struct shortlists *l); // an empty one at the end
void shortlists_drop(struct shortlists *l);             // the first

// Adds the candidates with the largest of `promise` [p->count], so that it has `most`. NaN is less
// than any, but a shortlist is only empty where each candidate is the first of another one in `l`.
void shortlist_fill(struct shortlist *s, const struct shortlists *l, const struct proposals *p,
                    const double *promise, int most);
void shortlist_choose(struct shortlist *s, int chosen); // the only one from now on; -1: none is

struct informed {
    const struct rounds *rounds; // these outlive it
    struct lessons *lessons;     // its `looks` are those of this one
    struct looks looks;
    struct gp model;
};

// The problem of the rounds has a `look`. `points`: as the lessons have them.
void informed_init(struct informed *i, const struct rounds *rounds, struct lessons *lessons,
                   int points);
void informed_finish(struct informed *i);

// Returns whether it is known already.
bool informed_look(const struct informed *i, const struct shortlist *s);
// Leaves the one that promises the most of those that fit and were not given meanwhile, or the
// first of these where none fits; none where all were given. False: some of it, or of what was
// given before, is being compiled, and nothing has changed.
bool informed_choose(struct informed *i, struct shortlist *s, struct rng *r);

#endif
