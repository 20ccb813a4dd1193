// Runs a session: the cycle of its search (search/cycle.h) on a source and a database.
//
//     while (s->phase != SESSION_ENDED) {
//         session_step(s, e);       as far as it goes without waiting; again at once while s->busy
//         session_command(s, "pause", NULL, e);     commands of other processes
//         ...sleep until a descriptor of its source, or session_wait_fd, is readable...
//     }
#ifndef TILEWALK_ENGINE_SESSION_STEP_H
#define TILEWALK_ENGINE_SESSION_STEP_H

#include "engine/session.h"

// False: the session failed.
bool session_step(struct session *s, struct err *e);
bool session_command(struct session *s, const char *verb, const char *argument, struct err *e);
// Allots so many trials and so much running time (0: any), in all, to a task of a network, which
// rests when they are spent.
bool session_grant(struct session *s, int64_t trials, double seconds, struct err *e);
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
// for by search_problem.look (session_probe, with the session as its context). probes_load takes
// those of the database, probes_learn those of a trial.
bool session_probe(void *session, const struct config *c, int count, struct preview *out);
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
