// Objectives: their texts, what a value costs, and which are the same.
#include "group.h"

#include "space/objective.h"

static void test_texts(void **state)
{
    static const char *const good[] = {"time", "energy", "edp", "minimize ms", "maximize tokens/s"};
    static const char *const bad[] = {"",
                                      "speed",
                                      "minimize",
                                      "minimize ",
                                      "maximize a b",
                                      "minimize 123456789012345678901",
                                      "minimize {x}"};
    struct objective o;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(objective_parse(good[i], &o));
        assert_true(objective_is_same(good[i], good[i]));
        assert_int_equal(objective_is_same(good[i], NULL), i == 0); // no text: time
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(objective_parse(bad[i], &o));
        assert_int_equal(o.kind, OBJECTIVE_TIME);
    }
    assert_false(objective_is_same("minimize x", "maximize x"));
}

static void test_costs(void **state)
{
    struct objective o;
    (void)state;
    assert_true(objective_parse("maximize tokens/s", &o));
    assert_true(objective_cost(&o, 40) < objective_cost(&o, 20)); // more is better
    assert_float_equal(objective_value(&o, objective_cost(&o, 40)), 40, 1e-12);
    assert_false(objective_is_time(&o));
    assert_true(objective_parse("minimize MiB", &o));
    assert_true(objective_cost(&o, 20) < objective_cost(&o, 40));
    assert_float_equal(objective_value(&o, objective_cost(&o, 40)), 40, 1e-12);
    assert_false(objective_is_time(&o));
    assert_true(objective_parse("minimize ms", &o));
    assert_float_equal(objective_cost(&o, 40), 0.04, 1e-15);
    assert_true(objective_is_time(&o));
    assert_true(objective_parse("maximize s", &o)); // a cost of it is one by seconds
    assert_false(objective_is_time(&o));
}

TEST_GROUP(objective)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
