#include "group.h"

#include "base/rng.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_BINS = 1000 };

// The published sequences: of splitmix64 from 0, and of xoshiro256** from the state 1, 2, 3, 4.
static void agrees_with_the_reference(void **state)
{
    (void)state;
    struct rng r;
    rng_seed(&r, 0);
    assert_true(r.state[0] == 0xe220a8397b1dcdaf && r.state[1] == 0x6e789e6aa1b965f4 &&
                r.state[2] == 0x06c45d188009454f && r.state[3] == 0xf88bb8a8724c81ec);
    r = (struct rng){{1, 2, 3, 4}};
    const uint64_t expected[] = {11520,
                                 0,
                                 1509978240,
                                 1215971899390074240,
                                 1216172134540287360,
                                 607988272756665600,
                                 16172922978634559625u,
                                 8476171486693032832,
                                 10595114339597558777u,
                                 2904607092377533576};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_true(rng_next(&r) == expected[i]);
}

// Pearson's statistic is within five standard deviations of its mean, the degrees of freedom.
static void assert_chi_square(size_t bins, const long *count, const double *probability, long draws)
{
    double statistic = 0, freedom = (double)bins - 1;
    for (size_t i = 0; i < bins; i++) {
        double expected = probability[i] * (double)draws;
        statistic += (count[i] - expected) * (count[i] - expected) / expected;
    }
    if (fabs(statistic - freedom) > 5 * sqrt(2 * freedom) + 5)
        fail_msg("chi-square %g with %g degrees of freedom", statistic, freedom);
}

static void below_is_uniform(void **state)
{
    (void)state;
    const uint64_t sizes[] = {2, 3, 7, 10, 64, 100, MOST_BINS};
    struct rng r;
    rng_seed(&r, 1);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        uint64_t n = sizes[k];
        long count[MOST_BINS] = {0}, draws = 200 * (long)n + 10000;
        double probability[MOST_BINS];
        for (long i = 0; i < draws; i++) {
            uint64_t drawn = rng_below(&r, n);
            assert_true(drawn < n);
            count[drawn]++;
        }
        for (uint64_t i = 0; i < n; i++)
            probability[i] = 1.0 / (double)n;
        assert_chi_square(n, count, probability, draws);
    }
}

// With a plain remainder the first quarter of 2^64 would come up in half of the draws, not a third.
static void below_has_no_bias(void **state)
{
    (void)state;
    struct rng r;
    rng_seed(&r, 2);
    long count[3] = {0};
    for (int i = 0; i < 30000; i++)
        count[rng_below(&r, (uint64_t)3 << 62) >> 62]++;
    assert_chi_square(3, count, (const double[]){1.0 / 3, 1.0 / 3, 1.0 / 3}, 30000);
}

static void below_at_the_ends(void **state)
{
    (void)state;
    struct rng r;
    rng_seed(&r, 3);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(rng_below(&r, 1), 0);
        assert_true(rng_below(&r, UINT64_MAX) < UINT64_MAX);
        assert_true(rng_below(&r, ((uint64_t)1 << 63) + 1) <= (uint64_t)1 << 63);
    }
}

static void reals_fill_the_unit_interval(void **state)
{
    (void)state;
    struct rng r;
    rng_seed(&r, 4);
    long count[20] = {0};
    double probability[20];
    for (int i = 0; i < 20; i++)
        probability[i] = 1.0 / 20;
    for (int i = 0; i < 20000; i++) {
        double x = rng_real(&r);
        assert_true(x >= 0 && x < 1);
        count[(int)(x * 20)]++;
    }
    assert_chi_square(20, count, probability, 20000);
}

static void weighted_follows_the_weights(void **state)
{
    (void)state;
    const double weight[] = {1, 0.5, 3, 2.5, 1e-3, 9};
    const size_t n = sizeof weight / sizeof *weight;
    double sum = 0, probability[6];
    for (size_t i = 0; i < n; i++)
        sum += weight[i];
    for (size_t i = 0; i < n; i++)
        probability[i] = weight[i] / sum;
    struct rng r;
    rng_seed(&r, 5);
    long count[6] = {0};
    for (int i = 0; i < 200000; i++)
        count[rng_weighted(&r, n, weight)]++;
    assert_chi_square(n, count, probability, 200000);
}

static void zero_weights_are_never_drawn(void **state)
{
    (void)state;
    // 0.1 three times: their sum is not exact, so that the last one must catch the rounding
    const double weight[] = {0, 0.1, 0, 0.1, 0.1, 0, 0};
    struct rng r;
    rng_seed(&r, 6);
    for (int i = 0; i < 100000; i++)
        assert_true(weight[rng_weighted(&r, 7, weight)] > 0);
    const double tiny[] = {0, 5e-324, 0};
    const double huge[] = {0, 0, 1e308};
    for (int i = 0; i < 100; i++) {
        assert_int_equal(rng_weighted(&r, 3, tiny), 1);
        assert_int_equal(rng_weighted(&r, 3, huge), 2);
    }
}

// A generator stuck at the largest number it can give must still stop at the last positive weight.
static void weighted_at_the_end_of_the_interval(void **state)
{
    (void)state;
    // rotl(s1 * 5, 7) * 9 = 2^64 - 1 for this s1
    uint64_t wanted = UINT64_MAX * 0x8e38e38e38e38e39u;
    wanted = (wanted >> 7 | wanted << 57) * 0xcccccccccccccccdu;
    const double weight[] = {0.1, 0.2, 0.7, 0};
    struct rng r = {{1, wanted, 1, 1}};
    assert_true(rng_next(&r) == UINT64_MAX);
    r = (struct rng){{1, wanted, 1, 1}};
    assert_int_equal(rng_weighted(&r, 4, weight), 2);
}

static void split_streams_are_apart(void **state)
{
    (void)state;
    struct rng a, b;
    rng_seed(&a, 7);
    rng_seed(&b, 7);
    struct rng child_a = rng_split(&a), child_b = rng_split(&b);
    assert_memory_equal(&child_a, &child_b, sizeof child_a);
    assert_memory_equal(&a, &b, sizeof a);
    struct rng second = rng_split(&a);
    long equal_bits = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t x = rng_next(&child_a), y = rng_next(&second);
        for (int bit = 0; bit < 64; bit++)
            equal_bits += ((x ^ y) >> bit & 1) == 0;
    }
    assert_true(labs(equal_bits - 32000) < 5 * 127); // 64000 coins, standard deviation 126.5
}

TEST_GROUP(rng)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_reference),
        cmocka_unit_test(below_is_uniform),
        cmocka_unit_test(below_has_no_bias),
        cmocka_unit_test(below_at_the_ends),
        cmocka_unit_test(reals_fill_the_unit_interval),
        cmocka_unit_test(weighted_follows_the_weights),
        cmocka_unit_test(zero_weights_are_never_drawn),
        cmocka_unit_test(weighted_at_the_end_of_the_interval),
        cmocka_unit_test(split_streams_are_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
