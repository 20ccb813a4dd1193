#include "group.h"

#include "base/minmax.h"

#include <stddef.h>

static void test_what_is_inside_stays(void **state)
{
    (void)state;
    assert_int_equal(int_clamp(-3, 0, 9), 0);
    assert_int_equal(int_clamp(4, 0, 9), 4);
    assert_int_equal(int_clamp(12, 0, 9), 9);
    assert_int_equal(int64_clamp(INT64_MAX, 0, 5000000000), 5000000000);
}

// Whatever the value, so that no order of comparisons shows.
static void test_low_holds_where_bounds_cross(void **state)
{
    (void)state;
    for (int value = -5; value <= 5; value++) {
        assert_int_equal(int_clamp(value, 0, -2), 0);
        assert_int_equal(int64_clamp(value, 3, 1), 3);
    }
}

TEST_GROUP(minmax)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_inside_stays),
        cmocka_unit_test(test_low_holds_where_bounds_cross),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
