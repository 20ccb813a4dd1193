// Measurements on several shapes of a problem as one: a source over a source for each shape.
//
//     struct source *s = shapes_create(&options);            owns the sources of its shapes
//     ... as any source; a result's seconds are those of the goal, part_s those of each shape ...
//     shapes_observe(s, part_s);                              each candidate that is observed
//     shapes_set_references(s, reference_s);                  once the baselines are known
//
// A request with an incumbent goes on from shape to shape until its candidate cannot win
// (elimination): its result then has `early_stopped` samples, and its expected seconds. All others,
// such as baselines and races, are measured on every shape; a baseline not on those that its space
// forbids (request.skipped), and then it has no goal. A request is compared with what had
// been observed when it was submitted, so that nothing depends on how many are in flight.
//
// One shape's source is active at a time, so that nothing else runs on the device while something
// is timed; workers of the others are idle, from the first request that came to them on.
#ifndef TILEWALK_TRIAL_SHAPES_H
#define TILEWALK_TRIAL_SHAPES_H

#include "trial/source.h"
#include "trial/trial.h"

// Elimination: decides if a configuration for several shapes of a problem can still win.
//
//     struct elimination l = {.goal = {.count = 12, .weight = {...}}};
//     while ((i = elimination_next(&l, seconds)) >= 0 && !elimination_is_over(&l, seconds, least))
//         seconds[i] = ..., least[i] = ...;              measured on one shape more
//     elimination_expect(&l, seconds);                   fills in the shapes that are left
//     elimination_observe(&l, seconds);                  each candidate, in one order
//
// A candidate is compared with the incumbent, the best of those that were measured on every shape:
// first where the incumbent loses most. The model: the logarithm of its time over the incumbent's
// is m + e on each shape, m its own, e normal with mean 0 and one variance for all candidates,
// which is pooled over all that were measured on two shapes or more. After k shapes a further one
// takes less than incumbent * exp(mean - Z s sqrt(1 + 1 / k)) in one case of forty (Z = 2; the
// interval for one more observation). A candidate is eliminated when its goal is above the
// incumbent's even with its fastest sample on each shape that it was measured on, and with that
// bound on all others at once. Before the variance is known (LEAST_LIKE candidates, LEAST_FREEDOM
// degrees of freedom) the bound is 0: then only certainty eliminates. It is a race (Maron and Moore
// 1994) over shapes in place of random instances; unlike successive halving it drops no candidate
// for a rank.
//
// Times are seconds; 0: not measured on that shape. Pure.

struct shapes_goal {
    int count; // shapes, 2 .. TRIAL_MAX_SHAPES
    // The goal is the worst ratio to `reference_s`, as a share of the sum of weight * reference;
    // else the sum of weight * time.
    bool by_worst;
    double weight[TRIAL_MAX_SHAPES]; // above 0
    double reference_s[TRIAL_MAX_SHAPES];
};
// Returns the value of the goal in seconds; less is better. A goal by the worst ratio is a sum,
// too, as long as it has no references.
double shapes_goal_seconds(const struct shapes_goal *g, const double seconds[]);
// Adds a reference; the fastest one of each shape counts. 0: it has none on that shape.
void shapes_goal_add_reference(struct shapes_goal *g, const double seconds[]);
// Returns the shape with the highest ratio to its reference; -1: there are no references.
int shapes_goal_worst(const struct shapes_goal *g, const double seconds[]);

struct elimination {
    struct shapes_goal goal;
    double incumbent_s[TRIAL_MAX_SHAPES]; // 0: there is none yet
    double squares;                       // of deviations from each candidate's own mean
    int like, freedom;                    // their candidates; their degrees of freedom
};

int elimination_next(const struct elimination *l, const double seconds[]); // -1: it has all
bool elimination_is_over(const struct elimination *l, const double seconds[], const double least[]);
// Fills in the shapes without a measurement, by the model. There is an incumbent.
void elimination_expect(const struct elimination *l, double seconds[]);
void elimination_observe(struct elimination *l, const double seconds[]);

struct shapes_options {
    struct shapes_goal goal;
    const char *name[TRIAL_MAX_SHAPES]; // for reasons; must outlive the source
    struct source *of[TRIAL_MAX_SHAPES];
    int workers; // requests at once
    // Renders the configurations and jobs of a request for a shape. False: that fails, and the
    // source cannot go on.
    bool (*render)(void *context, const struct trial_request *r, int shape,
                   struct trial_request *out, struct err *e);
    void *context;
};

struct source *shapes_create(const struct shapes_options *o);
void shapes_observe(struct source *s, const double part_s[]);
void shapes_set_references(struct source *s, const double reference_s[]);

#endif
