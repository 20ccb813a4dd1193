// The Pareto front of time and energy: the trials of which no other one is better in both.
//
//     count = pareto_front(point, count);         sorted by time; the others are dropped
//
// The first one of several with the same time and energy stays.
#ifndef TILEWALK_REPORT_PARETO_H
#define TILEWALK_REPORT_PARETO_H

#include <stdint.h>

struct pareto_point {
    int64_t ask;
    double seconds, joules; // of a run, above 0
};

int pareto_front(struct pareto_point *point, int count);

#endif
