// Measurements on several shapes of a problem as one: a source over a source for each shape.
//
//     struct source *s = shapes_create(&options);            owns the sources of its shapes
//     ... as any source; a result's seconds are those of the goal, part_s those of each shape ...
//     shapes_learn(s, part_s);                                of each candidate that is told
//     shapes_refer(s, reference_s);                           once the baselines are known
//
// A request that has an incumbent goes on from shape to shape until its candidate cannot win
// (elimination.h): its result then has `early_stopped` samples, and the seconds that are expected
// of it. All others, baselines and races say, are measured on every shape. What a request is held
// against is what had been learnt when it was submitted: so nothing depends on how many are under
// way.
//
// One shape's source is at work at a time, so that nothing else runs on the device while something
// is timed; workers of the others are there, idle, from the first request that came to them on.
#ifndef TILEWALK_TRIAL_SHAPES_H
#define TILEWALK_TRIAL_SHAPES_H

#include "trial/source.h"
#include "trial/trial.h"

// Whether a configuration that is to be good on several shapes of a problem can still win.
//
//     struct elimination l = {.goal = {.count = 12, .weight = {...}}};
//     while ((i = elimination_next(&l, seconds)) >= 0 && !elimination_is_over(&l, seconds, least))
//         seconds[i] = ..., least[i] = ...;              measured on one shape more
//     elimination_expect(&l, seconds);                   where it was ended: what it would have had
//     elimination_learn(&l, seconds);                    of each candidate, in one order
//
// A candidate is held against the incumbent, the best of those that were measured on every shape:
// first where the incumbent loses most. The model: the logarithm of its time over the incumbent's
// is m + e on each shape, m its own, e normal with mean 0 and one variance for all candidates,
// which is pooled over all that were measured on two shapes or more. After k shapes a further one
// takes less than incumbent * exp(mean - Z s sqrt(1 + 1 / k)) in one case of forty (Z = 2; the
// interval for one more observation). It is over when its goal is above the incumbent's though it
// had its fastest sample on each shape that it was measured on, and that bound on all others at
// once. Before the variance is known (LEAST_LIKE candidates, LEAST_FREEDOM degrees of freedom) the
// bound is 0: then only what is certain ends one. It is a race (Maron and Moore 1994) over shapes
// in place of random instances; unlike successive halving it drops nobody for a rank.
//
// Times are seconds; 0: not measured on that shape. Pure.

struct shapes_goal {
    int count; // shapes, 2 .. TRIAL_MAX_SHAPES
    // What counts is the worst ratio to `reference_s`, as a share of the sum of weight * reference;
    // else the sum of weight * time.
    bool by_worst;
    double weight[TRIAL_MAX_SHAPES]; // above 0
    double reference_s[TRIAL_MAX_SHAPES];
};
// Seconds, the fewer the better. By the worst, without references: as if it were by the sum.
double shapes_goal_seconds(const struct shapes_goal *g, const double seconds[]);
// Of several references the fastest on each shape counts.
void shapes_goal_refer(struct shapes_goal *g, const double seconds[]);
// The shape that loses most against the references: the highest ratio; -1: there are none.
int shapes_goal_worst(const struct shapes_goal *g, const double seconds[]);

struct elimination {
    struct shapes_goal goal;
    double incumbent_s[TRIAL_MAX_SHAPES]; // 0: there is none yet
    double squares;                       // of deviations from each candidate's own mean
    int like, freedom;                    // candidates that they are of; degrees of freedom
};

int elimination_next(const struct elimination *l, const double seconds[]); // -1: it has all
bool elimination_is_over(const struct elimination *l, const double seconds[], const double least[]);
// Fills in the shapes that it was not measured on, by the model. There is an incumbent.
void elimination_expect(const struct elimination *l, double seconds[]);
void elimination_learn(struct elimination *l, const double seconds[]);

struct shapes_options {
    struct shapes_goal goal;
    const char *name[TRIAL_MAX_SHAPES]; // for reasons; must outlive the source
    struct source *of[TRIAL_MAX_SHAPES];
    int workers; // requests at once
    // What is to be measured of a request on a shape: configurations and jobs. False: it cannot be
    // made, and the source cannot go on.
    bool (*render)(void *context, const struct trial_request *r, int shape,
                   struct trial_request *out, struct err *e);
    void *context;
};

struct source *shapes_create(const struct shapes_options *o);
void shapes_learn(struct source *s, const double part_s[]);
void shapes_refer(struct source *s, const double reference_s[]);

#endif
