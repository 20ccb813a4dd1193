// Running in the background: `tune --detach`.
//
//     detach(&code, e);       the parent waits until the child is ready or has failed
//     if (detach_is_parent())
//         return code;
//     ...the child makes its session; its errors still go to the terminal...
//     detach_ready(id, database, is_new);
//                             the child lets the parent go; from now on it writes to the
//                             session's log, session-ID-HASH.log in the user's state folder
//
// The hash is that of the database's real path: each database has a session 1. A new session begins
// its log, one that goes on adds to it.
//
// detach_ready does nothing in a process that did not detach.
#ifndef TILEWALK_CLI_DETACH_H
#define TILEWALK_CLI_DETACH_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

bool detach(int *code, struct err *e); // before any thread or driver
bool detach_is_parent(void);
void detach_ready(int64_t session, const char *database, bool is_new);

#endif
