// Trials measured by agents (engine/agent.h), here or on other machines: a source that has its
// workers elsewhere.
//
//     struct remote *r = remote_connect(&dialer, true, e);      greets all; waits for them
//     remote_devices(r, &count); remote_choose(r, &device, e);  where a device is wanted
//     struct source *s = remote_begin(r, &work);                from here on as any source
//     source_destroy(s);                                        or remote_destroy(r), not begun
//
// A request goes to a machine with a free place. Where the connection breaks, what was in flight
// there is asked again, those asked first before the others, and the machine is dialled again, as a
// new process with a new name. Only a request that REMOTE_MOST_LOSSES machines were lost with, one
// after the other, is taken for the reason, and is `lost`. A result counts once: it is known by its
// number on the connection that the request went by. So what a run stores depends neither on the
// machines nor on what becomes of them, where times do not.
//
// Where several machines measure on a GPU, a fixed kernel is timed (trial/fixed.h) with the first
// trial of each, which gets no other one meanwhile, and with every REMOTE_CALIBRATES-th. One whose
// time differs by more than a margin (REMOTE_MARGIN; TILEWALK_FLEET_MARGIN, a share) from the
// median of the others is set aside, and that trial is asked again. CPU devices, whose times depend
// on what else runs, are only compared where the margin is given.
//
// A pool (--pool, fleet/broker.h) is one machine with as many places as its workers have; they come
// and go, and which of them takes a trial is the pool's. Each is calibrated as a machine is.
//
// Whoever is silent for too long is given up (TILEWALK_LINK_SECONDS, 30); where no machine is up
// for ten times as long (--wait), the source cannot go on.
//
// The other side is not trusted: what it says is checked as a worker's is, and one that says what
// cannot be is taken for lost. That its times are true nobody can check.
#ifndef TILEWALK_TRIAL_REMOTE_H
#define TILEWALK_TRIAL_REMOTE_H

#include "gpu/gpu.h"
#include "trial/dialer.h"
#include "trial/message.h"
#include "trial/source.h"

#define REMOTE_MOST_LOSSES 10
#define REMOTE_CALIBRATES  20
#define REMOTE_MARGIN      0.1

struct remote;

// What became of a machine. Valid during the call.
struct remote_news {
    const char *place;   // as the user wrote it: "ssh:rack1"
    const char *machine; // the agent's name
    const char
        *state; // "up", "lost": it is dialled again, "refused": it does not fit, "left", "stuck"
    const char *why;       // unless it is up
    int again;             // requests that are asked again for it
    double fixed_s, drift; // it was calibrated: what the fixed kernel took there, and by which
                           // share that is more than the median of the others (NAN: there are
                           // none); fixed_s 0: it was not
};

struct remote_work {
    // What is computed. `device` and `workers` are each machine's own. The operation's definition
    // and the jobs of the reference must outlive the source.
    struct hello hello;
    struct source
        *made;   // instead: it answers, and the machines act it out; the remote's to destroy
    int workers; // of each machine; 0: as fits it
    void (*log)(void *context, int worker, const char *line); // as in pool_options
    void (*tell)(void *context, const struct remote_news *news);
    void *context;
};

// Without `lists` no device is wanted. NULL: one of them cannot be reached, or is not like us.
struct remote *remote_connect(struct dialer *d, bool lists, struct err *e);
void remote_destroy(struct remote *r); // fine with NULL
// Those of the first machine.
const struct gpu_info *remote_devices(const struct remote *r, int *count);
const char *remote_compiler(const struct remote *r);
int remote_workers(const struct remote *r); // as fit the first machine
int remote_count(const struct remote *r);
// All are to measure on a device like this one. False: one has none.
bool remote_choose(struct remote *r, const struct gpu_info *device, struct err *e);
struct source *remote_begin(struct remote *r, const struct remote_work *w);
// Of a pool: waits until it has other devices than remote_devices says, because of `why`. False: it
// was waited for long enough, or there is no pool.
bool remote_wait_for_devices(struct remote *r, const char *why);
// What is computed, as a machine with so many workers and cores does on its own `device`.
void remote_fit(struct hello *h, int device, int workers, int cores);

// How long a line may be silent.
double remote_patience_s(void);
// As fit so many cards of a machine (0: no device measures) that has so many cores.
int remote_usual_workers(int cards, int cores);

#endif
