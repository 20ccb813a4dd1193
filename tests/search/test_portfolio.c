// Several searches as one: whose turn it is, and that they share what they find.
#include "driver.h"
#include "group.h"
#include "portfolio.h"
#include "search/batches.h"
#include "spaces.h"

#include <math.h>

enum { PARAMS = 5, VALUES = 8 };

static struct space *space_ladders(void)
{
    struct space *s = space_create("ladders");
    for (int i = 0; i < PARAMS; i++)
        add_discrete(s, (char[]){(char)('a' + i), '\0'}, VALUES);
    return sealed(s);
}

static double hill(void *context, const struct config *c)
{
    (void)context;
    double fitness = 1;
    for (int i = 0; i < PARAMS; i++)
        fitness *= pow(0.8, abs(c->slot[i] - (i + 2)));
    return c->slot[0] == 7 ? 0 : fitness;
}

static double reached(const char *spec, const struct space *s, int trials)
{
    enum { SEEDS = 4 };
    double sum = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct search_problem p = {.space = s};
        struct drive d = drive_create(spec, &p, seed);
        d.measure = hill;
        d.workers = 3;
        assert_false(drive_run(&d, trials));
        sum += d.best / SEEDS;
        drive_destroy(&d);
    }
    return sum;
}

static void test_searches(void **state)
{
    (void)state;
    struct space *s = space_ladders();
    assert_true(reached("portfolio", s, 150) > 1.2 * reached("random", s, 150));
    space_destroy(s);
}

// The last point is given too, and then it ends: what one arm asked for, all others know.
static void test_gives_each_point_once(void **state)
{
    (void)state;
    struct space *s = space_create("small");
    add_discrete(s, "a", 5);
    add_discrete(s, "b", 7);
    sealed(s);
    struct search_problem p = {.space = s};
    struct drive d = drive_create("portfolio:window=7", &p, 1);
    d.measure = hill;
    assert_true(drive_run(&d, 1000));
    assert_int_equal(d.asked.count, 35);
    drive_destroy(&d);
    space_destroy(s);
}

// A search that hears of a point never asks for it, and goes on from it.
static void test_hears(void **state)
{
    (void)state;
    struct space *s = space_ladders();
    struct search_problem p = {.space = s};
    struct strategy *l = strategy_create("local:starts=1:kick=1", &p, 1, NULL);
    struct config c, best = {.slot = {2, 3, 4, 5, 6}};
    assert_int_equal(strategy_ask(l, &c), ASK_NEW);
    strategy_tell(l, &c, OUTCOME_OK, hill(NULL, &c));
    for (int n = 0; n < 2; n++) // the second time it knows
        batches_import((struct batches *)l, &best, 1);
    for (int n = 0; n < 5; n++) {
        assert_int_equal(strategy_ask(l, &c), ASK_NEW);
        strategy_tell(l, &c, OUTCOME_OK, hill(NULL, &c));
        int differ = 0;
        for (int i = 0; i < PARAMS; i++)
            differ += c.slot[i] != best.slot[i];
        assert_int_equal(differ, 1);
    }
    strategy_destroy(l);
    space_destroy(s);
}

TEST_GROUP(portfolio)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_searches),
        cmocka_unit_test(test_gives_each_point_once),
        cmocka_unit_test(test_hears),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
