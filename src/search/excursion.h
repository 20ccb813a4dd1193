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
#ifndef TILEWALK_SEARCH_EXCURSION_H
#define TILEWALK_SEARCH_EXCURSION_H

#include <stdbool.h>

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

#endif
