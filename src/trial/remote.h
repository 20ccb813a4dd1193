// A source whose trials are measured by agents (engine/agent.h), here or on other machines.
//
//     struct remote *r = remote_connect(&machines, true, e);    greets all; waits for them
//     remote_devices(r, &count); remote_choose(r, &device, e);  where a device is wanted
//     struct source *s = remote_begin(r, &work);                from here on as any source
//     source_destroy(s);                                        or remote_destroy(r), not begun
//
// A request goes to a machine with a free place. When a connection breaks, the requests in flight
// there are sent again, before newer ones, and the machine is connected again, as a new process
// with a new name. Only a request that lost REMOTE_MOST_LOSSES machines in a row counts as the
// reason, and becomes `lost`. A result counts once: it is known by its number on the connection of
// its request. So the results of a run depend neither on the machines nor on their failures, where
// times do not.
//
// Where several machines measure on a GPU, a fixed kernel is timed (trial/peaks.h) with the first
// trial of each, which gets no other one meanwhile, and with every REMOTE_CALIBRATES-th. A machine
// whose time differs by more than a margin (REMOTE_MARGIN; TILEWALK_FLEET_MARGIN, a share) from the
// median of the others is set aside, and that trial is sent again. CPU devices, whose times depend
// on what else runs, are only compared where the margin is given.
//
// A pool (fleet/pool.h) is one machine with as many places as its workers have. They come and go,
// and the pool decides which of them takes a trial. Each is calibrated as a machine is.
//
// A machine that is silent for too long is given up (TILEWALK_LINK_SECONDS, 30). When no machine is
// up for ten times as long (`wait` in hosts.conf), the source cannot go on.
//
// The other side is not trusted: its messages are checked as a worker's are, and a machine that
// sends an impossible one is taken for lost. Times are checked against what such a device can do
// (peaks_of_kind): a kernel that took less than an empty dispatch, or was more than
// REMOTE_MOST_OF_PEAK times as fast as the peak, is `wrong`. One that is faster than the peak,
// which caches and Winograd's algorithm allow, stays `ok` with the reason that it is unconfirmed.
// Results of synthetic devices are not taken from the other side.
#ifndef TILEWALK_TRIAL_REMOTE_H
#define TILEWALK_TRIAL_REMOTE_H

#include "base/spawner.h"
#include "gpu/gpu.h"
#include "trial/message.h"
#include "trial/source.h"

#define REMOTE_MOST_LOSSES  10
#define REMOTE_CALIBRATES   20
#define REMOTE_MARGIN       0.1
#define REMOTE_MOST_OF_PEAK 8
#define REMOTE_PATIENCE_S   30.0 // usual value of remote_patience_s

#define REMOTE_EXEC "exec:" // so the name of a place begins that any command leads to

// So a line of the log begins that the broker of a pool itself writes; no worker's line does.
#define REMOTE_POOL_WARNING "tilewalk: warning: pool: "

struct remote;

// The machines that measure for a run. The run evaluates space files in a sandbox that has no ssh,
// no sockets and no network, so that a process which was forked before it connects to them.
struct remote_machines {
    // Its command i, a connection, leads to machine i: the agent talks over stdin and stdout.
    struct spawner *spawner;
    const char *const *name; // [count] as the user wrote them: "ssh:rack1"
    int count;
    double wait_s; // the longest wait while no machine is there; 0: the usual one
};

// A change of a machine's state. Valid during the call.
struct remote_news {
    const char *place;   // as the user wrote it: "ssh:rack1"
    const char *machine; // the agent's name
    const char *state;   // "up"; "lost": it is connected again; "refused": it does not fit; "left";
                         // "stuck"
    const char *why;     // unless it is up
    int again;           // requests that are sent again because of it
    double fixed_s;      // the fixed kernel's time in a calibration; 0: it was not calibrated
    double drift; // the share by which that exceeds the median of the others; NAN: there are none
};

struct remote_work {
    // The computation. `device` and `workers` are each machine's own. The operation's definition
    // and the jobs of the reference must outlive the source.
    struct hello hello;
    // A synthetic source, or NULL: it computes the results, and the machines play them; the
    // remote's to destroy.
    struct source *made;
    int workers;   // of each machine; 0: as many as fit it
    double peak_s; // least time of a run by the device's measured peaks; 0: not known
    void (*log)(void *context, int worker, const char *line); // as in pool_options
    void (*tell)(void *context, const struct remote_news *news);
    void *context;
};

// `m` outlives the result. Without `lists` no device is wanted. A machine that cannot be reached,
// or has another version, is left out with a warning, and connected again later. NULL: all are so;
// `e` names the last one.
struct remote *remote_connect(const struct remote_machines *m, bool lists, struct err *e);
void remote_destroy(struct remote *r); // fine with NULL
// The devices of the first machine that answered.
const struct gpu_info *remote_devices(const struct remote *r, int *count);
// The facts that a session stores of its machines.
struct remote_facts {
    const char *compiler; // of the first machine
    int workers;          // as many as fit the first machine
    int count;            // machines, and workers of a pool
};
struct remote_facts remote_facts(const struct remote *r);
// Makes all machines measure on a device like this one. False: a machine has none.
bool remote_choose(struct remote *r, const struct gpu_info *device, struct err *e);
struct source *remote_begin(struct remote *r, const struct remote_work *w);
// Waits, because of `why`, until a pool has other devices than remote_devices gives. False: that
// took too long, or there is no pool.
bool remote_wait_for_devices(struct remote *r, const char *why);
// Adapts a computation to a machine with so many workers and cores, and its own `device`.
void remote_fit(struct hello *h, int device, int workers, int cores);

// The time for which a connection may be silent.
double remote_patience_s(void);
// The number of workers that fit a machine with so many cards (0: no device measures) and cores.
int remote_usual_workers(int cards, int cores);

#endif
