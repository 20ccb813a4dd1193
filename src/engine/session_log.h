// The events and messages of one run, a session or a network of sessions: to its front end, and to
// its log in the database.
//
//     struct session_log l = {.store = &store, .clock = &clock, .on_event = ..., .context = ...};
//     session_event(&l, (struct event){.kind = EVENT_STATE});
//     session_message(&l, "warning", "baseline '%s' is wrong here", name);
#ifndef TILEWALK_ENGINE_SESSION_LOG_H
#define TILEWALK_ENGINE_SESSION_LOG_H

#include "engine/options.h"
#include "engine/session_store.h"

#define SESSION_MOST_VALIDATION 32  // different messages of the validation layer that are shown
#define SESSION_MOST_DEBUG      300 // debug messages of a run that are kept: drivers may write many

struct session_host { // whom a run belongs to
    struct store *store;
    void (*on_event)(void *context, const struct event *event);
    void *context;
};

struct session_log {
    struct session_store *store;
    const struct session_clock *clock;
    const struct space *space; // NULL: not known yet, or a network's
    void (*on_event)(void *context, const struct event *event);
    void *context;
    int debug;                                    // debug messages of this run
    int64_t validation_messages;                  // messages of the validation layer in this run
    uint64_t validation[SESSION_MOST_VALIDATION]; // hashes of those that were shown
    int shown_count;
    bool has_warned[2]; // of clocks, of others that use the card
};

// Reports an event with the record and the running time of now.
void session_event(struct session_log *l, struct event event);
// Reports a message and keeps it. Of debug messages only the first are kept.
void session_message(struct session_log *l, const char *level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void session_keep_state(struct session_log *l); // the state, as a message that is kept alone

// A worker or its driver wrote a line; pool_options.log.
void session_on_worker_log(void *log, int worker, const char *line);
// The state of a machine that measures has changed; remote_work.tell.
struct remote_news;
void session_on_machine(void *log, const struct remote_news *news);

#endif
