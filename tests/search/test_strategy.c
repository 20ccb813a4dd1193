// Specs and the contract that every strategy keeps, on tiny, degenerate, failing and huge spaces.
#include "driver.h"
#include "group.h"
#include "spaces.h"

#include <string.h>

static const char *const specs[] = {
    "random",
    "opevo",
    "opevo:async=1",
    "opevo:legal=1",
    "opevo:lambda=1:rho=1",
    "opevo:lambda=3:rho=50:q=0.001",
    "opevo:lambda=50:rho=3:q=0.99:async=1:legal=1",
    "local",
    "local:reach=0:starts=1:patience=0",
    "local:batch=7:kick=9:patience=100",
    "annealing",
    "annealing:chains=5:jump=0:cooling=1:heat=1000",
    "annealing:patience=1:reach=65536:jump=1",
    "ga",
    "ga:pop=2:elite=0:mutation=0",
    "ga:pop=7:elite=30:mutation=1",
    "de",
    "de:pop=4:best=0:f=2",
    "de:pop=50:cr=0",
    "grid",
    "gbfs",
    "gbfs:rho=1",
    "gbfs:rho=65536:legal=0",
    "na2c:hidden=4:minibatch=8",
    "na2c:hidden=2:batch=50:steps=1:soft=6:updates=1:minibatch=4:legal=0",
    "na2c:hidden=3:augment=1:gamma=0.9:memory=5:tau=1:entropy=0:minibatch=2",
    "na2c:hidden=3:mode=nni:tau=0.2",
    "rnn:hidden=8:embedding=4:reuse=50",
    "rnn:hidden=3:embedding=2:batch=3:resample=0:reuse=2",
    "tpe:candidates=4",
    "tpe:joint=0:batch=5:starts=3:candidates=3",
    "tpe:gamma=0.9:candidates=2:moved=32:starts=1",
    "autotvm:plan=100:chains=8:steps=10",
    "forest:plan=100:trees=5:starts=2:near=5",
    "lfbo:trees=3:near=20",
    "portfolio:window=20",
    "feasible:points=30:trees=5",
    "feasible:starts=1:points=5:learn=0:climbs=1:strangers=0:near=1:bound=1:trees=1:ahead=6",
    "lfbo:trees=2:near=10:copies=5:measured=7:patience=0:starts=3",
    "ansor:plan=100:pop=64:generations=2:warmup=100",
    "ansor:plan=200:pop=32:generations=1:adaptive=1:crossover=0.5:epsilon=0.3:sample=5",
    "autotvm:plan=61:epsilon=0.3:chains=3:steps=5:patience=2:loss=reg",
    "autotvm:plan=50:epsilon=1",
    "autotvm:plan=150:chains=100:steps=3:diversity=0.5:ratio=3",
    "walk:points=30",
    "walk:points=0:near=0:strangers=0",
    "walk:children=0:points=5:learn=1:ahead=6:starts=1",
    "walk:refine=1:near=1:points=5:starts=1",
    "walk:elites=1:near=3:reach=0:q=0.9:points=30:learn=0",
};

// Those that may end before they gave all points, as published.
static const char *const incomplete_specs[] = {
    "gbfs:mode=paper",
    "gbfs:rho=1:mode=paper",
    "gbfs:mode=paper:legal=0",
};

enum {
    SPECS = sizeof specs / sizeof *specs,
    INCOMPLETE_SPECS = sizeof incomplete_specs / sizeof *incomplete_specs,
    ALL_SPECS = SPECS + INCOMPLETE_SPECS
};

static const char *any_spec(int i)
{
    return i < SPECS ? specs[i] : incomplete_specs[i - SPECS];
}

static void expect_error(const char *spec, const char *text)
{
    struct err e = {0};
    struct search_problem problem = {0};
    assert_null(strategy_canonical(spec, &e));
    assert_string_equal(e.text, text);
    assert_null(strategy_create(spec, &problem, 1, &e));
}

// Nothing is near: all there are, in their order.
static void expect_all_known(const char *spec)
{
    struct str text = {0};
    str_printf(&text, "unknown strategy '%s' (known: ", spec);
    for (int i = 0; strategy_kinds[i]; i++)
        str_printf(&text, "%s%s", i == 0 ? "" : ", ", strategy_kinds[i]->name);
    str_add_char(&text, ')');
    expect_error(spec, str_text(&text));
    str_finish(&text);
}

static void test_bad_specs(void **state)
{
    (void)state;
    expect_error("opeva", "unknown strategy 'opeva' (did you mean 'opevo'?)");
    expect_all_known("simplex");
    expect_all_known("");
    expect_error("opevo:lamda=3",
                 "strategy 'opevo' has no option 'lamda' (did you mean 'lambda'?)");
    expect_error(
        "opevo:temperature=3",
        "strategy 'opevo' has no option 'temperature' (known: lambda, rho, q, async, legal)");
    expect_error("random:q=0.5", "strategy 'random' has no option 'q' (it has none)");
    expect_error("opevo:q", "strategy 'opevo': 'q' is not key=value");
    expect_error("opevo:", "strategy 'opevo': '' is not key=value");
    expect_error("opevo:rho=8:rho=8", "strategy 'opevo': option 'rho' is given twice");
    expect_error("opevo:q=1", "strategy 'opevo': q=1 is not a number within 0.001..0.999");
    expect_error("opevo:q=0.5x", "strategy 'opevo': q=0.5x is not a number within 0.001..0.999");
    expect_error("opevo:lambda=0",
                 "strategy 'opevo': lambda=0 is not a whole number within 1..4096");
    expect_error("opevo:rho=2.5", "strategy 'opevo': rho=2.5 is not a whole number within 1..4096");
    expect_error("opevo:async=2", "strategy 'opevo': async=2 is not a whole number within 0..1");
    expect_error("gbfs:mode=papr", "strategy 'gbfs': mode=papr is not one of: default, paper");
    expect_error("gbfs:mode=1", "strategy 'gbfs': mode=1 is not one of: default, paper");
    expect_error("na2c:mode=", "strategy 'na2c': mode= is not one of: default, nni");
    expect_error("na2c:gamma=1", "strategy 'na2c': gamma=1 is not a number within 0..0.99");
    expect_error("opevo:q=nan", "strategy 'opevo': q=nan is not a number within 0.001..0.999");
}

static void test_canonical_specs(void **state)
{
    (void)state;
    const char *const pairs[][2] = {
        {"random", "random"},
        {"gbfs", "gbfs:rho=5:mode=default:legal=1"},
        {"gbfs:mode=paper:rho=3", "gbfs:rho=3:mode=paper:legal=1"},
        {"opevo", "opevo:lambda=8:rho=8:q=0.5:async=0:legal=0"},
        {"opevo:q=0.30:lambda=016", "opevo:lambda=16:rho=8:q=0.3:async=0:legal=0"},
        {"opevo:legal=1:q=0.1234567890123",
         "opevo:lambda=8:rho=8:q=0.1234567890123:async=0:legal=1"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char *text = strategy_canonical(pairs[i][0], NULL), *again = strategy_canonical(text, NULL);
        assert_string_equal(text, pairs[i][1]);
        assert_string_equal(again, text);
        free(text);
        free(again);
    }
    assert_ptr_equal(strategy_find("walk"), strategy_kinds[0]);
    assert_null(strategy_find("Opevo"));
    strategy_destroy(NULL);
}

static void expect_text(const char *spec, const char *brief)
{
    char out[STRATEGY_TEXT];
    char *canonical = strategy_canonical(spec, NULL);
    assert_string_equal(strategy_text(canonical ? canonical : spec, false, out), brief);
    strategy_text(canonical ? canonical : spec, true, out);
    for (char *c = canonical ? canonical : out; *c; c++) // every option, but for the colons
        *c = *c == ':' ? ' ' : *c;
    assert_string_equal(out, canonical ? canonical : out);
    free(canonical);
}

static void test_names_say_what_is_not_standard(void **state)
{
    (void)state;
    expect_text("random", "random");
    expect_text("walk", "walk");
    expect_text("walk:ahead=1", "walk ahead=1");
    expect_text("opevo:q=0.30:lambda=4:rho=8", "opevo lambda=4 q=0.3");
    expect_text("gbfs:mode=paper", "gbfs mode=paper");
    expect_text("gone:x=1", "gone x=1"); // of another version
    char out[STRATEGY_TEXT], *spec = mem_printf("walk:%0300d=1:ahead=2", 0);
    assert_string_equal(strategy_text(spec, true, out), "walk ahead=2"); // what there is room for
    free(spec);
}

static void expect_for(const char *spec, int workers, const char *option)
{
    char *text = strategy_canonical_for(spec, (struct strategy_use){.workers = workers}, NULL);
    const char *at = strstr(text, option);
    assert_non_null(at);
    at += strlen(option);
    assert_true(*at == ':' || *at == '\0'); // not the beginning of a longer value
    free(text);
}

static void test_ahead_follows_the_workers(void **state)
{
    (void)state;
    const struct strategy_use probing = {.workers = 4, .tells_statistics = true};
    expect_for("walk", 1, ":ahead=0");
    expect_for("walk", 1, ":cost=0");
    expect_for("walk", 4, ":ahead=3");
    expect_for("walk", 0, ":ahead=0"); // not known
    expect_for("walk:ahead=0:q=0.3", 4, ":ahead=0");
    expect_for("walk:ahead=7", 4, ":ahead=7");
    expect_for("opevo", 4, ":async=0:legal=0");
    char *text = strategy_canonical_for("walk", probing, NULL);
    assert_non_null(strstr(text, ":look=3:"));
    free(text);
    text = strategy_canonical_for("walk:look=1", probing, NULL);
    assert_non_null(strstr(text, ":look=1:"));
    free(text);
    const struct strategy_use timed = {.workers = 1, .counts_seconds = true};
    text = strategy_canonical_for("walk", timed, NULL);
    assert_non_null(strstr(text, ":cost=1:"));
    free(text);
    text = strategy_canonical_for("walk:cost=0", timed, NULL);
    assert_non_null(strstr(text, ":cost=0:"));
    free(text);
    text = strategy_without_ahead("walk:ahead=3:q=0.3");
    assert_string_equal(text, "walk:q=0.3");
    free(text);
    text = strategy_without_ahead("walk:q=0.3:ahead=12");
    assert_string_equal(text, "walk:q=0.3");
    free(text);
    text = strategy_without_ahead("opevo");
    assert_string_equal(text, "opevo");
    free(text);
}

static double always_fails(void *context, const struct config *c)
{
    (void)context;
    (void)c;
    return 0;
}

static double always_rejected(void *context, const struct config *c)
{
    (void)context;
    (void)c;
    return -1;
}

static double sum_of_slots(void *context, const struct config *c)
{
    (void)context;
    double sum = 1;
    for (int i = 0; i < SPACE_MAX_SLOTS; i++)
        sum += c->slot[i];
    return sum;
}

// Counts how often it is asked.
static bool nothing_legal(void *context, const struct config *c)
{
    (void)c;
    ++*(int *)context;
    return false;
}

static bool slot_0_even(void *context, const struct config *c)
{
    (void)context;
    return c->slot[0] % 2 == 0;
}

typedef double measure_function(void *context, const struct config *c);

static measure_function *const measures[] = {always_fails, always_rejected, sum_of_slots};

// Every strategy gives every point of a small space exactly once, and then ends.
static void check_exhausts(struct space *s, int points)
{
    struct search_problem problem = {.space = s};
    for (int i = 0; i < SPECS * 3; i++) {
        if (!strategy_possible(specs[i % SPECS], NULL))
            continue;
        struct drive d = drive_create(specs[i % SPECS], &problem, (uint64_t)i);
        d.measure = measures[i / SPECS];
        d.workers = 1 + i % 5;
        d.backward = strategy_is_async(d.strategy);
        assert_true(drive_run(&d, 1 << 20));
        assert_int_equal(d.asked.count, points);
        assert_int_equal(d.tells, points);
        drive_destroy(&d);
    }
    space_destroy(s);
}

static void test_small_spaces_are_exhausted(void **state)
{
    (void)state;
    check_exhausts(space_24(), 24);
    check_exhausts(space_of_one(), 1);
    check_exhausts(space_mixed(), 1080);
}

// They may miss points, but end, and give nothing twice (the driver asserts it); while all fail
// they are draws among what is left, and miss nothing.
static void test_incomplete_searches_end(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    struct search_problem problem = {.space = s};
    int missed = 0;
    for (int i = 0; i < INCOMPLETE_SPECS * 3; i++) {
        struct drive d = drive_create(incomplete_specs[i % INCOMPLETE_SPECS], &problem, 7);
        bool all_fail = i / INCOMPLETE_SPECS < 2;
        d.measure = measures[i / INCOMPLETE_SPECS];
        d.workers = 1 + i % 5;
        assert_true(drive_run(&d, 1 << 20));
        assert_in_range(d.asked.count, all_fail ? 1080 : 1, 1080);
        missed += 1080 - d.asked.count;
        assert_int_equal(d.tells, d.asked.count);
        drive_destroy(&d);
    }
    assert_true(missed > 0); // else they belong to `specs`
    space_destroy(s);
}

static void test_only_legal_points(void **state)
{
    (void)state;
    struct space *s = space_24();
    struct search_problem problem = {.space = s, .legal = slot_0_even};
    struct drive d = drive_create("opevo:legal=1", &problem, 5);
    d.measure = sum_of_slots;
    assert_true(drive_run(&d, 100));
    assert_int_equal(d.asked.count, 12);
    for (int i = 0; i < d.asked.count; i++) {
        struct config c;
        config_set_get(&d.asked, i, &c);
        assert_true(slot_0_even(NULL, &c));
    }
    drive_destroy(&d);

    d = drive_create("opevo", &problem, 5); // proposes illegal points too
    assert_true(drive_run(&d, 100));
    assert_int_equal(d.asked.count, 24);
    drive_destroy(&d);
    d = drive_create("random", &problem, 5);
    assert_true(drive_run(&d, 100));
    assert_int_equal(d.asked.count, 24);
    drive_destroy(&d);

    space_destroy(s);

    problem.space = s = space_huge(); // half of it is legal
    d = drive_create("opevo:legal=1", &problem, 5);
    d.measure = sum_of_slots;
    assert_false(drive_run(&d, 1000));
    assert_int_equal(d.asked.count, 1000);
    drive_destroy(&d);
    space_destroy(s);
}

static bool ignores_constraints(const char *spec)
{
    return str_equal(spec, "random") || strstr(spec, "legal=0") ||
           (str_starts(spec, "opevo") && !strstr(spec, "legal=1"));
}

// Who honours constraints gives up, asking for nothing; who ignores them searches as ever, and what
// it asks for fails.
static void check_nothing_legal(struct space *s)
{
    enum { TRIALS = 500, MOST_LOOKS = (1 << 22) + 1 }; // grid's patience; the others need far less
    for (int i = 0; i < ALL_SPECS; i++) {
        int looks = 0;
        if (!strategy_possible(any_spec(i), NULL))
            continue;
        struct search_problem problem = {.space = s, .legal = nothing_legal, .context = &looks};
        struct drive d = drive_create(any_spec(i), &problem, (uint64_t)i);
        bool ignores = ignores_constraints(any_spec(i)), small = s->size <= TRIALS;
        d.measure = always_rejected;
        d.workers = 1 + i % 3;
        assert_true(drive_run(&d, TRIALS) == (small || !ignores));
        assert_int_equal(d.asked.count, !ignores ? 0 : small ? (int)s->size : TRIALS);
        assert_true((looks == 0) == ignores);
        assert_in_range(looks, 0, MOST_LOOKS);
        drive_destroy(&d);
    }
    space_destroy(s);
}

static void test_nothing_legal(void **state)
{
    (void)state;
    check_nothing_legal(space_24());
    check_nothing_legal(space_of_one());
    check_nothing_legal(space_huge());
}

static void test_huge_space(void **state)
{
    (void)state;
    struct space *s = space_huge();
    assert_true(s->size == UINT64_MAX);
    struct search_problem problem = {.space = s};
    for (int i = 0; i < ALL_SPECS * 3; i++) {
        if (!strategy_possible(any_spec(i % ALL_SPECS), NULL) ||
            strstr(any_spec(i % ALL_SPECS), "rho=1:mode=paper"))
            continue; // one neighbour that is known, and its queue is empty
        struct drive d = drive_create(any_spec(i % ALL_SPECS), &problem, (uint64_t)i);
        d.measure = measures[i / ALL_SPECS];
        d.workers = 7;
        assert_false(drive_run(&d, 400));
        assert_int_equal(d.asked.count, 400);
        drive_destroy(&d);
    }
    space_destroy(s);
}

// A space just too large to enumerate may end early, but never loops for ever and never by much.
static void test_space_too_large_to_enumerate(void **state)
{
    (void)state;
    struct space *s = space_create("70000");
    add_categorical(s, "a", 700);
    add_discrete(s, "b", 100);
    struct search_problem problem = {.space = sealed(s)};
    struct drive d = drive_create("random", &problem, 1);
    assert_true(drive_run(&d, 1 << 20));
    assert_in_range(d.asked.count, 69900, 70000);
    drive_destroy(&d);
    space_destroy(s);
}

static void test_same_seed_same_search(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    struct search_problem problem = {.space = s};
    for (int i = 0; i < SPECS; i++) {
        if (!strategy_possible(specs[i], NULL))
            continue;
        struct drive a = drive_create(specs[i], &problem, 42),
                     b = drive_create(specs[i], &problem, 42);
        struct drive other = drive_create(specs[i], &problem, 43);
        a.measure = b.measure = other.measure = sum_of_slots;
        // Only what the strategy does by itself may depend on the workers, and only when it is
        // async.
        b.workers = strategy_is_async(b.strategy) ? 1 : 8;
        drive_run(&a, 300);
        drive_run(&b, 300);
        drive_run(&other, 300);
        assert_memory_equal(a.asked.row, b.asked.row, 300 * 11 * sizeof(int32_t));
        if (strcmp(specs[i], "grid")) // the one that draws nothing
            assert_memory_not_equal(a.asked.row, other.asked.row, 300 * 11 * sizeof(int32_t));
        drive_destroy(&a);
        drive_destroy(&b);
        drive_destroy(&other);
    }
    space_destroy(s);
}

// Random search is uniform: the first point of many runs.
static void test_random_is_uniform(void **state)
{
    (void)state;
    struct space *s = space_24();
    struct search_problem problem = {.space = s};
    int first[24] = {0}, last[24] = {0};
    double uniform[24];
    struct config_set all = {.slots = s->slots};
    for (uint64_t i = 0; i < 24; i++) {
        struct config c;
        space_point(s, i, &c);
        config_set_add(&all, &c, NULL);
        uniform[i] = 1 / 24.0;
    }
    for (uint64_t seed = 0; seed < 4800; seed++) {
        struct drive d = drive_create("random", &problem, seed);
        drive_run(&d, 24);
        struct config c;
        config_set_get(&d.asked, 0, &c);
        first[config_set_find(&all, &c)]++;
        config_set_get(&d.asked, 23, &c);
        last[config_set_find(&all, &c)]++;
        drive_destroy(&d);
    }
    assert_true(chi_square(24, first, uniform) < chi_square_limit(23));
    assert_true(chi_square(24, last, uniform) < chi_square_limit(23));
    config_set_finish(&all);
    space_destroy(s);
}

TEST_GROUP(strategy)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_specs),
        cmocka_unit_test(test_canonical_specs),
        cmocka_unit_test(test_names_say_what_is_not_standard),
        cmocka_unit_test(test_ahead_follows_the_workers),
        cmocka_unit_test(test_small_spaces_are_exhausted),
        cmocka_unit_test(test_only_legal_points),
        cmocka_unit_test(test_incomplete_searches_end),
        cmocka_unit_test(test_nothing_legal),
        cmocka_unit_test(test_huge_space),
        cmocka_unit_test(test_space_too_large_to_enumerate),
        cmocka_unit_test(test_same_seed_same_search),
        cmocka_unit_test(test_random_is_uniform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
