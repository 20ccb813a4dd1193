// Random search on synthetic recordings against its closed form: replay is right.
#include "group.h"
#include "made.h"
#include "spaces.h"

static void check(struct made made, const char *name)
{
    struct recording *r = made_recording(&made, name);
    check_random(r);
    recording_destroy(r);
}

static void test_all_valid(void **state)
{
    (void)state;
    check((struct made){.space = space_mixed(), .recorded = 100}, "full");
}

static void test_absent_points_cost_nothing(void **state)
{
    (void)state;
    check((struct made){.space = space_mixed(), .recorded = 30}, "holes");
}

static void test_failures_cost_a_trial(void **state)
{
    (void)state;
    check((struct made){.space = space_mixed(), .recorded = 100, .failing = 40}, "failures");
}

static void test_recorded_rejections_cost_nothing(void **state)
{
    (void)state;
    check((struct made){.space = space_mixed(), .recorded = 60, .failing = 20, .rejected = 30},
          "rejections");
}

static void test_exhausted(void **state)
{
    (void)state;
    check((struct made){.space = space_24(), .recorded = 80, .failing = 30}, "small");
}

// The recording that a session leaves of a large space.
static void test_sparse(void **state)
{
    (void)state;
    check((struct made){.space = space_huge(), .sampled = 300, .failing = 20}, "sparse");
}

TEST_GROUP(random)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_valid),
        cmocka_unit_test(test_absent_points_cost_nothing),
        cmocka_unit_test(test_failures_cost_a_trial),
        cmocka_unit_test(test_recorded_rejections_cost_nothing),
        cmocka_unit_test(test_exhausted),
        cmocka_unit_test(test_sparse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
