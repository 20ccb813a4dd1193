// The recurrent controller: decisions, draws, and what it does with what it is told.
#include "driver.h"
#include "group.h"
#include "spaces.h"
#include "wording.h"

#include "search/rnn.h"

#include <math.h>
#include <string.h>

// Small enough for many runs.
#define SMALL "rnn:hidden=8:embedding=4"

enum { MOST_STEPS = 512, MOST_VALUES = 16384 };

static struct space *space_1500(void)
{
    struct space *s = space_create("1500");
    add_discrete(s, "long", 1500);
    return sealed(s);
}

static struct space *space_of_many_primes(void)
{
    struct space *s = space_create("primes");
    add_factorization(s, "split", 360, 3); // 10 * 6 * 3
    add_permutation(s, "order", 4);
    return sealed(s);
}

// Every point is written by exactly one sequence, whose choices are allowed.
static void check_decisions(struct space *s)
{
    struct decisions d;
    decisions_init(&d, s);
    for (uint64_t i = 0; i < s->size; i++) {
        struct config c, again;
        int choice[MOST_STEPS];
        bool allowed[MOST_VALUES];
        assert_true(d.count <= MOST_STEPS && d.all_values <= MOST_VALUES);
        space_point(s, i, &c);
        decisions_of(&d, &c, choice);
        for (int t = 0; t < d.count; t++) {
            decisions_allow(&d, t, choice, allowed);
            assert_true(choice[t] >= 0 && choice[t] < d.values[t] && allowed[choice[t]]);
        }
        decisions_config(&d, s, choice, &again);
        assert_true(config_equal(&c, &again));
    }
    decisions_finish(&d);
    space_destroy(s);
}

// All allowed sequences from decision t on, each of which must be a point.
static uint64_t count_sequences(const struct decisions *d, const struct space *s, int t,
                                int *choice)
{
    struct config c;
    if (t == d->count) {
        struct str key = {0};
        decisions_config(d, s, choice, &c);
        config_add_key(s, &c, &key);
        char *text = str_take(&key);
        assert_true(config_parse_key(s, text, &c, NULL));
        free(text);
        return 1;
    }
    bool allowed[2048];
    uint64_t count = 0;
    decisions_allow(d, t, choice, allowed);
    for (choice[t] = 0; choice[t] < d->values[t]; choice[t]++)
        if (allowed[choice[t]])
            count += count_sequences(d, s, t + 1, choice);
    return count;
}

static void check_sequences(struct space *s)
{
    struct decisions d;
    int choice[MOST_STEPS];
    decisions_init(&d, s);
    assert_true(count_sequences(&d, s, 0, choice) == s->size);
    decisions_finish(&d);
    space_destroy(s);
}

static void test_sequences_are_points(void **state)
{
    (void)state;
    check_decisions(space_mixed());
    check_decisions(space_24());
    check_decisions(space_of_one());
    check_decisions(space_of_many_primes());
    check_decisions(space_1500());
    check_sequences(space_mixed());
    check_sequences(space_24());
    check_sequences(space_of_one());
    check_sequences(space_of_many_primes());
    check_sequences(space_1500());
}

static void test_decision_counts(void **state)
{
    (void)state;
    struct decisions d;
    struct space *s = space_mm(512, 1024, 1024);
    decisions_init(&d, s);
    assert_int_equal(d.count, 2 + 3 + 3); // powers of two: parts less one
    assert_int_equal(d.all_values, 2 * 11 + 3 * 10 + 3 * 11);
    decisions_finish(&d);
    space_destroy(s);

    s = space_huge();
    decisions_init(&d, s);
    assert_int_equal(d.count, 15 + 15 + 7 * 15);
    decisions_finish(&d);
    space_destroy(s);

    s = space_of_one();
    decisions_init(&d, s);
    assert_int_equal(d.count, 0);
    decisions_finish(&d);
    space_destroy(s);
}

// Kept results of earlier draws do not change later ones.
static void test_prefixes_change_no_draw(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    struct decisions d;
    decisions_init(&d, s);
    struct sequence policy;
    struct rng rng, again;
    rng_seed(&rng, 1);
    sequence_init(&policy, d.count, d.values, 4, 8);
    sequence_randomise(&policy, 2, &rng);
    struct prefixes kept, fresh;
    prefixes_init(&kept, &policy, &d);
    prefixes_init(&fresh, &policy, &d);
    again = rng;
    for (int i = 0; i < 500; i++) {
        int a[MOST_STEPS], b[MOST_STEPS];
        prefixes_draw(&kept, &rng, a);
        prefixes_forget(&fresh);
        prefixes_draw(&fresh, &again, b);
        assert_memory_equal(a, b, (size_t)d.count * sizeof *a);
    }
    assert_int_equal(fresh.nodes, d.count);
    assert_true(kept.nodes > 10 * d.count);
    prefixes_finish(&kept);
    prefixes_finish(&fresh);
    sequence_finish(&policy);
    decisions_finish(&d);
    space_destroy(s);
}

static struct space *space_of_six(void)
{
    struct space *s = space_create("six");
    for (int i = 0; i < 6; i++)
        add_categorical(s, (const char *[]){"a", "b", "c", "d", "e", "f"}[i], 12);
    return sealed(s);
}

// One value of each parameter is good.
static double share_of_good(void *context, const struct config *c)
{
    (void)context;
    double good = 0;
    for (int i = 0; i < 6; i++)
        good += c->slot[i] == 2 * i;
    return 100 * good; // 0 for none: a failure
}

static double mean_of(const struct drive *d, int from, int to)
{
    double sum = 0;
    for (int i = from; i < to; i++) {
        struct config c;
        config_set_get(&d->asked, i, &c);
        sum += d->measure(d->context, &c);
    }
    return sum / (to - from);
}

// 3 million points, of which 600 are measured; 67 have five good values or more.
static void test_learns_what_is_good(void **state)
{
    (void)state;
    struct space *s = space_of_six();
    struct search_problem problem = {.space = s};
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct drive d = drive_create("rnn", &problem, seed);
        d.measure = share_of_good;
        assert_false(drive_run(&d, 600));
        double first = mean_of(&d, 0, 100), last = mean_of(&d, 400, 500);
        assert_true(first < 100 && last > 350 && d.best == 600);
        drive_destroy(&d);
    }
    space_destroy(s);
}

static bool one_in_five(void *context, const struct config *c)
{
    ++*(int *)context;
    return (c->slot[0] + c->slot[1]) % 5 == 0 && c->slot[2] < 10;
}

// Four of five points and more are illegal: what is proposed never is, at few draws from the
// first batch on, and fewer when it has learned.
static void test_illegal_points_are_learned_from(void **state)
{
    (void)state;
    int judged = 0;
    struct space *s = space_of_six();
    struct search_problem problem = {.space = s, .legal = one_in_five, .context = &judged};
    struct drive d = drive_create("rnn:hidden=32:embedding=16", &problem, 4);
    d.measure = share_of_good;
    drive_run(&d, 80);
    int early = judged;
    drive_run(&d, 800);
    int before = judged;
    drive_run(&d, 880);
    int late = judged - before;
    for (int i = 0; i < d.asked.count; i++) {
        struct config c;
        config_set_get(&d.asked, i, &c);
        assert_true(one_in_five(&judged, &c));
    }
    assert_in_range(early, 200, 1000);
    assert_true(late < 200);
    drive_destroy(&d);
    space_destroy(s);
}

static bool first_is_0(void *context, const struct config *c)
{
    (void)context;
    return c->slot[0] == 0 && c->slot[1] == 0;
}

static bool nothing(void *context, const struct config *c)
{
    (void)context;
    (void)c;
    return false;
}

// One in 144 is legal, then none at all: uniform draws take over, and it ends.
static void test_hardly_anything_legal(void **state)
{
    (void)state;
    struct space *s = space_of_six();
    struct search_problem problem = {.space = s, .legal = first_is_0};
    struct drive d = drive_create(SMALL, &problem, 1);
    d.measure = share_of_good;
    assert_false(drive_run(&d, 100));
    assert_int_equal(d.asked.count, 100);
    drive_destroy(&d);

    problem.legal = nothing;
    d = drive_create(SMALL, &problem, 1);
    assert_true(drive_run(&d, 100));
    assert_int_equal(d.asked.count, 0);
    drive_destroy(&d);
    space_destroy(s);
}

static bool layout_even(void *context, const struct config *c)
{
    (void)context;
    return c->slot[0] % 2 == 0;
}

// A policy that knows nothing draws uniformly here; where half is illegal, uniformly among the
// rest. The second batch of failures changes nothing about it.
static void check_uniform(const struct search_problem *problem, int points, int which)
{
    int count[24] = {0};
    double uniform[24];
    struct config_set all = {.slots = problem->space->slots};
    for (int i = 0; i < 24; i++)
        uniform[i] = 1.0 / points;
    for (uint64_t seed = 0; seed < 4800; seed++) {
        struct drive d = drive_create("rnn:hidden=2:embedding=2:init=0:batch=4", problem, seed);
        struct config c;
        drive_run(&d, which + 1);
        config_set_get(&d.asked, which, &c);
        count[config_set_add(&all, &c, NULL)]++;
        drive_destroy(&d);
    }
    assert_int_equal(all.count, points);
    assert_true(chi_square(points, count, uniform) < chi_square_limit(points - 1));
    config_set_finish(&all);
}

static void test_no_bias(void **state)
{
    (void)state;
    struct space *s = space_24();
    struct search_problem problem = {.space = s};
    check_uniform(&problem, 24, 0);
    check_uniform(&problem, 24, 5);
    problem.legal = layout_even;
    check_uniform(&problem, 12, 0);
    check_uniform(&problem, 12, 5);
    space_destroy(s);
}

static double only_the_first(void *context, const struct config *c)
{
    (void)context;
    return c->slot[0] == 0 && c->slot[1] == 0 ? 1 : 1e-6;
}

// A policy that has made up its mind draws what it knows; that ends in uniform draws.
static void test_known_configurations_are_reused(void **state)
{
    (void)state;
    struct space *s = space_24();
    struct search_problem problem = {.space = s};
    const char *const specs[] = {
        SMALL,
        SMALL ":resample=0:reuse=1",
        SMALL ":resample=0",
        SMALL ":entropy=0:lr=0.1:reuse=100",
        SMALL ":batch=1:lr=1",
        SMALL ":batch=256",
    };
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct drive d = drive_create(specs[i], &problem, 2);
        d.measure = only_the_first;
        d.workers = 3;
        assert_true(drive_run(&d, 100));
        assert_int_equal(d.asked.count, 24);
        drive_destroy(&d);
    }
    space_destroy(s);
}

static void test_generation_is_the_batch(void **state)
{
    (void)state;
    struct space *s = space_mm(64, 64, 64);
    struct search_problem problem = {.space = s};
    struct drive d = drive_create(SMALL ":batch=5", &problem, 1);
    for (int i = 1; i <= 20; i++) {
        drive_run(&d, i);
        assert_int_equal(strategy_generation(d.strategy), (i - 1) / 5);
    }
    drive_destroy(&d);
    space_destroy(s);
}

static void test_canonical(void **state)
{
    (void)state;
    char *text = strategy_canonical("rnn", NULL);
    assert_string_equal(text, "rnn:batch=8:hidden=64:embedding=32:lr=0.0035:init=0.08:decay=0.9:"
                              "entropy=0.01:clip=5:resample=20:reuse=1000");
    free(text);
    struct err e = {0};
    assert_null(strategy_canonical("rnn:hidden=0", &e));
    wording_is("search", "rnn: hidden=0", e.text);
}

TEST_GROUP(rnn)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sequences_are_points),
        cmocka_unit_test(test_decision_counts),
        cmocka_unit_test(test_prefixes_change_no_draw),
        cmocka_unit_test(test_learns_what_is_good),
        cmocka_unit_test(test_illegal_points_are_learned_from),
        cmocka_unit_test(test_hardly_anything_legal),
        cmocka_unit_test(test_no_bias),
        cmocka_unit_test(test_known_configurations_are_reused),
        cmocka_unit_test(test_generation_is_the_batch),
        cmocka_unit_test(test_canonical),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
