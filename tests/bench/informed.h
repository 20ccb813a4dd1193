// How well a schedule could do that knows the tasks but not the future: it has seen all other runs
// of the same search on each recording, and expects of a task what became of the runs that stood
// alike after as many rounds. No schedule that has to guess can be expected to do better; the
// oracle, which knows how this very run goes on, does.
//
//     informed_play(&network, repeat, curve);
#ifndef TILEWALK_TESTS_INFORMED_H
#define TILEWALK_TESTS_INFORMED_H

#include "simulated_network.h"

// The network's latency in that repeat after each round, [simulated_network_marks]; INFINITY while
// a task has no kernel.
void informed_play(const struct simulated_network *n, int repeat, double *curve);

#endif
