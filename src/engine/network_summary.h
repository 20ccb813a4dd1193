// The state of a stored network: its tasks, their results, and the curve of the whole.
//
//     struct network_summary n;
//     if (network_summary_read(store, &record, &arena, &n, e)) ... n.latency_s ...
//
// The latency is the sum over the tasks of uses * time of the best kernel: the time of the kernels
// of one pass, one after the other, without what a real pass adds or saves.
#ifndef TILEWALK_ENGINE_NETWORK_SUMMARY_H
#define TILEWALK_ENGINE_NETWORK_SUMMARY_H

#include "store/store.h"

struct task_summary {
    const struct task_record *task;
    struct session_record session; // id 0: it had no round yet
    double start_s;                // of its first valid kernel; 0: there is none
    double best_s;                 // of its best, raced where it was; 0: there is none
    double share;                  // of the latency, 0 .. 1
    double weight;                 // the user's, for the scheduler; 1 is the standard
    double gained_s;               // running time of the network at its last gain; -1: none
    int64_t allotted;              // trials
};

struct network_summary {
    struct task_summary *task;
    int task_count;
    struct round_record *round;
    int round_count;
    struct whole_record *whole; // runs of the network as a whole
    int whole_count;
    double start_s, latency_s; // 0: a task has no kernel yet
    int64_t pinned;            // position of the task that the last round was pinned to; 0: none
    int64_t now;               // position of the task that has a round now; 0: none has
};

// All of it lives in the arena. `network` is a session with a scheduler.
bool network_summary_read(struct store *store, const struct session_record *network,
                          struct arena *a, struct network_summary *out, struct err *e);

// Returns the sum of its tasks' best times by their uses; 0: a task has none, or it cannot be read.
double network_sum_of_parts(struct store *store, const struct session_record *network);

// Returns the time of a network as a whole, by the kernels of that run that were the fastest; 0: it
// was not timed.
double whole_seconds(const struct whole_record *r);

// Reads the best-so-far curve of a session, from its start: that of a network is the sum of its
// parts, as it was at the ends of rounds.
bool session_each_best(struct store *store, const struct session_record *r,
                       bool (*each)(void *context, const struct best_step *step), void *context,
                       struct err *e);

#endif
