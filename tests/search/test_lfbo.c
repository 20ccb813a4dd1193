// Paths guided by a forest: that they learn, what moves they make, and that the best is polished.
#include "driver.h"
#include "group.h"
#include "spaces.h"

#include <math.h>

enum { PARAMS = 6, VALUES = 12, STARTS = 20 };

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
        fitness *= pow(0.9, abs(c->slot[i] - (3 + i)));
    return c->slot[0] > 8 ? 0 : fitness;
}

static struct drive searched(const char *spec, const struct space *s, uint64_t seed, int trials)
{
    struct search_problem p = {.space = s};
    struct drive d = drive_create(spec, &p, seed);
    d.measure = hill;
    drive_run(&d, trials);
    return d;
}

static void test_learns(void **state)
{
    (void)state;
    enum { SEEDS = 4, TRIALS = 120 };
    struct space *s = space_ladders();
    double drawn = 0, learned = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct drive a = searched("random", s, seed, TRIALS), b = searched("lfbo", s, seed, TRIALS);
        drawn += a.best / SEEDS;
        learned += b.best / SEEDS;
        drive_destroy(&a);
        drive_destroy(&b);
    }
    assert_true(learned > 1.3 * drawn);
    space_destroy(s);
}

// The first generation of each path: a size moves by 1 to `radius` steps and up to `radius` times
// another parameter by one; from the best three of the starts, two from each.
static void test_first_moves(void **state)
{
    (void)state;
    enum { RADIUS = 2, COPIES = 3, MEASURED = 2 };
    struct space *s = space_ladders();
    struct search_problem p = {.space = s};
    for (uint64_t seed = 0; seed < 5; seed++) {
        struct strategy *l = strategy_create("lfbo:trees=10", &p, seed, NULL);
        struct config c[STARTS + COPIES * MEASURED];
        int64_t from[SPACE_MAX_PARAMS];
        double best[COPIES] = {0};
        for (int n = 0; n < STARTS + COPIES * MEASURED; n++) {
            assert_int_equal(strategy_ask(l, &c[n]), ASK_NEW);
            assert_int_equal(strategy_origin(l, from), n >= STARTS);
            if (n < STARTS) {
                double f = hill(NULL, &c[n]);
                strategy_tell(l, &c[n], f > 0 ? OUTCOME_OK : OUTCOME_CRASH, f);
                for (int k = 0; k < COPIES; k++)
                    if (f > best[k]) {
                        double less = best[k];
                        best[k] = f;
                        f = less;
                    }
                continue;
            }
            const struct config *parent = &c[from[0] - 1];
            assert_true(hill(NULL, parent) == best[(n - STARTS) / MEASURED]);
            assert_in_range(space_distance(s, parent, &c[n]), 1, 2 * RADIUS);
        }
        for (int n = STARTS; n < STARTS + COPIES * MEASURED; n++)
            strategy_tell(l, &c[n], OUTCOME_OK, 1e-3);
        strategy_destroy(l);
    }
    space_destroy(s);
}

// When its paths have ended, no single step from the best of all was left out.
static void test_polishes(void **state)
{
    (void)state;
    struct space *s = space_ladders();
    struct drive d = searched("lfbo:trees=20:patience=0:copies=1", s, 1, 250);
    struct config best, next;
    int at = 0;
    for (int i = 1; i < d.asked.count; i++) {
        config_set_get(&d.asked, i, &next);
        config_set_get(&d.asked, at, &best);
        at = hill(NULL, &next) > hill(NULL, &best) ? i : at;
    }
    config_set_get(&d.asked, at, &best);
    assert_true(hill(NULL, &best) == 1);
    for (int k = 0; k < space_degree(s, &best); k++) {
        space_neighbour(s, &best, k, &next);
        assert_true(config_set_find(&d.asked, &next) >= 0);
    }
    drive_destroy(&d);
    space_destroy(s);
}

TEST_GROUP(lfbo)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learns),
        cmocka_unit_test(test_first_moves),
        cmocka_unit_test(test_polishes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
