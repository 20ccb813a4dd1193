// Points known from another search: every strategy asks for them first, each once, and searches on.
#include "driver.h"
#include "group.h"
#include "spaces.h"

#include <stddef.h>
#include <string.h>

enum { WARM = 6 };

static const struct {
    const char *spec;
    int first; // asks of its own before them
} cases[] = {
    {"random", 0},
    {"opevo", 0},
    {"opevo:async=1", 0},
    {"opevo:legal=1:lambda=3", 0},
    {"local", 0},
    {"local:starts=1:batch=2", 0},
    {"annealing", 0},
    {"annealing:chains=4", 0},
    {"ga:pop=8", 0},
    {"ga:pop=4", 0}, // fewer than there are
    {"de:pop=8", 0},
    {"de:pop=4", 0},
    {"grid", 0},
    {"gbfs", 1}, // the untiled state
    {"na2c:hidden=4:minibatch=8:batch=4", 0},
    {"na2c:hidden=4:mode=nni", 0},
    {"rnn:hidden=4:embedding=2:batch=3", 0},
    {"tpe:starts=1:batch=4", 0},
    {"autotvm:plan=4:chains=8:steps=10", 0},
    {"forest:plan=4:trees=3", 0},
    {"lfbo:trees=3", 0},
    {"portfolio", 0},
    {"feasible:starts=4", 0},
    {"ansor:plan=4:pop=16:warmup=4", 0},
    {"walk:starts=4", 0},
    {"walk:starts=2:ahead=3", 0},
};
enum { CASES = sizeof cases / sizeof *cases };

static double by_slot(void *context, const struct config *c)
{
    (void)context;
    return 1 + c->slot[0];
}

static bool is_even(void *context, const struct config *c)
{
    (void)context;
    return c->slot[4] % 2 == 0;
}

static void make_warm(const struct space *s, struct config *warm)
{
    struct rng r;
    rng_seed(&r, 3);
    for (int i = 0; i < WARM; i++)
        do
            space_sample(s, &r, &warm[i]);
        while (!is_even(NULL, &warm[i]));
}

static void expect_first(struct drive *d, int first, const struct config *warm)
{
    for (int i = 0; i < WARM; i++) {
        struct config c;
        config_set_get(&d->asked, first + i, &c);
        assert_true(config_equal(&c, &warm[i]));
    }
}

static void test_asked_first(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    struct config warm[WARM];
    make_warm(s, warm);
    struct search_problem problem = {.space = s, .warm = warm, .warm_count = WARM};
    for (int i = 0; i < CASES; i++)
        for (int workers = 1; workers <= 5; workers += 4) {
            if (!strategy_possible(cases[i].spec, NULL))
                continue;
            struct drive d = drive_create(cases[i].spec, &problem, 5);
            d.measure = by_slot;
            d.workers = workers;
            drive_run(&d, 150);
            assert_int_equal(d.asked.count, 150);
            expect_first(&d, cases[i].first, warm);
            drive_destroy(&d);
        }
    space_destroy(s);
}

// Illegal and repeated points are skipped.
static void test_passed_over(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    struct config good[WARM], warm[WARM + 4];
    struct rng r;
    rng_seed(&r, 4);
    make_warm(s, good);
    memcpy(warm + 2, good, sizeof good);
    warm[0] = good[0];
    do
        space_sample(s, &r, &warm[1]);
    while (is_even(NULL, &warm[1]));
    warm[WARM + 2] = good[WARM - 1];
    warm[WARM + 3] = good[1];
    struct search_problem problem = {
        .space = s, .legal = is_even, .warm = warm, .warm_count = WARM + 4};
    for (int i = 0; i < CASES; i++) {
        bool ignores = strstr(cases[i].spec, "random") || str_equal(cases[i].spec, "opevo") ||
                       strstr(cases[i].spec, "async");
        if (!strategy_possible(cases[i].spec, NULL))
            continue;
        struct drive d = drive_create(cases[i].spec, &problem, 5);
        d.measure = by_slot;
        drive_run(&d, 100);
        assert_int_equal(config_set_find(&d.asked, &warm[1]) >= 0, ignores);
        if (!ignores)
            expect_first(&d, 0, good); // gbfs too: the untiled state is illegal here
        drive_destroy(&d);
    }
    space_destroy(s);
}

// All of a small space: nothing is asked twice (the driver sees to that), nothing forgotten.
static void test_nothing_is_lost(void **state)
{
    (void)state;
    struct space *s = space_24();
    struct config warm[5];
    for (int i = 0; i < 5; i++)
        space_point(s, (uint64_t)(i * 5), &warm[i]);
    struct search_problem problem = {.space = s, .warm = warm, .warm_count = 5};
    for (int i = 0; i < CASES; i++) {
        if (!strategy_possible(cases[i].spec, NULL))
            continue;
        struct drive d = drive_create(cases[i].spec, &problem, 9);
        d.measure = by_slot;
        assert_true(drive_run(&d, 100));
        assert_int_equal(d.asked.count, 24);
        drive_destroy(&d);
    }
    space_destroy(s);
}

TEST_GROUP(warm)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asked_first),
        cmocka_unit_test(test_passed_over),
        cmocka_unit_test(test_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
