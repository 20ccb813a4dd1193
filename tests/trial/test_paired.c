// Ratios from times in pairs: the interval's ends against the binomial distribution summed by hand,
// and how often intervals hold where the true ratio is known.
#include "group.h"

#include "base/rng.h"
#include "trial/paired.h"

#include <math.h>

// With `n` pairs of ratios 1, 2, ..., n the ends of the interval name the order statistics.
static void ends_are_those_of_the_sign_test(void **state)
{
    static const int known[][2] = {{10, 1}, {20, 3}, {40, 11}, {60, 18}};
    double a[PAIRED_MOST], b[PAIRED_MOST];
    (void)state;
    for (int i = 0; i < PAIRED_MOST; i++) {
        a[i] = 1;
        b[i] = 1 + (i * 7) % 60; // 7 and 60 have no common factor: in no order
    }
    for (int i = 0; i < 4; i++) {
        int n = known[i][0], end = known[i][1];
        double sorted[PAIRED_MOST], outside = 0, more = 0, term = pow(0.5, n);
        struct paired p = paired_ratio(a, b, n);
        assert_int_equal(p.pairs, n);
        for (int k = 0; k < n; k++) // the ratios are distinct: each has a rank
            for (int m = sorted[k] = 0; m < n; m++)
                sorted[k] += b[m] < b[k];
        for (int k = 0; k < n; k++) {
            if ((int)sorted[k] == end - 1)
                assert_true(p.low == b[k]);
            if ((int)sorted[k] == n - end)
                assert_true(p.high == b[k]);
        }
        for (int k = 0; k <= end; term *= (double)(n - k) / (k + 1), k++) {
            outside += k < end ? term : 0;
            more += term;
        }
        assert_true(outside <= 0.01 / 8 && more > 0.01 / 8);
    }
}

static void only_looks_have_intervals(void **state)
{
    double a[PAIRED_MOST], b[PAIRED_MOST];
    (void)state;
    for (int i = 0; i < PAIRED_MOST; i++) {
        a[i] = 1;
        b[i] = 2 + 0.001 * i;
    }
    struct paired none = paired_ratio(a, b, 0), few = paired_ratio(a, b, 9),
                  between = paired_ratio(a, b, 39), look = paired_ratio(a, b, 20);
    assert_true(isnan(none.ratio));
    assert_int_equal(paired_verdict(&none), PAIRED_NONE);
    assert_true(few.ratio > 2 && isnan(few.low) && isnan(few.high));
    assert_int_equal(paired_verdict(&few), PAIRED_LEVEL);
    assert_int_equal(between.pairs, 20);
    assert_true(between.low == look.low && between.high == look.high);
    assert_int_equal(paired_verdict(&between), PAIRED_FASTER);
    struct paired turned = paired_ratio(b, a, 20);
    assert_int_equal(paired_verdict(&turned), PAIRED_SLOWER);
    struct paired exact = paired_exactly(1, 1.5);
    assert_true(exact.low == 1.5 && exact.high == 1.5);
    assert_int_equal(paired_verdict(&exact), PAIRED_FASTER);
}

// A time with a heavy tail, without a mean: as of a machine that others use.
static double noisy(struct rng *r, double seconds)
{
    return seconds * (1 + 0.02 * rng_real(r)) * (rng_real(r) < 0.3 ? 1 / (1 - rng_real(r)) : 1);
}

// Both kernels are equal: any verdict is an error, at whichever look it is found. Of 4000 races 40
// may be, and with a deviation of 6.3 hardly 59.
static void equal_kernels_are_rarely_told_apart(void **state)
{
    enum { RACES = 4000 };
    int wrong = 0, wide = 0;
    struct rng r;
    (void)state;
    rng_seed(&r, 5);
    for (int race = 0; race < RACES; race++) {
        double a[PAIRED_MOST], b[PAIRED_MOST];
        bool told = false;
        for (int n = 1; n <= PAIRED_MOST && !told; n++) {
            a[n - 1] = noisy(&r, 1);
            b[n - 1] = noisy(&r, 1);
            struct paired p = paired_ratio(a, b, n);
            told = paired_is_look(n) && paired_verdict(&p) != PAIRED_LEVEL;
            wide += n == PAIRED_MOST && p.high / p.low > 1.2;
        }
        wrong += told;
    }
    assert_in_range(wrong, 1, 59);
    assert_true(wide < RACES / 4); // the intervals say something
}

static void a_tenth_is_found(void **state)
{
    enum { RACES = 400 };
    int found = 0, covered = 0;
    struct rng r;
    (void)state;
    rng_seed(&r, 6);
    for (int race = 0; race < RACES; race++) {
        double a[PAIRED_MOST], b[PAIRED_MOST];
        for (int n = 0; n < PAIRED_MOST; n++) {
            a[n] = noisy(&r, 1);
            b[n] = noisy(&r, 1.1);
        }
        struct paired p = paired_ratio(a, b, PAIRED_MOST);
        found += paired_verdict(&p) == PAIRED_FASTER;
        covered += p.low <= 1.1 && 1.1 <= p.high;
    }
    assert_true(found > RACES * 8 / 10);
    assert_true(covered >= RACES * 99 / 100 - 6);
}

TEST_GROUP(paired)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_are_those_of_the_sign_test),
        cmocka_unit_test(only_looks_have_intervals),
        cmocka_unit_test(equal_kernels_are_rarely_told_apart),
        cmocka_unit_test(a_tenth_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
