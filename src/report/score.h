// The score of a search on a space whose times are all known: random search scores 0, the optimum
// from the start scores 1. Random search is computed in closed form.
//
//     struct score s;
//     if (score_init(&s, time, valid, size))            times ascending; `size` counts failures too
//         double v = score_of(&s, mean_time, trials);   for any number of searches
//     score_finish(&s);
//
// Random search without repetition over N configurations, V of them valid with t_0 <= t_1 <= ...:
// the best of M draws is t_i with probability p_i = C(N-1-i, M-1) / C(N, M), so p_0 = M/N and
// p_{i+1} = p_i (N-M-i) / (N-1-i); no binomial is ever formed. The rest of the probability is that
// of all draws having failed; it counts as the worst valid time.
//
// The score is that of autotuning_methodology (Willemsen et al.) with that exact baseline B and the
// mean S over repeats of the best time so far: P(x) = (S(x) - B(x)) / (t_0 - B(x)), and the score
// is its mean over the trials x where random search gets from the median of the valid times to 95 %
// of the way to the optimum (docs/guide/comparing.md). Pure; NAN where nothing can be scored.
#ifndef TILEWALK_REPORT_SCORE_H
#define TILEWALK_REPORT_SCORE_H

#include <stdbool.h>
#include <stdint.h>

// Return the mean of t_0 / best after `trials` draws (0 while nothing is valid), and the mean of
// the best time (the worst valid one while nothing is). At most `size` draws count. `time`: seconds
// > 0, ascending, `valid` >= 1 of them; `size` >= valid. trials >= 1.
double score_random_fraction(const double *time, int64_t valid, int64_t size, int64_t trials);
double score_random_time(const double *time, int64_t valid, int64_t size, int64_t trials);

// Returns the trials that random search needs to get the share `p` of the way from the median to
// the optimum, as the methodology counts, without failures. 0: all times are the same.
int64_t score_trials_to(const double *time, int64_t valid, double p);

struct score {
    int64_t first, last; // trials that count, 1 <= first <= last
    double best, worst;  // valid times
    double *baseline;    // [x - first]: B(x)
};

// Returns false, and leaves `s` empty, when there are less than two different times.
bool score_init(struct score *s, const double *time, int64_t valid, int64_t size);
void score_finish(struct score *s);

// Returns the score; NAN for an empty one. `mean_time[x - 1]` is the mean over repeats of the best
// time after x trials, with `worst` where a repeat has none yet. It is flat beyond `count` >= 1.
double score_of(const struct score *s, const double *mean_time, int64_t count);

#endif
