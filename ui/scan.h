// A walk over all trials of the open session in slices, for views that need every one (the map, a
// filter): each ended trial exactly once, also those that end later.
//
//     scan_start(&s, model);                           the open session, from the first trial
//     while (scan_step(&s, model, 500, add, context))  true: more is there already
//         ...
//
// A slice takes milliseconds, so that keys are answered between slices. Trials come in the order
// asked; one that is in flight comes when it has ended.
#ifndef TILEWALK_UI_SCAN_H
#define TILEWALK_UI_SCAN_H

#include "model.h"

struct scan {
    int64_t session; // 0: not started
    int64_t next_ask;
    int64_t open[64]; // asks that were in flight when the scan passed them
    int open_count;
    int64_t taken; // trials that were handed over
};

void scan_start(struct scan *s, const struct model *m);
// Takes at most `most` trials. True when the session holds more that are ready.
bool scan_step(struct scan *s, struct model *m, int most,
               void (*add)(void *context, const struct trial *t), void *context);
// Returns a number that changes with each race of the open session. A race changes the times by
// which trials are shown, so that a walk with another number has to start again.
int64_t scan_races(struct model *m);
double scan_share(const struct scan *s, const struct model *m); // 0 .. 1 of what there is

#endif
