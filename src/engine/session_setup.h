// How a session is put together: a new one, or one of the database that goes on.
//
//     struct session *s = session_start(&host, &options, e);      or session_resume(&host, id, ...)
//     ... session_step.h ...
//     session_release(s);      when it has ended
//     session_destroy(s);
//
// session_setup.c does it, in this order: where it is measured (session_place.h), its script
// (session_fit.c) and problem (session_problem.c), or its recording (session_recorded.c), its
// strategy (session_begin.c), its source; and of one that goes on what it did (session_past.c).
#ifndef TILEWALK_ENGINE_SESSION_SETUP_H
#define TILEWALK_ENGINE_SESSION_SETUP_H

#include "engine/session_place.h"

// Both report EVENT_SESSION and leave the session running, its lock held; but one that is done,
// with its budget spent, has ended, and nothing of it was touched. NULL and `e` on failure.
struct session *session_start(const struct session_host *host, const struct session_options *o,
                              struct err *e);
struct session *session_resume(const struct session_host *host, int64_t id,
                               const struct session_options *more, struct err *e);
// What would be searched with these options: a session that is in no database and cannot be run,
// for its record and script. `p` has been found, and is used as it is.
struct session *session_foresee(const struct session_host *host, const struct session_options *o,
                                struct session_place *p, struct err *e);
// False: it is a budget of fewer trials than the session has spent, which cannot be taken back.
bool session_check_budget(const struct session_record *r, int64_t trials, struct err *e);
// Of one that has ended: what only a running one needs.
void session_release(struct session *s);
void session_destroy(struct session *s); // fine with NULL

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
bool session_make_search(struct session *s, struct err *e);
bool session_try_template(struct session *s, struct err *e);

// What the roof of its device, measured if need be, leaves to its operation, goes into its record
// (session_roof.c). NULL: it is on no device.
bool session_take_roof(struct session *s, const struct gpu_info *i, struct err *e);

// On a recording (session_recorded.c): describes it and makes the strategy; tells a new session's
// users what its speeds mean.
bool session_assemble_recorded(struct session *s, struct err *e);
void session_say_scale(struct session *s);

// Makes the strategy with what it begins with, and tells a new session's users of it
// (session_begin.c).
bool session_make_strategy(struct session *s, struct search_problem *problem, struct err *e);
void session_say_beginning(struct session *s);

// What the driver says of configurations (session_look.c): for the search; from the database; and
// what it said of a trial.
bool session_look(void *context, const struct config *c, int count, struct preview *out);
bool session_load_looks(struct session *s, struct err *e);
bool session_load_baselines(struct session *s, struct err *e); // what of them is measured
void session_learn_look(struct session *s, const struct config *c, const struct statistics *told);
void looked_finish(struct looked *l);

// Gives the search what the database has of it (session_past.c). `ran_seconds` gets the running
// time of the last stored trial.
bool session_load_past(struct session *s, double *ran_seconds, struct err *e);

#endif
