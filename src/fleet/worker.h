// The machine's end of a pool: takes trials and gives their results (`tilewalk worker URL`).
//
//     worker_run(&options, e)     until SIGTERM or SIGINT, or until it is asked to leave
//
// `tilewalk agent` (engine/agent.h) measures, one process for each run, in its sandbox; the worker
// forwards messages and extends the leases. It measures trials of one run at a time and takes the
// runs in turn: trials come in the order in which they were put, and no run puts more than the pool
// has places.
//
// Messages are not trusted: the worker checks each one, and the agent checks it once more. A trial
// that was delivered ten times without a result is `lost`. A worker that is to end takes no more
// trials, finishes those that it measures, and returns the rest to the server.
#ifndef TILEWALK_FLEET_WORKER_H
#define TILEWALK_FLEET_WORKER_H

#include "fleet/queue.h"
#include "gpu/gpu.h"

struct worker_options {
    struct queue_options queue;
    const struct gpu_info *device; // to measure on; NULL: only trials of synthetic devices
    int workers;                   // at once; 0: as many as fit the machine
};

// False: it cannot go on, or it was asked to leave because of its measurements.
bool worker_run(const struct worker_options *o, struct err *e);

#endif
