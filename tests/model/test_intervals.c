// Prediction intervals hold the shares that they should, whatever the distribution of the results.
#include "group.h"

#include "base/rng.h"
#include "model/gp.h"

#include <math.h>
#include <stddef.h>

typedef double draw_function(struct rng *r);

// Returns the sum of twelve uniform numbers, less six: nearly normal, with a deviation of 1.
static double normal(struct rng *r)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += rng_real(r);
    return sum;
}

static double much_too_narrow(struct rng *r)
{
    return 0.01 * normal(r);
}

// Returns a number that is now and then a hundred times as far off.
static double heavy_tailed(struct rng *r)
{
    return normal(r) * (rng_below(r, 8) == 0 ? 100 : 1);
}

static void check(draw_function *draw)
{
    enum { WARM = 200, RESULTS = 4000 };
    struct intervals i;
    struct rng r;
    int half = 0, nine_in_ten = 0;
    rng_seed(&r, 1);
    intervals_init(&i);
    for (int n = 0; n < WARM + RESULTS; n++) {
        double off = draw(&r);
        half += n >= WARM && fabs(off) < i.half;
        nine_in_ten += n >= WARM && fabs(off) < i.nine_in_ten;
        assert_true(i.half > 0 && i.half <= i.nine_in_ten);
        intervals_observe(&i, off);
    }
    assert_true(fabs((double)half / RESULTS - 0.5) < 0.02);
    assert_true(fabs((double)nine_in_ten / RESULTS - 0.9) < 0.02);
}

static void holds_its_shares(void **state)
{
    (void)state;
    check(normal);
    check(much_too_narrow);
    check(heavy_tailed);
}

static void begins_as_a_normal_distribution(void **state)
{
    (void)state;
    struct intervals i;
    intervals_init(&i);
    assert_true(fabs(erf(i.half / sqrt(2)) - 0.5) < 1e-4);
    assert_true(fabs(erf(i.nine_in_ten / sqrt(2)) - 0.9) < 1e-4);
}

TEST_GROUP(intervals)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(holds_its_shares),
                                       cmocka_unit_test(begins_as_a_normal_distribution)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
