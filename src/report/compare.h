// Comparison of searches: quality, speed, spread, and a significance test.
//
//     struct comparison_setup s = {.group_name = ..., .group_count = ..., .run = ..., ...};
//     struct comparison_result r;
//     comparison_make(&s, &r);
//     r.group[0] ...                            best first; compare_table.h prints them
//     comparison_finish(&r);
//
// A group is a strategy with its options; its runs are repeats, maybe on several problems. A run is
// a best-so-far step curve (report/plot.h) over trials or another axis. Its level (higher is
// better) becomes a share of the best known level of its problem: the optimum where it is known,
// else the best of all runs. Every curve is 0 before its first valid result and flat after its end,
// so that all have a value up to the end of the longest one.
//
// Ranks and p-values compare the areas under the curves. On one problem, the k-th run of a group in
// the order of `pair` (the seed) is paired with the k-th run of the others. On several problems, a
// problem is a pair, with the means over its runs, so that a difference holds beyond these
// problems.
//
// The functions are pure. The setup must live as long as the result; results are O(runs + points).
#ifndef TILEWALK_REPORT_COMPARE_H
#define TILEWALK_REPORT_COMPARE_H

#include "base/mem.h"
#include "report/plot.h"
#include "report/score.h"

#include <stdint.h>

#define COMPARISON_GOALS   3
#define COMPARISON_MOST_AT 8
extern const double comparison_goals[COMPARISON_GOALS]; // shares of the best known: 0.9, 0.95, 0.99

struct comparison_problem {
    double best;               // highest level that exists; 0: not known
    double work;               // seconds = work / level: FLOP, or 1 where levels are runs a second
    const struct score *score; // NULL: the times of the space are not all known
};

enum comparison_axis { // x of the curves
    COMPARISON_TRIALS, // whole, from 1 on
    COMPARISON_SECONDS,
    COMPARISON_SPACE // per cent of the space's points
};

struct comparison_run {
    int group, problem;
    uint64_t pair;
    struct steps curve;
    double end; // on the axis; a point beyond it moves it
};

struct comparison_setup {
    const char *const *group_name;  // full names, for programs
    const char *const *group_title; // names for people; NULL: the same
    int group_count;                // each group has a run
    const struct comparison_problem *problem;
    int problem_count;
    const struct comparison_run *run;
    int run_count;
    enum comparison_axis axis;
    double at[COMPARISON_MOST_AT];
    int at_count; // 0: they are chosen
};

struct comparison_value {
    double mean, deviation; // sample deviation (n - 1), 0 for one run
};

struct comparison_goal {
    double median; // on the axis; INFINITY: half of the runs or more never reached it
    int reached;   // runs that reached it
};

struct comparison_group {
    const char *name, *title;
    int index;   // in the setup
    char letter; // 'A' is the best; after 'Z' 'a', after 'z' '?'
    int first;   // result.run[first] .. run[first + runs - 1], by problem, then pair
    int runs;
    double best;                   // highest level of its runs (sensible on one problem)
    struct comparison_value level; // at their ends (the same)
    struct comparison_value at[COMPARISON_MOST_AT]; // share of the best known
    struct comparison_value area;                   // its mean over 0 .. horizon
    struct comparison_goal goal[COMPARISON_GOALS];
    double score; // mean over the problems; NAN: not known, or x is not trials
    double rank;  // mean over the pairs that all groups have; NAN: there is none
};

struct comparison_result {
    const struct comparison_setup *setup;
    struct comparison_group *group; // best area first
    int group_count;
    const struct comparison_run **run;
    struct steps *share;      // for each `run`, its curve as a share of the best known
    double *best;             // for each problem, the best known level
    double horizon, shortest; // ends of the longest and the shortest run
    double at[COMPARISON_MOST_AT];
    int at_count;
    int pairs; // the largest number of pairs that two groups have
    double *p; // [g * group_count + h]: corrected over all pairs of groups; NAN: g = h, no pairs
    struct arena arena;
};

void comparison_make(const struct comparison_setup *setup, struct comparison_result *out);
void comparison_finish(struct comparison_result *r);
// Returns the mean level of a curve over [from, to), from < to.
double comparison_mean(const struct steps *curve, double from, double to);
// Returns where the curve first is at `level` or above; INFINITY when nowhere.
double comparison_reach(const struct steps *curve, double level);

// --- significance ---
//
// Paired tests and ranks show whether differences between searches are more than chance. The
// p-values are corrected for the number of tests.
//
//     p[0] = significance_wilcoxon(a, b, n);     for each pair of searches
//     significance_holm(p, pairs);
//     significance_ranks(value, cases, searches, rank);
//
// Wilcoxon's signed-rank test (1945), two-sided: the ranks of |a_i - b_i| get random signs. Pairs
// without a difference are left out, equal differences share their mean rank. Up to 40 pairs the
// p-value is exact, ties included (all sign patterns are counted, not approximated); beyond that
// it is normal with correction for ties and continuity. After Holm's step-down correction (1979),
// all p-values can be compared with 0.05 together. Ranks, and these tests for comparing algorithms
// over several problems, follow Demsar (2006). Pure functions.

// Returns the p-value of n pairs of finite numbers; 1 when no pair differs or n is 0.
double significance_wilcoxon(const double *a, const double *b, int n);
// Replaces each p-value by the least level at which it would be rejected among all of them.
void significance_holm(double *p, int n);
// Sets rank[s] to the mean over cases of the rank of value[case * searches + s] within its case: 1
// for the highest, the mean rank for equal ones. Cases with a NAN do not count; NAN when none is
// left.
void significance_ranks(const double *value, int cases, int searches, double *rank);

#endif
