// Search by a random forest: that it learns, which results it fits, and that failures keep it away.
#include "driver.h"
#include "group.h"
#include "model/trees.h"
#include "spaces.h"

#include <math.h>

static struct space *space_ladders(void)
{
    struct space *s = space_create("ladders");
    for (int i = 0; i < 6; i++)
        add_discrete(s, (char[]){(char)('a' + i), '\0'}, 12);
    return sealed(s);
}

// Each step away costs a tenth; one side of the first parameter fails.
static double hill(void *context, const struct config *c)
{
    (void)context;
    double fitness = 1;
    for (int i = 0; i < 6; i++)
        fitness *= pow(0.9, abs(c->slot[i] - (3 + i)));
    return c->slot[0] > 8 ? 0 : fitness;
}

static struct drive searched(const char *spec, const struct search_problem *p, uint64_t seed)
{
    struct drive d = drive_create(spec, p, seed);
    d.measure = hill;
    drive_run(&d, 200);
    return d;
}

static void test_learns(void **state)
{
    (void)state;
    struct space *s = space_ladders(); // three million points
    struct search_problem p = {.space = s};
    double drawn = 0, learnt = 0, drawn_failures = 0, learnt_failures = 0;
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct drive a = searched("random", &p, seed), b = searched("forest", &p, seed);
        drawn += a.best / 4;
        learnt += b.best / 4;
        for (int i = 100; i < 200; i++) {
            drawn_failures += a.asked.row[i * s->slots] > 8;
            learnt_failures += b.asked.row[i * s->slots] > 8;
        }
        drive_destroy(&a);
        drive_destroy(&b);
    }
    assert_true(drawn < 0.7);
    assert_true(learnt > 1.2 * drawn);
    assert_true(learnt_failures < 0.5 * drawn_failures);
    space_destroy(s);
}

static void test_refits(void **state)
{
    (void)state;
    struct space *s = space_ladders();
    struct search_problem p = {.space = s};
    struct drive d = drive_create("forest:plan=10:trees=5", &p, 1);
    d.measure = hill;
    drive_run(&d, 45);
    struct refit r;
    for (int told = 10; told <= 40; told += 10) {
        assert_true(strategy_take_refit(d.strategy, &r));
        assert_int_equal(r.told, told);
        assert_int_equal(r.rows, told);
        assert_int_equal(r.batch, told == 10 ? 0 : 10);
        assert_true(r.bytes > 0);
    }
    assert_false(strategy_take_refit(d.strategy, &r));
    drive_destroy(&d);
    space_destroy(s);
}

TEST_GROUP(forest)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learns),
        cmocka_unit_test(test_refits),
    };
    if (!trees_available(NULL))
        return group_skip("this build has no XGBoost");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
