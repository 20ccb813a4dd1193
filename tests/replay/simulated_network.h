// Simulated tuning of a network: its tasks are recordings, a schedule spends one budget on them.
//
//     struct simulated_network n = {.task = list, .tasks = 8, .uses = uses, .trials = 1600,
//                                   .round = 8};
//     simulate(list, 8, &options, e);                    each task for as many trials as it can get
//     double fraction[simulated_network_marks(&n)], deviation[...];
//     simulated_network_play(&n, "gradient", fraction, deviation, e);
//
// Searches of different tasks do not depend on each other. So each is simulated once, alone, and
// any number of schedules is played on the same curves: only the schedule differs between them.
//
// The network's latency is the sum of uses * best recorded time over its tasks; its curve is the
// least latency that the recordings allow / that latency: 0 until every task has a kernel.
#ifndef TILEWALK_TESTS_SIMULATED_NETWORK_H
#define TILEWALK_TESTS_SIMULATED_NETWORK_H

#include "simulate/simulate.h"

// The scheduler that has every curve: at each mark the best way to have spent the trials.
#define SIMULATED_ORACLE "oracle"

struct simulated_network {
    const struct simulation *task; // [tasks], finished, of one strategy, with as many repeats
    int tasks;
    const double *uses; // [tasks], > 0
    int64_t trials;     // over all tasks
    int round;          // trials that a schedule grants at a time
};

// Returns the number of marks: the latency is taken after each `round` trials.
int64_t simulated_network_marks(const struct simulated_network *n);

// `fraction` and `deviation`, [marks]: mean and sample deviation over the repeats of the curve.
// False: the scheduler (search/schedule.h, or SIMULATED_ORACLE) is not understood.
bool simulated_network_play(const struct simulated_network *n, const char *scheduler,
                            double *fraction, double *deviation, struct err *e);

// Returns the least latency that the recordings allow, in seconds.
double simulated_network_optimum(const struct simulated_network *n);

#endif
