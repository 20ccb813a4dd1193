// The run's end of a pool: what a run takes for an agent (trial/remote.h), over stdin and stdout,
// and what measures by the workers of a pool. `tilewalk agent --pool URL`, which `tune --pool`
// starts as --on does.
//
//     broker_run(STDIN_FILENO, STDOUT_FILENO, &options, e)      until the other side closes
//
// It hands messages on, and adds what a queue that delivers at least once lacks: a result is passed
// on once, if it can be the one of a trial that is still waited for; what the server refuses is put
// again; and a trial of which nothing came for ten times as long as a line may be silent is put
// once more, so that a worker that takes jobs and gives nothing loses none. A name of its own, new
// each time, keeps what earlier connections left behind from counting.
#ifndef TILEWALK_FLEET_BROKER_H
#define TILEWALK_FLEET_BROKER_H

#include "fleet/queue.h"

// False: it could not go on; the other side was told where that is possible.
bool broker_run(int in, int out, const struct queue_options *o, struct err *e);

#endif
