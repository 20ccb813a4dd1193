// Random search in closed form against all subsets, and scores worked out by hand.
#include "group.h"

#include "report/score.h"

#include "base/rng.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define COUNT(list) (int64_t)(sizeof(list) / sizeof *(list))

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-12 * fmax(1, fabs(b))))
        fail_msg("%.17g is not %.17g", a, b);
}

// --- random search ---

static int bits(unsigned set)
{
    int n = 0;
    for (; set; set &= set - 1)
        n++;
    return n;
}

// Over all sets of `trials` of `size` configurations, of which the first `valid` have a time.
static void check_all_subsets(const double *time, int valid, int size, int trials)
{
    double fraction = 0, seconds = 0;
    int sets = 0;
    for (unsigned set = 0; set < 1u << size; set++) {
        if (bits(set) != trials)
            continue;
        int best = 0;
        while (best < valid && !(set & 1u << best))
            best++;
        fraction += best < valid ? time[0] / time[best] : 0;
        seconds += best < valid ? time[best] : time[valid - 1];
        sets++;
    }
    near(score_random_fraction(time, valid, size, trials), fraction / sets);
    near(score_random_time(time, valid, size, trials), seconds / sets);
}

static void random_search_is_the_mean_over_all_subsets(void **state)
{
    double time[10];
    struct rng rng;
    (void)state;
    rng_seed(&rng, 3);
    for (int size = 1; size <= 10; size++)
        for (int valid = 1; valid <= size; valid++) {
            double t = 1;
            for (int i = 0; i < valid; i++)
                time[i] = t += (double)rng_below(&rng, 3); // with equal ones
            for (int trials = 1; trials <= size; trials++)
                check_all_subsets(time, valid, size, trials);
        }
}

static void more_draws_than_there_are_find_the_best(void **state)
{
    static const double time[] = {2, 3, 5};
    (void)state;
    near(score_random_fraction(time, 3, 7, 7), 1);
    near(score_random_fraction(time, 3, 7, 1000), 1);
    near(score_random_time(time, 3, 7, 1000), 2);
}

// 10^6 configurations: binomials would overflow. One draw is the plain mean.
static void large_spaces_are_stable(void **state)
{
    enum { VALID = 300000, SIZE = 1000000 };
    static double time[VALID];
    double sum = 0, before = 0;
    (void)state;
    for (int i = 0; i < VALID; i++) {
        time[i] = 1 + i * 1e-5;
        sum += 1 / time[i];
    }
    assert_true(fabs(score_random_fraction(time, VALID, SIZE, 1) - sum / SIZE) < 1e-9);
    for (int64_t trials = 1; trials <= SIZE; trials *= 10) {
        double now = score_random_fraction(time, VALID, SIZE, trials);
        assert_true(now > before && now <= 1 + 1e-12);
        before = now;
    }
}

// --- scores ---

static void cut_offs_by_hand(void **state)
{
    static const double five[] = {1, 2, 3, 4, 5}, four[] = {1, 1, 1, 9}, same[] = {2, 2, 2};
    double hundred[100];
    (void)state;
    // median 3; 2.98: three are slower, 3 / 3; 1.1: four are slower, 4 / 2
    assert_int_equal(score_trials_to(five, 5, 0.01), 1);
    assert_int_equal(score_trials_to(five, 5, 0.95), 2);
    assert_int_equal(score_trials_to(four, 4, 0.5), 1); // one is slower, 1 / 4
    assert_int_equal(score_trials_to(same, 3, 0.5), 0);
    for (int i = 0; i < 100; i++)
        hundred[i] = i + 1;
    // median 50.5; 50.005: 50 are slower, 50 / 51; 3.475: 97 are slower, 97 / 4
    assert_int_equal(score_trials_to(hundred, 100, 0.01), 1);
    assert_int_equal(score_trials_to(hundred, 100, 0.95), 25);
}

static void scores_by_hand(void **state)
{
    static const double five[] = {1, 2, 3, 4, 5};
    double two = 2, optimum = 1, worst = 5;
    struct score s;
    (void)state;
    assert_true(score_init(&s, five, 5, 5));
    assert_int_equal(s.first, 1);
    assert_int_equal(s.last, 1);
    near(s.baseline[0], 3);
    near(score_of(&s, &two, 1), (2.0 - 3) / (1 - 3));
    near(score_of(&s, &optimum, 1), 1);
    near(score_of(&s, &worst, 1), -1);
    score_finish(&s);
    assert_true(score_init(&s, five, 5, 10)); // half of them fail: as slow as the worst
    near(s.baseline[0], 4);
    score_finish(&s);
}

static void random_search_scores_nothing(void **state)
{
    double time[60], curve[40];
    struct score s;
    (void)state;
    for (int i = 0; i < 60; i++)
        time[i] = 1 + i * i / 100.0;
    assert_true(score_init(&s, time, 60, 90));
    assert_true(s.last > s.first && s.last < COUNT(curve));
    for (int i = 0; i < COUNT(curve); i++)
        curve[i] = score_random_time(time, 60, 90, i + 1);
    near(score_of(&s, curve, COUNT(curve)), 0);
    double flat = score_of(&s, curve, 2); // stops after two trials: flat, so worse than going on
    assert_true(flat < 0);
    for (int i = 2; i < COUNT(curve); i++)
        curve[i] = curve[1];
    near(score_of(&s, curve, COUNT(curve)), flat);
    score_finish(&s);
}

static void nothing_to_score(void **state)
{
    static const double same[] = {2, 2, 2};
    double time = 2;
    struct score s;
    (void)state;
    assert_false(score_init(&s, same, 3, 9));
    assert_true(isnan(score_of(&s, &time, 1)));
    score_finish(&s);
    assert_false(score_init(&s, same, 1, 1));
}

TEST_GROUP(score)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_search_is_the_mean_over_all_subsets),
        cmocka_unit_test(more_draws_than_there_are_find_the_best),
        cmocka_unit_test(large_spaces_are_stable),
        cmocka_unit_test(cut_offs_by_hand),
        cmocka_unit_test(scores_by_hand),
        cmocka_unit_test(random_search_scores_nothing),
        cmocka_unit_test(nothing_to_score),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
