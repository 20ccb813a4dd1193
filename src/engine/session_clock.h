// The running time and the budget of one run: a session, or a network of sessions.
//
//     struct session_clock c = {.record = &record};
//     session_clock_run(&c, true);
//     if (trials < session_clock_trials(&c)) ...
//
// Running time is what users wait for: the clock stands while a run is paused, and while a session
// that goes on replays its stored trials.
#ifndef TILEWALK_ENGINE_SESSION_CLOCK_H
#define TILEWALK_ENGINE_SESSION_CLOCK_H

#include "store/store.h"

struct session_clock {
    struct session_record *record; // has the budget, and the time of earlier stretches
    int64_t started_ns;            // when the current stretch began; 0: the clock stands
    // A task of a network spends what the network allots to it, round by round.
    bool is_spent;      // the allotment is
    bool is_last_round; // there is no further allotment
};

double session_clock_seconds(const struct session_clock *c);
void session_clock_run(struct session_clock *c, bool running);
// Returns how many trials the run may have in all, now: none when its time is over.
int64_t session_clock_trials(const struct session_clock *c);

#endif
