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
#ifndef TILEWALK_SIMULATE_COMPARE_H
#define TILEWALK_SIMULATE_COMPARE_H

#include "report/compare.h"
#include "simulate/simulate.h"

struct simulated_comparison {
    struct comparison_setup setup;
    struct score *score; // [problem_count]
    struct arena arena;
};

// `list`: [recordings * strategies], of the same strategies in the same order for each recording.
// It is not needed afterwards, but for the names of the strategies. `axis` says what x counts.
void simulated_comparison_make(const struct simulation *list, int recordings, int strategies,
                               enum comparison_axis axis, struct simulated_comparison *out);
void simulated_comparison_finish(struct simulated_comparison *c); // fine on a zeroed one

#endif
