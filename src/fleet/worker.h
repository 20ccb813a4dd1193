// The machine's end of a pool: takes trials and gives their results (`tilewalk worker --pool URL`).
//
//     worker_run(&options, e)     until SIGTERM or SIGINT, or until it is asked to leave
//
// What measures is `tilewalk agent` (engine/agent.h), one for each run, in its sandbox; this
// process passes its messages on and keeps the leases. It measures trials of one run at a time, of
// all that are there in turn: trials come in the order in which they were put, and no run puts more
// than the pool has places.
//
// What it is given is not trusted: a message is checked before an agent gets it, which checks it
// once more. A trial that came to ten workers without a result is `lost`. When it is to end it
// takes no more, finishes what it measures, and hands the rest back.
#ifndef TILEWALK_FLEET_WORKER_H
#define TILEWALK_FLEET_WORKER_H

#include "fleet/queue.h"
#include "gpu/gpu.h"

struct worker_options {
    struct queue_options queue;
    const struct gpu_info *device; // to measure on; NULL: only made-up trials
    int workers;                   // at once; 0: as fits
};

// False: it cannot go on, or it was asked to leave because of how it measures.
bool worker_run(const struct worker_options *o, struct err *e);

#endif
