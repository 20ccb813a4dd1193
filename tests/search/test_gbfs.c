// The properties of G-BFS: the order of its queue, its sample, and our choices where the paper
// leaves a point open.
#include "driver.h"
#include "group.h"
#include "spaces.h"

#include "search/actions.h"

#include <math.h>
#include <string.h>

// A speed for every point, all different and in no order.
static double scrambled(void *context, const struct config *c)
{
    (void)context;
    return 1 + (double)(config_hash(c) >> 11) * 0x1p-53;
}

static double always_1(void *context, const struct config *c)
{
    (void)context;
    (void)c;
    return 1;
}

static void give(const struct drive *d, int i, struct config *out)
{
    config_set_get(&d->asked, i, out);
}

// With rho >= the neighbours: all are visited, each round the whole unvisited neighbourhood of the
// fastest that still has one, by the test's own book-keeping.
static void check_best_first(const char *spec)
{
    struct space *s = space_24();
    struct search_problem problem = {.space = s};
    struct drive d = drive_create(spec, &problem, 3);
    d.measure = scrambled;
    assert_true(drive_run(&d, 100));
    assert_int_equal(d.asked.count, 24);

    struct config c, near;
    bool expanded[24] = {false};
    give(&d, 0, &c);
    actions_start(s, &near);
    assert_true(config_equal(&c, &near));
    for (int done = 1; done < 24;) {
        int fastest = -1, fresh = 0;
        for (int i = 0; i < done; i++) {
            struct config best;
            give(&d, i, &c);
            if (fastest >= 0)
                give(&d, fastest, &best);
            if (!expanded[i] && (fastest < 0 || scrambled(NULL, &c) > scrambled(NULL, &best)))
                fastest = i;
        }
        assert_true(fastest >= 0);
        expanded[fastest] = true;
        give(&d, fastest, &c);
        for (int k = 0; k < space_degree(s, &c); k++) {
            space_neighbour(s, &c, k, &near);
            int index = config_set_find(&d.asked, &near);
            if (index < done)
                continue;
            fresh++; // it must be among the next, in whatever order
        }
        for (int i = done; i < done + fresh; i++) {
            give(&d, i, &near);
            assert_int_equal(space_distance(s, &c, &near), 1);
        }
        done += fresh;
    }
    drive_destroy(&d);
    space_destroy(s);
}

static void test_best_first_order(void **state)
{
    (void)state;
    check_best_first("gbfs:rho=100");
    check_best_first("gbfs:rho=100:mode=paper");
}

// With every neighbour of the best state known it goes on, where NNI's would raise "no candidates".
static void test_empty_batch_is_no_end(void **state)
{
    (void)state;
    struct space *s = space_create("line");
    add_discrete(s, "a", 3);
    add_discrete(s, "b", 3);
    struct search_problem problem = {.space = sealed(s)};
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct drive d = drive_create("gbfs:rho=4:mode=paper", &problem, seed);
        d.measure = scrambled;
        assert_true(drive_run(&d, 100));
        assert_int_equal(d.asked.count, 9);
        drive_destroy(&d);
    }
    space_destroy(s);
}

// rho less than the neighbours: the paper's search forgets states and misses some; ours does not.
static void test_paper_forgets_states_default_does_not(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    struct search_problem problem = {.space = s};
    int missed = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct drive paper = drive_create("gbfs:rho=1:mode=paper", &problem, seed);
        struct drive ours = drive_create("gbfs:rho=1", &problem, seed);
        paper.measure = ours.measure = scrambled;
        assert_true(drive_run(&paper, 2000));
        assert_true(drive_run(&ours, 2000));
        missed += paper.asked.count < 1080;
        assert_int_equal(ours.asked.count, 1080);
        drive_destroy(&paper);
        drive_destroy(&ours);
    }
    assert_true(missed >= 9);
    space_destroy(s);
}

static int ask_round(struct strategy *s, struct config *out, int most)
{
    int count = 0;
    while (count < most && strategy_ask(s, &out[count]) == ASK_NEW)
        count++;
    return count;
}

// The batch is a barrier: rho and no more are out at a time, all neighbours of what was fastest.
static void test_batches_of_rho(void **state)
{
    (void)state;
    struct space *s = space_mm(1024, 1024, 1024);
    struct search_problem problem = {.space = s};
    struct strategy *g = strategy_create("gbfs", &problem, 1, NULL);
    struct config c[32];
    assert_int_equal(ask_round(g, c, 32), 1);
    strategy_tell(g, &c[0], OUTCOME_OK, 1);
    for (int round = 1; round < 30; round++) {
        struct individual front;
        assert_int_equal(strategy_population(g, 1, &front), 1);
        struct config fastest = *front.config;
        int64_t ask = front.ask, from[SPACE_MAX_PARAMS];
        assert_int_equal(ask_round(g, c, 32), 5); // the newest is last asked
        assert_int_equal(strategy_generation(g), round);
        assert_true(strategy_origin(g, from));
        for (int i = 0; i < s->param_count; i++)
            assert_int_equal(from[i], ask);
        for (int i = 0; i < 5; i++) {
            assert_int_equal(space_distance(s, &fastest, &c[i]), 1);
            for (int p = 0; p < s->param_count; p++)
                assert_true(param_valid(&s->param[p], c[i].slot + s->param[p].offset));
            strategy_tell(g, &c[i], OUTCOME_OK, scrambled(NULL, &c[i]) + round);
        }
    }
    strategy_destroy(g);
    space_destroy(s);
}

// The newest of equal speed is expanded first, as in NNI.
static void test_ties_newest_first(void **state)
{
    (void)state;
    struct space *s = space_create("ladder");
    add_discrete(s, "a", 1000);
    struct search_problem problem = {.space = sealed(s)};
    struct drive d = drive_create("gbfs:rho=1", &problem, 1);
    d.measure = always_1;
    drive_run(&d, 50);
    for (int i = 0; i < 50; i++) {
        struct config c;
        give(&d, i, &c);
        assert_int_equal(c.slot[0], i); // always on from where it is
    }
    drive_destroy(&d);
    space_destroy(s);
}

// Slots below 5 and above 20 are valid, what is between fails: failures are expanded last, and so
// crossed.
static double gap(void *context, const struct config *c)
{
    (void)context;
    int a = c->slot[0];
    return a < 5 ? 10 - a : a > 8 ? 100 + a : 0;
}

static void test_failures_are_crossed_last(void **state)
{
    (void)state;
    struct space *s = space_create("gap");
    add_discrete(s, "a", 30);
    struct search_problem problem = {.space = sealed(s)};
    const char *const specs[] = {"gbfs:rho=2", "gbfs:rho=2:mode=paper"};
    for (int i = 0; i < 2; i++) {
        struct drive d = drive_create(specs[i], &problem, 1);
        d.measure = gap;
        assert_true(drive_run(&d, 100));
        assert_int_equal(d.asked.count, 30);
        assert_true(d.best == 129);
        drive_destroy(&d);
    }
    space_destroy(s);
}

// The population is the front of the queue, without failures.
static void test_population_is_the_queue_without_failures(void **state)
{
    (void)state;
    struct space *s = space_create("star");
    add_categorical(s, "a", 10);
    struct search_problem problem = {.space = sealed(s)};
    struct strategy *g = strategy_create("gbfs", &problem, 1, NULL);
    struct individual shown[8];
    struct config c[8];
    assert_int_equal(ask_round(g, c, 8), 1);
    assert_int_equal(strategy_population(g, 8, shown), 0);
    strategy_tell(g, &c[0], OUTCOME_OK, 10);
    assert_int_equal(ask_round(g, c, 8), 5);
    assert_int_equal(strategy_population(g, 8, shown), 0); // it was taken out
    for (int i = 0; i < 5; i++)
        strategy_tell(g, &c[i], i % 2 ? OUTCOME_TIMEOUT : OUTCOME_OK, i % 2 ? 0 : 11 - i);
    assert_int_equal(strategy_population(g, 8, shown), 4); // and is back
    const struct individual expected[4] = {
        {&c[0], 2, 11, 1}, {NULL, 1, 10, 0}, {&c[2], 4, 9, 1}, {&c[4], 6, 7, 1}};
    for (int i = 0; i < 4; i++) {
        assert_true(!expected[i].config || config_equal(shown[i].config, expected[i].config));
        assert_int_equal(shown[i].ask, expected[i].ask);
        assert_true(shown[i].fitness == expected[i].fitness);
        assert_int_equal(shown[i].generation, expected[i].generation);
    }
    assert_int_equal(strategy_population(g, 2, shown), 2);
    strategy_destroy(g);
    space_destroy(s);
}

static double high_only(void *context, const struct config *c)
{
    (void)context;
    return c->slot[0] >= 900 ? c->slot[0] : 0;
}

// The untiled state fails: uniform draws, one at a time, until one is valid.
static void test_invalid_start_is_replaced_by_draws(void **state)
{
    (void)state;
    struct space *s = space_create("high");
    add_discrete(s, "a", 1000);
    struct search_problem problem = {.space = sealed(s)};
    int draws = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct strategy *g = strategy_create("gbfs", &problem, seed, NULL);
        struct config c, second;
        for (double fitness = 0; fitness == 0;) {
            int64_t from[SPACE_MAX_PARAMS];
            assert_int_equal(strategy_ask(g, &c), ASK_NEW);
            assert_int_equal(strategy_ask(g, &second), ASK_WAIT);
            assert_false(strategy_origin(g, from));
            fitness = high_only(NULL, &c);
            strategy_tell(g, &c, fitness > 0 ? OUTCOME_OK : OUTCOME_TIMEOUT, fitness);
            draws++;
        }
        assert_int_equal(strategy_ask(g, &second), ASK_NEW);
        assert_int_equal(abs(second.slot[0] - c.slot[0]), 1);
        strategy_destroy(g);
    }
    assert_in_range(draws, 200 * 8, 200 * 14); // 1 + 10 each: a tenth is valid
    space_destroy(s);
}

// NNI's stall: a failure as the last of a batch makes no next one.
static void test_nni_stall_last_of_batch_fails(void **state)
{
    (void)state;
    struct space *s = space_mm(256, 256, 256);
    struct search_problem problem = {.space = s};
    struct strategy *g = strategy_create("gbfs", &problem, 1, NULL);
    struct config c[8];
    assert_int_equal(ask_round(g, c, 8), 1);
    strategy_tell(g, &c[0], OUTCOME_OK, 1);
    for (int round = 0; round < 20; round++) {
        int count = ask_round(g, c, 8);
        assert_in_range(count, 1, 5);
        for (int i = 0; i < count; i++) {
            bool last = i == count - 1;
            strategy_tell(g, &c[i], last ? OUTCOME_CRASH : OUTCOME_OK, last ? 0 : 2);
        }
    }
    strategy_destroy(g);
    space_destroy(s);
}

static bool never_3(void *context, const struct config *c)
{
    (void)context;
    return c->slot[0] != 3;
}

// A wall of illegal states: mode=paper ends at it; else the search goes on behind it. With legal=0
// the wall is given too.
static void test_space_cut_in_pieces(void **state)
{
    (void)state;
    struct space *s = space_create("wall");
    add_discrete(s, "a", 8);
    struct search_problem problem = {.space = sealed(s), .legal = never_3};
    const struct {
        const char *spec;
        int asked;
    } cases[] = {{"gbfs", 7}, {"gbfs:mode=paper", 3}, {"gbfs:legal=0", 8}};
    for (int i = 0; i < 3; i++) {
        struct drive d = drive_create(cases[i].spec, &problem, 1);
        d.measure = scrambled;
        assert_true(drive_run(&d, 100));
        assert_int_equal(d.asked.count, cases[i].asked);
        drive_destroy(&d);
    }
    space_destroy(s);
}

// The first sample of many runs: uniform over the neighbours of the start; with rules, over the
// legal ones.
static bool not_mostly_0(void *context, const struct config *c)
{
    (void)context;
    return c->slot[0] == 0 || c->slot[0] % 5 == 1;
}

static void check_sample(struct search_problem *problem, int first, int step, int expected)
{
    int count[64] = {0}, cell = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct strategy *g = strategy_create("gbfs:rho=3", problem, seed, NULL);
        struct config c[4];
        assert_int_equal(ask_round(g, c, 4), 1);
        strategy_tell(g, &c[0], OUTCOME_OK, 1);
        assert_int_equal(ask_round(g, c, 4), 3);
        count[c[0].slot[0]]++;
        strategy_destroy(g);
    }
    double uniform[64];
    for (int v = first; v < 41; v += step) {
        count[cell] = count[v];
        uniform[cell++] = 1.0 / expected;
    }
    assert_int_equal(cell, expected);
    assert_true(chi_square(cell, count, uniform) < chi_square_limit(cell - 1));
}

static void test_sample_is_uniform(void **state)
{
    (void)state;
    struct space *s = space_create("star");
    add_categorical(s, "a", 41);
    struct search_problem problem = {.space = sealed(s)};
    check_sample(&problem, 1, 1, 40);
    problem.legal = not_mostly_0; // four fifths are illegal
    check_sample(&problem, 1, 5, 8);
    space_destroy(s);
}

TEST_GROUP(gbfs)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_first_order),
        cmocka_unit_test(test_empty_batch_is_no_end),
        cmocka_unit_test(test_paper_forgets_states_default_does_not),
        cmocka_unit_test(test_batches_of_rho),
        cmocka_unit_test(test_ties_newest_first),
        cmocka_unit_test(test_failures_are_crossed_last),
        cmocka_unit_test(test_population_is_the_queue_without_failures),
        cmocka_unit_test(test_invalid_start_is_replaced_by_draws),
        cmocka_unit_test(test_nni_stall_last_of_batch_fails),
        cmocka_unit_test(test_space_cut_in_pieces),
        cmocka_unit_test(test_sample_is_uniform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
