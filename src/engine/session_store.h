// The database as one run uses it, and the run's clock. A run is a session or a network of
// sessions. The rows that it writes are all checked here.
//
//     struct session_store d = {.db = store, .record = &record};
//     session_stored(&d, store_put_probe(d.db, d.record->id, &row, e), e)
//
// A database that cannot be used ends the run as paused, not as failed.
#ifndef TILEWALK_ENGINE_SESSION_STORE_H
#define TILEWALK_ENGINE_SESSION_STORE_H

#include "store/store.h"
#include "trial/trial.h"

struct session_store {
    struct store *db;
    struct session_record *record; // the run's row, as the database has it; its owner's
    bool failed;                   // the database could not be used
    struct {                       // another program keeps the database locked
        bool on;
        bool over;        // it is free again, and users were not told yet
        bool was_running; // the clock, when the wait began
    } lock;
    char *population;                   // heap; record->population points here once it has changed
    int64_t refits_made, refits_stored; // in this run; before it
};

// Takes the result of a call to the store, and returns it. It is false, too, when the database is
// no longer the file at its path.
bool session_stored(struct session_store *s, bool ok, struct err *e);
// Sets the state in the record and in the database. `message` is not copied.
bool session_store_state(struct session_store *s, enum session_state state, const char *message,
                         struct err *e);
// Sets the budget of trials in both. Words that are no number change nothing: another version of
// the program may mean something by them.
bool session_store_budget(struct session_store *s, const char *trials, struct err *e);

void samples_add_json(const struct samples *samples, struct str *out); // [seconds, ...]
// Adds the times of candidate `i` on each shape, [seconds, null, ...]; nothing for one shape alone.
void parts_add_json(const struct trial_result *r, int i, struct str *out);

struct retime {                  // a new timing of a trial that has been told, as a row
    struct retime_record record; // points to the texts
    struct str samples, parts;
};
void retime_init(struct retime *t, int64_t ask, const char *kind, const struct trial_result *r,
                 int i);
void retime_finish(struct retime *t);

// The running time and the budget of one run: a session, or a network of sessions.
//
//     struct session_clock c = {.record = &record};
//     session_clock_run(&c, true);
//     if (trials < session_clock_trials(&c)) ...
//
// Running time is what users wait for: the clock stands while a run is paused, and while a session
// that goes on replays its stored trials.

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
