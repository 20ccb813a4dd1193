#ifndef TILEWALK_SEARCH_RESTART_H
#define TILEWALK_SEARCH_RESTART_H

#include "model/coordinates.h"
#include "model/gp.h"
#include "search/rounds.h"
#include "search/visited.h"

#include <stdbool.h>

// When a search leaves a place that promises nothing more, and where it goes.
//
//     struct excursion e = {.least = 1e-5};
//     switch (excursion_next(&e)) ...                       before each ask; then one of
//     excursion_promise(&e, gain);                          at home: what the trial is expected to
//                                                           gain, as a share of the best
//     excursion_probe(&e, index, mean, deviation);          a probe: what is expected of it
//     excursion_follower(&e, index, mean, deviation);       a single move from e.own: the same
//     excursion_end(&e);                                    there is nothing to probe or follow
//     excursion_told(&e, index, fitness, asked);            every result, by rising index
//
// A search is at home while its model promises a gain of `least` a trial, or did lately; and it
// learns what such promises are worth: by how much was gained where how much was promised. Then it
// leaves: a few trials, probes, go where nothing is known. Where the results are what was expected,
// the model is right; one that is above shows where it is wrong, and single moves follow from there
// until some in a row were no gain on the best of these. Any gain on the best of all leads home.
//
// There are two ways to follow. A probe that is `surprise` deviations above expectation is followed
// strictly, and at once: only moves whose results are above expectation, too, are moved from, for
// the others lead back to what is known; after that come the probes that are left. What is expected
// of such a follower is what was known before the place was found (excursion_known). Of the other
// probes the most surprising is followed once all are told, if it is above 1.5 deviations and the
// last one was not followed at once; there every move counts, for longer, the more surprising the
// probe was. With `surprise` 0 no probe is followed at once, and 1 deviation is enough.

enum {
    EXCURSION_OWN = 3,
    EXCURSION_OPEN = 256 // results that may be waited for at once
};

struct excursion_expected {
    int ask; // its index + 1; 0: none
    double mean, deviation;
    double fitness; // 0: not told, or failed
};

struct excursion {
    double least;    // 0: it never leaves
    double surprise; // deviations; 0: no probe is followed at once

    enum { EXCURSION_HOME, EXCURSION_PROBES_OUT, EXCURSION_FOLLOWS } phase;
    double best;             // fitness
    int idle;                // results since it last rose
    double promise;          // the largest of late
    double promised, gained; // sums over all trials, those of late counting more
    struct excursion_expected expected[EXCURSION_OPEN]; // each at its index, modulo the size
    int first, asked, told;                             // probes: index of the first, and how many
    struct excursion_expected most; // the most surprising of those not followed at once
    bool strict;                    // how `found` is followed
    int found;                      // index of the probe that is followed
    int begun;                      // asks from this one on follow it
    int own[EXCURSION_OWN];         // the best results there, best first
    double own_fitness[EXCURSION_OWN];
    int owned;          // how many these are
    int vain, patience; // results in a row that were no gain there; how many may be
};

enum excursion_trial { TRIAL_HOME, TRIAL_PROBE, TRIAL_FOLLOWS };
enum excursion_trial excursion_next(struct excursion *e);
void excursion_promise(struct excursion *e, double gain);
void excursion_probe(struct excursion *e, int index, double mean, double deviation);
void excursion_follower(struct excursion *e, int index, double mean, double deviation);
void excursion_end(struct excursion *e);
// `asked`: how many were asked by now.
void excursion_told(struct excursion *e, int index, double fitness, int asked);
// How many of the first `results` what is expected of the next trial may be learned from.
int excursion_known(const struct excursion *e, int results);

// Where a search has not been: of many legal points the one that lies farthest from all that was
// measured, which is the one that a model of distances is most unsure of.
//
//     struct field f = {.problem = problem, .coordinates = &coordinates};
//     if (field_farthest(&f, &given, count, weight, &rng, &c)) ...
//     field_finish(&f);
//
// The points are all that are legal, of a space with at most so many points that these have
// FIELD_NUMBERS coordinates; of a larger one what is legal of as many draws. FIELD_AT_ONCE more are
// looked for each time one is asked for, as to ask whether they are legal takes microseconds. Each
// remembers how near the nearest result is, so that a result costs one pass: 0.1 ms.

enum { FIELD_NUMBERS = 200000, FIELD_AT_ONCE = 2048 };

struct field {
    const struct search_problem *problem;
    struct coordinates *coordinates;
    struct config_set points;
    int tried, most; // points of the space, or draws
    float *x;        // [coordinates][most]
    float *nearest;  // [most] distance of the nearest result
    float *distance; // [most] scratch
    int results;     // the first of those given that all points were compared with
};

// Looks at the first `count` given. `weight`: what each coordinate counts, from now on. False: no
// point is left.
bool field_farthest(struct field *f, const struct config_set *given, int count,
                    const double *weight, struct rng *r, struct config *out);
void field_finish(struct field *f); // fine on a zeroed one

// Where a search goes that leaves (excursion.h), by what the results around a place say of it.
//
//     struct leaving l;
//     leaving_init(&l, rounds, coordinates, model);   and l.excursion's `least` and `surprise`
//     leaving_probe(&l, now, &rng, &c)               the next probe
//     leaving_target(&l, now)                        what a follower must promise to be above
//     leaving_follows(&l, now, &c)                   the follower that was chosen
//     leaving_finish(&l);
//
// A model that learns from the best and the latest results forgets the probes, and knows little of
// what is far from the best. So what is expected of a probe and of its followers is learned anew,
// from the results that are nearest to it, with the weights and the noise of the search's model.
// With `surprise` 0 it is what that model itself expects.

struct leaving_now {
    double best;   // fitness
    double failed; // what a result that failed counts as
    int results;   // how many are known: the first ones
};

struct leaving {
    struct excursion excursion;
    struct field field;
    const struct rounds *rounds; // these outlive it
    struct coordinates *coordinates;
    struct gp *model;
    struct gp around;
};

// What `model` predicts are shares of the best.
void leaving_init(struct leaving *l, const struct rounds *rounds, struct coordinates *coordinates,
                  struct gp *model);
void leaving_finish(struct leaving *l); // fine on a zeroed one

// The point of the space that is the farthest from all that is known. False: none is left.
bool leaving_probe(struct leaving *l, struct leaving_now now, struct rng *r, struct config *out);
// As a share of the best.
double leaving_target(const struct leaving *l, struct leaving_now now);
// `c` is asked for next. Does nothing where no follower is due.
void leaving_follows(struct leaving *l, struct leaving_now now, const struct config *c);

#endif
