// Measures of a ranking, compared with examples by hand.
#include "group.h"

#include "model/trees.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

static void expect(double value, double wanted)
{
    assert_true(fabs(value - wanted) < 1e-12);
}

// The items have, best prediction first, the true ranks 2, 1, 3, 0.
static const float label[] = {3, 1, 2, 0}, predicted[] = {1, 4, 3, 2};

static void test_recall_by_hand(void **state)
{
    (void)state;
    expect(recall_at(4, label, predicted, 1), 0);
    expect(recall_at(4, label, predicted, 2), 0.5);
    expect(recall_at(4, label, predicted, 3), 2 / 3.0);
    expect(recall_at(4, label, predicted, 4), 1);

    expect(recall_average(4, label, predicted, 1), 0);
    expect(recall_average(4, label, predicted, 2), 0);
    expect(recall_average(4, label, predicted, 3), 2 / 3.0 / 3);
    expect(recall_average(4, label, predicted, 4), (2 / 3.0 + 3 / 4.0) / 4);
    expect(recall_average(4, label, predicted, 64), (2 / 3.0 + 3 / 4.0) / 4);
    expect(recall_average(4, label, label, 4), (1 / 2.0 + 2 / 3.0 + 3 / 4.0) / 4);
    expect(recall_average(0, label, predicted, 4), 0);
}

// The first of equals is the better one.
static void test_recall_of_equals(void **state)
{
    (void)state;
    const float zero[4] = {0}, rising[] = {0, 1, 2, 3};
    expect(recall_at(4, zero, zero, 2), 1);
    expect(recall_at(4, rising, zero, 2), 0);
    expect(recall_at(4, zero, rising, 2), 0);
}

static void test_correlation_by_hand(void **state)
{
    (void)state;
    const float rising[] = {1, 2, 30, 400}, falling[] = {9, 7, -1, -2}, equal[4] = {5, 5, 5, 5};
    expect(rank_correlation(4, rising, rising), 1);
    expect(rank_correlation(4, rising, falling), -1);
    expect(rank_correlation(4, label, predicted), -0.4); // 1 - 6 (9 + 4 + 0 + 1) / (4 * 15)
    // The ranks are 0.5 0.5 2 3 and 0 1 2.5 2.5: 4 / 4.5.
    const float a[] = {1, 1, 2, 3}, b[] = {0, 1, 2, 2};
    expect(rank_correlation(4, a, b), 4 / 4.5);
    assert_true(isnan(rank_correlation(4, rising, equal)));
    assert_true(isnan(rank_correlation(1, rising, rising)));
    assert_true(isnan(rank_correlation(0, rising, rising)));
}

TEST_GROUP(recall)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recall_by_hand),
        cmocka_unit_test(test_recall_of_equals),
        cmocka_unit_test(test_correlation_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
