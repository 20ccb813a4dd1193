// walk with the options that make a promise count for more or less: by what a trial costs, and by
// whether it will succeed.
#include "driver.h"
#include "group.h"
#include "spaces.h"

#include <math.h>

enum { PARAMS = 6, VALUES = 12, LIMIT = 5, SEEDS = 6, TRIALS = 80 };

static struct space *space_ladders(void)
{
    struct space *s = space_create("ladders");
    for (int i = 0; i < PARAMS; i++)
        add_discrete(s, (char[]){(char)('a' + i), '\0'}, VALUES);
    return sealed(s);
}

// Two hills that are alike: the first parameter says on which one a point is.
static double hills(void *context, const struct config *c)
{
    (void)context;
    int first = c->slot[0] < VALUES / 2 ? c->slot[0] : VALUES - 1 - c->slot[0];
    double fitness = pow(0.85, abs(first - 2));
    for (int i = 1; i < PARAMS; i++)
        fitness *= pow(0.85, abs(c->slot[i] - (2 + i)));
    return fitness;
}

// On the second hill everything takes long.
static double dear(const struct config *c)
{
    return c->slot[0] < VALUES / 2 ? 1 : 10;
}

static double even(const struct config *c)
{
    (void)c;
    return 2.5;
}

// Nobody says what half of the points take.
static double partly(const struct config *c)
{
    return c->slot[1] % 2 ? even(c) : 0;
}

// Three quarters of the space fail; the best lies at the border.
static double walled(void *context, const struct config *c)
{
    if (c->slot[0] > LIMIT || c->slot[1] > LIMIT) {
        ++*(int *)context;
        return 0;
    }
    double fitness = 1;
    for (int i = 0; i < PARAMS; i++)
        fitness *= pow(0.85, abs(c->slot[i] - (2 + i)));
    return fitness;
}

struct searched {
    double best, seconds, failures;
    uint64_t asks; // a hash of them, in their order
};

struct way {
    const char *spec;
    double (*measure)(void *context, const struct config *c);
    double (*takes)(const struct config *c);
    int workers;
};

static struct searched search(const struct way *way, uint64_t seed)
{
    struct space *s = space_ladders();
    struct search_problem p = {.space = s};
    struct drive d = drive_create(way->spec, &p, seed);
    struct searched out = {0};
    int failures = 0;
    d.measure = way->measure;
    d.takes = way->takes;
    d.context = &failures;
    d.workers = way->workers ? way->workers : 1;
    drive_run(&d, TRIALS);
    for (int i = 0; i < d.asked.count; i++) {
        struct config c;
        config_set_get(&d.asked, i, &c);
        out.asks = out.asks * 31 + config_hash(&c);
        out.seconds += dear(&c);
    }
    out.best = d.best;
    out.failures = failures;
    drive_destroy(&d);
    space_destroy(s);
    return out;
}

static struct searched mean_of(const struct way *way)
{
    struct searched mean = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct searched one = search(way, seed);
        mean.best += one.best / SEEDS;
        mean.seconds += one.seconds / SEEDS;
        mean.failures += one.failures / SEEDS;
    }
    return mean;
}

// The search climbs the cheaper one of two equally high hills.
static void test_takes_the_cheap_hill(void **state)
{
    (void)state;
    struct searched plain = mean_of(&(struct way){"walk:cost=0", hills, dear, 1});
    struct searched thrifty = mean_of(&(struct way){"walk:cost=1", hills, dear, 1});
    assert_true(thrifty.seconds < 0.6 * plain.seconds);
    assert_true(thrifty.best > 0.95 * plain.best);
}

// It fails less often, and what it measures instead is better.
static void test_fails_less(void **state)
{
    (void)state;
    struct searched plain = mean_of(&(struct way){"walk", walled, NULL, 1});
    struct searched careful = mean_of(&(struct way){"walk:chance=1", walled, NULL, 1});
    assert_true(careful.failures < 0.85 * plain.failures);
    assert_true(careful.best > 1.1 * plain.best);
}

static void assert_same(const struct way *a, const struct way *b)
{
    for (uint64_t seed = 0; seed < 2; seed++)
        assert_true(search(a, seed).asks == search(b, seed).asks);
}

// Without the options neither times nor failures are heeded; with them, times that are all the same
// or not known, and trials that all succeed, change nothing.
static void test_what_changes_nothing(void **state)
{
    (void)state;
    const struct way plain = {"walk:cost=0", hills, NULL, 1};
    assert_same(&plain, &(struct way){"walk:cost=0", hills, dear, 1});
    assert_same(&plain, &(struct way){"walk:cost=1", hills, NULL, 1});
    assert_same(&plain, &(struct way){"walk:cost=2", hills, even, 1});
    assert_same(&plain, &(struct way){"walk:cost=2", hills, partly, 1});
    assert_same(&plain, &(struct way){"walk:cost=0:chance=1", hills, dear, 1});
}

// The proposals depend on the observed results, not on the number of open trials.
static void test_any_number_of_workers(void **state)
{
    (void)state;
    static const char spec[] = "walk:ahead=2:cost=1:chance=1";
    assert_same(&(struct way){spec, walled, dear, 1}, &(struct way){spec, walled, dear, 3});
    struct way plain = {"walk:ahead=2:cost=0", walled, dear, 1}, weighed = {spec, walled, dear, 1};
    assert_true(search(&plain, 1).asks != search(&weighed, 1).asks);
}

TEST_GROUP(worth)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_takes_the_cheap_hill),
        cmocka_unit_test(test_fails_less),
        cmocka_unit_test(test_what_changes_nothing),
        cmocka_unit_test(test_any_number_of_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
