// The run's end of a pool, `tilewalk agent --pool URL`. To the run it is an agent (trial/remote.h)
// that talks over stdin and stdout; it has the trials measured by the workers of the pool.
// `tune --pool` starts it as `tune --on` starts an agent.
//
//     broker_run(STDIN_FILENO, STDOUT_FILENO, &options, e)      until the other side closes
//
// It hands messages on and makes up for a queue that delivers at least once: it passes a result on
// once, and only for a trial that is still waited for; it puts again what the server refuses; and
// it puts a trial once more when nothing came of it for ten times as long as a connection may be
// silent, so that a worker that takes jobs and gives no results loses none. Each broker has a new
// name of its own, by which it tells what earlier connections left behind.
#ifndef TILEWALK_FLEET_BROKER_H
#define TILEWALK_FLEET_BROKER_H

#include "fleet/queue.h"

// False: it could not go on; the other side was told where that is possible.
bool broker_run(int in, int out, const struct queue_options *o, struct err *e);

#endif
