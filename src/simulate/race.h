// How a simulated search with noise ends: the best few are measured again, and the fastest of them
// is what the search returns, not whoever was lucky once (session_race.c does this on devices). A
// measurement here is a single run, so more are let in than on devices: each is measured once more,
// and then the fastest of them several times, in turns.
//
//     struct simulated_race r = {0};
//     simulated_race_enter(&r, entry, seconds);          for each valid trial, as measured
//     simulated_race_winner(&r, measure, context);       calls measure(context, entry) for each
//                                                        measurement, SIMULATED_RACE_TRIALS at most
#ifndef TILEWALK_SIMULATE_RACE_H
#define TILEWALK_SIMULATE_RACE_H

#include "record/record.h"

#define SIMULATED_RACERS      10
#define SIMULATED_FINALISTS   3
#define SIMULATED_FINAL       5 // rounds
#define SIMULATED_RACE_TRIALS (SIMULATED_RACERS + SIMULATED_FINALISTS * SIMULATED_FINAL)
// Shorter searches have no race: it would be most of them.
#define SIMULATED_RACE_FROM (4 * SIMULATED_RACE_TRIALS)

struct simulated_race {
    int count;
    const struct record_entry *racer[SIMULATED_RACERS]; // fastest first
    double seconds[SIMULATED_RACERS];                   // as measured in the search
};

void simulated_race_enter(struct simulated_race *r, const struct record_entry *entry,
                          double seconds);
// NULL: nothing was valid.
const struct record_entry *simulated_race_winner(
    const struct simulated_race *r,
    double (*measure)(void *context, const struct record_entry *entry), void *context);

#endif
