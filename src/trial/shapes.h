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

#include "trial/elimination.h"
#include "trial/source.h"

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
