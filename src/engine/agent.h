// An agent measures for a run elsewhere, which has the search, the space and the database
// (trial/remote.h). message.h has what they say.
//
//     agent_run(STDIN_FILENO, STDOUT_FILENO, e)     until the other side closes
//
// It owns what a run with a device of its own owns: the pool of workers, their shared memory with
// inputs and right results. What the other side says is not trusted. It is given GLSL or SPIR-V,
// sizes and seeds, and does nothing with them but what a worker does, in a worker's sandbox: it
// reads no space files, runs no Lua, and starts nothing but its own workers (and the compiler that
// the user named here). The limits that a kernel is held against are those of its own device.
//
// It keeps nothing: when the connection breaks, it ends, and what it was at is asked again.
#ifndef TILEWALK_ENGINE_AGENT_H
#define TILEWALK_ENGINE_AGENT_H

#include "base/err.h"

#include <stdbool.h>

// Both descriptors become non-blocking. False: what came is no message that may come then, or it
// cannot go on; the other side was told where that is possible.
bool agent_run(int in, int out, struct err *e);

#endif
