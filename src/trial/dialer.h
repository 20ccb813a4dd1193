// The process that reaches agents for a run (remote.h), so that the run, which evaluates space
// files, can be in a sandbox that has no ssh, no sockets and no network.
//
//     dialer_begin(&d, place, count, e);     early: a fork, before the sandbox is entered
//     dialer_dial(&d, i, &child, e);         as often as a connection breaks
//     dialer_end(&d);
//
// It starts the command lines that it was begun with and nothing else: whoever asks says only which
// one. What it started for a place before it kills first. It ends when nobody can ask any more,
// however that came about, and with it ends all that it started; the terminal's signals pass it by.
#ifndef TILEWALK_TRIAL_DIALER_H
#define TILEWALK_TRIAL_DIALER_H

#include "base/os.h"

#include <sys/types.h>

struct dial_place {
    const char *name;        // as the user wrote it: "ssh:rack1"
    const char *const *argv; // of what talks over its stdin and stdout; argv[0] is a path
};

struct dialer {
    pid_t pid;
    int socket;
    const struct dial_place *place; // the caller's
    int count;
    double wait_s; // how long whoever asks waits while no machine is there; 0: as is usual
};

bool dialer_begin(struct dialer *d, const struct dial_place *place, int count, struct err *e);
// `out` gets the socket and stderr of what was started, the caller's to close; it has no pid.
bool dialer_dial(struct dialer *d, int index, struct child *out, struct err *e);
void dialer_end(struct dialer *d); // fine with a zeroed one

#endif
