// Failures that are learned: fewer than of a search that draws, and of one that takes them for slow
// results; and what the bound on the chance of success is for.
#include "driver.h"
#include "group.h"
#include "spaces.h"

#include <math.h>

enum { PARAMS = 6, VALUES = 12, LIMIT = 5, SEEDS = 6, TRIALS = 100 };

static struct space *space_ladders(void)
{
    struct space *s = space_create("ladders");
    for (int i = 0; i < PARAMS; i++)
        add_discrete(s, (char[]){(char)('a' + i), '\0'}, VALUES);
    return sealed(s);
}

// Three quarters of it, as where one resource or another runs out.
static bool fails(const struct config *c)
{
    return c->slot[0] > LIMIT || c->slot[1] > LIMIT;
}

// A hill; counts what fails.
static double walled(void *context, const struct config *c)
{
    double fitness = 1;
    if (fails(c)) {
        ++*(int *)context;
        return 0;
    }
    for (int i = 0; i < PARAMS; i++)
        fitness *= pow(0.85, abs(c->slot[i] - (2 + i)));
    return fitness;
}

struct outcomes {
    double failures, best; // means
};

static struct outcomes searched(const char *spec)
{
    struct outcomes mean = {0};
    struct space *s = space_ladders();
    struct search_problem p = {.space = s};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        int failures = 0;
        struct drive d = drive_create(spec, &p, seed);
        d.measure = walled;
        d.context = &failures;
        drive_run(&d, TRIALS);
        mean.failures += (double)failures / SEEDS;
        mean.best += d.best / SEEDS;
        drive_destroy(&d);
    }
    space_destroy(s);
    return mean;
}

static void test_fails_less(void **state)
{
    (void)state;
    struct outcomes drawn = searched("random"), slow = searched("walk:climb=0"),
                    learned = searched("feasible");
    assert_true(learned.failures < 0.3 * drawn.failures);
    assert_true(learned.failures < 0.7 * slow.failures);
    assert_true(learned.best > 0.95);
    assert_true(learned.best > 1.1 * slow.best);
}

// Without a bound a large improvement is worth a small chance, again and again.
static void test_bound_holds(void **state)
{
    (void)state;
    assert_true(searched("feasible").failures < 0.75 * searched("feasible:bound=0").failures);
}

TEST_GROUP(feasible)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fails_less),
        cmocka_unit_test(test_bound_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
