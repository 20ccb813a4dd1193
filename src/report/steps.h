// Several runs as one: mean, deviation and range of best-so-far curves.
//
//     steps_spread(curve, 5, from, step, out, 200);
//
// A run's curve is a step function: 0 before its first valid result, level between its points, flat
// beyond its last. So every run has a value at every x, also one that ended early or found nothing
// yet, and the mean is of all of them everywhere; the usual way to show repeated searches.
#ifndef TILEWALK_REPORT_STEPS_H
#define TILEWALK_REPORT_STEPS_H

#include "report/plot.h"

struct steps {
    const struct plot_point *point; // by ascending x
    int count;
};

struct spread {
    double mean, least, most;
    double deviation; // of a sample (n - 1); 0 for less than two curves
};

double steps_at(const struct steps *s, double x); // O(log count)
// At x = from + i * step, step >= 0, for i = 0 .. n - 1. No curves: all 0.
void steps_spread(const struct steps *curve, int count, double from, double step,
                  struct spread *out, int n);

#endif
