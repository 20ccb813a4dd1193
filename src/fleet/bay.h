// Inside a worker of a pool: what takes trials of one class. worker.c is the process, and has one
// bay for its device and one for made-up trials.
//
//     job:    waits -> is with an agent -> has an answer, which the server is to keep -> is done
//     agent:  begins (hello or play) -> is ready; ends when its place is needed, or its run is over
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

// `device`: NULL for made-up trials. Starts to take.
void bay_begin(struct bay *b, const struct worker_options *o, struct queue *q, const char *machine,
               const char *compiler);
bool bay_takes(const struct bay *b, const char *subject);
void bay_add(struct bay *b, struct letter *l, bool leaving); // keeps it
void bay_step(struct bay *b, int64_t now_ns);
void bay_leave(struct bay *b); // takes no more, and hands back what has not begun
void bay_forget(struct bay *b, const char *run);
int bay_fds(const struct bay *b, struct pollfd out[BAY_MOST_FDS]);
void bay_finish(struct bay *b);

#endif
