// Grid search: the order of the space's index, in spaces of any size.
#include "driver.h"
#include "group.h"
#include "spaces.h"

static bool one_in_five(void *context, const struct config *c)
{
    (void)context;
    return config_hash(c) % 5 == 0;
}

static bool nothing(void *context, const struct config *c)
{
    (void)context;
    (void)c;
    return false;
}

static void check_order(const struct search_problem *problem, bool legal_only)
{
    struct strategy *g = strategy_create("grid", problem, 1, NULL);
    struct config asked, expected;
    for (uint64_t i = 0; i < problem->space->size; i++) {
        space_point(problem->space, i, &expected);
        if (legal_only && !one_in_five(NULL, &expected))
            continue;
        assert_int_equal(strategy_ask(g, &asked), ASK_NEW); // many open: it waits for nothing
        assert_true(config_equal(&asked, &expected));
    }
    assert_int_equal(strategy_ask(g, &asked), ASK_EXHAUSTED);
    strategy_destroy(g);
}

static void test_order_of_the_index(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    check_order(&(struct search_problem){.space = s}, false);
    check_order(&(struct search_problem){.space = s, .legal = one_in_five}, true);
    space_destroy(s);
}

// More than 2^64 points; a carry is seen every 210 of them.
static void test_huge_space_is_counted_through(void **state)
{
    (void)state;
    struct space *s = space_create("huge");
    add_permutation(s, "first", 16);
    add_permutation(s, "second", 16);
    add_discrete(s, "third", 210);
    struct search_problem problem = {.space = sealed(s)};
    assert_true(s->size == UINT64_MAX);
    struct strategy *g = strategy_create("grid", &problem, 1, NULL);
    for (uint64_t i = 0; i < 10000; i++) {
        struct config asked, expected = {0};
        assert_int_equal(strategy_ask(g, &asked), ASK_NEW);
        param_value(&s->param[0], 0, expected.slot + s->param[0].offset);
        param_value(&s->param[1], i / 210, expected.slot + s->param[1].offset);
        param_value(&s->param[2], i % 210, expected.slot + s->param[2].offset);
        assert_true(config_equal(&asked, &expected));
    }
    strategy_destroy(g);
    space_destroy(s);
}

static void test_nothing_legal_ends(void **state)
{
    (void)state;
    struct config c;
    struct space *spaces[] = {space_24(), space_create("large")};
    for (int i = 0; i < 8; i++)
        add_discrete(spaces[1], (char[]){(char)('A' + i), '\0'}, 4000);
    sealed(spaces[1]);
    for (int i = 0; i < 2; i++) {
        struct search_problem problem = {.space = spaces[i], .legal = nothing};
        struct strategy *g = strategy_create("grid", &problem, 1, NULL);
        assert_int_equal(strategy_ask(g, &c), ASK_EXHAUSTED);
        strategy_destroy(g);
        space_destroy(spaces[i]);
    }
}

TEST_GROUP(grid)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_of_the_index),
        cmocka_unit_test(test_huge_space_is_counted_through),
        cmocka_unit_test(test_nothing_legal_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
