// The number of copies of the buffers for timing: past any cache, within the device's memory.
#include "group.h"

#include "trial/context.h"

#include <stddef.h>

#define GIB ((uint64_t)1 << 30)

static void test_more_than_a_cache(void **state)
{
    (void)state;
    for (uint64_t bytes = (uint64_t)128 << 10; bytes < GIB; bytes = bytes * 3 / 2) {
        int count = copies_wanted(bytes, 80 * GIB);
        assert_true(count >= 2);
        assert_true((uint64_t)count * bytes >= COPIES_BYTES);
        assert_true(count == 2 || (uint64_t)(count - 1) * bytes < COPIES_BYTES);
    }
}

static void test_within_limits(void **state)
{
    (void)state;
    assert_int_equal(copies_wanted(256, 80 * GIB), COPIES_MOST);
    assert_int_equal(copies_wanted(GIB, GIB), 2); // and then there is no room, as is said
    assert_int_equal(copies_wanted((uint64_t)1 << 20, GIB), 128);
    assert_int_equal(copies_wanted((uint64_t)1 << 20, 0), 512);
}

TEST_GROUP(copies)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_more_than_a_cache),
        cmocka_unit_test(test_within_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
