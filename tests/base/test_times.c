#include "group.h"

#include "base/times.h"

#include <stddef.h>

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

TEST_GROUP(times)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_stay_at_the_largest_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
