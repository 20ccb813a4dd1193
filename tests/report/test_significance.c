// Wilcoxon against published numbers and all sign patterns; Holm and ranks worked out by hand.
#include "group.h"

#include "report/compare.h"

#include "base/rng.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNT(list) (int)(sizeof(list) / sizeof *(list))

static void near(double a, double b, double slack)
{
    if (!(fabs(a - b) <= slack))
        fail_msg("%.17g is not %.17g", a, b);
}

// --- Wilcoxon ---

// Differences 1 .. n with signs that make the smaller rank sum `sum`.
static double p_of_sum(int n, int sum)
{
    double a[100], b[100];
    for (int i = n; i >= 1; i--) {
        bool negative = i <= sum;
        sum -= negative ? i : 0;
        a[i - 1] = negative ? -i : i;
        b[i - 1] = 0;
    }
    assert_int_equal(sum, 0);
    return significance_wilcoxon(a, b, n);
}

// The usual table of critical values, two-sided.
static void critical_values(void **state)
{
    static const struct {
        int n, sum;
        double level;
    } cases[] = {
        {6, 0, 0.05},   {7, 2, 0.05},   {8, 3, 0.05},   {9, 5, 0.05},   {10, 8, 0.05},
        {12, 13, 0.05}, {15, 25, 0.05}, {20, 52, 0.05}, {25, 89, 0.05}, {30, 137, 0.05},
        {8, 0, 0.01},   {10, 3, 0.01},  {15, 15, 0.01}, {20, 37, 0.01}, {25, 68, 0.01},
    };
    (void)state;
    for (int i = 0; i < COUNT(cases); i++) {
        assert_true(p_of_sum(cases[i].n, cases[i].sum) <= cases[i].level);
        assert_true(p_of_sum(cases[i].n, cases[i].sum + 1) > cases[i].level);
    }
}

// Hollander and Wolfe's example of the Hamilton depression scale: V = 40, one-sided p = 0.01953.
static void depression_scale(void **state)
{
    static const double before[] = {1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
    static const double after[] = {0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
    (void)state;
    near(significance_wilcoxon(before, after, 9), 2 * 0.01953125, 1e-12);
    near(significance_wilcoxon(after, before, 9), 2 * 0.01953125, 1e-12);
}

static double sum_of_ranks(const double *a, const double *b, int n, unsigned signs)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double own = fabs(a[i] - b[i]), rank = 0.5;
        for (int k = 0; k < n; k++) {
            double other = fabs(a[k] - b[k]);
            rank += other > 0 ? (other < own) + (other == own) / 2.0 : 0;
        }
        sum += own > 0 && (signs & 1u << i) ? rank : 0;
    }
    return sum;
}

// Signs of pairs that do not differ change nothing, so that they may be counted.
static double p_by_enumeration(const double *a, const double *b, int n)
{
    unsigned own = 0;
    for (int i = 0; i < n; i++)
        own |= a[i] > b[i] ? 1u << i : 0;
    double plus = sum_of_ranks(a, b, n, own), all = sum_of_ranks(a, b, n, ~0u);
    double smaller = fmin(plus, all - plus);
    int as_odd = 0;
    for (unsigned signs = 0; signs < 1u << n; signs++)
        as_odd += sum_of_ranks(a, b, n, signs) <= smaller + 1e-9;
    return fmin(2.0 * as_odd / (1u << n), 1);
}

static void all_sign_patterns(void **state)
{
    double a[9], b[9];
    struct rng rng;
    (void)state;
    rng_seed(&rng, 1);
    for (int round = 0; round < 300; round++) {
        int n = (int)rng_below(&rng, 10);
        for (int i = 0; i < n; i++) { // with ties, also with 0
            a[i] = (double)rng_below(&rng, 6);
            b[i] = (double)rng_below(&rng, 6);
        }
        near(significance_wilcoxon(a, b, n), p_by_enumeration(a, b, n), 1e-12);
    }
}

static void no_difference(void **state)
{
    static const double a[] = {1, 2, 3};
    (void)state;
    near(significance_wilcoxon(a, a, 3), 1, 0);
    near(significance_wilcoxon(a, a, 0), 1, 0);
}

// The formula, evaluated by hand: n = 50, sum 400: (637.5 - 400 - 0.5) / sqrt(10731.25)
static void many_pairs_are_normal(void **state)
{
    (void)state;
    near(p_of_sum(50, 400), erfc(237 / sqrt(10731.25) / sqrt(2)), 1e-12);
    near(p_of_sum(41, 200), p_of_sum(40, 190), 0.005); // both sides of the change
    double a[60], b[60] = {0};
    for (int i = 0; i < 60; i++)
        a[i] = i % 4 ? 1 : -1; // one tie of 60: 15 negative, each of rank 30.5
    double variance = 60.0 * 61 * 121 / 24 - (60.0 * 60 * 60 - 60) / 48;
    near(significance_wilcoxon(a, b, 60), erfc((915 - 457.5 - 0.5) / sqrt(2 * variance)), 1e-12);
}

// --- Holm ---

static void holm_by_hand(void **state)
{
    double p[] = {0.01, 0.04, 0.03, 0.005}, high[] = {0.6, 0.5}, one[] = {0.02};
    static const double expected[] = {0.03, 0.06, 0.06, 0.02};
    (void)state;
    significance_holm(p, 4);
    for (int i = 0; i < 4; i++)
        near(p[i], expected[i], 1e-15);
    significance_holm(high, 2);
    near(high[0], 1, 0);
    near(high[1], 1, 0);
    significance_holm(one, 1);
    near(one[0], 0.02, 0);
    significance_holm(one, 0);
}

// --- ranks ---

static void ranks_by_hand(void **state)
{
    static const double value[] = {
        9,   5, 1, //
        5,   5, 7, // 2.5, 2.5, 1
        NAN, 1, 2, // does not count
        3,   3, 3, // 2, 2, 2
    };
    double rank[3];
    (void)state;
    significance_ranks(value, 4, 3, rank);
    near(rank[0], (1 + 2.5 + 2) / 3, 1e-15);
    near(rank[1], (2 + 2.5 + 2) / 3, 1e-15);
    near(rank[2], (3 + 1 + 2) / 3.0, 1e-15);
    significance_ranks(value + 6, 1, 3, rank);
    assert_true(isnan(rank[0]) && isnan(rank[2]));
}

TEST_GROUP(significance)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(critical_values),       cmocka_unit_test(depression_scale),
        cmocka_unit_test(all_sign_patterns),     cmocka_unit_test(no_difference),
        cmocka_unit_test(many_pairs_are_normal), cmocka_unit_test(holm_by_hand),
        cmocka_unit_test(ranks_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
