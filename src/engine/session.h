// A session: one space searched by one strategy on one source. The cycle of the engine, for its own
// use.
//
//     ask -> judge -> render -> submit ... collect -> store -> tell
//
// Invariants:
//  * Store before tell: a strategy never knows more than the database. Results are stored and told
//    in the order asked (unless the strategy is asynchronous), whatever the order they arrive in,
//    so the run is a function of the seed and of the measured values alone, for any number of
//    workers.
//  * Resume is the same cycle: a strategy is asked from the start, and while the database has a
//    row for an ask, the row is the answer (`replay`). So no strategy has code to save or load
//    itself.
//  * A failed trial is data. Only a broken template or rule, a source that cannot go on, and a
//    database that cannot be used (paused then: session_stored) end a session with an error.
#ifndef TILEWALK_ENGINE_SESSION_H
#define TILEWALK_ENGINE_SESSION_H

#include "engine/engine.h"
#include "engine/recorded.h"
#include "engine/transfer.h"
#include "trial/source.h"

#define SESSION_RACERS          5 // in a race
#define SESSION_RACES           8 // of a run, at most
#define SESSION_CANARY_EVERY    20
#define SESSION_MOST_COMPLAINTS 32  // different messages of the validation layer that are told
#define SESSION_MOST_MUMBLES    300 // debug messages that a run keeps: drivers may write many lines
#define SESSION_MOST_BREED      64  // individuals of a population that are kept

struct replay; // rows of the database that answer asks

// An ask that was not told yet.
struct open_trial {
    struct open_trial *next;
    int64_t ask, asked_after;
    int generation;
    struct config config;
    bool answered;
    bool stored;   // the answer came from the database
    bool recorded; // the ask itself is in the database
    enum outcome outcome;
    double seconds;
    struct trial_result *result; // NULL unless a source answered
    char *origin;                // as trial_record's; heap
    char reason[160];            // of a rejection
};

enum session_phase { SESSION_RUNNING, SESSION_PAUSED, SESSION_RACING, SESSION_ENDED };

struct session {
    struct session *next;
    // what it is; fixed when it is made
    struct arena arena;
    struct session_record record; // strings in the arena; counts are kept current
    struct session_record
        stored;               // of a resumed session: the record that the database had. Users are
                              // shown its counts while the stored trials are told again
    struct script *script;    // NULL: on a recording, which has the space
    struct recorded recorded; // empty unless it is on one
    const struct space *space;
    struct limits limits;
    bool has_limits, count_rejected;
    struct strategy *strategy; // NULL once the session has ended
    const char *warm_from;     // of a new session: sources of its warm start, or NULL; the caller's
    const char *warm_told;     // what users are told of it, or NULL
    struct transfer_wish transfer_wish; // of a new session; the caller's
    struct transfer transfer;           // what its model begins with
    const char *transfer_told;          // what to say of it, or NULL
    struct source *source;
    struct store *store;
    void (*on_event)(void *context, const struct event *event);
    void *event_context;

    // where it stands
    enum session_phase phase;
    bool exhausted, stopping, pausing, busy;
    bool fitting;       // the strategy waits for a model, not to be told
    bool store_failed;  // the database could not be used: resume when it can
    bool held;          // by session_hold
    bool was_held;      // session_let_go was called, and users were not told of it yet
    bool held_clock;    // its clock ran when it was held
    int64_t started_ns; // of the current running stretch; 0 while paused and while replaying
    int64_t asked, told;
    int64_t rejected_in_row;
    int64_t *rejected_by, tallied;       // rejections by reason, and in all (session_end.c)
    struct open_trial *open, **open_end; // in the order asked
    int open_count;
    int counting;                  // of those, how many count against the budget
    int in_flight;                 // submitted, no result yet
    int64_t refits, refits_stored; // of its model in this run; that the database had before
    struct replay *replay;
    char *population;   // heap; record.population points here once it has changed
    int mumbles;        // debug messages of this run
    int64_t complaints; // of the validation layer in this run
    uint64_t complaint[SESSION_MOST_COMPLAINTS]; // hashes of those that were told
    int complaints_told;
    int64_t timings, unsteady; // of this run; those whose samples say that the machine was busy
    int64_t canaries, slow_canaries;

    int64_t best_ask;
    double best_seconds;
    struct config best_config;
    struct race *race; // the one that is under way
    int races;
    int until_canary; // trials
    bool canary_open;
    int64_t canary_ask;
    double canary_seconds;
    double slowdown; // times slower that the best ran at the last canary than when it was measured
};

struct session_host { // whom a session belongs to
    struct store *store;
    void (*on_event)(void *context, const struct event *event);
    void *context;
};

// Assembly (session_setup.c). Both report EVENT_SESSION and leave the session running, its lock
// held; but one that is done, with its budget spent, has ended, and nothing of it was touched. NULL
// and `e` on failure.
struct session *session_start(const struct session_host *host, const struct session_options *o,
                              struct err *e);
struct session *session_resume(const struct session_host *host, int64_t id,
                               const struct session_options *more, struct err *e);
void session_release(struct session *s); // of one that has ended: what only a running one needs
void session_destroy(struct session *s);

// Reads the script of a new session. Where buffers would be too large for the device, the batch is
// reduced (session_fit.c), which `declared` and `reduced` of the record then say. When the session
// is like another one, `reduced` is that session's beforehand.
struct script *session_read_script(struct session *s, const struct session_options *o,
                                   struct err *e);

// What its script declares (session_problem.c). take_script: `script` is the session's from now on;
// false: it is NULL. try_template: compiles legal configurations until one succeeds, so that a
// broken rule or template is one clear line and no session, while a template that fails now and
// then only costs trials.
bool session_take_script(struct session *s, struct script *script);
void session_describe_problem(struct session *s);
// A path as it is stored: absolute, for whoever opens the file later may be in another folder. The
// session's.
const char *session_path(struct session *s, const char *path);
bool session_judge(const struct session *s, const struct config *c, struct verdict *v,
                   struct err *e); // as space_judge, by the limits of its device
bool session_make_search(struct session *s, struct err *e);
bool session_try_template(struct session *s, struct err *e);

// On a recording (session_recorded.c): describes it and makes the strategy; tells a new session's
// users what its speeds mean.
bool session_assemble_recorded(struct session *s, struct err *e);
void session_say_scale(struct session *s);

// Makes the strategy, with its warm start (session_warm.c), and tells a new session's users of it.
bool session_make_strategy(struct session *s, struct search_problem *problem, struct err *e);
void session_say_warm(struct session *s);

// What the strategy's model begins with, for session_make_strategy; and how good it was at each fit
// since, into the database and the log (session_model.c).
bool session_take_history(struct session *s, struct search_problem *problem, struct err *e);
void session_say_transfer(struct session *s);
bool session_keep_refits(struct session *s, struct err *e);

// The cycle (session.c). One step: what can be done without waiting, for a short while; `busy`
// tells whether there is more. False: the session failed.
bool session_step(struct session *s, struct err *e);
bool session_ended(const struct session *s);
// Takes whether a call to the store went well, and returns it. Also false when the database is no
// longer the file at its path. The session is then paused, not failed, and `e` says so.
bool session_stored(struct session *s, bool ok, struct err *e);
// The database has been locked by another program for `locked_s`; or it is free again. Meanwhile a
// running session is paused and says so, but stores nothing of this.
void session_hold(struct session *s, double locked_s);
void session_let_go(struct session *s);
// A descriptor that becomes readable when the model is fitted for which the session waits; -1: it
// waits for none.
int session_wait_fd(const struct session *s);
// Whether the session was done already when it was resumed, and has told nothing new since.
bool session_adds_nothing(const struct session *s);
bool session_interrupt(struct session *s, struct err *e); // state paused, phase ended
bool session_command(struct session *s, const char *verb, const char *argument, struct err *e);
double session_ran_seconds(const struct session *s);
struct session_record session_shown(const struct session *s); // with the counts of now
void session_emit(struct session *s, enum event_kind kind, const struct trial_record *trial,
                  const struct retime_record *retime);
void session_message(struct session *s, const char *level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Stores and tells, in order, everything that may be told now; `progress` is set when there was
// something (session_tell.c).
bool session_deliver(struct session *s, bool *progress, struct err *e);
// Brings session.population up to date, in the database too.
bool session_keep_population(struct session *s, struct err *e);
bool open_trial_counts(const struct session *s, const struct open_trial *t); // against the budget
void open_trial_destroy(struct open_trial *t);

// Why it ends, and the end itself (session_end.c, session.c).
void session_tally(struct session *s, const struct verdict *v); // NULL: rejected once compiled
void session_watch_machine(struct session *s, const struct trial_result *r);
// The canary took so long. Returns by how much longer than when it was measured (0.1: 10 % longer).
double session_watch_canary(struct session *s, double seconds);
void session_say_busy(struct session *s); // once, if it was
bool session_finish(struct session *s, struct err *e);
bool session_end(struct session *s, const char *state, const char *message, struct err *e);

// Replay (session_replay.c). `ran_seconds` gets the running time of the last stored trial.
struct replay *replay_load(struct store *store, const struct space *space, int64_t session,
                           double *ran_seconds, struct err *e);
void replay_destroy(struct replay *r);
// The stored answer to ask number `ask`, which must be for `config`. 1: answered in `out`; 0:
// nothing stored; -1: the database holds another configuration there (the program changed), `e`
// says so.
int replay_answer(const struct replay *r, int64_t ask, const struct config *config,
                  struct open_trial *out, struct err *e);
// Whether the database has the answer to `ask`.
bool replay_has(const struct replay *r, int64_t ask);
// Whether all answers of the database have been told again, after `told` tells.
bool replay_is_over(const struct replay *r, int64_t told);
// Whether an asynchronous strategy may be asked for `ask` / told about `ask` now, after `asked`
// asks and `told` tells, so that it sees the stored order again. True with nothing stored (r may be
// NULL).
bool replay_may_ask(const struct replay *r, int64_t ask, int64_t told);
bool replay_may_tell(const struct replay *r, int64_t ask, int64_t asked, int64_t told);

// The final race (session_race.c): the best few trials are timed again in turns, and the fastest of
// them is the session's winner. `started` is false when no trial could change what the last race
// said. Canaries: the best trial is timed again now and then, so that drift of the device shows.
#define TICKET_RACE   (-1)
#define TICKET_CANARY (-2)
bool race_start(struct session *s, bool *started, struct err *e);
bool race_finish(struct session *s, const struct trial_result *r, struct err *e);
bool canary_start(struct session *s, struct err *e);
void canary_finish(struct session *s, const struct trial_result *r);

void samples_add_json(const struct samples *samples, struct str *out); // [seconds, ...] (session.c)

// Renders one configuration into a request (session.c).
bool session_render(struct session *s, const struct config *c, struct trial_request *r, int index,
                    struct err *e);

// Dies by SIGKILL at the n-th visit of the point that TILEWALK_KILL names ("commit:3"): tests of
// crash safety.
void kill_point(const char *name);

#endif
