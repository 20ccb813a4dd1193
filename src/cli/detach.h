// Running in the background: `tune --detach`.
//
//     struct detach d = DETACH_NOT;
//     detach(&d, e);          the parent waits until the child is ready or has failed
//     if (d.is_parent)
//         return d.exit_code;
//     ...the child makes its session; its errors still go to the terminal...
//     detach_ready(&d, id, database, is_new);
//                             the child lets the parent go; from now on it writes to the
//                             session's log, session-ID-HASH.log in the user's state folder
//
// The hash is that of the database's real path: each database has a session 1. A new session begins
// its log, one that goes on adds to it.
//
// detach_ready does nothing where `d` was not detached.
#ifndef TILEWALK_CLI_DETACH_H
#define TILEWALK_CLI_DETACH_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

// The side of the fork that a process is on.
struct detach {
    bool is_parent;
    int exit_code;  // of the parent: the child's when it failed, else 0
    int ready_pipe; // of the child, its end; -1: there is nobody to tell
};

#define DETACH_NOT ((struct detach){.ready_pipe = -1})

bool detach(struct detach *d, struct err *e); // before any thread or driver
void detach_ready(struct detach *d, int64_t session, const char *database, bool is_new);

#endif
