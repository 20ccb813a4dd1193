// A walk over all trials of the open session in slices, for views that need every one (the map, a
// filter): each told trial exactly once, also those that come later.
//
//     scan_start(&s, model);                            the open session, from the first trial
//     while (scan_step(&s, model, 500, take, context))  true: more is there already
//         ...
//
// A slice takes milliseconds, so that keys are answered between slices. Trials come in the order
// asked; one that is in flight is taken when it is told.
#ifndef TILEWALK_UI_SCAN_H
#define TILEWALK_UI_SCAN_H

#include "model.h"

struct scan {
    int64_t session; // 0: not started
    int64_t next_ask;
    int64_t open[64]; // asks that were in flight when the scan came by
    int open_count;
    int64_t taken;
};

void scan_start(struct scan *s, const struct model *m);
// Takes at most `most` trials. True when the session holds more that are ready.
bool scan_step(struct scan *s, struct model *m, int most,
               void (*take)(void *context, const struct trial *t), void *context);
// A number that changes with each race of the open session. A race changes the times by which
// trials are shown: who sees another number here has to walk again.
int64_t scan_races(struct model *m);
double scan_share(const struct scan *s, const struct model *m); // 0 .. 1 of what there is

#endif
