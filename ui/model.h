// The model of the workbench: the sessions of a database, the one that is open, and summaries of
// it.
//
//     model_init(&m, path);
//     model_open(&m, 3, e);
//     while (...) if (model_poll(&m, unix_time)) redraw;
//     const struct trial *t = model_trial(&m, ask);
//     model_finish(&m);
//
// All of it comes from the database, whichever process runs the session. The workbench only reads;
// changes are tilewalk command lines (job.h), which open the file that is at the path then: within
// a second of another file being there, or none, the model is of that one, and nothing is open or
// marked. A poll with nothing new costs microseconds, one with news costs as much as is new,
// however many trials there are: curves are kept as their steps, outcomes as counts, trials are
// read when they are shown. Work on all trials walks them in slices (scan_step).
//
// One thread. Pointers stay valid until the next poll or open unless noted otherwise.
#ifndef TILEWALK_UI_MODEL_H
#define TILEWALK_UI_MODEL_H

#include "engine/engine.h"
#include "engine/network_summary.h"
#include "report/text.h"
#include "store/machine.h"

#define MODEL_MOST_MARKS      8
#define MODEL_MOST_POPULATION 64
#define MODEL_MOST_MESSAGES   2000
#define MODEL_MOST_RECENT     256

// A best-so-far curve: steps in the order of the trials. Between two steps it is level.
struct curve {
    struct best_step *step;
    int count, capacity;
};

struct session_row {
    struct session_record record;
    enum session_state state; // as users see it
    pid_t runner;             // 0: no process runs it
    char mark; // 'A' ...: marked for overlay; 0: not. 'A' is the one that was open then
};

// Sensors that are shown as lines.
enum sensed { SENSED_CLOCK, SENSED_TEMPERATURE, SENSED_POWER, SENSED_COUNT };

struct trial {
    int64_t ask;
    int64_t number; // 0: rejected without costing a trial, or in flight
    int64_t told;   // its place in the order of results; 0: in flight
    int generation;
    bool has_config; // false: the session's script does not load any more; `config` is zero
    struct config config;
    enum outcome outcome; // unless in flight
    char phase[16];
    char reason[320];
    double seconds; // measured; 0 unless ok
    double spread;  // (largest - smallest) / median of its samples; 0 with less than two
    int samples;
    bool early_stopped;
    double compile_s, pipeline_s, device_s, elapsed_s, finished;
    int worker;
    double statistic[STATISTIC_KIND_COUNT]; // the driver's on its kernel; NAN: not known
    double run_s, joules;                   // of a run, where its energy is known; else 0
    double sensed[SENSED_COUNT];            // of the device while it was timed; NAN: not known
    char clocks[96];                        // of the device while it was timed; "": not known
    bool is_unsteady;                       // they were held back, or the device drifted
    bool has_origin;
    int64_t origin[SPACE_MAX_PARAMS]; // the ask from which each parameter came; 0: random
    bool raced;                       // a race decides its rank (store_get_race), and then:
    double race_seconds;
    bool race_verified;
};

struct message {
    int64_t id;
    double at;
    char level[12];
    char *text;
};

// The open session.
struct opened {
    struct session_record record; // id 0: none is open
    // The network that the session is or belongs to; network_record.id 0: none.
    struct session_record network_record;
    struct network_summary network;
    struct arena network_arena;
    enum session_state state; // as users see it
    pid_t runner;
    struct arena arena; // of the record and the baselines
    struct baselines baselines;
    struct arena texts;          // of the script
    struct script *script;       // NULL: on a recording, or its texts do not load any more
    struct recording *recording; // of a session on one, else NULL
    const struct space *space;   // NULL: see `trouble`
    struct limits limits;        // of its device
    bool has_limits;
    // The text is "" when there is none. With no session open: the error of the last one.
    struct err trouble;
    struct curve curve;
    int64_t tally[OUTCOME_COUNT];
    int64_t early;         // ok ones that were stopped early
    int64_t newest_number; // the newest trial's
    // The newest trial that lists show: it moves once a second at most, so that lists are readable
    // (and rows that all move at once do not cost a slow line ten times a second).
    int64_t last_number;
    double followed_at;                        // unix time when it moved
    int64_t population[MODEL_MOST_POPULATION]; // asks, best first as the strategy has it
    int population_count;
    struct workers workers;                // on this machine, of a run; in the arena
    struct calibration_record calibration; // of the strategy's model
    bool is_population; // false: the strategy has none, these are the best trials
    double rate;        // trials a second of the last 20 s of running time; 0 while not running
    double recent[MODEL_MOST_RECENT]; // running times at which the newest trials ended, a ring
    int64_t recent_count;             // in all: trial i of them is at i % MODEL_MOST_RECENT
    double newest_finished;           // of the newest trial, unix time
    double seen_running;              // unix time at which it was first seen to run
    int64_t retime;                   // the newest re-timing
    struct message *message;          // newest last
    int message_count, message_capacity;
    int64_t version; // grows with every change, so that views can notice it
};

struct mark { // a session overlaid on the open one
    int64_t id;
    char letter;
    struct session_record record;
    struct arena arena;
    struct curve curve;
};

struct model {
    char *path; // of the database; it may not exist yet, and then there are no sessions
    struct store *store;
    struct err trouble; // why the database cannot be read; text "" when it can
    struct arena arena; // of the sessions
    struct session_row *session;
    int session_count;
    int64_t trials_in_all; // of all sessions
    struct opened open;
    struct mark mark[MODEL_MOST_MARKS];
    int mark_count;
    struct trial_cache *cache;
    bool sessions_due; // the list is older than the database
    uint64_t file;     // that was opened (file_identity); 0: none
    int64_t losses;    // times that it was removed or another one took its place
    double listed_at, looked_at, polled_at;
};

void model_init(struct model *m, const char *path);
void model_finish(struct model *m);
// Reads what is new. True when something was. `unix_now` in seconds.
bool model_poll(struct model *m, double unix_now);
// Opens a session; false and `e`: there is none of that number (what was open stays).
bool model_open(struct model *m, int64_t id, struct err *e);
void model_close(struct model *m);                                      // none is open
bool model_toggle_mark(struct model *m, int64_t id);                    // false: too many marks
const struct session_row *model_row(const struct model *m, int64_t id); // NULL: unknown

// A trial of the open session, kept in a cache of some hundred; NULL: there is none. Valid until
// the next call that returns a trial has been called 64 times.
const struct trial *model_trial(struct model *m, int64_t ask);
const struct trial *model_trial_numbered(struct model *m, int64_t number);
const struct trial *model_trial_ranked(struct model *m, int64_t place);        // 0: the best
const struct trial *model_trial_with(struct model *m, const struct config *c); // that was asked
const struct trial *model_best(struct model *m);
int64_t model_asks_ended(const struct model *m); // of the open session, rejected ones too

// Hands over the valid trials of the open session numbered first .. last that took less than
// `seconds` when they were measured, in order, until `each` returns false.
void model_each_faster(struct model *m, const struct faster *f,
                       bool (*each)(void *context, const struct trial *t), void *context);

// Running time of the open session at `unix_now`, pauses excluded, in seconds.
double model_ran_seconds(const struct model *m, double unix_now);
// Seconds until its budget of trials or of running time is spent, at the present rate; 0: it does
// not run, or that is not known yet.
double model_left_seconds(const struct model *m, double unix_now);
double seconds_speed(const struct model *m, double seconds); // FLOP/s of the open session
// The time by which a trial is ranked: that of the session's last race if it took part, else its
// own; 0: it has no rank.
struct rank {
    double seconds;
    bool raced;
};
struct rank trial_rank(const struct trial *t);
// True when x is better than y, as store_best_trials has it; one without a rank is the worst.
bool rank_is_better(struct rank x, struct rank y);
// The one unit of speeds on a screen, by the best of the open session: "TFLOPS", "GFLOPS",
// "MFLOPS", "GB/s" or another one that it is rated by; FLOP/s times `*per_flops` are in that unit.
const char *model_unit(const struct model *m, double *per_flops);

// Returns where a value lies inside its parameter's range, 0 .. 1: the place in the list, the
// logarithm of a factorization's part `slot`, the place of the order among all orders.
double param_position(const struct param *p, const int32_t *v, int slot);

// --- a walk over all trials ---

// A walk over all trials of the open session in slices, for views that need every one (the map, a
// filter): each ended trial exactly once, also those that end later.
//
//     scan_start(&s, model);                           the open session, from the first trial
//     while (scan_step(&s, model, 500, add, context))  true: more is there already
//         ...
//
// A slice takes milliseconds, so that keys are answered between slices. Trials come in the order
// asked; one that is in flight comes when it has ended.

struct scan {
    int64_t session; // 0: not started
    int64_t next_ask;
    int64_t open[64]; // asks that were in flight when the scan passed them
    int open_count;
    int64_t taken; // trials that were handed over
};

void scan_start(struct scan *s, const struct model *m);
// Takes at most `most` trials. True when the session holds more that are ready.
bool scan_step(struct scan *s, struct model *m, int most,
               void (*add)(void *context, const struct trial *t), void *context);
// Returns a number that changes with each race of the open session. A race changes the times by
// which trials are shown, so that a walk with another number has to start again.
int64_t scan_races(struct model *m);
double scan_share(const struct scan *s, const struct model *m); // 0 .. 1 of what there is

// --- the trials that are kept, for model.c ---

void model_forget_trials(struct model *m);
void model_forget_open_trials(struct model *m); // those in flight, which may have ended

#endif
