// What workers, and with them drivers and compilers, are given and no more (base/sandbox.h).
//
//     confine_worker();                   first thing of a worker
//     confine_allow_worker(&sandbox);     what a process that starts workers keeps for them: what
//                                         it gave up, they have not either
//
// Found by running lavapipe, SwiftShader, the validation layer and the sanitizers; for the drivers
// of GPUs by what their sources and documentation read.
#ifndef TILEWALK_TRIAL_CONFINE_H
#define TILEWALK_TRIAL_CONFINE_H

#include "base/sandbox.h"

// Folders of the system, devices, what the environment names for drivers, and a compiler that
// --glslang names.
void confine_allow_worker(struct sandbox *s);

// Enters a worker's sandbox: nothing can be written, and nothing started but a named compiler.
struct sandbox_state confine_worker(void);
struct sandbox_state confine_try_worker(void); // what it would give, in a child process

// The part of our environment that workers get. The array is the caller's (free), the strings are
// not.
const char **confine_environment(void);

#endif
