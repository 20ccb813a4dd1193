// What a search is worth on a space whose every time is known: random search in closed form, and a
// score in which random search is 0 and the optimum from the start is 1.
//
//     struct score s;
//     if (score_init(&s, time, valid, size))            times ascending; `size` counts failures too
//         double v = score_of(&s, mean_time, trials);   of any number of searches
//     score_finish(&s);
//
// Random search without repetition over N configurations, V of them valid with t_0 <= t_1 <= ...:
// the best of M draws is t_i with probability p_i = C(N-1-i, M-1) / C(N, M), so p_0 = M/N and
// p_{i+1} = p_i (N-M-i) / (N-1-i); no binomial is ever formed. What remains after the valid ones is
// the probability that all draws failed; it counts as the worst valid time.
//
// The score is that of autotuning_methodology (Willemsen et al.) with that exact baseline B and the
// mean S over repeats of the best time so far: P(x) = (S(x) - B(x)) / (t_0 - B(x)), and the score
// is its mean over the trials x where random search gets from the median of the valid times to
// 95 % of the way to the optimum (docs/comparing.md). Pure; NAN where nothing can be scored.
#ifndef TILEWALK_REPORT_SCORE_H
#define TILEWALK_REPORT_SCORE_H

#include <stdbool.h>
#include <stdint.h>

// After `trials` draws (at most `size` count): the mean of t_0 / best, 0 while nothing is valid;
// and the mean of the best time, the worst valid one while nothing is. `time`: seconds > 0,
// ascending, `valid` >= 1 of them; `size` >= valid. trials >= 1.
double score_random_fraction(const double *time, int64_t valid, int64_t size, int64_t trials);
double score_random_time(const double *time, int64_t valid, int64_t size, int64_t trials);

// The trials that random search needs to be the share `p` of the way from the median to the optimum
// in the methodology's reckoning, which leaves failures out. 0: all times are the same.
int64_t score_trials_to(const double *time, int64_t valid, double p);

struct score {
    int64_t first, last; // trials that count, 1 <= first <= last
    double best, worst;  // valid times
    double *baseline;    // [x - first]: B(x)
};

// False, and `s` is empty: there is nothing to score (less than two different times).
bool score_init(struct score *s, const double *time, int64_t valid, int64_t size);
void score_finish(struct score *s);

// `mean_time[x - 1]`: the mean over repeats of the best time after x trials, `worst` where a repeat
// has none yet. Flat beyond `count` >= 1. NAN for an empty score.
double score_of(const struct score *s, const double *mean_time, int64_t count);

#endif
