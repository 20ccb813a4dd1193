// A bay is the part of a pool's worker that takes the trials ("jobs") of one class. The process,
// worker.c, has one bay for its device and one for made-up trials. A bay starts an agent for each
// run whose jobs it takes; the agent measures.
//
//     job:    waits -> is with an agent -> has an answer, which the server is to keep -> is done
//     agent:  begins (hello or play) -> is ready; ends when its place is needed, or its run is over
//
// All functions belong to the one thread of the worker.
#ifndef TILEWALK_FLEET_BAY_H
#define TILEWALK_FLEET_BAY_H

#include "fleet/worker.h"
#include "trial/slot.h"

#define BAY_MOST_AGENTS 4 // ready at the same time, for as many runs
#define BAY_MOST_FDS    (BAY_MOST_AGENTS * SLOT_FDS)

struct taken {
    struct letter *letter;
    char run[QUEUE_ID];
    int64_t number;
    bool sent;
    char *answer; // heap; NULL: not yet
};

struct bay_agent {
    struct slot slot;
    char run[QUEUE_ID];
    bool ready;
    int64_t used_ns;
};

struct bay {
    struct queue *queue;
    struct puller *puller;
    const char *machine; // our name
    const struct gpu_info *device;
    char subject[QUEUE_ID + 16]; // how those of its jobs begin
    int places;
    double patience_s;
    struct bay_agent agent[BAY_MOST_AGENTS];
    struct taken **job; // in the order in which they came
    int count, capacity;
    int owed;                      // places that are free, and not given back yet
    int64_t rest_ns;               // before that none is
    int64_t extended_ns, given_ns; // leases; answers that were not kept
    int64_t answered;
    char trouble[200]; // why results are not kept now; ""
};

// Starts to take jobs from `q`: those for `o->device`, whose kernels `compiler` makes, or made-up
// ones where that is NULL. `o`, `q` and `machine` must outlive the bay.
void bay_begin(struct bay *b, const struct worker_options *o, struct queue *q, const char *machine,
               const char *compiler);
// Whether the job with this subject is of the bay's class.
bool bay_takes(const struct bay *b, const char *subject);
// A job has come: the bay owns its letter from now on. A worker that is leaving hands it back.
void bay_add(struct bay *b, struct letter *l, bool leaving);
// Does what can be done without waiting: hears agents, gives them jobs, answers, extends leases.
void bay_step(struct bay *b, int64_t now_ns);
// Takes no more jobs, and hands back those that no agent has begun.
void bay_leave(struct bay *b);
// A run has ended: its jobs are dropped, and its agent ends.
void bay_forget(struct bay *b, const char *run);
// What to poll for; returns how many there are.
int bay_fds(const struct bay *b, struct pollfd out[BAY_MOST_FDS]);
void bay_finish(struct bay *b);

#endif
