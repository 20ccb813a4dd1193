// Puts a session together: a new one, or one of the database that goes on.
//
//     struct session *s = session_start(&host, &options, e);      or session_resume(&host, id, ...)
//     ... session_step.h ...
//     session_release(s);      when it has ended
//     session_destroy(s);
//
// session_setup.c does it in this order: the backend is chosen (session_backend.h); the problem,
// from a script or a recording, and its strategy (session_problem.c); the source is made; a session
// that goes on gets its stored trials as a replay log.
#ifndef TILEWALK_ENGINE_SESSION_SETUP_H
#define TILEWALK_ENGINE_SESSION_SETUP_H

#include "engine/session.h"

// Both report EVENT_SESSION and leave the session running, its lock held; but a session that is
// done, with its budget spent, has ended, and nothing of it was touched. NULL and `e` on failure.
struct session *session_start(const struct session_host *host, const struct session_options *o,
                              struct err *e);
struct session *session_resume(const struct session_host *host, int64_t id,
                               const struct session_options *more, struct err *e);
// Returns the session that these options would start: it is in no database and cannot be run, but
// has its record and script. The backend is chosen already.
struct session *session_foresee(const struct session_host *host, const struct session_options *o,
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

#endif
