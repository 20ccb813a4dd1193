// An agent measures for a run elsewhere, which has the search, the space and the database
// (trial/remote.h). trial/message.h has the messages between both.
//
//     agent_run(STDIN_FILENO, STDOUT_FILENO, e)     until the other side closes
//
// It owns what a run with a device of its own owns: the pool of workers, their shared memory with
// inputs and right results. The other side is not trusted. The agent gets GLSL or SPIR-V,
// sizes and seeds, and does nothing with them but what a worker does, in a worker's sandbox: it
// reads no space files, runs no Lua, and starts nothing but its own workers (and the compiler that
// the user named here). The limits that a kernel is held against are those of its own device.
//
// It keeps nothing: when the connection breaks, it ends, and its open requests are asked again.
#ifndef TILEWALK_ENGINE_AGENT_H
#define TILEWALK_ENGINE_AGENT_H

#include "base/err.h"

#include <stdbool.h>

// Both descriptors become non-blocking. False: a message came that may not come then, or the agent
// cannot go on; the other side gets a message where that is possible.
bool agent_run(int in, int out, struct err *e);

#endif
