// The sandbox of workers, and so of the drivers and compilers in them (base/sandbox.h).
//
//     confine_worker();                   the first call of a worker
//     confine_allow_worker(&sandbox);     the rights of a worker, for a process that starts some:
//                                         they cannot have more rights than it has
//
// The rights were found by running lavapipe, SwiftShader, the validation layer and the sanitizers;
// for the drivers of GPUs by reading their sources and documentation.
#ifndef TILEWALK_TRIAL_CONFINE_H
#define TILEWALK_TRIAL_CONFINE_H

#include "base/sandbox.h"

// Allows folders of the system, devices, the paths in the environment's variables for drivers, and
// the compiler of --glslang.
void confine_allow_worker(struct sandbox *s);

// Enters a worker's sandbox: it can write nothing, and start nothing but a named compiler.
struct sandbox_state confine_worker(void);
// Tries in a child process which parts work here, within the sandbox of an engine; NULL: without.
struct sandbox_state confine_try_worker(const struct sandbox *engine);

// The part of our environment that workers get. The array is the caller's (free), the strings are
// not.
const char **confine_environment(void);

// For tests: attempts everything that a sandbox refuses, and logs of each attempt "escape: NAME:
// done" or the error: network (127.0.0.1), users (/etc/passwd), home ($HOME), writing
// (/tmp/tilewalk-escaped), program (/bin/true), memory and signal (of the parent), capabilities
// (any that are left).
void escape_try(void);

#endif
