// The database: sessions, their texts, trials, re-timings, commands and messages, in one SQLite
// file.
//
//     struct store *s = store_open(path, STORE_WRITE, e);
//     store_create_session(s, &record, ..., &id, e); store_lock_session(s, id, e)
//     store_begin(s, e); store_put_trial(s, ...); ...; store_commit(s, e)   one transaction a trial
//     store_close(s);
//
// Several processes may use one database at once (WAL): readers never block, writers wait for each
// other (busy timeout 10 s). What was committed survives the death of the process. Without begin,
// each call is a transaction of its own; a call that fails undoes all since begin and ends it.
//
// A session is run by at most one process: an advisory lock on byte `id` of `path.lock`, which the
// system drops when the process dies. Others steer it through the command table. The schema has a
// version; older ones are migrated in one transaction when opened, newer ones are refused. One
// thread per store, and no store across a fork. Callbacks of store_each_* read only; the records
// they get live until they return.
#ifndef TILEWALK_STORE_STORE_H
#define TILEWALK_STORE_STORE_H

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "space/outcome.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// What has become of a session. The words are frozen: they enter databases, JSON and scripts.
//
//   running   a process works on it, or did when it was last heard of (store_state tells)
//   paused    it goes on where it stands when it is resumed
//   done      its budget is spent, or its goal is reached
//   stopped   the user ended it
//   failed    an error ended it
//   removed   it is in no list any more, but what learned from its trials still reads them
//   damaged   it cannot be read: its record says why. No database has this word.

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
bool state_parse(const char *word, enum session_state *s); // false: it is none of a database

struct store;
enum store_mode {
    STORE_READ, // works on a read-only file, and while others write
    STORE_WRITE // creates the file and its folder when they are missing
};

struct store *store_open(const char *path, enum store_mode mode, struct err *e);
void store_close(struct store *s);
char *store_default_path(void);          // $TILEWALK_DB or the user's data folder; heap
bool store_is_default(const char *path); // commands take it by themselves, without --db
// What a command that users are told needs to mean this database: " --db 'my runs.db'", quoted for
// a shell; "" where it is the one that commands take by themselves. Lives as long as the store.
const char *store_option(const struct store *s);

// Strings of records that are read live in the arena that is passed; of records that are written
// they are only read. Where a session has no such text, those that are said to be NULL are, all
// others "".
struct session_record {
    int64_t id;
    double created; // unix time
    enum session_state state;
    const char *name;      // of the space: "gemm"
    const char *path;      // of the space file as it was given
    const char *title;     // "matmul f32 nn 256x256x256"
    const char *operation; // JSON object
    const char *settings;  // JSON object of --set
    // Where the batch was reduced for the device: `operation` as the space file declares it, and a
    // sentence, "batch 960 reduced to 320: ..."; NULL: it was not.
    const char *declared, *reduced;
    const char *device; // name; "none" for sources without
    const char *driver;
    // The glslang that is built in, "glslang 12.0.0"; NULL: nothing is compiled, or not by it (the
    // driver has the version of another one added), or the session is older than schema version 13.
    const char *compiler;
    const char *device_type;
    const char *device_id; // identity hash
    const char *limits;    // JSON object: what the space saw as `device`
    const char *source;    // "device" or "synthetic:bowl:..."
    const char *strategy;  // canonical spec
    // Where one configuration is sought for several shapes (engine/session_shapes.h): which, a JSON
    // object; `settings` and `operation` are then of the first, times and `flop` of all. NULL: one.
    const char *shapes;
    uint64_t seed;
    double flop;
    // The unit of its speeds where that is not FLOPS, such as "B/s", and how much of it a run does;
    // `unit` NULL: FLOPS, of which a run does `flop`.
    double work;
    const char *unit;
    const char *size;      // of the space, decimal
    const char *text_hash; // of all texts
    int64_t budget_trials;
    double budget_seconds; // running time; 0: none
    // The least time that the device's roofline (space/roofline.h) leaves to a run, 0: it is not
    // known; what bounds it, "bytes", "f32", ..., or NULL; what an empty dispatch takes, 0: not
    // known.
    double roof_s;
    const char *roof_by;
    double dispatch_s;
    double until; // share of the roofline at which it ends; 0: none
    int workers;
    int cards; // devices of this identity that they measure on at once; 0 or 1: one
    bool count_rejected;
    bool cold; // what is timed finds its inputs in memory, and not in a cache (tune --cold)
    double ran_seconds;  // running time so far, pauses excluded
    const char *message; // why it ended or paused; NULL
    const char *note;    // the user's; NULL
    const char *warm;    // slots of the configurations that it began with, "16,4 8,8"; NULL
    // The parents of the next generation, best first, as their asks, "12,5,9"; NULL: the strategy
    // has no population.
    const char *population;
    // Whose results its model begins with, "3:200 5:180": of session 3 those that were told first,
    // 200 of them; NULL: none. Fixed when it is made.
    const char *history;
    // Of a network: what shares the budget out among its tasks; NULL: it is no network. Its tasks
    // are sessions of their own (task_record), and the trials are theirs.
    const char *scheduler;
    const char *begin_with; // of a network: JSON object of what its tasks begin with, as it was
                            // asked: "warm" and "transfer"; NULL: nothing was
    // Of a task: the session of its network, 0: it is none; and its name there.
    int64_t network;
    const char *task;
    // computed when read
    int64_t trials, rejected, ok; // of a network all of its tasks'
    int64_t best_ask;             // 0: none
    double best_seconds;          // that it is ranked by, and
    bool best_raced;              // whether a race said so; else it is as measured in the search
    const char *damage;           // state "damaged": what is wrong with it; NULL: nothing
};

struct text_record {
    const char *name, *path, *text;
};

struct trial_record {
    int64_t ask;    // 1 .. in the order asked, rejected ones too
    int64_t number; // 1 .. among those that count as trials, in the order told; 0 for rejected ones
    int64_t told;   // 1 .. in the order told, rejected ones too; 0 while in flight
    int64_t asked_after; // how many results had been told when it was asked
    int generation;
    const char *key;    // the configuration as its slots (config_parse_key of space/space.h)
    const char *config; // the configuration as a JSON object, for people and other programs
    enum outcome outcome;
    const char *phase; // where it failed
    const char *reason;
    double seconds;      // robust; 0 unless ok
    const char *samples; // JSON array of seconds
    bool early_stopped;
    double compile_s, pipeline_s, device_s;
    int worker;
    double elapsed_s; // running time of the session when it was told
    double finished;  // unix time
    // Where the configuration comes from: for each parameter the ask that it was taken from (and
    // then perhaps moved), 0 for one that was drawn, "12,12,0,5"; NULL: it has no parents (drawn,
    // or a model's choice; all in sessions from before schema version 2).
    const char *origin;
    // What the driver says of its pipelines, a JSON object of numbers; NULL: nothing (also in
    // sessions from before schema version 8).
    const char *statistics;
    // What the system told of the device while it was timed, a JSON object of numbers
    // (gpu/sensors.h); NULL: nothing (also in sessions from before schema version 15).
    const char *clocks;
    const char *machine; // the agent whose worker measured it; NULL: a worker of the run itself
    // Where a session tunes for several shapes: what each took, a JSON list with null for those
    // that were not measured; NULL: there is one shape.
    const char *parts;
    double drift; // by which share a fixed kernel's times before and after it differ; 0: by little
    // Only where it was read by rank (store_best_trials): `seconds` are from the last race.
    bool raced;
};

struct best_step { // a trial that was the best of its session when it was told
    int64_t ask, number;
    double seconds, elapsed_s, finished;
};

struct task_record {      // of a network
    int64_t position;     // 1 .. in the order of the network
    const char *name;     // "conv1"
    const char *title;    // "conv2d f32 nchw 1x3x227x227 ..."
    const char *preset;   // path of its space file
    const char *settings; // JSON object of --set
    const char *kind;     // "conv2d": of its operation
    int64_t uses;         // runs in one pass
    double flop;          // of a run
    int64_t session;      // that tunes it, or that had tuned it before; 0: it had no round yet
    double known_s;       // it had been tuned before, to so many seconds, and gets no round; else 0
    double told_s;        // what all its uses took in another program; 0: not known of all tasks
};

struct round_record {   // a network's scheduler gave trials to one of its tasks
    int64_t number;     // 1 .. in the order given
    int64_t task;       // its position
    int64_t trials;     // that were given
    bool pinned;        // because the user wanted it, not the scheduler
    bool told;          // it is over, and then:
    double seconds;     // of the task's best kernel; 0: nothing valid yet
    bool more;          // whether the task's search can go on
    double latency;     // sum of uses * seconds over the network; 0: a task has no kernel yet
    int64_t all_trials; // that the network has spent
    double elapsed_s;   // running time of the network
    double at;          // unix time
};

struct whole_record {    // a network was run as a whole
    int64_t number;      // 1 ..
    int64_t all_trials;  // that the network had spent
    double elapsed_s;    // running time of the network
    double sum_s;        // of its parts: uses * seconds over the tasks
    double seconds;      // of a run with each task's best kernel; 0: it did not come to be timed
    double rival_s;      // in turns with that: of the best run before; 0: there was none
    bool verified;       // every layer was right
    const char *reason;  // why not, or why it was not timed; ""
    const char *kernels; // "12,5,9": asks of the tasks' sessions, by position
    const char *kept;    // those of the fastest run so far; NULL: there is none
    double at;           // unix time
};

struct weight_record { // the user changed how much a task of a network counts for its scheduler
    int64_t round;     // the first round that was given by this weight
    int64_t task;      // its position
    double weight;     // multiplies the task's uses; 1 before the first change
};

struct message_record {
    int64_t id; // ascending in time
    double at;  // unix time
    const char *level, *text;
};

struct look_record { // a configuration was compiled to see whether it is worth choosing
    const char *key;
    bool fits;
    const char *statistics; // JSON, as trial_record's
};

struct baseline_record {  // a configuration that the space declares as in use
    int64_t position;     // in the space, from 0 on
    const char *name;     // and there
    const char *config;   // JSON; NULL: it is no point of the space
    enum outcome outcome; // of the last time that it ran
    const char *phase, *reason;
    double seconds;      // as measured first; 0 unless ok
    double race_seconds; // in the session's last race; 0: it was in none
    const char *samples; // JSON, of the last time
    const char *parts;   // as trial_record's, of the last time
    double at;           // unix time
};
// Seconds to hold others against; 0: there are none.
double baseline_seconds(const struct baseline_record *b);

struct refit_record { // a model was fitted anew; as struct refit (search/strategy.h) has it
    int64_t number;   // 1 .. in the order of the session
    int64_t told, rows;
    double correlation, recall; // NAN: not known
    int k, batch;
    double seconds, bytes;
    double elapsed_s; // running time of the session
    double at;        // unix time
};

// How often results lay where the model of a strategy expected them, right before they were asked
// for: trials that failed, and those that no model chose, do not count.
struct calibration_record {
    int64_t results;
    int64_t within_50, within_90; // of these in the central interval of 50 and of 90 %
};

struct retime_record { // samples taken again of a trial: final races and drift canaries
    int64_t id;        // ascending in time; when read
    int64_t ask;
    const char *kind; // "race", "canary"
    double seconds;
    const char *samples;
    bool verified; // on random inputs, with tolerance
    double at;
    const char *parts; // as trial_record's
};

// The roofline of the device of that identity, figures as JSON (space/roofline.h); NULL: there is
// none.
struct roof_record {
    const char *device_id, *device, *driver, *figures;
    double at; // unix time
};
bool store_get_roof(struct store *s, const char *device_id, struct arena *a,
                    struct roof_record *out, struct err *e);
bool store_put_roof(struct store *s, const struct roof_record *r, struct err *e); // or replaces
// Of a session: record->roof_s, roof_by, dispatch_s and until.
bool store_set_roof(struct store *s, const struct session_record *r, struct err *e);

bool store_create_session(struct store *s, const struct session_record *r,
                          const struct text_record *text, int text_count, int64_t *id,
                          struct err *e);
bool store_get_session(struct store *s, int64_t id, struct arena *a, struct session_record *out,
                       struct err *e);
// As store_get_session, but it also finds a deleted session that others have in their `history`.
bool store_get_history(struct store *s, int64_t id, struct arena *a, struct session_record *out,
                       struct err *e);
// All sessions, newest first; the array lives in the arena. One whose row is damaged is there too,
// with state "damaged", the reason, and something harmless in the members that are wrong: nothing
// but removing it works on such a one. So is one with a trial whose row has a value of another type
// or out of measure (texts are looked at when they are read): what does not read that one works.
// All other calls refuse damaged rows ("session 3 is damaged: column title is missing (NULL) ...").
bool store_list_sessions(struct store *s, struct arena *a, struct session_record **out, int *count,
                         struct err *e);
bool store_has_session(struct store *s, int64_t id, struct err *e); // damaged or not
bool store_get_texts(struct store *s, int64_t id, struct arena *a, struct text_record **out,
                     int *count, struct err *e);
bool store_set_state(struct store *s, int64_t id, enum session_state state, const char *message,
                     double ran_seconds, struct err *e);
bool store_set_budget(struct store *s, int64_t id, int64_t trials, double seconds, struct err *e);
bool store_set_note(struct store *s, int64_t id, const char *note, struct err *e);
bool store_set_population(struct store *s, int64_t id, const char *asks, struct err *e);
// The tasks of a network, in their order. put: a new one, in one transaction with the network's
// session (begin and commit); set: which session tunes it.
bool store_put_task(struct store *s, int64_t network, const struct task_record *t, struct err *e);
bool store_set_task(struct store *s, int64_t network, int64_t position, int64_t session,
                    struct err *e);
bool store_get_tasks(struct store *s, int64_t network, struct arena *a, struct task_record **out,
                     int *count, struct err *e);
// Its rounds, after number `after`. put: a new one, or what became of it.
bool store_put_round(struct store *s, int64_t network, const struct round_record *r, struct err *e);
bool store_each_round(struct store *s, int64_t network, int64_t after,
                      bool (*each)(void *context, const struct round_record *r), void *context,
                      struct err *e);
// The plan of its runs (network/plan.h), as JSON; in the arena, NULL where there is none. put: only
// once.
bool store_put_plan(struct store *s, int64_t network, const char *plan, struct err *e);
bool store_get_plan(struct store *s, int64_t network, struct arena *a, const char **out,
                    struct err *e);
// Its runs as a whole, in their order; texts live until the next one.
bool store_put_whole(struct store *s, int64_t network, const struct whole_record *r, struct err *e);
bool store_each_whole(struct store *s, int64_t network,
                      bool (*each)(void *context, const struct whole_record *r), void *context,
                      struct err *e);
// The weights that the user gave its tasks, in that order. put: from its next round on.
bool store_put_weight(struct store *s, int64_t network, int64_t task, double weight, struct err *e);
bool store_get_weights(struct store *s, int64_t network, struct arena *a,
                       struct weight_record **out, int *count, struct err *e);
// A session that another one has in its `history` is hidden; its rows go when that other one does.
// A network goes with its tasks; a task does not go alone.
bool store_delete_session(struct store *s, int64_t id, struct err *e);

// While another program keeps the database locked, `wait` is called again and again with how long
// that has lasted: it sleeps a moment, and false lets the call fail. `over` comes after a call that
// had to wait and came through, still within it: no call to this store. Without patience (NULL) a
// call fails after STORE_BUSY_S.
#define STORE_BUSY_S 10
struct store_patience {
    bool (*wait)(void *context, double waited_s);
    void (*over)(void *context);
    void *context;
};
void store_set_patience(struct store *s, const struct store_patience *patience);

// Whether the files that are open are those that others find at their paths: else what is stored
// will be seen by nobody. Of a store that writes; a few microseconds. False: which one is not.
bool store_in_place(const struct store *s, struct err *e);
// Writes all that the store has as a database of its own: PATH.saved, or where that cannot be, in
// the user's data folder or that of temporary files. Its path, which lives as long as the store;
// NULL: it could not be.
const char *store_save(struct store *s, struct err *e);

// Reads all of it: whether its pages and rows are whole.
bool store_check(struct store *s, struct err *e);
// Whether a session may be missing in the list because the database is damaged. Costs what a list
// of sessions costs.
bool store_check_sessions(struct store *s, struct err *e);

// Whether another connection has committed since the last call; true the first time. A few
// microseconds: for those who look many times a second.
bool store_changed(struct store *s);

bool store_begin(struct store *s, struct err *e);
bool store_commit(struct store *s, struct err *e); // on failure everything since begin is undone
bool store_put_trial(struct store *s, int64_t session, const struct trial_record *t,
                     struct err *e); // new or again
// Gives the valid trials that were told after `after_told` a drift (trial_record).
bool store_mark_drift(struct store *s, int64_t session, int64_t after_told, double drift,
                      struct err *e);
// All rows of a race are put in one transaction, after store_begin_race. From then on the trials of
// the race before are ranked by their own measured times again.
bool store_begin_race(struct store *s, int64_t session, struct err *e);
bool store_put_retime(struct store *s, int64_t session, const struct retime_record *r,
                      struct err *e);

// Calls `each` for every trial in the order asked, from `first_ask` on; stops when it returns
// false.
bool store_each_trial(struct store *s, int64_t session, int64_t first_ask,
                      bool (*each)(void *context, const struct trial_record *t), void *context,
                      struct err *e);
// Those that count as trials, in the order told, from `first_number` on.
bool store_each_numbered(struct store *s, int64_t session, int64_t first_number,
                         bool (*each)(void *context, const struct trial_record *t), void *context,
                         struct err *e);
// Those that have a rank, best first, without the first `skip`: these cost little (a million 0.1
// s). `seconds` as store_best_trials.
bool store_each_ranked(struct store *s, int64_t session, int64_t skip,
                       bool (*each)(void *context, const struct trial_record *t), void *context,
                       struct err *e);
// One trial, by its ask or by its configuration's key; strings in the arena. Its `ask` is 0 when
// there is none.
bool store_get_trial(struct store *s, int64_t session, int64_t ask, struct arena *a,
                     struct trial_record *out, struct err *e);
bool store_find_trial(struct store *s, int64_t session, const char *key, struct arena *a,
                      struct trial_record *out, struct err *e);
// The best-so-far curve: trials told after number `after_number`. By measured times: a race does
// not rewrite history. Costs what the steps cost, however many trials there are.
bool store_each_best(struct store *s, int64_t session, int64_t after_number,
                     bool (*each)(void *context, const struct best_step *step), void *context,
                     struct err *e);
// How many stored trials have each outcome, indexed by enum outcome; `early` (may be NULL): ok ones
// that were stopped early. Costs the same however many there are.
bool store_get_tally(struct store *s, int64_t session, int64_t count[OUTCOME_COUNT], int64_t *early,
                     struct err *e);
// How many valid trials have clocks, of these how many were timed while something held the clocks
// back, and how many have a drift.
struct steadiness {
    int64_t sensed, throttled, drifted;
};
bool store_get_steadiness(struct store *s, int64_t session, struct steadiness *out, struct err *e);
// The re-timing that decides a trial's rank: where the trial was in the session's last race, that
// of this race; where its result was wrong in its latest race, that one. Its `ask` is 0 when there
// is none.
bool store_get_race(struct store *s, int64_t session, int64_t ask, struct arena *a,
                    struct retime_record *out, struct err *e);
bool store_each_race(struct store *s, int64_t session,
                     bool (*each)(void *context, const struct retime_record *r), void *context,
                     struct err *e);
// The number of the newest re-timing of all sessions; 0: there is none. It changes when one is
// added.
bool store_newest_retime(struct store *s, int64_t *number, struct err *e);
// The n best ok trials, best first, arena-allocated. The one answer to which is the best: the times
// of a race can be compared with each other alone, so those of the session's last race come first,
// by their times there (also in the records' `seconds`, `raced` says so), then all others by what
// was measured in the search. One that was wrong in its latest race is left out. The best_* of a
// session and store_each_ranked follow the same rule; of equal ones the first asked is the best.
struct ranked_trials {
    struct trial_record *trial;
    int count;
};
bool store_best_trials(struct store *s, int64_t session, int most, struct arena *a,
                       struct ranked_trials *out, struct err *e);
// The n best ok trials that were never in a race, by their measured times.
bool store_best_unraced(struct store *s, int64_t session, int most, struct arena *a,
                        struct ranked_trials *out, struct err *e);

// How good models were at each fit, in the order of the fits.
bool store_put_refit(struct store *s, int64_t session, const struct refit_record *r, struct err *e);
bool store_each_refit(struct store *s, int64_t session,
                      bool (*each)(void *context, const struct refit_record *r), void *context,
                      struct err *e);
bool store_count_refits(struct store *s, int64_t session, int64_t *count, struct err *e);

// Adds `more` to what is stored of the session. All zero is read where nothing was added.
bool store_add_calibration(struct store *s, int64_t session, const struct calibration_record *more,
                           struct err *e);
bool store_get_calibration(struct store *s, int64_t session, struct calibration_record *out,
                           struct err *e);

// What became of the baselines of a session, in their order. One that was put before is replaced.
struct baselines {
    struct baseline_record *of;
    int count;
};
bool store_put_baseline(struct store *s, int64_t session, const struct baseline_record *r,
                        struct err *e);
bool store_get_baselines(struct store *s, int64_t session, struct arena *a, struct baselines *out,
                         struct err *e);
// The fastest that ran; NULL: none did.
const struct baseline_record *baselines_fastest(const struct baselines *b);

// What drivers said of configurations that were compiled, each once.
bool store_put_look(struct store *s, int64_t session, const struct look_record *r, struct err *e);
bool store_each_look(struct store *s, int64_t session,
                     bool (*each)(void *context, const struct look_record *r), void *context,
                     struct err *e);

// Who runs a session. lock: true and held until unlock or the end of the process; false with
// "session 3 is running in process 1234 (...)". runner: 0 when nobody.
bool store_lock_session(struct store *s, int64_t id, struct err *e);
void store_unlock_session(struct store *s, int64_t id);
pid_t store_runner(struct store *s, int64_t id);
// The state that users see: a session that claims to run but has no runner is paused.
enum session_state store_state(struct store *s, const struct session_record *r, pid_t *runner);

// Commands to the runner of a session: "pause", "resume", "stop", "budget". take gives the oldest
// not yet taken.
bool store_push_command(struct store *s, int64_t session, const char *verb, const char *argument,
                        struct err *e);
bool store_take_command(struct store *s, int64_t session, char verb[16], char argument[64],
                        bool *any, struct err *e);

// Messages of a session, for `show` and the workbench's log.
bool store_add_message(struct store *s, int64_t session, const char *level, const char *text,
                       struct err *e);
// Those after message `after_id` (0: all).
bool store_each_message(struct store *s, int64_t session, int64_t after_id,
                        bool (*each)(void *context, const struct message_record *m), void *context,
                        struct err *e);

// Whose results a session's model began with, as the database has it: "3:200 5:180" says the 200 of
// session 3 that were told first, then 180 of session 5.
//
//     struct history_part part;
//     for (const char *at = record.history; history_next(&at, &part);)
//         use(part.session, part.told);

struct history_part {
    int64_t session, told;
};

// Reads the part that begins at *at, and moves there where the next one begins. False when there
// is none (*at is NULL or ""), or it is damaged; *at is as it was then. Pure.
bool history_next(const char **at, struct history_part *part);
// Appends a part, behind a blank where there are parts before it.
void history_add(struct str *text, const struct history_part *part);

#endif
