// Both ends of a pool of machines that measure: trial's messages go over a NATS server (queue.h).
//
//     broker_run(STDIN_FILENO, STDOUT_FILENO, &options, e)      until the other side closes
//     worker_run(&options, e)     until SIGTERM or SIGINT, or until it is asked to leave
//
// The broker is the run's end (`tilewalk agent --pool URL`, which `tune --on URL` starts). For the
// run it is an agent (trial/remote.h) over stdin and stdout. It makes up for a queue that delivers
// at least once: it forwards a result once, and only for a trial that is in flight. It puts a trial
// again when the server refuses it, and when no result came for ten times as long as a connection
// may be silent, so that a worker which takes jobs and gives no results loses none. Each broker has
// a new random name, so that it can ignore what earlier connections left behind.
//
// The worker is the machine's end (`tilewalk worker URL`). It starts an agent
// (engine/agent.h) for each run, forwards messages and extends the leases. It measures trials of
// one run at a time and takes the runs in turn: trials come in the order in which they were put,
// and no run puts more than the pool has places. A trial that was delivered ten times without a
// result is `lost`. A worker that is to end takes no more trials, finishes those that it measures,
// and returns the rest to the server. After a signal, or the end of its lifetime, it returns what
// it has not finished in WORKER_DRAIN_S too: what started it would kill it then.
//
// Messages are not trusted: the worker checks each one, and the agent checks it once more.
#ifndef TILEWALK_FLEET_POOL_H
#define TILEWALK_FLEET_POOL_H

#include "fleet/queue.h"
#include "gpu/gpu.h"

// False: it cannot go on; the other side got a message where that is possible.
bool broker_run(int in, int out, const struct queue_options *o, struct err *e);

#define WORKER_DRAIN_S 18

struct worker_options {
    struct queue_options queue;
    const struct gpu_info *device; // to measure on; NULL: only trials of synthetic devices
    int workers;                   // at once; 0: as many as fit the machine
    // It leaves after so many seconds without a trial, or in all; 0: it does not.
    double idle_s, lifetime_s;
};

// False: it cannot go on, or it was asked to leave because of its measurements.
bool worker_run(const struct worker_options *o, struct err *e);

// Asks the worker of this machine to leave its pool, and waits until it says that it does.
bool worker_drain(const struct queue_options *o, const char *machine, struct err *e);

#endif
