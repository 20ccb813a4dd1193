// The Pareto front, against the definition: a point is on it exactly where no other one is better
// in one and as good in the other.
#include "group.h"

#include "base/rng.h"
#include "report/pareto.h"

#include <stdbool.h>
#include <string.h>

enum { POINTS = 60 };

static bool beats(const struct pareto_point *a, const struct pareto_point *b)
{
    return a->seconds <= b->seconds && a->joules <= b->joules &&
           (a->seconds < b->seconds || a->joules < b->joules ||
            a->ask < b->ask); // the first of two that are equal
}

static void test_definition(void **state)
{
    struct rng rng;
    (void)state;
    rng_seed(&rng, 7);
    for (int round = 0; round < 200; round++) {
        struct pareto_point point[POINTS] = {{0}}, front[POINTS];
        int count = (int)rng_below(&rng, POINTS + 1), wanted = 0;
        for (int i = 0; i < count; i++) // few values, so that many are equal
            point[i] = (struct pareto_point){i + 1, 1 + (double)rng_below(&rng, 12),
                                             1 + (double)rng_below(&rng, 12)};
        memcpy(front, point, sizeof front);
        int kept = pareto_front(front, count);
        for (int i = 0; i < count; i++) {
            bool is_beaten = false, is_kept = false;
            for (int k = 0; k < count; k++)
                is_beaten |= k != i && beats(&point[k], &point[i]);
            for (int k = 0; k < kept; k++)
                is_kept |= front[k].ask == point[i].ask;
            assert_int_equal(is_kept, !is_beaten);
            wanted += !is_beaten;
        }
        assert_int_equal(kept, wanted);
        for (int k = 1; k < kept; k++)
            assert_true(front[k].seconds > front[k - 1].seconds &&
                        front[k].joules < front[k - 1].joules);
    }
}

TEST_GROUP(pareto)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_definition)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
