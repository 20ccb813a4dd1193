// Options and events of sessions: the interface to front ends.
//
//     struct session_options o = {.space = "gemm", .trials = 400};
//     engine_start(g, &o, &id, e);
//     static void on_event(void *context, const struct event *event) { switch (event->kind) ... }
//     engine_create(store, on_event, context);
//
// Options are those of a session when it is made or goes on, in words of the command line. A member
// that is zero or NULL is not given. All that is pointed to is the caller's, and has to be there
// during that call only.
//
// Events come in the engine's thread. The database holds what an event reports before the event is
// sent, except for messages that are not `kept`.
#ifndef TILEWALK_ENGINE_OPTIONS_H
#define TILEWALK_ENGINE_OPTIONS_H

#include "script/script.h"
#include "space/space.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct remote_machines; // trial/remote.h
struct benchmark;       // trial/benchmark.h

#define ENGINE_DEFAULT_TRIALS   200
#define ENGINE_DEFAULT_STRATEGY "walk"

struct session_options {
    const char *space; // a preset's name or a file
    int64_t like; // 0: none; else a session: its texts and options count where none are given here
    const struct setting *set; // --set
    int set_count;
    const char *const *shape; // --shape, "M=512,N=64,weight=3": one configuration for all of them
    int shape_count;
    const char *by; // "time", "worst"; NULL: the default
    int listed;     // how many of `set`, from the first on, come from the item of a list
    const char *note;
    const char *strategy; // NULL: the default
    const char *source;   // NULL or "device"; "synthetic:bowl:..."
    const char *device; // NULL: the best one; an index, a part of a name; "none" with sources that
                        // need none
    int64_t trials;     // 0: the default, ENGINE_DEFAULT_TRIALS
    double seconds;     // running time; 0: no limit
    const char *objective; // "time", "energy", "edp": joules are measured too; NULL: times alone
    double until;          // share of the device's roofline at which it ends; 0: none
    int64_t patience;      // trials in a row without a gain that end it; 0: none
    bool has_seed;
    uint64_t seed;
    int workers;         // 0: as fits the device
    const char *warm;    // "best.json,3,baseline": its warm start (transfer.h), or "none";
                         // NULL: the baselines
    const char *guesses; // a file of configurations that take every second proposal (transfer.h),
                         // "-": the standard input; NULL: none
    // The sessions whose results the strategy's model begins with: "auto", "none", or numbers such
    // as "3,5"; NULL: none, or
    const char *transfer;
    // those that are alike and were measured on the same device, where the strategy weighs what it
    // gets of others (LEARNS_WEIGHED), times are a device's, and the session is neither a
    // network's nor like another one, which has stored its own beginning.
    bool transfers;
    // The sessions of the same network that began before this one, such as "3,5", or NULL. Their
    // results are taken too, where they are of use (transfer.h).
    const char *earlier;
    int64_t network;  // the session of the network whose task this is; 0: none
    const char *task; // its name there
    bool count_rejected;
    bool cold; // inputs of a timed run are in memory, not in a cache (trial/context.h)
    bool has_spills;
    uint32_t spills;                        // instead of the device's own limit; 0: none
    bool validate;                          // Vulkan validation layer in the workers
    const char *fault;                      // see pool_options.fault
    const struct remote_machines *machines; // that measure; they outlive the run; NULL: this one
    struct benchmark
        *benchmark;         // of a source run: or serve:; it outlives the run; NULL: another source
    const char *card_users; // of card_users_read; NULL: not known
};

extern const char engine_source_help[]; // what session_options.source may be, for people
// Checks the words of a source, without making one. Recordings are not read.
bool engine_check_source(const char *source, struct err *e);

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
