// A session: one space searched by one strategy on one source of measurements. This is its
// structure, for the engine's own use.
//
//     struct session *s = session_start(&host, &options, e);      or session_resume(&host, id, ...)
//     while (s->phase != SESSION_ENDED) {
//         session_step(s, e);       as far as it goes without waiting; again at once while s->busy
//         session_command(s, "pause", NULL, e);     commands of other processes
//         ...sleep until a descriptor of its source, or session_wait_fd, is readable...
//     }
//     session_release(s);
//     session_destroy(s);
//
// It is put together in this order: the backend is chosen (session_backend.h); the problem, from a
// script or a recording, and its strategy (session_problem.c); the source is made; a session that
// goes on gets its stored trials as a replay log.
//
// The design: a session is a search (search/cycle.h, which is pure) with four parts around it, each
// a structure with a small interface in its own file. Its *store* (session_store.h) has the rows of
// the database, its *clock* (there too) the running time and the budget, its *log* (session_log.h)
// the events and messages, its *backend* (session_backend.h) the source of
// measurements with the device, the script and the shapes. A function that needs one part is given
// that part alone, and a network of sessions (network_run.h) has the same store, clock and log. The
// session itself is given only to what makes a trial's way of these parts: session_step.c asks,
// judges, submits and collects, session_rows.c stores and tells. Probes, baselines, drift checks
// and the final race send requests of their own along the same way, each in a file of its own that
// does not know session_step.c.
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
// holds a device's clocks back, its power or its temperature (gpu/gpu.h).
#define BUSY_WINDOW 16
struct busy { // valid when zeroed
    int64_t timings, unsteady;
    int64_t checks, slow;
    int64_t sensed, throttled; // timings with clocks; those in which something limited them
    double slowdown; // of the best at the last drift check, as a factor; 0: not checked yet
    double spread[BUSY_WINDOW]; // of the latest timings: median / least sample - 1
    double noise;               // their mean
    double drift;               // of the best at the last check, as a share
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
    char need[160]; // the last one of a compiled shader; ""
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
    bool is_standard;      // it is new, and its options have no warm start
    bool on_device;        // it measures
    struct warm_start begun_with;
    const char *guesses_from; // the file of its guesses, or NULL
    struct warm_start guesses;
    const char *guessed; // message, or NULL
    bool guesses_used;   // all of them, as the user knows
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
    struct compile_probe *of; // of each that is known
    int capacity;
    int submitted; // of those wanted, in their order
};

struct measured_baselines { // by their place in the space (session_baselines.c)
    struct baseline_record of[SPACE_MAX_BASELINES]; // texts in the session's arena
    bool submitted[SPACE_MAX_BASELINES];            // or known
    int open;                                       // submitted, no result yet
    int pair[TRIAL_MAX_RACERS]; // those compared now, by the candidate of the request
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

// --- session_setup.c: a session is put together, a new one or one of the database that goes on ---

// Both report EVENT_SESSION and leave the session running, its lock held; but a session that is
// done, with its budget spent, has ended, and nothing of it was touched. NULL and `e` on failure.
struct session *session_start(const struct session_host *host, const struct session_options *o,
                              struct err *e);
struct session *session_resume(const struct session_host *host, int64_t id,
                               const struct session_options *more, struct err *e);
// Returns the session that these options would start: it is in no database and cannot be run, but
// has its record and script. The backend is chosen already.
struct session *session_draft(const struct session_host *host, const struct session_options *o,
                              struct backend_choice *c, struct err *e);
// False: the budget has fewer trials than the session has spent, which cannot be taken back.
bool session_check_budget(const struct session_record *r, int64_t trials, struct err *e);
// Changes the budget of a run that goes on as `more` says; NULL: not at all.
bool session_change_budget(struct session_store *s, const struct session_options *more,
                           struct err *e);
void session_release(struct session *s); // what only a running one needs
void session_destroy(struct session *s); // fine with NULL

// --- session_problem.c ---

// Finds the space, the script and the strategy of a new session, and describes them in its record;
// `o` and `c` NULL: of a session that goes on.
bool session_find_problem(struct session *s, const struct session_options *o,
                          const struct backend_choice *c, struct err *e);
// The script alone, of a new session. Where buffers would be too large for the device, the batch is
// reduced, which `declared` and `reduced` of the record then tell.
bool session_find_script(struct session *s, const struct session_options *o, struct err *e);
// Returns a path as it is stored, absolute, in the session's arena: the folder of whoever opens the
// file later may be another one.
const char *session_path(struct session *s, const char *path);

// --- session_step.c: the cycle of its search (search/cycle.h) on a source and a database ---

// False: the session failed.
bool session_step(struct session *s, struct err *e);
bool session_command(struct session *s, const char *verb, const char *argument, struct err *e);
// Allots so many trials and so much running time (0: any), in all, to a task of a network, which
// rests when they are spent.
bool session_allot(struct session *s, int64_t trials, double seconds, struct err *e);
// Returns a descriptor that becomes readable when the model is fitted for which the session waits;
// -1: it waits for none.
int session_wait_fd(const struct session *s);

// --- session_rows.c: trials become rows of the database, then the strategy is told ---

// Both destroy the trial. store_and_tell is for a new one, which stays open when it cannot be
// stored; tell_again for one that is stored.
bool session_store_and_tell(struct session *s, struct open_trial *t, struct err *e);
void session_tell_again(struct session *s, struct open_trial *t);
// Brings record.population up to date, in the database too.
bool session_keep_population(struct session *s, struct err *e);
// Stores and reports the fits that the strategy's model has made since the last call.
bool session_keep_refits(struct session *s, struct err *e);

// --- session_state.c: running, paused, locked out of the database, ended ---

bool session_set_paused(struct session *s, bool paused, struct err *e);
bool session_end(struct session *s, enum session_state state, const char *message, struct err *e);
bool session_finish(struct session *s, struct err *e); // ends it by the outcome of its search
// The database has been locked by another program for `locked_s`; or it is free again. Meanwhile a
// running session is paused and shows it, but stores nothing of this.
void session_lock_begins(struct session *s, double locked_s);
void session_lock_ends(struct session *s);

// Counts why a configuration was rejected, to explain what leaves so few of a space. `v` NULL: its
// compiled shader needs too much.
void rejections_add(struct rejections *r, const struct space *space, const struct verdict *v);

// --- requests beside the search; `submit` where the source has room, `finish` with a result ---

// session_baselines.c: the baselines of the space are measured before the search asks for anything,
// stored, and part of every race. The search is not told of them. `all`: all of them are measured.
bool baselines_submit(struct session *s, bool *all, struct err *e);
bool baseline_finish(struct session *s, const struct trial_result *r, struct err *e);
// Stores the time of one in a race, as candidate `i` of it.
bool baseline_retime(struct session *s, int position, const struct trial_result *r, int i,
                     struct err *e);
bool baselines_load(struct session *s, struct err *e);

// session_drift.c: every so many trials the best one is timed again, and a fixed kernel with it.
#define DRIFT_CHECK_EVERY 20
bool drift_check_submit(struct session *s, struct err *e);
void drift_check_finish(struct session *s, const struct trial_result *r);

// session_probe.c: configurations are compiled for their compiler statistics, which the search asks
// for by search_problem.probe (session_probe, with the session as its context). probes_load takes
// those of the database, probes_learn those of a trial.
bool session_probe(void *session, const struct config *c, int count, struct compile_probe *out);
bool probes_submit(struct session *s, struct err *e);
bool probe_finish(struct session *s, const struct trial_result *r, struct err *e);
bool probes_load(struct session *s, struct err *e);
void probes_learn(struct session *s, const struct config *c, const struct statistics *told);

// session_race.c: the final re-ranking. The best few trials are timed again in turns, and the
// fastest of them is the session's winner. `started` is false when no trial could change what the
// last race found.
bool race_submit(struct session *s, bool *started, struct err *e);
bool race_finish(struct session *s, struct trial_result *r, struct err *e);

// session_confirm.c: the session's best is timed in pairs with each baseline that runs, and then
// verified again and again, once for each best. `started` is false when both are done.
bool confirm_submit(struct session *s, bool *started, struct err *e);
bool confirm_finish(struct session *s, const struct trial_result *r, struct err *e);

#endif
