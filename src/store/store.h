// The database: sessions, their texts, trials, re-timings, commands and messages in one SQLite
// file.
//
//     struct store *s = store_open(path, STORE_WRITE, e);
//     store_create_session(s, &record, ..., &id, e); store_lock_session(s, id, e)
//     store_begin(s, e); store_put_trial(s, ...); ...; store_commit(s, e)   one transaction a trial
//     store_close(s);
//
// Several processes may use one database at once (WAL): readers never block, writers wait for each
// other (busy timeout 10 s). Committed changes survive the death of the process. Without begin,
// each call is a transaction of its own. A call that fails undoes everything since begin, and ends
// the transaction.
//
// A session is run by at most one process: an advisory lock on byte `id` of `path.lock`, which the
// system drops when the process dies. Other processes steer it through the command table. The
// schema has a version; older ones are migrated in one transaction when opened, newer ones are
// refused. A store belongs to one thread, and is not used across a fork. Callbacks of store_each_*
// only read the database; their records live until they return.
#ifndef TILEWALK_STORE_STORE_H
#define TILEWALK_STORE_STORE_H

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "space/outcome.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// States of a session. The words are frozen: databases, JSON and scripts contain them.
//
//   running   a process works on it, or did when the state was written (store_state checks)
//   paused    it continues from its last trial when it is resumed
//   done      its budget is spent, or its goal is reached
//   stopped   the user ended it
//   failed    an error ended it
//   removed   it is in no list any more: it is in the trash, or sessions that learned from its
//             trials still read them
//   damaged   it cannot be read; its record has the reason. No database contains this word.

enum session_state {
    STATE_RUNNING,
    STATE_PAUSED,
    STATE_DONE,
    STATE_STOPPED,
    STATE_FAILED,
    STATE_REMOVED,
    STATE_DAMAGED,
    STATE_COUNT
};

const char *state_name(enum session_state s);
bool state_parse(const char *word, enum session_state *s); // false: no state of a database

struct store;
enum store_mode {
    STORE_READ, // works on a read-only file, and while others write
    STORE_WRITE // creates the file and its folder when they are missing
};

struct store *store_open(const char *path, enum store_mode mode, struct err *e);
void store_close(struct store *s);
char *store_default_path(void);          // $TILEWALK_DB or the user's data folder; heap
bool store_is_default(const char *path); // commands use it without --db
// Returns the option that a suggested command needs for this database: " --db 'my runs.db'", quoted
// for a shell; "" for the default database. Lives as long as the store.
const char *store_option(const struct store *s);

#define DRAWS_LEGAL "legal"

// Strings of records that are read live in the arena that is passed. A text that a session does not
// have is NULL where the comment of its member says so, else "".
struct session_record {
    int64_t id;
    double created; // unix time
    enum session_state state;
    const char *name;      // name of the space: "gemm"
    const char *path;      // path of the space file as it was given
    const char *title;     // "matmul f32 nn 256x256x256"
    const char *operation; // JSON object
    const char *settings;  // JSON object of --set
    // Set where the batch was reduced for the device: `operation` as the space file declares it,
    // and a sentence, "batch 960 reduced to 320: ..."; else NULL.
    const char *declared, *reduced;
    const char *device; // name; "none" for sources without
    const char *driver;
    // The built-in compiler, "glslang 12.0.0"; NULL: nothing is compiled, or another compiler is
    // used (its version is added to `driver`), or the session is older than schema version 13.
    const char *compiler;
    // The build that began it, "0.2.0 (1a2b3c4)" (base/build.h); NULL: it is older than schema
    // version 28.
    const char *build;
    const char *device_type;
    const char *device_id; // identity hash
    const char *limits;    // JSON object: `device` as the space saw it
    const char *source;    // "device" or "synthetic:bowl:..."
    const char *strategy;  // canonical spec
    // JSON object of the shapes where one configuration is tuned for several
    // (engine/session_shapes.h); NULL: there is one shape. `settings` and `operation` are those of
    // the first shape; times and `flop` are sums over all.
    const char *shapes;
    uint64_t seed;
    double flop;
    // The unit of its speeds where that is not FLOPS, such as "B/s", and the amount of a run;
    // `unit` NULL: FLOPS, and the amount is `flop`.
    double work;
    const char *unit;
    // The objective of its search (space/objective.h); NULL: the least time of a run. `seconds` of
    // trials, samples, re-timings and baselines are costs of it.
    const char *objective;
    const char *size;      // number of configurations of the space, decimal
    const char *text_hash; // hash of all texts
    int64_t budget_trials;
    double budget_seconds; // running time; 0: none
    // The least time of a run by the peaks of the device (roofline, space/roofline.h), 0: not
    // known; the resource that bounds it, "bytes", "f32", ..., or NULL; the time of an empty
    // dispatch, 0: not known.
    double roof_s;
    const char *roof_by;
    double dispatch_s;
    double until;     // share of the peak at which the session ends; 0: none
    int64_t patience; // trials in a row without a gain that end it; 0: none
    // How it draws: DRAWS_LEGAL from the legal points of a sparse space; NULL: from all points.
    const char *draws;
    int workers;
    int cards; // devices of this identity that measure at the same time; 0 or 1: one
    bool count_rejected;
    // How steady its times are: the spread of the latest timings (median / least sample - 1), and
    // by how much the best was slower when it was timed again. 0, NAN: not known.
    double noise, drift;
    int64_t soaked, soaked_ask; // runs of the soak of the trial that was the best then; 0: none
    bool cold;           // timed runs find their inputs in memory, not in a cache (tune --cold)
    double ran_seconds;  // running time so far, pauses excluded
    const char *message; // why it ended or paused; NULL
    // Not stored: what ended the run, "trials", "seconds", "patience", "roof", "exhausted",
    // "rejected" or "user"; NULL: it goes on, or was interrupted.
    const char *ended_by;
    const char *note;    // note of the user; NULL
    const char *warm;    // slots of the configurations that it began with, "16,4 8,8"; NULL
    const char *guesses; // those that take every second proposal (tune --seed-from), likewise
    // The parents of the next generation, best first, as their asks, "12,5,9"; NULL: the strategy
    // has no population.
    const char *population;
    // The transfer prior of its model, "3:200 5:180": the first 200 results of session 3, then the
    // first 180 of session 5; NULL: none. Fixed when the session is made.
    const char *history;
    // Networks: the scheduler that divides the budget among the tasks; NULL: no network. The tasks
    // are sessions of their own (task_record), and the trials belong to them.
    const char *scheduler;
    // Networks: JSON object of the options "warm" and "transfer" for its tasks; NULL: none.
    const char *begin_with;
    // Tasks: the session of the network, 0: no task; and the name of the task there.
    int64_t network;
    const char *task;
    double trashed;   // unix time at which it was moved to the trash; 0: it is not there
    const char *kept; // the word of its state before; NULL: it is not there
    // computed when read
    int64_t trials, rejected, ok; // networks: sums over the tasks
    int64_t best_ask;             // 0: none
    double best_seconds;          // the time that it is ranked by
    bool best_raced;              // best_seconds is from a final re-ranking, not from the search
    const char *damage;           // state "damaged": the reason; else NULL
};

struct text_record {
    const char *name, *path, *text;
};

struct trial_record {
    int64_t ask;         // 1 .. in the order of proposals, rejected ones too
    int64_t number;      // 1 .. in the order of results, without rejected ones; these have 0
    int64_t told;        // 1 .. in the order of results, rejected ones too; 0 while in flight
    int64_t asked_after; // number of results that were known when it was proposed
    int generation;
    const char *key;    // the configuration as its slots (config_parse_key of space/space.h)
    const char *config; // the configuration as a JSON object, for people and other programs
    enum outcome outcome;
    const char *phase; // the step that failed
    const char *reason;
    double seconds;      // robust; 0 unless ok
    const char *samples; // JSON array of seconds
    bool early_stopped;
    double compile_s, pipeline_s, device_s;
    int worker;
    double elapsed_s; // running time of the session when the result arrived
    double finished;  // unix time
    // The ask that each parameter was inherited from (and perhaps mutated after), 0 for a random
    // one, "12,12,0,5"; NULL: it has no parents (a random sample or the choice of a model; all
    // trials of sessions from before schema version 2).
    const char *origin;
    // Compiler statistics of its pipelines, a JSON object of numbers; NULL: none (also in sessions
    // from before schema version 8).
    const char *statistics;
    // Sensors of the device while it was timed, a JSON object of numbers (gpu/gpu.h); NULL:
    // none (also in sessions from before schema version 15).
    const char *clocks;
    const char *machine; // the agent whose worker measured it; NULL: a worker of the run itself
    const char *build;   // the build that measured it; NULL: the session's
    // Times of each shape where a session tunes for several, a JSON list with null for those that
    // were not measured; NULL: there is one shape.
    const char *parts;
    double drift; // relative change of a fixed kernel's time around this trial; 0: small
    // Only for trials read by rank (store_best_trials): `seconds` are from the last re-ranking.
    bool raced;
};

struct best_step { // a trial that was the best of its session when its result arrived
    int64_t ask, number;
    double seconds, elapsed_s, finished;
};

struct task_record {      // a task of a network
    int64_t position;     // 1 .. in the order of the network
    const char *name;     // "conv1"
    const char *title;    // "conv2d f32 nchw 1x3x227x227 ..."
    const char *preset;   // path of its space file
    const char *settings; // JSON object of --set
    const char *kind;     // name of its operation, "conv2d"
    int64_t uses;         // runs in one pass
    double flop;          // FLOP of a run
    int64_t session; // the session that tunes it or had tuned it before; 0: it had no round yet
    double known_s;  // seconds of a task that was tuned before and gets no round; else 0
    double told_s;   // seconds of all its uses in another program; 0: not known for all tasks
};

struct round_record {   // trials that the scheduler of a network allotted to one of its tasks
    int64_t number;     // 1 .. in order
    int64_t task;       // its position
    int64_t trials;     // allotted trials
    bool pinned;        // the user chose the task, not the scheduler
    bool told;          // the round is over; only then the members below are set
    double seconds;     // time of the task's best kernel; 0: nothing valid yet
    bool more;          // the search of the task can continue
    double latency;     // sum of uses * seconds over the network; 0: a task has no kernel yet
    int64_t all_trials; // trials that the network has spent
    double elapsed_s;   // running time of the network
    double at;          // unix time
};

struct whole_record {    // a run of a network as a whole
    int64_t number;      // 1 ..
    int64_t all_trials;  // trials that the network had spent
    double elapsed_s;    // running time of the network
    double sum_s;        // sum of uses * seconds over the tasks
    double seconds;      // time of a run with each task's best kernel; 0: it was not timed
    double rival_s;      // time of the best run before, measured in turns; 0: there was none
    bool verified;       // every layer was right
    const char *reason;  // why it was not verified or not timed; ""
    const char *kernels; // "12,5,9": asks of the tasks' sessions, by position
    const char *kept;    // kernels of the fastest run so far; NULL: there is none
    double at;           // unix time
};

struct weight_record { // a weight that the user gave a task of a network, for its scheduler
    int64_t round;     // the first round with this weight
    int64_t task;      // its position
    double weight;     // multiplies the task's uses; 1 before the first change
};

struct message_record {
    int64_t id; // ascending in time
    double at;  // unix time
    const char *level, *text;
};

struct probe_record { // a configuration that was compiled for its compiler statistics
    const char *key;
    bool fits;
    const char *statistics; // JSON, as in trial_record
};

struct baseline_record {  // a configuration that the space declares as in use
    int64_t position;     // in the space, from 0 on
    const char *name;     // in the space
    const char *config;   // JSON; NULL: it is no point of the space
    enum outcome outcome; // outcome of its last run
    const char *phase, *reason;
    double seconds;         // as measured first; 0 unless ok
    double race_seconds;    // in the session's last re-ranking; 0: it was in none
    const char *samples;    // JSON, of the last run
    const char *parts;      // as in trial_record, of the last run
    double at;              // unix time
    int64_t paired_ask;     // the trial that was the best when both were timed in pairs; 0: never
    const char *paired;     // JSON: [pairs, ratio, low, high] (trial/paired.h), then of each shape
    const char *statistics; // JSON, as in trial_record
};
// Returns the seconds that trials are compared with; 0: there are none.
double baseline_seconds(const struct baseline_record *b);

struct refit_record { // a refit of a model (struct refit of search/strategy.h)
    int64_t number;   // 1 .. in the order of the session
    int64_t told, rows;
    double correlation, recall; // NAN: not known
    int k, batch;
    double seconds, bytes;
    double elapsed_s; // running time of the session
    double at;        // unix time
};

// Counts how often results lay within the intervals that the model of a strategy predicted for them
// when they were proposed. Trials that failed, and trials that no model chose, do not count.
struct calibration_record {
    int64_t results;
    int64_t within_50, within_90; // results in the central interval of 50 and of 90 %
};

struct retime_record { // new samples of a trial: final re-rankings and drift checks
    int64_t id;        // ascending in time; when read
    int64_t ask;
    const char *kind; // "race", "canary"
    double seconds;
    const char *samples;
    bool verified; // on random inputs, with tolerance
    double at;
    const char *parts; // as in trial_record
};

struct roof_record { // peaks of a device, `figures` as JSON (space/roofline.h)
    const char *device_id, *device, *driver, *figures;
    double at; // unix time
};
// Reads the peaks of a device; all members are 0 when there are none.
bool store_get_roof(struct store *s, const char *device_id, struct arena *a,
                    struct roof_record *out, struct err *e);
bool store_put_roof(struct store *s, const struct roof_record *r, struct err *e); // or replaces
// Stores roof_s, roof_by, dispatch_s, until and patience of a session.
bool store_set_roof(struct store *s, const struct session_record *r, struct err *e);

bool store_create_session(struct store *s, const struct session_record *r,
                          const struct text_record *text, int text_count, int64_t *id,
                          struct err *e);
bool store_get_session(struct store *s, int64_t id, struct arena *a, struct session_record *out,
                       struct err *e);
// Works as store_get_session, but also finds a deleted session that others have in their `history`.
bool store_get_history(struct store *s, int64_t id, struct arena *a, struct session_record *out,
                       struct err *e);
// Lists all sessions, newest first; the array lives in the arena. A session with a damaged row is
// listed with state "damaged", the reason, and harmless values in the damaged members; it can only
// be removed. A session is also damaged when a row of its trials has a value of another type or out
// of range (texts are checked when they are read); then calls that do not read that row work. All
// other calls refuse damaged rows ("session 3 is damaged: column title is missing (NULL) ...").
bool store_list_sessions(struct store *s, struct arena *a, struct session_record **out, int *count,
                         struct err *e);
// Lists those in the trash with their states before, the last one that was moved there first.
bool store_list_trash(struct store *s, struct arena *a, struct session_record **out, int *count,
                      struct err *e);
bool store_has_session(struct store *s, int64_t id, struct err *e); // damaged or not
bool store_get_texts(struct store *s, int64_t id, struct arena *a, struct text_record **out,
                     int *count, struct err *e);
bool store_set_state(struct store *s, int64_t id, enum session_state state, const char *message,
                     double ran_seconds, struct err *e);
bool store_set_budget(struct store *s, int64_t id, int64_t trials, double seconds, struct err *e);
bool store_set_note(struct store *s, int64_t id, const char *note, struct err *e);
bool store_set_noise(struct store *s, int64_t id, double noise, double drift, struct err *e);
bool store_set_soaked(struct store *s, int64_t id, int64_t runs, int64_t ask, struct err *e);
bool store_set_population(struct store *s, int64_t id, const char *asks, struct err *e);
// Store and read the tasks of a network, in order. put: adds one, in one transaction with the
// network's session (begin and commit); set: sets the session that tunes it.
bool store_put_task(struct store *s, int64_t network, const struct task_record *t, struct err *e);
bool store_set_task(struct store *s, int64_t network, int64_t position, int64_t session,
                    struct err *e);
bool store_get_tasks(struct store *s, int64_t network, struct arena *a, struct task_record **out,
                     int *count, struct err *e);
// Store and read the rounds of a network after number `after`. put: adds or replaces one.
bool store_put_round(struct store *s, int64_t network, const struct round_record *r, struct err *e);
bool store_each_round(struct store *s, int64_t network, int64_t after,
                      bool (*each)(void *context, const struct round_record *r), void *context,
                      struct err *e);
// Store and read the plan of the runs of a network (network/plan.h), as JSON; in the arena, NULL
// when there is none. put: called once.
bool store_put_plan(struct store *s, int64_t network, const char *plan, struct err *e);
bool store_get_plan(struct store *s, int64_t network, struct arena *a, const char **out,
                    struct err *e);
// Store and read the runs of a network as a whole, in order; texts live until the next one.
bool store_put_whole(struct store *s, int64_t network, const struct whole_record *r, struct err *e);
bool store_each_whole(struct store *s, int64_t network,
                      bool (*each)(void *context, const struct whole_record *r), void *context,
                      struct err *e);
// Store and read the weights that the user gave the tasks, in order. put: from the next round on.
bool store_put_weight(struct store *s, int64_t network, int64_t task, double weight, struct err *e);
bool store_get_weights(struct store *s, int64_t network, struct arena *a,
                       struct weight_record **out, int *count, struct err *e);
// Move a session to the trash, and back with all that it had. A network goes with its tasks; a task
// cannot go alone. Others that learned from it still do.
bool store_trash_session(struct store *s, int64_t id, struct err *e);
bool store_restore_session(struct store *s, int64_t id, struct err *e);
// Deletes a session for good, also one in the trash. One that another session has in its `history`
// is hidden until that session is deleted.
bool store_delete_session(struct store *s, int64_t id, struct err *e);

// Handles lock waits. While another program keeps the database locked, `wait` is called repeatedly
// with the time waited so far: it sleeps a moment; when it returns false, the call fails. `over` is
// called at the end of a call that waited and succeeded; it may not use this store. Without
// handlers (NULL) a call fails after STORE_BUSY_S.
#define STORE_BUSY_S 10
struct store_patience {
    bool (*wait)(void *context, double waited_s);
    void (*over)(void *context);
    void *context;
};
void store_set_patience(struct store *s, const struct store_patience *patience);

// Checks that the open files of a writing store are still at their paths; otherwise nobody will see
// what is stored. Takes a few microseconds. False: `e` names the file that was removed or replaced.
bool store_in_place(const struct store *s, struct err *e);
// Saves the content as a new database PATH.saved, or where that fails, in the user's data folder or
// the folder of temporary files. Returns its path, which lives as long as the store; NULL: it
// failed.
const char *store_save(struct store *s, struct err *e);

// Checks all pages and rows of the database.
bool store_check(struct store *s, struct err *e);
// Checks that no session can be missing in the list because of damage. Costs as much as the list.
bool store_check_sessions(struct store *s, struct err *e);

// Returns true when another connection has committed since the last call, and the first time. Takes
// a few microseconds, so that it can be called many times a second.
bool store_changed(struct store *s);

bool store_begin(struct store *s, struct err *e);
bool store_commit(struct store *s, struct err *e); // on failure everything since begin is undone
bool store_put_trial(struct store *s, int64_t session, const struct trial_record *t,
                     struct err *e); // new or again
// Sets the drift (trial_record) of the valid trials whose results came after `after_told`.
bool store_mark_drift(struct store *s, int64_t session, int64_t after_told, double drift,
                      struct err *e);
// Store a final re-ranking (a race): all its rows are put in one transaction, after
// store_begin_race. From then on the trials of the race before are ranked by the times of the
// search again.
bool store_begin_race(struct store *s, int64_t session, struct err *e);
bool store_put_retime(struct store *s, int64_t session, const struct retime_record *r,
                      struct err *e);

// Calls `each` for every trial in the order of proposals, from `first_ask` on, until it returns
// false.
bool store_each_trial(struct store *s, int64_t session, int64_t first_ask,
                      bool (*each)(void *context, const struct trial_record *t), void *context,
                      struct err *e);
// Does so for those that count as trials, in the order of results, from `first_number` on.
bool store_each_numbered(struct store *s, int64_t session, int64_t first_number,
                         bool (*each)(void *context, const struct trial_record *t), void *context,
                         struct err *e);
// Does so for the valid ones among them, up to `last`, whose measured time is less than `seconds`.
// The others cost about a microsecond each.
struct faster {
    int64_t first, last; // numbers
    double seconds;
};
bool store_each_faster(struct store *s, int64_t session, const struct faster *f,
                       bool (*each)(void *context, const struct trial_record *t), void *context,
                       struct err *e);
// Does so for those that have a rank, best first, without the first `skip`, which cost little (a
// million 0.1 s). `seconds` are those of store_best_trials.
bool store_each_ranked(struct store *s, int64_t session, int64_t skip,
                       bool (*each)(void *context, const struct trial_record *t), void *context,
                       struct err *e);
// Read one trial, by its ask or by the key of its configuration; strings live in the arena. Its
// `ask` is 0 when there is none.
bool store_get_trial(struct store *s, int64_t session, int64_t ask, struct arena *a,
                     struct trial_record *out, struct err *e);
bool store_find_trial(struct store *s, int64_t session, const char *key, struct arena *a,
                      struct trial_record *out, struct err *e);
// Reads the best-so-far curve behind number `after_number`, by the times of the search: a race does
// not change it. The cost depends on the steps, not on the number of trials.
bool store_each_best(struct store *s, int64_t session, int64_t after_number,
                     bool (*each)(void *context, const struct best_step *step), void *context,
                     struct err *e);
// Counts the stored trials of each outcome, indexed by enum outcome; `early` (may be NULL): ok ones
// that were stopped early. The cost does not depend on their number.
bool store_get_tally(struct store *s, int64_t session, int64_t count[OUTCOME_COUNT], int64_t *early,
                     struct err *e);
// Counts of valid trials: those with clocks, those that were throttled, those with a drift.
struct steadiness {
    int64_t sensed, throttled, drifted;
};
bool store_get_steadiness(struct store *s, int64_t session, struct steadiness *out, struct err *e);
// Reads the re-timing that decides the rank of a trial: that of the session's last race, or that of
// the trial's latest race if its result was wrong there. Its `ask` is 0 when there is none.
bool store_get_race(struct store *s, int64_t session, int64_t ask, struct arena *a,
                    struct retime_record *out, struct err *e);
bool store_each_race(struct store *s, int64_t session,
                     bool (*each)(void *context, const struct retime_record *r), void *context,
                     struct err *e);
// Reads the number of the newest re-timing of all sessions; 0: there is none.
bool store_newest_retime(struct store *s, int64_t *number, struct err *e);
// Reads the n best ok trials, best first, into the arena. This is the one definition of the best:
// the times of a race can only be compared with each other, so the trials of the session's last
// race come first, by their times there (`seconds`, with `raced` set), then all others by the times
// of the search. A trial that was wrong in its latest race is left out. The best_* of a session and
// store_each_ranked follow the same rule; of equal trials the first proposed is the best.
struct ranked_trials {
    struct trial_record *trial;
    int count;
};
bool store_best_trials(struct store *s, int64_t session, int most, struct arena *a,
                       struct ranked_trials *out, struct err *e);
// Reads the n best ok trials that were never in a race, by their measured times.
bool store_best_unraced(struct store *s, int64_t session, int most, struct arena *a,
                        struct ranked_trials *out, struct err *e);

// Store and read the quality of models at each refit, in order.
bool store_put_refit(struct store *s, int64_t session, const struct refit_record *r, struct err *e);
bool store_each_refit(struct store *s, int64_t session,
                      bool (*each)(void *context, const struct refit_record *r), void *context,
                      struct err *e);
bool store_count_refits(struct store *s, int64_t session, int64_t *count, struct err *e);

// Adds `more` to the stored counts of the session. All are zero where nothing was added.
bool store_add_calibration(struct store *s, int64_t session, const struct calibration_record *more,
                           struct err *e);
bool store_get_calibration(struct store *s, int64_t session, struct calibration_record *out,
                           struct err *e);

// Results of the baselines of a session, in their order. put replaces an earlier result.
struct baselines {
    struct baseline_record *of;
    int count;
};
bool store_put_baseline(struct store *s, int64_t session, const struct baseline_record *r,
                        struct err *e);
bool store_get_baselines(struct store *s, int64_t session, struct arena *a, struct baselines *out,
                         struct err *e);
// Returns the fastest baseline; NULL: none ran.
const struct baseline_record *baselines_fastest(const struct baselines *b);

// Store and read the compile probes of a session, each configuration once.
bool store_put_probe(struct store *s, int64_t session, const struct probe_record *r, struct err *e);
bool store_each_probe(struct store *s, int64_t session,
                      bool (*each)(void *context, const struct probe_record *r), void *context,
                      struct err *e);

// The lock of the process that runs a session. lock: holds it until unlock or the end of the
// process; false with "session 3 is running in process 1234 (...)". runner: the process; 0: none.
bool store_lock_session(struct store *s, int64_t id, struct err *e);
void store_unlock_session(struct store *s, int64_t id);
pid_t store_runner(struct store *s, int64_t id);
// Returns the state that users see: a session with state "running" but without a runner is paused.
enum session_state store_state(struct store *s, const struct session_record *r, pid_t *runner);

// Commands to the runner of a session: "pause", "resume", "stop", "budget". take removes the
// oldest; has tells whether one with that verb waits to be taken.
bool store_push_command(struct store *s, int64_t session, const char *verb, const char *argument,
                        struct err *e);
bool store_has_command(struct store *s, int64_t session, const char *verb);
bool store_take_command(struct store *s, int64_t session, char verb[16], char argument[64],
                        bool *any, struct err *e);

// Messages of a session, for `show` and the workbench's log.
bool store_add_message(struct store *s, int64_t session, const char *level, const char *text,
                       struct err *e);
// Calls `each` for the messages after `after_id` (0: all).
bool store_each_message(struct store *s, int64_t session, int64_t after_id,
                        bool (*each)(void *context, const struct message_record *m), void *context,
                        struct err *e);

// The transfer prior of a session's model, as it is stored: "3:200 5:180" is the first 200 results
// of session 3, then the first 180 of session 5.
//
//     struct history_part part;
//     for (const char *at = record.history; history_next(&at, &part);)
//         use(part.session, part.told);

struct history_part {
    int64_t session, told;
};

// Reads the part at *at, and moves *at to the next one. False, with *at unchanged, when there is
// none (*at is NULL or "") or it is damaged. Pure.
bool history_next(const char **at, struct history_part *part);
// Appends a part, after a blank unless it is the first.
void history_add(struct str *text, const struct history_part *part);

#endif
