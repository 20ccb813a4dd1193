// The limit on compiling follows its observations, between its bounds.
#include "group.h"

#include "trial/pool.h"

#include <stddef.h>
#include <stdint.h>

#define MOST 60

static void see(struct compile_limit *l, int count, double seconds)
{
    for (int i = 0; i < count; i++)
        compile_limit_add(l, seconds);
}

static void test_too_few(void **state)
{
    struct compile_limit l = {.least_s = 1};
    (void)state;
    see(&l, 7, 0.25);
    assert_float_equal(compile_limit_s(&l, MOST), MOST, 1e-6);
    see(&l, 1, 0.25);
    assert_float_equal(compile_limit_s(&l, MOST), 2.5, 1e-6);
    assert_float_equal(compile_limit_median(&l), 0.25, 1e-6);
}

static void test_bounds(void **state)
{
    struct compile_limit l = {.least_s = 1};
    (void)state;
    see(&l, 10, 0.001);
    assert_float_equal(compile_limit_s(&l, MOST), 1, 1e-6);
    assert_float_equal(compile_limit_s(&l, 0.5), 0.5, 1e-6); // whatever the least is
    see(&l, COMPILE_LIMIT_KEPT, 20);
    assert_float_equal(compile_limit_s(&l, MOST), MOST, 1e-6);
}

// Where most take long, the limit rises until they pass: it is not held down by the few that did.
static void test_rises(void **state)
{
    struct compile_limit l = {.least_s = 1};
    (void)state;
    see(&l, 8, 0.25);
    for (int i = 0; i < COMPILE_LIMIT_KEPT && compile_limit_s(&l, MOST) < MOST; i++)
        compile_limit_add(&l, compile_limit_s(&l, MOST));
    assert_float_equal(compile_limit_s(&l, MOST), MOST, 1e-6);
}

// Old observations are forgotten.
static void test_ring(void **state)
{
    struct compile_limit l = {.least_s = 1};
    (void)state;
    see(&l, 1000, 5);
    see(&l, COMPILE_LIMIT_KEPT, 0.5);
    assert_float_equal(compile_limit_s(&l, MOST), 5, 1e-6);
}

TEST_GROUP(compile_limit)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_too_few),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_rises),
        cmocka_unit_test(test_ring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
