// Inside the remote source. remote.c is the source: what goes in, what comes out, which machine
// gets what. remote_host.c is everything that happens to one machine: it is dialled, greets,
// speaks, is silent, is lost. A pool (fleet/broker.h) is one of them that has many places, those of
// its members, of whom remote_pool.c knows.
//
//     DOWN -> GREETING (-> LISTING) -> KNOWN -> BEGINNING -> UP
//     any  -> DOWN       dialled again after a pause
//     any  -> REFUSED    it cannot be one of us
#ifndef TILEWALK_TRIAL_REMOTE_HOST_H
#define TILEWALK_TRIAL_REMOTE_HOST_H

#include "trial/remote.h"
#include "trial/slot.h"

#define REMOTE_PATIENCE_S 30.0

enum host_state {
    HOST_DOWN,
    HOST_GREETING,
    HOST_LISTING,
    HOST_KNOWN,
    HOST_BEGINNING,
    HOST_UP,
    HOST_REFUSED
};

// The workers of a pool (remote_pool.c).
struct crew_member {
    struct greeting greeting;
    struct member says;
    struct gpu_info device; // where it measures
    int64_t heard_ns;
    bool is_at_work;   // its places count
    bool is_stuck;     // it says why nothing comes of them
    bool is_set_aside; // and what it still gives does not
    double anchor_s;   // as a host's
};

struct crew {
    struct crew_member *of;
    int count, capacity;
    char unlike[200]; // why one does not fit; "": all that were heard of do
};

struct host {
    enum host_state state;
    struct slot slot; // the connection, and what is written to stderr there; EMPTY: there is none
    struct greeting greeting;
    struct gpu_info *list;
    int devices, device; // of these the one that is measured on
    int workers;
    struct work_list flying;
    int64_t heard_ns, asked_ns; // whether it is alive
    int64_t dial_ns;            // DOWN: not before
    int64_t given_ns;           // when it was given something last
    int failures;               // in a row
    double anchor_s;            // what the fixed kernel took there last; 0: not known
    struct crew crew;           // of a pool
    int64_t listing_ns;         // LISTING: since then
};

struct remote {
    struct source base;
    struct dialer *dialer;
    struct host *host; // [dialer->count]
    double patience_s;
    int64_t connected_ns; // since then machines are waited for
    bool has_said_waits;
    double margin; // of calibrations; 0: there are none
    bool lists;
    char device_id[33]; // "": none was chosen
    bool begun;
    struct remote_work work;
    struct work_list waiting, done;
    int64_t numbers;  // of requests so far
    int64_t alone_ns; // since when none is up; 0: one is
    bool is_broken;
    struct err broken;
};

void host_choose(struct remote *r, struct host *h); // the device of r->device_id, or it is refused
void host_step(struct remote *r, struct host *h, int64_t now_ns);
int64_t host_wake_ns(const struct remote *r, const struct host *h);
void host_give(struct remote *r, struct host *h, struct work *w, int64_t now_ns);
void host_finish(struct host *h);
void host_know(struct remote *r, struct host *h); // to KNOWN: what it has is known
void host_refuse(struct remote *r, struct host *h, const char *why);
const char *host_place(const struct remote *r, const struct host *h);

int64_t remote_gone_ns(const struct remote *r); // how long it waits while no machine is there

bool crew_hear(struct host *h, struct message *m, int64_t now_ns); // MEMBER; takes its device
void crew_step(struct remote *r, struct host *h, int64_t now_ns);
int64_t crew_wake_ns(const struct remote *r, const struct host *h);
struct crew_member *crew_find(struct crew *c, const char *machine); // NULL
void crew_set_aside(struct remote *r, struct host *h, struct crew_member *of, const char *why);
void crew_finish(struct crew *c);

#endif
