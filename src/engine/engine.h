// The engine runs tuning sessions. A front end of a running one (the lines or the JSON of `tune`)
// starts or resumes it here, and gets its events.
//
//     struct engine *g = engine_create(store, on_event, context);
//     engine_start(g, &options, &id, e);     a new session, or
//     engine_resume(g, id, NULL, e);         one from the database, exactly where it stood
//     engine_run(g, e);                      until it has ended, or engine_interrupt
//     engine_destroy(g);
//
// An engine runs one session, or one network of them, and is one poll loop in one thread: it asks
// the strategy, judges and renders configurations, feeds the source of measurements, stores and
// tells results, and reports events through `on_event`, called in its thread. Other processes steer
// the session through the database's command table, which is read four times a second.
#ifndef TILEWALK_ENGINE_ENGINE_H
#define TILEWALK_ENGINE_ENGINE_H

// The other headers that a front end needs come with it.
#include "base/err.h"
#include "engine/attempt.h"
#include "engine/options.h"
#include "engine/stored.h"
#include "search/strategy.h"
#include "space/survey.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

struct engine *engine_create(struct store *store,
                             void (*on_event)(void *context, const struct event *event),
                             void *context);
void engine_destroy(struct engine *g);

// Both once for an engine, and not both.
bool engine_start(struct engine *g, const struct session_options *o, int64_t *id, struct err *e);

// The same for a network, which is tuned as one session (network_run.h).
struct network_options;
bool engine_start_network(struct engine *g, const struct network_options *o, int64_t *id,
                          struct err *e);

// `more` (may be NULL) changes the budget of the resumed session: trials > 0 and seconds > 0
// replace what it had. A session that is not done refuses fewer trials than it has spent.
bool engine_resume(struct engine *g, int64_t id, const struct session_options *more, struct err *e);

// Runs until the session has ended. False and `e` when it failed.
bool engine_run(struct engine *g, struct err *e);

// Pauses the session and makes engine_run return soon: trials in flight are dropped (they are asked
// again on resume). May be called from a signal handler.
void engine_interrupt(struct engine *g);

#endif
