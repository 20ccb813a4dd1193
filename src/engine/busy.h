// Whether something else keeps the machine busy while a session times kernels.
//
//     struct busy b = {0};
//     busy_watch(&b, &result);                            every result that was timed
//     drift = busy_watch_canary(&b, now_s, before_s, true);   the best so far was timed again
//     if (busy_add_text(&b, &text)) ...                   at the end
//
// A kernel alone on its machine takes nearly as long every time: samples of one timing that vary
// tell of others that come and go. Where something else runs all the time all samples are slow
// alike, and only a kernel that was timed before shows it: the canary. What holds a device's clocks
// back, its power or its temperature, some systems tell (gpu/sensors.h).
#ifndef TILEWALK_ENGINE_BUSY_H
#define TILEWALK_ENGINE_BUSY_H

#include "trial/trial.h"

#include <stdbool.h>
#include <stdint.h>

struct busy { // valid when zeroed
    int64_t timings, unsteady;
    int64_t canaries, slow;
    int64_t sensed, throttled; // timings with clocks; those in which something held them back
    double slowdown; // times slower that the best ran at the last canary than when it was measured
};

void busy_watch(struct busy *b, const struct trial_result *r);
// `before_s`: as it was measured. `is_best`: it still is the best. Returns by which share it is
// slower now.
double busy_watch_canary(struct busy *b, double now_s, double before_s, bool is_best);
// False: it was not busy, or there was too little to say.
bool busy_add_text(const struct busy *b, struct str *out);
// The same of clocks that were held back.
bool busy_add_throttled(const struct busy *b, struct str *out);

#endif
