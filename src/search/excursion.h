// When a search leaves a place that promises nothing more, and where it goes.
//
//     struct excursion e = {.least = 1e-5};
//     switch (excursion_next(&e)) ...                       before each ask; then one of
//     excursion_promise(&e, gain);                          at home: what the trial is expected to
//                                                           gain, as a share of the best
//     excursion_probe(&e, index, mean, deviation);          a probe: what the model says of it
//     excursion_end(&e);                                    there is nothing to probe or follow
//     excursion_told(&e, index, fitness, asked);            every result, by rising index
//
// A search is at home while its model promises a gain of `least` a trial, or did lately; and it
// learns what such promises are worth: by how much was gained where how much was promised. Then it
// leaves: a few trials, probes, go where nothing is known. Where the results are what the model
// says, it is right. The probe that is the furthest above it, in deviations, shows where it is
// wrong: from there single moves follow, until some in a row were no gain on the best of these (the
// more, the more surprising it was). Any gain on the best of all leads home.
#ifndef TILEWALK_SEARCH_EXCURSION_H
#define TILEWALK_SEARCH_EXCURSION_H

#define EXCURSION_PROBES 8
#define EXCURSION_OWN    3

struct excursion {
    double least; // 0: it never leaves

    enum { EXCURSION_HOME, EXCURSION_PROBES_OUT, EXCURSION_FOLLOWS } phase;
    double best;             // fitness
    int idle;                // results since it last rose
    double promise;          // the largest of late
    double promised, gained; // sums over all trials, those of late counting more
    struct {
        int index;
        double mean, deviation, fitness;
    } probe[EXCURSION_PROBES];
    int asked, told;        // of them
    int begun;              // asks from this one on follow
    int own[EXCURSION_OWN]; // the best results there, best first
    double own_fitness[EXCURSION_OWN];
    int owned;          // how many these are
    int vain, patience; // results in a row that were no gain there; how many may be
};

enum excursion_trial { TRIAL_HOME, TRIAL_PROBE, TRIAL_FOLLOWS };
enum excursion_trial excursion_next(struct excursion *e);
void excursion_promise(struct excursion *e, double gain);
void excursion_probe(struct excursion *e, int index, double mean, double deviation);
void excursion_end(struct excursion *e);
// `asked`: how many were asked by now.
void excursion_told(struct excursion *e, int index, double fitness, int asked);

#endif
