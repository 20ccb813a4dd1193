// walk: random points first, then candidates near the best, those with the largest acquisition
// values.
#include "driver.h"
#include "group.h"
#include "nests.h"
#include "spaces.h"

#include <math.h>
#include <string.h>

enum { ASKS = 200, WARM = 20 };
struct course {
    struct config given[ASKS + 1]; // by ask
    double fitness[ASKS + 1];
    bool bred[ASKS + 1];
    int64_t from[ASKS + 1][SPACE_MAX_PARAMS];
};

typedef double measure_function(const struct space *s, const struct config *c);

static struct course *course_create(const struct search_problem *problem, const char *spec,
                                    uint64_t seed, int asks, measure_function *measure)
{
    struct course *r = mem_zero(1, sizeof *r);
    struct strategy *w = strategy_create(spec, problem, seed, NULL);
    for (int n = 1; n <= asks; n++) {
        assert_int_equal(strategy_ask(w, &r->given[n]), ASK_NEW);
        r->bred[n] = strategy_origin(w, r->from[n]);
        r->fitness[n] = measure(problem->space, &r->given[n]);
        strategy_tell(w, &r->given[n], r->fitness[n] > 0 ? OUTCOME_OK : OUTCOME_CRASH,
                      r->fitness[n]);
    }
    strategy_destroy(w);
    return r;
}

static double best_of(const struct course *r, int asks)
{
    double best = 0;
    for (int n = 1; n <= asks; n++)
        best = fmax(best, r->fitness[n]);
    return best;
}

static double bowl(const struct space *s, const struct config *c)
{
    struct config zero;
    space_point(s, 0, &zero);
    return 1.0 / (1 + space_distance(s, &zero, c));
}

static double bowl_in_another_unit(const struct space *s, const struct config *c)
{
    return 1024 * bowl(s, c);
}

static double half_fails(const struct space *s, const struct config *c)
{
    return config_hash(c) % 2 ? bowl(s, c) : 0;
}

static double fails(const struct space *s, const struct config *c)
{
    (void)s;
    (void)c;
    return 0;
}

// One of 899756 points, where moves without a model need hundreds of trials.
static void test_finds_the_bottom(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    struct search_problem problem = {.space = s};
    for (uint64_t seed = 0; seed < 5; seed++) {
        struct course *r = course_create(&problem, "walk", seed, 80, bowl);
        assert_true(best_of(r, 80) == 1);
        free(r);
        r = course_create(&problem, "walk:points=0", seed, 80, bowl);
        assert_true(best_of(r, 80) < 1);
        free(r);
    }
    space_destroy(s);
}

// Returns the mean error of the forecasts of the last trials, as a share of the error of
// predicting the mean of all earlier results.
static double forecast_error(const struct search_problem *problem, measure_function *measure)
{
    enum { STARTS = 10, TRIALS = 80, LAST = 40 };
    struct strategy *w = strategy_create("walk:leave=0", problem, 1, NULL);
    double error = 0, guessed = 0, best = 0, sum = 0;
    for (int n = 0; n < TRIALS; n++) {
        struct config c;
        struct forecast f;
        assert_int_equal(strategy_ask(w, &c), ASK_NEW);
        double fitness = measure(problem->space, &c);
        best = fmax(best, fitness);
        assert_int_equal(strategy_forecast(w, &f), n >= STARTS);
        if (n >= STARTS)
            assert_true(f.deviation > 0 && f.deviation < 10 * best);
        if (n >= TRIALS - LAST) {
            error += fabs(fitness - f.mean);
            guessed += fabs(fitness - sum / n);
        }
        sum += fitness;
        strategy_tell(w, &c, OUTCOME_OK, fitness);
    }
    strategy_destroy(w);
    return error / guessed;
}

// In the unit of fitness, and near to what comes; of a search without a model none.
static void test_forecasts(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    struct search_problem problem = {.space = s};
    struct config c;
    struct forecast f;
    double error = forecast_error(&problem, bowl);
    assert_true(error < 0.8);
    assert_true(forecast_error(&problem, bowl_in_another_unit) == error);
    struct strategy *l = strategy_create("local", &problem, 1, NULL);
    assert_int_equal(strategy_ask(l, &c), ASK_NEW);
    assert_false(strategy_forecast(l, &f));
    strategy_destroy(l);
    space_destroy(s);
}

static void test_breeds_after_its_starts(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    struct search_problem problem = {.space = s};
    struct course *r = course_create(&problem, "walk:starts=9:strangers=0", 3, 60, half_fails);
    for (int n = 1; n <= 60; n++)
        assert_int_equal(r->bred[n], n > 9);
    for (int n = 10; n <= 60; n++)
        for (int i = 0; i < s->param_count; i++) {
            int better = 0; // than the parent, when it bred
            assert_in_range(r->from[n][i], 1, n - 1);
            for (int m = 1; m < n; m++)
                better += r->fitness[m] > r->fitness[r->from[n][i]];
            assert_true(better < 8);
            assert_true(r->fitness[r->from[n][i]] > 0);
        }
    free(r);
    r = course_create(&problem, "walk:starts=5", 3, 50, fails);
    for (int n = 1; n <= 50; n++)
        assert_false(r->bred[n]);
    free(r);
    space_destroy(s);
}

// With nothing but the neighbours of the best there is nothing else to try.
static void test_neighbours_of_the_best(void **state)
{
    (void)state;
    const char *const specs[] = {"walk:climb=0:children=0:strangers=0:near=1:reach=0:starts=1",
                                 "walk:climb=0:refine=1:near=1:reach=0:starts=1"};
    struct space *s = space_mm(512, 1024, 1024);
    struct search_problem problem = {.space = s};
    for (int k = 0; k < 2; k++) {
        struct course *r = course_create(&problem, specs[k], 4, 30, bowl);
        for (int n = 2; n <= 30; n++) {
            int64_t parent = r->from[n][0];
            assert_true(r->fitness[parent] == best_of(r, n - 1));
            assert_int_equal(space_distance(s, &r->given[n], &r->given[parent]), 1);
        }
        free(r);
    }
    space_destroy(s);
}

// After its starts as many as `ahead` and one more are open, and how early the others are told does
// not matter.
static void test_asks_ahead(void **state)
{
    (void)state;
    enum { STARTS = 9, AHEAD = 4, ALL = 60 };
    struct space *s = space_mm(512, 1024, 1024);
    struct search_problem problem = {.space = s};
    const char *spec = "walk:starts=9:ahead=4";
    struct course *early = course_create(&problem, spec, 8, ALL, bowl);
    struct strategy *w = strategy_create(spec, &problem, 8, NULL);
    int asked = 0, told = 0;
    struct config c;
    while (asked < ALL) {
        while (strategy_ask(w, &c) == ASK_NEW)
            assert_true(config_equal(&c, &early->given[++asked]));
        assert_int_equal(asked - told, told == 0 ? STARTS : AHEAD + 1);
        do
            strategy_tell(w, &early->given[told + 1], OUTCOME_OK, early->fitness[told + 1]);
        while (++told < STARTS - AHEAD);
    }
    strategy_destroy(w);
    free(early);
    space_destroy(s);
}

static void test_unit_does_not_matter(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    struct search_problem problem = {.space = s};
    struct course *a = course_create(&problem, "walk", 5, ASKS, bowl),
                  *b = course_create(&problem, "walk", 5, ASKS, bowl_in_another_unit);
    assert_memory_equal(a->given, b->given, sizeof a->given);
    free(a);
    free(b);
    space_destroy(s);
}

static bool sum_is_even(void *context, const struct config *c)
{
    (void)context;
    int sum = 0;
    for (int i = 0; i < SPACE_MAX_SLOTS; i++)
        sum += c->slot[i];
    return sum % 2 == 0;
}

// All of the starts are warm points when there are more; then it breeds.
static void test_legal_and_warm(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    struct config warm[WARM];
    struct rng rng;
    struct config_set known = {.slots = s->slots};
    rng_seed(&rng, 9);
    for (int i = 0; i < WARM; i++)
        do
            space_sample(s, &rng, &warm[i]);
        while (!sum_is_even(NULL, &warm[i]) || config_set_find(&known, &warm[i]) >= 0);
    struct search_problem problem = {
        .space = s, .legal = sum_is_even, .warm = warm, .warm_count = WARM};
    struct course *r = course_create(&problem, "walk:strangers=0:leave=0", 6, 100, bowl);
    int place = 1;
    for (int i = 0; i < WARM; i++)
        if (config_set_find(&known, &warm[i]) < 0) {
            config_set_add(&known, &warm[i], NULL);
            assert_true(config_equal(&r->given[place++], &warm[i]));
        }
    for (int n = 1; n <= 100; n++) {
        assert_true(sum_is_even(NULL, &r->given[n]));
        assert_int_equal(r->bred[n], n >= place);
    }
    free(r);
    config_set_finish(&known);
    space_destroy(s);
}

static double by_slot(void *context, const struct config *c)
{
    (void)context;
    return 1 + c->slot[0];
}

// The individuals that breed are the best results, best first.
static void test_population(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    struct search_problem problem = {.space = s};
    struct drive d = drive_create("walk:elites=5", &problem, 7);
    struct individual who[8];
    d.measure = by_slot;
    assert_int_equal(strategy_population(d.strategy, 8, who), 0);
    drive_run(&d, 40);
    struct config c;
    assert_int_equal(strategy_ask(d.strategy, &c), ASK_NEW);
    assert_int_equal(strategy_population(d.strategy, 3, who), 3);
    assert_int_equal(strategy_population(d.strategy, 8, who), 5);
    for (int i = 0; i < 5; i++) {
        config_set_get(&d.asked, (int)who[i].ask - 1, &c);
        assert_true(config_equal(&c, who[i].config));
        assert_true(i == 0 || who[i].fitness <= who[i - 1].fitness);
    }
    drive_destroy(&d);
    space_destroy(s);
}

// Eight threads with four products each are best, whatever rows and columns make of them.
static double by_launch(const struct space *s, const struct config *c)
{
    (void)s;
    double threads = c->slot[1] * c->slot[4], products = c->slot[2] * c->slot[5];
    return 1 / (1 + fabs(log2(threads / 8)) + fabs(log2(products / 4)));
}

static double mean_speed(const struct search_problem *problem, const char *spec)
{
    enum { SEEDS = 20, STARTS = 10, TRIALS = 40 };
    double sum = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct course *r = course_create(problem, spec, seed, TRIALS, by_launch);
        for (int n = STARTS + 1; n <= TRIALS; n++)
            sum += r->fitness[n];
        free(r);
    }
    return sum / (SEEDS * (TRIALS - STARTS));
}

// Effects of products of parameters are found sooner with a loop nest.
static void test_knows_the_nest(void **state)
{
    (void)state;
    struct config c;
    struct space *s = space_with_product(&c);
    struct search_problem problem = {.space = s};
    double with = mean_speed(&problem, "walk"), without = mean_speed(&problem, "walk:profile=0");
    assert_true(with > 1.02 * without);
    space_and_nest_destroy(s);
}

TEST_GROUP(walk)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_the_bottom),
        cmocka_unit_test(test_forecasts),
        cmocka_unit_test(test_breeds_after_its_starts),
        cmocka_unit_test(test_neighbours_of_the_best),
        cmocka_unit_test(test_asks_ahead),
        cmocka_unit_test(test_unit_does_not_matter),
        cmocka_unit_test(test_legal_and_warm),
        cmocka_unit_test(test_population),
        cmocka_unit_test(test_knows_the_nest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
