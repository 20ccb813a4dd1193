// Mean, deviation and range of the best-so-far curves of several runs.
//
//     steps_spread(curve, 5, from, step, out, 200);
//
// The curve of a run is a step function: 0 before its first valid result, level between its points,
// flat beyond its last. So every run has a value at every x, also one that ended early or found
// nothing yet, and means are over all runs everywhere. This is the usual way to show repeated
// searches.
#ifndef TILEWALK_REPORT_STEPS_H
#define TILEWALK_REPORT_STEPS_H

#include "report/plot.h"

struct steps {
    const struct plot_point *point; // by ascending x
    int count;
};

struct spread {
    double mean, least, most;
    double deviation; // sample deviation (n - 1); 0 for less than two curves
};

double steps_at(const struct steps *s, double x); // O(log count)
// Summarises the curves at x = from + i * step, step >= 0, for i = 0 .. n - 1. No curves: all 0.
void steps_spread(const struct steps *curve, int count, double from, double step,
                  struct spread *out, int n);

#endif
