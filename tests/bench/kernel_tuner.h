// What Kernel Tuner reaches on published recordings: measured numbers to print ours beside.
//
// Kernel Tuner 1.4.0 and 1.3.3 (pip) in its simulation mode, each strategy with its defaults and
// the real restrictions, on the recordings of AutoTuningAssociation/benchmark_hub at 8eeb99e7: mean
// over repeats of optimum / best so far after n different configurations, failed ones included; a
// search that ended early goes on flat. The greedy searches are of 1.3.3: in 1.4.0 they are worse.
#ifndef TILEWALK_TESTS_KERNEL_TUNER_H
#define TILEWALK_TESTS_KERNEL_TUNER_H

enum { KERNEL_TUNER_MARKS = 7 };
extern const int kernel_tuner_mark[KERNEL_TUNER_MARKS]; // trials: 10 20 50 100 200 400 500

struct kernel_tuner_curve {
    const char *recording, *strategy, *version;
    int repeats;
    double at[KERNEL_TUNER_MARKS];
};

// Strategy by strategy in the same order for each recording; ends with a NULL recording.
extern const struct kernel_tuner_curve kernel_tuner_curves[];

// NULL: not measured.
const struct kernel_tuner_curve *kernel_tuner_find(const char *recording, const char *strategy);

#endif
