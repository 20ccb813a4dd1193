// How many times as fast one kernel is as another, from times taken in pairs: a ratio with an
// interval.
//
//     for (n = 0; n < PAIRED_MOST; n++) {
//         time both, in an order drawn at random;        a[n], b[n]
//         r = paired_ratio(a, b, n + 1);
//         if (paired_is_look(n + 1) && paired_verdict(&r) != PAIRED_LEVEL) break;
//     }
//
// The ratio is the median of b/a over the pairs. Its interval is that of the sign test: order
// statistics of the ratios, by the binomial distribution. It supposes nothing of the noise but that
// the pairs are drawn in a random order: a machine that other programs use has heavy tails and
// drifts, and both kernels of a pair see the same. The interval is read at a few planned numbers of
// pairs (looks) alone, and the error of 1 % is divided among these (Bonferroni), so it may be read
// at each of them, and pairs may stop at any. With 99 % for each comparison, five comparisons of
// one session hold together in 95 % of sessions.
//
// The kernel that is compared must be chosen before its pairs are timed: the fastest of many is
// partly the luckiest, and only new times are free of that.
#ifndef TILEWALK_TRIAL_PAIRED_H
#define TILEWALK_TRIAL_PAIRED_H

#include <stdbool.h>

#define PAIRED_MOST 60 // pairs

struct paired {
    int pairs;        // that count; 0: there are none
    double ratio;     // median of b/a, > 1: a is the faster one; NAN: not known
    double low, high; // of the interval; NAN: too few pairs for one
};

enum paired_verdict { PAIRED_NONE, PAIRED_LEVEL, PAIRED_FASTER, PAIRED_SLOWER };

// Says if the interval is to be read after so many pairs.
bool paired_is_look(int pairs);
int paired_first_look(void); // the fewest pairs that have an interval
// Compares the first `pairs` times of each, all > 0. The interval is that of the last look among
// them; before the first look there is none.
struct paired paired_ratio(const double *a, const double *b, int pairs);
// Returns the ratio of times that are exact: those of a recording, or of a synthetic device.
struct paired paired_exactly(double a, double b);
struct paired paired_unknown(void); // a ratio that is not known
// FASTER or SLOWER where the interval excludes 1, else LEVEL; NONE: the ratio is not known.
enum paired_verdict paired_verdict(const struct paired *p);
// Returns "faster", "slower", "no difference shown", "no baseline" (docs/reference/json.md).
const char *paired_verdict_name(enum paired_verdict v);

#endif
