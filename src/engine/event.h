// Events of a running session for its front end, in the engine's thread.
//
//     static void on_event(void *context, const struct event *event) { switch (event->kind) ... }
//     engine_create(store, on_event, context);
//
// The database holds what an event reports before the event is sent, except for messages that are
// not `kept`.
#ifndef TILEWALK_ENGINE_EVENT_H
#define TILEWALK_ENGINE_EVENT_H

#include "space/space.h"
#include "store/store.h"

enum event_kind {
    EVENT_SESSION, // it was created or resumed
    EVENT_TRIAL,   // a trial was told, or a configuration was rejected
    EVENT_BEST,    // a new best, after its EVENT_TRIAL
    EVENT_RETIME,  // a race or a drift check took new samples of a trial
    EVENT_STATE,   // running, paused
    EVENT_MESSAGE, // such as drift, lines of workers, respawns
    EVENT_END,     // done, paused, stopped or failed
    EVENT_ROUND,   // of a network: a round is over
    EVENT_WHOLE    // a network was run as a whole
};

// Everything is valid during the call only.
struct event {
    enum event_kind kind;
    const struct session_record *session; // with current counts
    // The network's, with current counts, also with events of its tasks, whose `session` is the
    // task's; NULL: there is no network.
    const struct session_record *network;
    const struct space *space;          // NULL with a network's own events
    const struct task_record *task;     // EVENT_ROUND
    const struct round_record *round;   // EVENT_ROUND
    const struct whole_record *whole;   // EVENT_WHOLE
    const struct trial_record *trial;   // EVENT_TRIAL, EVENT_BEST; EVENT_END: the best one or NULL
    const struct retime_record *retime; // EVENT_RETIME; EVENT_END: the winner's final race or NULL
    const char *level, *text;           // EVENT_MESSAGE
    bool kept;                          // EVENT_MESSAGE: it is in the database too
    double busy_seconds; // for how long workers were at work in this process; NAN: not known
};

#endif
