// How a session runs: the cycle of its search (search/cycle.h) on a source and a database.
//
//     while (!session_ended(s)) {
//         session_step(s, e);       as far as it goes without waiting; again at once while s->busy
//         session_command(s, "pause", NULL, e);     what other processes wish
//         ...sleep until a descriptor of its source, or session_wait_fd, is readable...
//     }
//
// session_step.c asks, answers and tells, by means of the other files here, which do not know it:
// session_end.c and session_race.c are at the end of a search, session_canary.c and
// session_refits.c beside it, below all session_state.c and session_rows.c.
#ifndef TILEWALK_ENGINE_SESSION_STEP_H
#define TILEWALK_ENGINE_SESSION_STEP_H

#include "engine/session.h"

// False: the session failed.
bool session_step(struct session *s, struct err *e);
bool session_command(struct session *s, const char *verb, const char *argument, struct err *e);
// Of a task of a network (network_run.h), which rests when its budget is spent: it may have so many
// trials and so much running time (0: any) in all; or it gets no more, races, and ends.
bool session_grant(struct session *s, int64_t trials, double seconds, struct err *e);
void session_close(struct session *s);
// A descriptor that becomes readable when the model is fitted for which the session waits; -1: it
// waits for none.
int session_wait_fd(const struct session *s);

// Ends it by what its search came to (session_end.c).
bool session_finish(struct session *s, struct err *e);

// The final race (session_race.c): the best few trials are timed again in turns, and the fastest of
// them is the session's winner. `started` is false when no trial could change what the last race
// said.
#define TICKET_RACE (-1)
bool race_start(struct session *s, bool *started, struct err *e);
bool race_finish(struct session *s, struct trial_result *r, struct err *e);

// Canaries (session_canary.c), so that drift of the device shows.
#define TICKET_CANARY (-2)
bool canary_start(struct session *s, struct err *e);
void canary_finish(struct session *s, const struct trial_result *r);

// Baselines (session_baseline.c): what the space says is in use is measured before the search asks
// for anything, which never knows of it, and stored; then it is in every race. They have tickets
// from TICKET_BASELINE downwards. submit: `all` says that there is nothing more to wait for.
#define TICKET_BASELINE (-3)
bool baselines_submit(struct session *s, bool *all, struct err *e);
bool baseline_finish(struct session *s, const struct trial_result *r, struct err *e);
// What a race says of one: candidate `i` of it.
bool baseline_retime(struct session *s, int position, const struct trial_result *r, int i,
                     struct err *e);

// Looks (session_look.c): those that the search waits for are compiled as there is room; what came
// of one is stored. They have tickets from TICKET_LOOK downwards.
#define TICKET_LOOK (TICKET_BASELINE - SPACE_MAX_BASELINES)
bool look_submit(struct session *s, struct err *e);
bool look_finish(struct session *s, const struct trial_result *r, struct err *e);

// States (session_state.c). All but the last two are stored.
bool session_pause(struct session *s, struct err *e);
bool session_go_on(struct session *s, struct err *e);
bool session_interrupt(struct session *s, struct err *e); // state paused, phase ended
bool session_end(struct session *s, enum session_state state, const char *message, struct err *e);
// The database has been locked by another program for `locked_s`; or it is free again. Meanwhile a
// running session is paused and says so, but stores nothing of this.
void session_hold(struct session *s, double locked_s);
void session_let_go(struct session *s);

// Stores and tells of the refits that the strategy has made since the last call (session_refits.c).
bool session_keep_refits(struct session *s, struct err *e);

// Trials as rows of the database (session_rows.c). A trial that is told is destroyed. put_and_tell
// is for a new one, which stays open when it cannot be stored; tell_again for one that is stored.
char *session_origin(const struct session *s); // of what was asked last; heap; NULL: it was drawn
bool session_put_and_tell(struct session *s, struct open_trial *t, struct err *e);
void session_tell_again(struct session *s, struct open_trial *t);
// Brings record.population up to date, in the database too.
bool session_keep_population(struct session *s, struct err *e);

// A new timing of a trial that has been told, as a row (session_rows.c).
struct retime {
    struct retime_record record; // points to the samples
    struct str samples, parts;
};
void retime_init(struct retime *t, int64_t ask, const char *kind, const struct trial_result *r,
                 int i);
void retime_finish(struct retime *t);
// The baseline that a candidate of the race that is under way is, where it is another configuration
// on some shape; -1: it is a trial, or one configuration.
int race_baseline(const struct session *s, int candidate);

#endif
