// The sandbox of workers, and so of the drivers and compilers in them (base/sandbox.h).
//
//     confine_worker();                   the first thing that a worker does
//     confine_allow_worker(&sandbox);     what a process that starts workers must keep for them, as
//                                         they cannot have more than it has
//
// What is allowed was found by running lavapipe, SwiftShader, the validation layer and the
// sanitizers; for the drivers of GPUs by reading their sources and documentation.
#ifndef TILEWALK_TRIAL_CONFINE_H
#define TILEWALK_TRIAL_CONFINE_H

#include "base/sandbox.h"

// Folders of the system, devices, what the environment names for drivers, and a compiler that
// --glslang names.
void confine_allow_worker(struct sandbox *s);

// Enters a worker's sandbox: nothing can be written, and nothing started but a named compiler.
struct sandbox_state confine_worker(void);
struct sandbox_state confine_try_worker(void); // tries in a child process which parts hold here

// The part of our environment that workers get. The array is the caller's (free), the strings are
// not.
const char **confine_environment(void);

// For tests: what a sandbox (base/sandbox.h) is there to refuse is attempted.

// Tries, and logs of each attempt "escape: NAME: done" or why not: network (127.0.0.1), users
// (/etc/passwd), home ($HOME), writing (/tmp/tilewalk-escaped), program (/bin/true), memory and
// signal (of the parent).
void escape_try(void);

#endif
