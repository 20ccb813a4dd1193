// The times of a recorded space, as a source: no device, and no clock in the values.
//
//     struct source *s = replay_source_create(recording, 50, workers);
//     source_submit, source_collect ...          as in trial/source.h
//     source_destroy(s);
//
// A configuration has its recorded outcome, its mean time, and its runs as samples (the first
// TRIAL_MAX_SAMPLES of them). Only recorded configurations may be submitted. The results come at
// once, or after the recorded cost of the trial / speed: so a demonstration has the rhythm of the
// recorded session.
#ifndef TILEWALK_TRIAL_REPLAY_SOURCE_H
#define TILEWALK_TRIAL_REPLAY_SOURCE_H

#include "record/record.h"
#include "trial/source.h"

// `r` outlives the source. `speed` > 0, or 0: at once. `workers` trials may be in flight at once.
struct source *replay_source_create(const struct recording *r, double speed, int workers);

// Seconds that a trial took to compile and run. Times that are not recorded count as 0, except
// those of the runs themselves.
double replay_source_cost(const struct record_entry *entry);

#endif
