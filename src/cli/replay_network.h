// replay --scheduler: the recordings are the tasks of one network, and schedulers spend one budget
// of trials on them.
//
//     struct replayed_network n;
//     replay_network_parse(a, &n, e);
//     replay_network_check(&plan, e);
//     ...simulate each task for n.most trials...
//     replay_network_print(&n, &plan, json, e);
//     replay_network_finish(&n);                       in any case
#ifndef TILEWALK_CLI_REPLAY_NETWORK_H
#define TILEWALK_CLI_REPLAY_NETWORK_H

#include "cli/common.h"

struct replayed_network {
    char **scheduler; // [schedulers]
    int schedulers;
    double *uses;   // [operands]
    int64_t trials; // over all tasks
    int64_t most;   // that one of them can get
    int round;
};

// True as well without --scheduler: then there are no schedulers.
bool replay_network_parse(const struct arguments *a, struct replayed_network *out, struct err *e);
// False: a recording has no times, so that it can be no task.
bool replay_network_check(const struct simulate_plan *p, struct err *e);
// After the simulation: every strategy with every scheduler, and the oracle.
bool replay_network_print(const struct replayed_network *n, const struct simulate_plan *p,
                          bool json, struct err *e);
void replay_network_finish(struct replayed_network *n);

#endif
