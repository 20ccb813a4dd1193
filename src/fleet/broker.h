// The run's end of a pool, `tilewalk agent --pool URL`. For the run it is an agent (trial/remote.h)
// with a connection over stdin and stdout; the workers of the pool measure its trials. `tune
// --on URL` starts it as `tune --on` starts an agent.
//
//     broker_run(STDIN_FILENO, STDOUT_FILENO, &options, e)      until the other side closes
//
// The broker forwards messages and makes up for a queue that delivers at least once. It forwards a
// result once, and only for a trial that is in flight. It puts a trial again when the server
// refuses it, and when no result came for ten times as long as a connection may be silent: a worker
// that takes jobs and gives no results loses none. Each broker has a new random name, so that it
// can ignore what earlier connections left behind.
#ifndef TILEWALK_FLEET_BROKER_H
#define TILEWALK_FLEET_BROKER_H

#include "fleet/queue.h"

// False: it cannot go on; the other side got a message where that is possible.
bool broker_run(int in, int out, const struct queue_options *o, struct err *e);

#endif
