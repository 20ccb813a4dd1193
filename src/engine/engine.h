// The engine: what can be done with tuning sessions. A front end of a running session (the lines or
// the JSON of `tune`) starts or resumes sessions here, and listens to their events.
//
//     struct engine *g = engine_create(store, on_event, context);
//     engine_start(g, &options, &id, e);     a new session, or
//     engine_resume(g, id, NULL, e);         one from the database, exactly where it stood
//     engine_run(g, e);                      until every session has ended, or engine_interrupt
//     engine_destroy(g);
//
// The engine is one poll loop in one thread: it asks strategies, judges and renders configurations,
// feeds the source of measurements, stores and tells results, and reports what happened through
// `on_event`, called in its thread. Other processes steer a session through the database's command
// table, which is read four times a second.
#ifndef TILEWALK_ENGINE_ENGINE_H
#define TILEWALK_ENGINE_ENGINE_H

// What a front end needs of the rest comes with it.
#include "base/err.h"
#include "engine/attempt.h"
#include "engine/stored.h"
#include "script/script.h"
#include "search/strategy.h"
#include "space/survey.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

struct session_options {
    const char *space; // a preset's name or a file
    int64_t like; // 0: none; else a session: its texts and options count where none are given here
    const struct setting *set; // --set
    int set_count;
    int listed; // how many of `set`, from the first on, come from the item of a list
    const char *note;
    const char *strategy; // NULL: the default
    const char *source;   // NULL or "device"; "synthetic:bowl:..."
    const char *device; // NULL: the best one; an index, a part of a name; "none" with sources that
                        // need none
    int64_t trials;     // 0: the default, ENGINE_DEFAULT_TRIALS
    double seconds;     // running time; 0: no limit
    bool has_seed;
    uint64_t seed;
    int workers;      // 0: as fits the device
    const char *warm; // "best.json,3": files and sessions whose best it begins with; NULL: none
    // The sessions whose results the strategy's model begins with: "auto", "none", or numbers such
    // as "3,5"; NULL: none.
    const char *transfer;
    // The sessions that the same command made before this one, such as "3,5", or NULL. Their
    // results are taken too, where they are of use (transfer.h).
    const char *earlier;
    bool count_rejected;
    bool validate;     // Vulkan validation layer in the workers
    const char *fault; // see pool_options.fault
};

#define ENGINE_DEFAULT_TRIALS   200
#define ENGINE_DEFAULT_STRATEGY "walk"
#define ENGINE_MOST_REJECTED    100000 // in a row: then the session ends

enum event_kind {
    EVENT_SESSION, // it was created or resumed
    EVENT_TRIAL,   // a trial was told, or a configuration was rejected
    EVENT_BEST,    // a new best, after its EVENT_TRIAL
    EVENT_RETIME,  // a race or a canary took new samples of a trial
    EVENT_STATE,   // running, paused
    EVENT_MESSAGE, // something to know: drift, worker noise, respawns
    EVENT_END      // done, paused, stopped or failed
};

// Everything is valid during the call only.
struct event {
    enum event_kind kind;
    const struct session_record *session; // with current counts
    const struct space *space;
    const struct trial_record *trial;   // EVENT_TRIAL, EVENT_BEST; EVENT_END: the best one or NULL
    const struct retime_record *retime; // EVENT_RETIME; EVENT_END: the winner's final race or NULL
    const char *level, *text;           // EVENT_MESSAGE
    bool kept;                          // EVENT_MESSAGE: it is in the database too
    double busy_seconds; // for how long workers were at work in this process; NAN: not known
};

struct engine *engine_create(struct store *store,
                             void (*on_event)(void *context, const struct event *event),
                             void *context);
void engine_destroy(struct engine *g);

bool engine_start(struct engine *g, const struct session_options *o, int64_t *id, struct err *e);

// `more` (may be NULL) changes the budget of the resumed session: trials > 0 and seconds > 0
// replace what it had.
bool engine_resume(struct engine *g, int64_t id, const struct session_options *more, struct err *e);

// Runs until every session has ended. False and `e` when one failed; the others are finished first.
bool engine_run(struct engine *g, struct err *e);

// Pauses all sessions and makes engine_run return soon: trials in flight are dropped (they are
// asked again on resume). May be called from a signal handler.
void engine_interrupt(struct engine *g);

#endif
