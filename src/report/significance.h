// Whether differences between searches are more than luck: paired tests, corrected for how many
// there are, and ranks.
//
//     p[0] = significance_wilcoxon(a, b, n);     for each pair of searches
//     significance_holm(p, pairs);
//     significance_ranks(value, cases, searches, rank);
//
// Wilcoxon's signed-rank test (1945), two-sided: the ranks of |a_i - b_i| get random signs. Pairs
// without a difference are left out, equal differences share their mean rank. Up to 40 pairs the
// p-value is exact, ties included (all sign patterns are counted, not approximated); beyond that
// it is normal with correction for ties and continuity. Holm's step-down correction (1979):
// p-values that stand being compared with 0.05 together. Ranks and the use of these tests for
// comparing algorithms over several problems as in Demsar (2006). Pure functions.
#ifndef TILEWALK_REPORT_SIGNIFICANCE_H
#define TILEWALK_REPORT_SIGNIFICANCE_H

// 1 when no pair differs, or there is none. n pairs of finite numbers.
double significance_wilcoxon(const double *a, const double *b, int n);
// In place: each becomes the least level at which it would be rejected among all of them.
void significance_holm(double *p, int n);
// rank[s]: the mean over cases of the rank of value[case * searches + s] within its case: 1 for the
// highest, the mean rank for equal ones. Cases with a NAN do not count; NAN when none is left.
void significance_ranks(const double *value, int cases, int searches, double *rank);

#endif
