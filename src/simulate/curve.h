// Summaries of simulated runs: mean curves over trials and over time, and the score.
//
//     struct simulated_curve c;
//     simulated_curve_make(&simulation, &c);        after simulate() has finished it
//     c.fraction[499]                               after 500 trials
//     simulated_curve_finish(&c);
//
// A run's curve is the recording's optimum / the recorded mean time of the configuration that
// leads: 0 before the first valid one, flat after the end of the run. With noise the one with the
// best single measurement leads, and its mean may be worse; so a curve may fall. It ends with the
// winner of the race.
#ifndef TILEWALK_SIMULATE_CURVE_H
#define TILEWALK_SIMULATE_CURVE_H

#include "report/compare.h"
#include "simulate/simulate.h"

#define SIMULATED_TIMES 100

struct simulated_curve {
    int64_t trials;               // of the budget
    double *fraction, *deviation; // [trials]: mean and sample deviation (n - 1) over the repeats
    double score;                 // report/score.h; NAN: all valid times are the same
    double seconds_per_trial;     // the strategy's own; NAN without a trial
    double trials_done;           // mean over the repeats
    double shortfall; // mean of returned / best of what was measured, less 1; NAN: nothing valid
    // At equal steps up to the end of the longest run: recorded costs and the strategy's own time.
    double at_s[SIMULATED_TIMES];
    double by_time[SIMULATED_TIMES], by_time_deviation[SIMULATED_TIMES];
};

void simulated_curve_make(const struct simulation *s, struct simulated_curve *out);
void simulated_curve_finish(struct simulated_curve *c);

// The valid times of a recording, ascending (heap, the caller's), r->outcomes[OUTCOME_OK] of them;
// and how many configurations are trials.
double *simulated_times(const struct recording *r);
int64_t simulated_size(const struct recording *r);

// Means of curves, point by point. Adds the n-th value, n from 1 on, to the mean and the sum of
// squared differences (Welford 1962), whose order is that of the repeats: the sums are the same in
// every run of the program. At the end makes `count` such sums of n values sample deviations.
void simulated_mean_add(double value, int n, double *mean, double *squares);
void simulated_mean_finish(double *squares, int64_t count, int n);

// Simulated runs as a comparison: strategies are its groups, recordings its problems.
//
//     simulate(list, recordings * strategies, &options, e);      recording by recording
//     struct simulated_comparison c;
//     simulated_comparison_make(list, recordings, strategies, false, &c);
//     comparison_make(&c.setup, &result); ...                    report/compare.h
//     simulated_comparison_finish(&c);                           after the result
//
// Levels are speeds: runs a second, or FLOP/s where rates of GFLOP/s were recorded. The best known
// is the recording's optimum. The k-th repeats of two strategies are a pair. Over time, the x of a
// run is what its trials cost when they were recorded, and the strategy's own time.

struct simulated_comparison {
    struct comparison_setup setup;
    struct score *score; // [problem_count]
    struct arena arena;
};

// `list`: [recordings * strategies], of the same strategies in the same order for each recording.
// It is not needed afterwards, but for the names of the strategies. `axis` is the unit of x.
void simulated_comparison_make(const struct simulation *list, int recordings, int strategies,
                               enum comparison_axis axis, struct simulated_comparison *out);
void simulated_comparison_finish(struct simulated_comparison *c); // fine on a zeroed one

#endif
