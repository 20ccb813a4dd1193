// Searches that honour constraints, where four of five points are illegal: they propose legal ones,
// all of them in the end, without looking at too many; and constraints that forbid nothing change
// nothing.
#include "driver.h"
#include "group.h"
#include "spaces.h"

#include <string.h>

// random is not among them because it ignores constraints by design, and rnn has tests of its own
// (test_rnn.c): it learns from the illegal points that it draws, so what holds for its looks is
// another thing.
static const char *const specs[] = {
    "ga",
    "ga:pop=10",
    "annealing",
    "annealing:jump=0:chains=3",
    "local",
    "local:reach=0:starts=1",
    "local:batch=5",
    "de",
    "de:pop=8:best=0",
    "grid",
    "gbfs",
    "gbfs:rho=1",
    "na2c:hidden=4:minibatch=8",
    "na2c:hidden=4:mode=nni",
    "opevo:legal=1",
    "tpe",
    "tpe:joint=0",
    "autotvm:plan=40:chains=8:steps=10",
    "forest:plan=50:trees=5",
    "lfbo:trees=3:near=20",
    "ansor:plan=100:pop=64",
};

enum { SPECS = sizeof specs / sizeof *specs };

// Scattered: hardly a legal point has a legal neighbour. Counts how often it is asked.
static bool scattered(void *context, const struct config *c)
{
    ++*(int *)context;
    return config_hash(c) % 5 == 0;
}

// As kernels have it: products of tile sizes within a limit; islands and long ridges.
static bool products(void *context, const struct config *c)
{
    ++*(int *)context;
    int64_t threads = (int64_t)c->slot[1] * c->slot[4], cells = (int64_t)c->slot[2] * c->slot[5];
    return threads >= 32 && threads <= 256 && cells >= 2 && cells <= 16;
}

static bool everything(void *context, const struct config *c)
{
    (void)c;
    ++*(int *)context;
    return true;
}

static double spread(void *context, const struct config *c)
{
    (void)context;
    uint64_t h = config_hash(c) >> 11;
    return h % 7 == 0 ? 0 : 1 + (double)(h % 1000);
}

static struct space *space_tiles(void)
{
    struct space *s = space_create("tiles");
    add_factorization(s, "m", 1024, 3);
    add_factorization(s, "n", 1024, 3);
    add_discrete(s, "unroll", 6);
    add_categorical(s, "layout", 3);
    return sealed(s);
}

static void check_legal(struct space *s, bool (*legal)(void *context, const struct config *c))
{
    enum { TRIALS = 1000, LOOKS = 40, CANDIDATES = 24 }; // looks a point; one in five is legal
    for (int i = 0; i < SPECS; i++) {
        int looks = 0, ignored = 0;
        struct search_problem problem = {.space = s, .legal = legal, .context = &looks};
        if (!strategy_possible(specs[i], NULL))
            continue;
        struct drive d = drive_create(specs[i], &problem, (uint64_t)i);
        d.measure = spread;
        d.workers = 1 + i % 4;
        assert_false(drive_run(&d, TRIALS));
        bool chooses = str_starts(specs[i], "tpe") || str_starts(specs[i], "ansor") ||
                       str_starts(specs[i], "forest") || str_starts(specs[i], "lfbo");
        int points = chooses ? CANDIDATES : 1; // that a trial is the best of
        assert_in_range(looks, TRIALS, TRIALS * LOOKS * points);
        for (int n = 0; n < TRIALS; n++) {
            struct config c;
            config_set_get(&d.asked, n, &c);
            assert_true(legal(&ignored, &c));
        }
        drive_destroy(&d);
    }
}

static double share(const struct space *s, bool (*legal)(void *context, const struct config *c))
{
    int looks = 0, count = 0;
    struct rng r;
    rng_seed(&r, 1);
    for (int i = 0; i < 10000; i++) {
        struct config c;
        space_sample(s, &r, &c);
        count += legal(&looks, &c);
    }
    return count / 10000.0;
}

static void test_proposals_are_legal_and_quick(void **state)
{
    (void)state;
    struct space *s = space_tiles();
    assert_in_range(100 * share(s, scattered), 18, 22);
    assert_in_range(100 * share(s, products), 5, 22);
    check_legal(s, scattered);
    check_legal(s, products);
    space_destroy(s);
}

static void test_all_legal_points_are_found(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    int looks = 0, legal = 0;
    for (uint64_t i = 0; i < s->size; i++) {
        struct config c;
        space_point(s, i, &c);
        legal += scattered(&looks, &c);
    }
    struct search_problem problem = {.space = s, .legal = scattered, .context = &looks};
    for (int i = 0; i < SPECS; i++) {
        if (!strategy_possible(specs[i], NULL))
            continue;
        struct drive d = drive_create(specs[i], &problem, (uint64_t)i);
        d.measure = spread;
        assert_true(drive_run(&d, 1 << 20));
        assert_int_equal(d.asked.count, legal);
        drive_destroy(&d);
    }
    space_destroy(s);
}

static bool is_point(void *context, const struct config *c)
{
    struct verdict v;
    return space_judge(context, NULL, c, &v, NULL) && v.legal;
}

// Whatever moves comes to rest: of a conditional space all points are found and nothing else, with
// or without being told what is legal.
static void test_conditional_spaces(void **state)
{
    (void)state;
    struct space *s = space_conditional();
    for (int i = 0; i < 2 * SPECS; i++) {
        struct search_problem problem = {
            .space = s, .legal = i < SPECS ? is_point : NULL, .context = s};
        if (!strategy_possible(specs[i % SPECS], NULL))
            continue;
        struct drive d = drive_create(specs[i % SPECS], &problem, (uint64_t)i);
        d.measure = spread;
        assert_true(drive_run(&d, 1 << 20));
        assert_int_equal(d.asked.count, s->size);
        for (int n = 0; n < d.asked.count; n++) {
            struct config c;
            config_set_get(&d.asked, n, &c);
            assert_true(is_point(s, &c));
        }
        drive_destroy(&d);
    }
    space_destroy(s);
}

// Nor do they draw random numbers for it: the search is the same to the last trial.
static void test_rules_that_forbid_nothing_change_nothing(void **state)
{
    (void)state;
    struct space *s = space_tiles();
    int looks = 0;
    struct search_problem free = {.space = s};
    struct search_problem ruled = {.space = s, .legal = everything, .context = &looks};
    for (int i = 0; i < SPECS; i++) {
        if (!strncmp(specs[i], "opevo", 5))
            continue; // draws otherwise, from the same distribution
        if (!strategy_possible(specs[i], NULL))
            continue;
        struct drive a = drive_create(specs[i], &free, 7), b = drive_create(specs[i], &ruled, 7);
        a.measure = b.measure = spread;
        drive_run(&a, 1000);
        drive_run(&b, 1000);
        assert_memory_equal(a.asked.row, b.asked.row,
                            1000 * (size_t)s->slots * sizeof *a.asked.row);
        drive_destroy(&a);
        drive_destroy(&b);
    }
    assert_true(looks > 1000);
    space_destroy(s);
}

// One draw among the legal points is as likely as another, and so is the first of every search.
static void test_first_point_is_uniform_among_legal_ones(void **state)
{
    (void)state;
    struct space *s = space_24();
    int looks = 0, cells = 0, cell[24];
    struct config_set all = {.slots = s->slots};
    for (uint64_t i = 0; i < 24; i++) {
        struct config c;
        space_point(s, i, &c);
        config_set_add(&all, &c, NULL);
        cell[i] = scattered(&looks, &c) ? cells++ : -1;
    }
    assert_in_range(cells, 3, 12);
    struct search_problem problem = {.space = s, .legal = scattered, .context = &looks};
    const char *const drawing[] = {"ga:pop=3", "annealing", "local", "de:pop=4"};
    for (int i = 0; i < 4; i++) {
        int count[24] = {0};
        double uniform[24];
        for (uint64_t seed = 0; seed < 2400; seed++) {
            struct drive d = drive_create(drawing[i], &problem, seed);
            drive_run(&d, 1);
            struct config c;
            config_set_get(&d.asked, 0, &c);
            count[cell[config_set_find(&all, &c)]]++;
            drive_destroy(&d);
        }
        for (int k = 0; k < cells; k++)
            uniform[k] = 1.0 / cells;
        assert_true(chi_square(cells, count, uniform) < chi_square_limit(cells - 1));
    }
    config_set_finish(&all);
    space_destroy(s);
}

TEST_GROUP(legal)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conditional_spaces),
        cmocka_unit_test(test_proposals_are_legal_and_quick),
        cmocka_unit_test(test_all_legal_points_are_found),
        cmocka_unit_test(test_rules_that_forbid_nothing_change_nothing),
        cmocka_unit_test(test_first_point_is_uniform_among_legal_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
