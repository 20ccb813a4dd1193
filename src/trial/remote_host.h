// The inside of the remote source. remote.c is the source: it gives requests to machines and
// collects results. remote_host.c does everything for one machine: it connects, greets, reads its
// messages, notices silence and losses. A pool (fleet/pool.h) is a machine with many places,
// those of its members.
//
//     DOWN -> GREETING (-> LISTING) -> KNOWN -> BEGINNING -> UP
//     any  -> DOWN       connected again after a pause
//     any  -> REFUSED    it cannot be used
#ifndef TILEWALK_TRIAL_REMOTE_HOST_H
#define TILEWALK_TRIAL_REMOTE_HOST_H

#include "trial/remote.h"
#include "trial/slot.h"

enum host_state {
    HOST_DOWN,
    HOST_GREETING,
    HOST_LISTING,
    HOST_KNOWN,
    HOST_BEGINNING,
    HOST_UP,
    HOST_REFUSED
};

// A worker of a pool.
struct host_member {
    struct greeting greeting;
    struct member last;     // its last message
    struct gpu_info device; // where it measures
    int64_t heard_ns;
    bool is_up;        // its places count
    bool is_stuck;     // its last message has a reason why no results come
    bool is_set_aside; // its results do not count any more
    double anchor_s;   // as a host's
};

struct host {
    enum host_state state;
    struct slot slot; // the connection, and its stderr; EMPTY: there is none
    struct greeting greeting;
    struct gpu_info *list;
    int devices, device; // `device`: the one of these that is measured on
    int workers;
    struct work_list in_flight; // requests in flight
    int64_t heard_ns;           // its last message
    int64_t asked_ns;           // the last question if it is alive
    int64_t connect_ns;         // DOWN: not before
    int64_t given_ns;           // its last request
    int failures;               // in a row
    bool is_late;               // it failed before the work began; it may come later
    double anchor_s;            // the fixed kernel's last time there; 0: not known
    int64_t listing_ns;         // LISTING: since then
    struct host_member *member; // of a pool
    int members, capacity;
    char unlike[200]; // why a member does not fit; "": all fit
};

struct remote {
    struct source base;
    const struct remote_machines *machines;
    struct host *host; // [machines->count]
    double patience_s;
    int64_t connected_ns; // since then machines are waited for
    bool has_said_waits;
    double margin; // of calibrations; 0: there are none
    bool lists;
    char device_id[33];   // "": none was chosen
    struct roofline kind; // of such devices (peaks_of_kind)
    // Times that no such device has (least_s: shorter ones; dispatch_s: even of an empty kernel),
    // and that are faster than its peak; 0: not known.
    double least_s, dispatch_s, peak_s;
    bool begun;
    struct remote_work work;
    struct work_list waiting, done;
    int64_t numbers;  // of requests so far
    int64_t alone_ns; // since when no machine is up; 0: one is
    bool is_broken;
    struct err broken;
};

void host_choose(struct remote *r, struct host *h); // the device of r->device_id, or it is refused
void host_step(struct remote *r, struct host *h, int64_t now_ns);
int64_t host_wake_ns(const struct remote *r, const struct host *h);
void host_give(struct remote *r, struct host *h, struct work *w, int64_t now_ns);
void host_finish(struct host *h);

int64_t remote_most_wait_ns(const struct remote *r); // while no machine is up

#endif
