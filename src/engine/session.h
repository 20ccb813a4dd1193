// A session: one space searched by one strategy on one source of measurements. This is its
// structure, for the engine's own use.
//
// The design: a session is a search (search/cycle.h, which is pure) with four parts around it, each
// a structure with a small interface in its own file. Its *store* (session_store.h) has the rows of
// the database, its *clock* (session_clock.h) the running time and the budget, its *log*
// (session_log.h) the events and messages, its *backend* (session_backend.h) the source of
// measurements with the device, the script and the shapes. A function that needs one part is given
// that part alone, and a network of sessions (network_run.h) has the same store, clock and log. The
// session itself is given only to what makes a trial's way of these parts: session_step.c asks,
// judges, submits and collects, session_rows.c stores and tells. Probes, baselines, drift checks
// and the final race send requests of their own along the same way, each in a file of its own that
// does not know session_step.c. session_setup.h puts a session together, session_step.h runs it.
//
// Invariants:
//  * Store before tell: a strategy never knows more than the database.
//  * A failed trial is data. Only a broken template or rule, a source that cannot go on, and a
//    database that cannot be used (paused then: session_stored) end a session with an error.
#ifndef TILEWALK_ENGINE_SESSION_H
#define TILEWALK_ENGINE_SESSION_H

#include "engine/options.h"
#include "engine/session_backend.h"
#include "engine/transfer.h"
#include "search/cycle.h"

// Detects that something else keeps the machine busy while a session times kernels.
//
//     struct busy b = {0};
//     busy_watch(&b, &result);                             every result that was timed
//     drift = busy_watch_drift(&b, now_s, before_s, true); the best so far was timed again
//     busy_add_text(&b, &busy, &throttled)                 at the end
//
// A kernel alone on its machine takes nearly as long every time, so samples of one timing that vary
// show others that come and go. Where something else runs all the time, all samples are slow alike;
// only the drift check shows that, which times the same kernel again. Some systems report what
// holds a device's clocks back, its power or its temperature (gpu/sensors.h).
struct busy { // valid when zeroed
    int64_t timings, unsteady;
    int64_t checks, slow;
    int64_t sensed, throttled; // timings with clocks; those in which something limited them
    double slowdown; // of the best at the last drift check, as a factor; 0: not checked yet
};

void busy_watch(struct busy *b, const struct trial_result *r);
// `before_s`: as it was measured. `is_best`: it still is the best. Returns the share by which it is
// slower now.
double busy_watch_drift(struct busy *b, double now_s, double before_s, bool is_best);
// Adds a message to each text; none where nothing was found.
void busy_add_text(const struct busy *b, struct str *busy, struct str *throttled);

struct rejections { // valid when zeroed
    int64_t *by;    // by reason: constraints, limits, and needs of the compiled shader; heap
    int64_t all;
};

// An ask that was not told yet, with all that is stored of it.
struct open_trial {
    struct cycle_trial cycle; // first: the cycle's list is one of these
    int generation;
    struct trial_result *result; // NULL unless the source answered
    struct forecast forecast;    // the model's prediction; deviation 0: no model chose it
    char *origin;                // as trial_record's; heap
    char reason[160];            // of a rejection
};

// The beginning of a new session (session_problem.c). The first two are the caller's.
struct beginning {
    const char *warm_from; // sources of its warm start, or NULL
    bool at_baselines;     // it is new, and its options have no warm start
    struct warm_start begun_with;
    struct transfer_wish wish;
    struct transfer transfer;       // the training set of its model
    const char *warm, *transferred; // messages of both, or NULL
};

struct drift_check { // the best trial is timed again now and then (session_drift.c)
    int due_in;      // trials
    bool open;
    int64_t ask; // of the best at that time
    double seconds;
    double anchor_s; // the fixed kernel at the last check of this run; 0: there was none
    int64_t anchor_told;
};

struct probes { // compiler statistics of configurations (session_probe.c)
    struct config_set known, wanted;
    struct preview *of; // of each that is known
    int capacity;
    int submitted; // of those wanted, in their order
};

struct measured_baselines { // by their place in the space (session_baselines.c)
    struct baseline_record of[SPACE_MAX_BASELINES]; // texts in the session's arena
    bool submitted[SPACE_MAX_BASELINES];            // or known
    int open;                                       // submitted, no result yet
};

struct races {         // final re-ranking (session_race.c)
    struct race *open; // the one that is under way; NULL
    int run;
    bool decided; // a race has set the winner
};

enum session_phase { SESSION_RUNNING, SESSION_PAUSED, SESSION_RACING, SESSION_ENDED };

struct session {
    struct arena arena;
    struct session_record record; // as the database has it; strings in the arena
    const struct space *space;
    struct session_store store;
    struct session_clock clock;
    struct session_log log;
    struct session_backend backend;
    struct beginning beginning;

    struct cycle cycle;
    struct legal *legal; // of a sparse space (record.draws); NULL: it is easy
    enum session_phase phase;
    bool stopping, pausing;
    bool busy;               // there is more to be done at once
    bool fitting;            // the strategy waits for a model
    const char *done_before; // why it was done when it was resumed; NULL: it was not, or has told
                             // something new since
    struct rejections rejections;
    struct probes probes;
    struct measured_baselines baselines;
    struct drift_check drift;
    struct busy machine;
    struct races races;
};

void open_trial_destroy(struct open_trial *t);
// True: the best is as near to the device's peak as the user wants it.
bool session_is_near_peak(const struct session *s);
// True: the last `record.patience` trials gained nothing.
bool session_is_out_of_patience(const struct session *s);
void session_emit(struct session *s, enum event_kind kind, const struct trial_record *trial,
                  const struct retime_record *retime);

// Dies by SIGKILL at the n-th visit of the point that TILEWALK_KILL names ("commit:3"): tests of
// crash safety.
void kill_point(const char *name);

#endif
