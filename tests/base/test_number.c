#include "group.h"

#include "base/number.h"

#include <stddef.h>

static void test_what_is_inside_stays(void **state)
{
    (void)state;
    assert_int_equal(int_clamp(-3, 0, 9), 0);
    assert_int_equal(int_clamp(4, 0, 9), 4);
    assert_int_equal(int_clamp(12, 0, 9), 9);
    assert_int_equal(int64_clamp(INT64_MAX, 0, 5000000000), 5000000000);
}

// The value does not matter, so that no order of comparisons shows.
static void test_low_holds_where_bounds_cross(void **state)
{
    (void)state;
    for (int value = -5; value <= 5; value++) {
        assert_int_equal(int_clamp(value, 0, -2), 0);
        assert_int_equal(int64_clamp(value, 3, 1), 3);
    }
}

static void products_stay_at_the_largest_number(void **state)
{
    (void)state;
    const uint64_t half = UINT64_C(1) << 32;
    assert_true(times_unsigned(half, half - 1) == half * (half - 1));
    assert_true(times_unsigned(half, half) == UINT64_MAX);
    assert_true(times_unsigned(UINT64_MAX, 1) == UINT64_MAX);
    assert_true(times_unsigned(0, UINT64_MAX) == 0 && times_unsigned(UINT64_MAX, 0) == 0);
    const int64_t third = INT64_MAX / 3;
    assert_true(times_signed(third, 3) == third * 3);
    assert_true(times_signed(third + 1, 3) == INT64_MAX);
    assert_true(times_signed(3, third + 1) == INT64_MAX);
    assert_true(times_signed(0, INT64_MAX) == 0 && times_signed(INT64_MAX, 0) == 0);
}

TEST_GROUP(number)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_inside_stays),
        cmocka_unit_test(test_low_holds_where_bounds_cross),
        cmocka_unit_test(products_stay_at_the_largest_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
