// AutoTVM's loop: when it fits, what a plan is made of, what it learns from others.
#include "driver.h"
#include "group.h"
#include "model/trees.h"
#include "nests.h"
#include "spaces.h"
#include "wording.h"

#include <math.h>

enum { PLAN = 64, RANDOM = 3 };

// One parameter decides, of many values each.
static struct space *space_of_halves(void)
{
    struct space *s = space_create("halves");
    add_discrete(s, "half", 2);
    add_factorization(s, "tile", 1024, 4);
    add_discrete(s, "other", 50);
    return sealed(s);
}

static double one_half(void *context, const struct config *c)
{
    (void)context;
    return c->slot[0] == 1 ? 100 + 0.01 * c->slot[1] : 10;
}

static bool is_good(const struct drive *d, int i)
{
    struct config c;
    config_set_get(&d->asked, i, &c);
    return c.slot[0] == 1;
}

// 61 places of each plan are the model's, the last three random; so are all of the first. A model
// of ranks has scores below 0 too, and still fills its places.
static void test_the_last_three_of_a_plan_are_random(void **state)
{
    (void)state;
    struct space *s = space_of_halves();
    struct search_problem problem = {.space = s};
    int bad_first = 0, bad_last = 0;
    for (int seed = 0; seed < 12; seed++) {
        struct drive d =
            drive_create(seed % 2 ? "autotvm:loss=reg" : "autotvm", &problem, (uint64_t)seed);
        d.measure = one_half;
        d.workers = 1 + seed;
        drive_run(&d, 3 * PLAN);
        for (int i = 0; i < 3 * PLAN; i++) {
            if (i < PLAN)
                bad_first += !is_good(&d, i);
            else if (i % PLAN < PLAN - RANDOM)
                assert_true(is_good(&d, i));
            else
                bad_last += !is_good(&d, i);
        }
        drive_destroy(&d);
    }
    assert_in_range(bad_first, 12 * PLAN / 4, 12 * PLAN * 3 / 4);
    assert_in_range(bad_last, 18, 54); // of 72
    space_destroy(s);
}

static double always_fails(void *context, const struct config *c)
{
    (void)context;
    (void)c;
    return 0;
}

// The driver asserts that nothing is asked twice.
static void test_without_a_success_it_never_fits(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    struct search_problem problem = {.space = s};
    struct drive d = drive_create("autotvm", &problem, 1);
    struct refit r;
    d.measure = always_fails;
    d.workers = 4;
    assert_false(drive_run(&d, 400));
    assert_false(strategy_take_refit(d.strategy, &r));
    drive_destroy(&d);
    space_destroy(s);
}

// Failures count for the time of the next fit.
static void test_fits_after_each_plan(void **state)
{
    (void)state;
    struct space *s = space_of_halves();
    struct search_problem problem = {.space = s};
    struct drive d = drive_create("autotvm:plan=32", &problem, 1);
    struct refit r;
    d.measure = one_half;
    drive_run(&d, 32 * 4 + 1);
    for (int i = 1; i <= 4; i++) {
        assert_true(strategy_take_refit(d.strategy, &r));
        assert_int_equal(r.told, 32 * i);
        assert_int_equal(r.rows, 32 * i);
        assert_int_equal(r.batch, i == 1 ? 0 : 32);
        assert_true(r.bytes > 0);
    }
    assert_false(strategy_take_refit(d.strategy, &r));
    drive_destroy(&d);
    space_destroy(s);
}

// Smooth, in what both spaces have.
static double smooth(void *context, const struct config *c)
{
    (void)context;
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += fabs(log2(c->slot[4 * i + (i < 2 ? 1 : 0)]) - 3);
    return 1000 / (1 + sum);
}

enum { RECORDS = 400 };

struct records {
    struct config config[RECORDS];
    double fitness[RECORDS];
    struct search_history history;
};

static struct records *measured(const struct space *s, double scale)
{
    struct records *h = mem_zero(1, sizeof *h);
    struct rng r;
    rng_seed(&r, 9);
    for (int i = 0; i < RECORDS; i++) {
        space_sample(s, &r, &h->config[i]);
        h->fitness[i] = scale * smooth(NULL, &h->config[i]);
    }
    h->history = (struct search_history){"before", s, h->config, h->fitness, RECORDS};
    return h;
}

static double mean_of_first_plan(const struct search_problem *p, int count)
{
    struct drive d = drive_create("autotvm", p, 4);
    double sum = 0;
    d.measure = smooth;
    drive_run(&d, PLAN);
    for (int i = 0; i < count; i++) {
        struct config c;
        config_set_get(&d.asked, i, &c);
        sum += smooth(NULL, &c);
    }
    drive_destroy(&d);
    return sum / count;
}

// The results of another search make the first plan; too few of them are ignored. Their scale
// does not matter: labels are relative to their own best.
static void test_histories_make_the_first_plan(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024), *other = space_mm(1024, 256, 512);
    struct records *h = measured(other, 1e-6);
    struct search_problem problem = {.space = s};
    double alone = mean_of_first_plan(&problem, PLAN - RANDOM);
    problem.history = &h->history;
    problem.history_count = 1;
    double helped = mean_of_first_plan(&problem, PLAN - RANDOM);
    h->history.count = 49;
    double too_few = mean_of_first_plan(&problem, PLAN - RANDOM);
    assert_true(helped > 2 * alone);
    assert_true(too_few == alone);
    free(h);
    space_destroy(other);
    space_destroy(s);
}

static double misleading(const struct config *c)
{
    return c->slot[6] >= 8 ? 1 : 0.1;
}

static double slight(void *context, const struct config *c)
{
    (void)context;
    return 900 + 50 * log2(c->slot[5]) + c->slot[1] % 3;
}

// Each row starts from its own prediction: then a history of large differences that are not there
// is taken back, and the small ones that are there are learned. From others' predictions it would
// stay.
static void test_margins_are_those_of_their_rows(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    struct records *h = measured(s, 1);
    for (int i = 0; i < RECORDS; i++)
        h->fitness[i] = misleading(&h->config[i]);
    struct search_problem problem = {.space = s, .history = &h->history, .history_count = 1};
    struct drive d = drive_create("autotvm:loss=reg:epsilon=0.5", &problem, 4);
    struct refit r;
    d.measure = slight;
    drive_run(&d, 3 * PLAN + 1);
    for (int i = 0; i <= 3; i++) {
        assert_true(strategy_take_refit(d.strategy, &r));
        assert_int_equal(r.told, i * PLAN);
        assert_int_equal(r.rows, RECORDS + i * PLAN);
        assert_true(i != 2 || r.correlation > 0.85);
    }
    drive_destroy(&d);
    free(h);
    space_destroy(s);
}

// The product of nests.h: blocks in registers of 16, depth in pairs.
static double tiled(void *context, const struct config *c)
{
    (void)context;
    double registers = log2(c->slot[2] * c->slot[5]), depth = log2(c->slot[7]);
    return 1000 / (1 + fabs(registers - 4) + fabs(depth - 1));
}

enum { NETWORK_TRIALS = 64 };

static struct drive drive_network(const struct search_problem *p, int workers)
{
    struct drive d = drive_create("autotvm:model=treegru:plan=32:steps=40", p, 6);
    d.measure = tiled;
    d.workers = workers;
    drive_run(&d, NETWORK_TRIALS);
    return d;
}

static double mean_of(const struct drive *d, int from, int count)
{
    double sum = 0;
    for (int i = from; i < from + count; i++) {
        struct config c;
        config_set_get(&d->asked, i, &c);
        sum += tiled(NULL, &c) / count;
    }
    return sum;
}

static void test_the_network_plans(void **state)
{
    (void)state;
    struct config c;
    struct space *s = space_with_product(&c);
    struct search_problem problem = {.space = s};
    struct drive d = drive_network(&problem, 1), again = drive_network(&problem, 7);
    assert_true(mean_of(&d, 32, 30) > 1.5 * mean_of(&d, 0, 32));
    assert_int_equal(d.asked.count, again.asked.count);
    assert_memory_equal(d.asked.row, again.asked.row,
                        (size_t)(d.asked.count * d.asked.slots) * sizeof *d.asked.row);
    // A space like it was measured before.
    struct config known[NETWORK_TRIALS];
    double fitness[NETWORK_TRIALS];
    for (int i = 0; i < NETWORK_TRIALS; i++) {
        config_set_get(&d.asked, i, &known[i]);
        fitness[i] = tiled(NULL, &known[i]);
    }
    const struct search_history history = {"before", s, known, fitness, NETWORK_TRIALS};
    problem.history = &history;
    problem.history_count = 1;
    struct drive helped = drive_network(&problem, 1);
    assert_true(mean_of(&helped, 0, 30) > 1.5 * mean_of(&d, 0, 30));
    drive_destroy(&helped);
    drive_destroy(&again);
    drive_destroy(&d);
    space_and_nest_destroy(s);
}

// The trees, on all that they may see of a loop nest.
static void test_the_trees_plan(void **state)
{
    (void)state;
    static const char *const specs[] = {"autotvm:plan=32", "autotvm:plan=32:features=curve",
                                        "autotvm:plan=32:features=knob:diversity=0.1"};
    struct config c;
    struct space *s = space_with_product(&c);
    struct search_problem problem = {.space = s};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct drive d = drive_create(specs[i], &problem, 6);
        d.measure = tiled;
        d.workers = 3;
        drive_run(&d, 64);
        assert_true(mean_of(&d, 32, 30) > 1.5 * mean_of(&d, 0, 32));
        drive_destroy(&d);
    }
    space_and_nest_destroy(s);
}

static void test_features_need_what_they_describe(void **state)
{
    (void)state;
    struct space *s = space_24();
    struct search_problem problem = {.space = s};
    struct err e;
    assert_null(strategy_create("autotvm:features=itervar", &problem, 1, &e));
    wording_is("search", "autotvm: itervar without a nest", e.text);
    assert_null(strategy_create("autotvm:model=treegru", &problem, 1, &e));
    wording_is("search", "autotvm: treegru without a nest", e.text);
    assert_null(strategy_create("autotvm:model=treegru:features=knob", &problem, 1, &e));
    wording_is("search", "autotvm: knobs for treegru", e.text);
    space_destroy(s);
}

TEST_GROUP(autotvm)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_last_three_of_a_plan_are_random),
        cmocka_unit_test(test_without_a_success_it_never_fits),
        cmocka_unit_test(test_fits_after_each_plan),
        cmocka_unit_test(test_histories_make_the_first_plan),
        cmocka_unit_test(test_margins_are_those_of_their_rows),
        cmocka_unit_test(test_the_network_plans),
        cmocka_unit_test(test_the_trees_plan),
        cmocka_unit_test(test_features_need_what_they_describe),
    };
    if (!trees_available(NULL))
        return group_skip("this build has no XGBoost");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
