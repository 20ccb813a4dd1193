// The process that reaches agents for a run (remote.h), so that the run, which evaluates space
// files, can be in a sandbox that has no ssh, no sockets and no network.
//
//     dialer_begin(&d, place, count, e);     early: a fork, before the sandbox is entered
//     dialer_dial(&d, i, &child, e);         as often as a connection breaks
//     dialer_end(&d);
//
// It starts the command lines that it was begun with and nothing else: a request is the index of
// one. It first kills the process that it started for that place before. It ends when the last
// process that could ask has closed the socket, and ends all that it started. The terminal's
// signals do not reach it.
#ifndef TILEWALK_TRIAL_DIALER_H
#define TILEWALK_TRIAL_DIALER_H

#include "base/os.h"

#include <sys/types.h>

struct dial_place {
    const char *name;        // as the user wrote it: "ssh:rack1"
    const char *const *argv; // a program that talks over stdin and stdout; argv[0] is a path
};

struct dialer {
    pid_t pid;
    int socket;
    const struct dial_place *place; // the caller's
    int count;
    double wait_s; // the longest wait while no machine is there; 0: the usual one
};

bool dialer_begin(struct dialer *d, const struct dial_place *place, int count, struct err *e);
// `out` gets the socket and stderr of the new process, the caller's to close; it has no pid.
bool dialer_dial(struct dialer *d, int index, struct child *out, struct err *e);
void dialer_end(struct dialer *d); // fine with a zeroed one

#endif
