// A session: one space searched by one strategy on one source of measurements. This is its
// structure, and what all that works on it needs, for the engine's own use.
//
//     session_setup.h    puts it together: a new one, or one of the database
//     session_step.h     runs it
//     session.h          its parts; its clock, its events, its part of the database
//
// search/cycle.h has the search: what is open, told, counted, the best. The session adds whatever
// is not pure: the database, the workers, the clock, races and canaries.
//
// Invariants:
//  * Store before tell: a strategy never knows more than the database.
//  * A failed trial is data. Only a broken template or rule, a source that cannot go on, and a
//    database that cannot be used (paused then: session_stored) end a session with an error.
#ifndef TILEWALK_ENGINE_SESSION_H
#define TILEWALK_ENGINE_SESSION_H

#include "engine/event.h"
#include "engine/options.h"
#include "engine/stored.h"
#include "engine/transfer.h"
#include "search/cycle.h"
#include "space/space.h"
#include "trial/source.h"
#include "trial/trial.h"

#include <stdbool.h>
#include <stdint.h>

// Whether something else keeps the machine busy while a session times kernels.
//
//     struct busy b = {0};
//     busy_watch(&b, &result);                            every result that was timed
//     drift = busy_watch_canary(&b, now_s, before_s, true);   the best so far was timed again
//     if (busy_add_text(&b, &text)) ...                   at the end
//
// A kernel alone on its machine takes nearly as long every time: samples of one timing that vary
// tell of others that come and go. Where something else runs all the time all samples are slow
// alike, and only a kernel that was timed before shows it: the canary. What holds a device's clocks
// back, its power or its temperature, some systems tell (gpu/sensors.h).

struct busy { // valid when zeroed
    int64_t timings, unsteady;
    int64_t canaries, slow;
    int64_t sensed, throttled; // timings with clocks; those in which something held them back
    double slowdown; // times slower that the best ran at the last canary than when it was measured
};

void busy_watch(struct busy *b, const struct trial_result *r);
// `before_s`: as it was measured. `is_best`: it still is the best. Returns by which share it is
// slower now.
double busy_watch_canary(struct busy *b, double now_s, double before_s, bool is_best);
// False: it was not busy, or there was too little to say.
bool busy_add_text(const struct busy *b, struct str *out);
// The same of clocks that were held back.
bool busy_add_throttled(const struct busy *b, struct str *out);

// Why configurations were rejected, counted, to say what leaves so few of a space.
//
//     struct rejections r = {0};
//     rejections_add(&r, space, &verdict);
//     rejections_add_text(&r, space, &text);      ": shared memory removes 71 %, ..."
//     rejections_finish(&r);

struct rejections { // valid when zeroed
    int64_t *by;    // by reason: constraints, limits, and what only the compiled shader shows
    int64_t all;
};

// `v` NULL: it was rejected for what its compiled shader needs. All calls are about one space.
void rejections_add(struct rejections *r, const struct space *space, const struct verdict *v);
// The reasons that removed most, largest first; nothing where there were none. Once, at the end:
// what was said counts no more.
void rejections_add_text(struct rejections *r, const struct space *space, struct str *out);
void rejections_finish(struct rejections *r);

#define SESSION_CANARY_EVERY    20
#define SESSION_MOST_COMPLAINTS 32  // different messages of the validation layer that are told
#define SESSION_MOST_MUMBLES    300 // debug messages that a run keeps: drivers may write many lines

struct session_host { // whom a session belongs to
    struct store *store;
    void (*on_event)(void *context, const struct event *event);
    void *context;
};

// An ask that was not told yet, with all that is stored of it.
struct open_trial {
    struct cycle_trial cycle; // first: the cycle's list is one of these
    int generation;
    struct trial_result *result; // NULL unless the source answered
    struct forecast forecast;    // what a model expects of it; deviation 0: none chose it
    char *origin;                // as trial_record's; heap
    char reason[160];            // of a rejection
};

// Where a new session's search begins (session_begin.c). The first three are the caller's.
struct beginning {
    const char *warm_from; // sources of its warm start, or NULL
    bool at_baselines;     // it is new, and nothing was said of where it begins
    struct warm_start begun_with;
    struct transfer_wish wish;
    struct transfer transfer;       // what its model begins with
    const char *warm, *transferred; // what users are told of both, or NULL
};

// What drivers and the validation layer say, which may be much (session_events.c).
struct mumbles {
    int debug;                              // messages of this run
    int64_t complaints;                     // of the validation layer in this run
    uint64_t told[SESSION_MOST_COMPLAINTS]; // hashes of those that were told
    int told_count;
    int told_clocks; // what workers say of clocks that they do not know
};

// The database is locked by another program (session_hold), or could not be used.
struct hold {
    bool failed; // resume when it can be used
    bool on;
    bool over;  // and users were not told of it yet
    bool clock; // the session's ran when it was held
};

// The best trial is timed again now and then (session_canary.c).
struct canary {
    int due_in; // trials
    bool open;
    int64_t ask; // of the best at that time
    double seconds;
    double anchor_s; // of the last one in this run; 0: there was none
    int64_t anchor_told;
};

struct refits {
    int64_t made, stored; // in this run; that the database had before
};

// What the driver says of configurations (session_look.c), where it does.
struct looked {
    struct config_set known, wanted;
    struct preview *of; // of each that is known
    int capacity;
    int submitted; // of those wanted, in their order
};

// The space's baselines (session_baseline.c), by their place in it.
struct measured_baselines {
    struct baseline_record of[SPACE_MAX_BASELINES]; // texts in the session's arena
    bool submitted[SPACE_MAX_BASELINES];            // or known
    int open;                                       // submitted, no result yet
};

// What a session's configurations are judged by, and compiled for.
struct session_device {
    bool is_known; // else nothing is compiled: measurements are made up, or recorded
    struct limits limits;
    bool tells_statistics; // its driver, of what it compiles
    int machines;          // that measure for the session; 0: this one
};

// Of a task of a network: trials that it may make.
struct grant {
    bool is_spent;
    bool is_last; // it will be granted nothing more
};

// Final races (session_race.c).
struct races {
    struct race *open; // the one that is under way; NULL
    int run;
    bool decided; // one said who is the best
};

enum session_phase { SESSION_RUNNING, SESSION_PAUSED, SESSION_RACING, SESSION_ENDED };

struct session_shapes; // session_shapes.h

struct session {
    // what it is; fixed when it is made
    struct arena arena;
    struct session_host host;
    struct session_record record; // as the database has it; strings in the arena
    struct script *script;        // NULL: on a recording, which has the space
    struct recorded recorded;     // empty unless it is on one
    const struct space *space;
    struct session_shapes *shapes; // NULL: one shape alone; in the arena
    struct session_device device;
    struct beginning beginning;
    struct source *source;

    // where it stands
    struct cycle cycle;
    enum session_phase phase;
    bool stopping, pausing;
    struct grant grant;
    bool busy;               // there is more to be done at once
    bool fitting;            // the strategy waits for a model, not to be told
    const char *done_before; // why it was done when it was resumed; NULL: it was not, or has told
                             // something new since
    int in_flight;           // submitted, no result yet; canaries do not count
    int64_t started_ns;      // of the current running stretch; 0 while paused and while replaying
    struct hold hold;
    struct races races;
    struct canary canary;
    struct busy machine;
    struct rejections rejections;
    struct refits refits;
    struct mumbles mumbles;
    struct looked looked;
    struct measured_baselines baselines;
    char *population; // heap; record.population points here once it has changed
};

void open_trial_destroy(struct open_trial *t);

// Whether its best is as near to its device's roof as it should come.
bool session_is_near_roof(const struct session *s);
bool session_ended(const struct session *s);
double session_ran_seconds(const struct session *s);
// Starts or stops the clock of the running time: pauses do not count, nor what is told again.
void session_run_clock(struct session *s, bool running);

// Of its device; NULL: it is not known.
const struct limits *session_limits(const struct session *s);
// Whether a configuration passes, as space_judge, by the limits of the session's device.
bool session_judge(const struct session *s, const struct config *c, struct verdict *v,
                   struct err *e);
// Renders one configuration into a request.
bool session_render(struct session *s, const struct config *c, struct trial_request *r, int index,
                    struct err *e);

// Takes whether a call to the store went well, and returns it. Also false when the database is no
// longer the file at its path. The session is then paused, not failed, and `e` says so.
bool session_stored(struct session *s, bool ok, struct err *e);
// Changes how many trials it may have, also in the database. Words that are no number change
// nothing: another version of the program may mean something by them.
bool session_set_budget(struct session *s, const char *trials, struct err *e);

// Events (session_events.c), with the running time of now.
void session_emit(struct session *s, enum event_kind kind, const struct trial_record *trial,
                  const struct retime_record *retime);
void session_message(struct session *s, const char *level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// A message that only those who listen get.
void session_whisper(struct session *s, const char *level, const char *text);
void session_keep_state(struct session *s); // in the session's log
// A line that a worker or its driver wrote; pool_options.log.
void session_hear_worker(void *context, int worker, const char *line);
// What became of a machine that measures; remote_work.tell.
struct remote_news;
void session_hear_machine(void *context, const struct remote_news *news);
void session_say_complaints(struct session *s);

void samples_add_json(const struct samples *samples, struct str *out); // [seconds, ...]
// What candidate `i` took on each shape, [seconds, null, ...]; nothing where there is one alone.
void parts_add_json(const struct trial_result *r, int i, struct str *out);

// Dies by SIGKILL at the n-th visit of the point that TILEWALK_KILL names ("commit:3"): tests of
// crash safety.
void kill_point(const char *name);

#endif
