// The properties of OpEvo: selection by fitness, generations, the all-failed rule, and results
// better than random search.
#include "driver.h"
#include "group.h"

#include "base/number.h"
#include "spaces.h"

enum { PARAMS = 24 };

static struct space *space_wide(void)
{
    struct space *s = space_create("wide");
    for (int i = 0; i < PARAMS; i++)
        add_categorical(s, (char[]){(char)('A' + i), '\0'}, 1000);
    return sealed(s);
}

// Three parents of given fitness and one big generation of children: counts from which parent each
// parameter of each child comes, the mutants last. The values of a parameter are so many that
// parents rarely share one.
static void count_parents(const double fitness[3], const char *spec, int *from)
{
    struct space *s = space_wide();
    struct search_problem problem = {.space = s};
    struct strategy *o = strategy_create(spec, &problem, 11, NULL);
    struct config parent[3], child;
    for (int j = 0; j < 3; j++)
        assert_int_equal(strategy_ask(o, &parent[j]), ASK_NEW);
    for (int j = 0; j < 3; j++)
        strategy_tell(o, &parent[j], fitness[j] > 0 ? OUTCOME_OK : OUTCOME_CRASH, fitness[j]);
    for (int n = 0; n < 4096; n++) {
        assert_int_equal(strategy_ask(o, &child), ASK_NEW);
        for (int i = 0; i < PARAMS; i++) {
            int32_t a = parent[0].slot[i], b = parent[1].slot[i], c = parent[2].slot[i];
            int32_t v = child.slot[i];
            if (a != b && a != c && b != c)
                from[v == a ? 0 : v == b ? 1 : v == c ? 2 : 3]++;
        }
    }
    strategy_destroy(o);
    space_destroy(s);
}

static void test_selection_by_fitness(void **state)
{
    (void)state;
    int from[4] = {0};
    count_parents((double[]){1, 2, 5}, "opevo:lambda=3:rho=4096:q=0.001", from);
    int total = from[0] + from[1] + from[2];
    assert_true(total > 90000);
    assert_true(from[3] < 0.002 * total);
    assert_true(chi_square(3, from, (double[]){0.125, 0.25, 0.625}) < chi_square_limit(2));
}

static void test_failed_parents_never_breed(void **state)
{
    (void)state;
    int from[4] = {0};
    count_parents((double[]){3, 0, 1}, "opevo:lambda=3:rho=4096:q=0.001", from);
    assert_true(from[1] < 10); // a mutant may hit that value by chance: 1 in a million
    int positive[2] = {from[0], from[2]};
    assert_true(chi_square(2, positive, (double[]){0.75, 0.25}) < chi_square_limit(1));
}

// A child is mutated even when it is new already. On the complete graph of J values a parameter
// ends where it began with probability (1-q) / (1 - q * back), where back, the chance that the walk
// returns after it left, is q / (J-1) / (1 - q * (J-2) / (J-1)).
static void test_every_child_is_mutated(void **state)
{
    (void)state;
    int from[4] = {0};
    count_parents((double[]){1, 1, 1}, "opevo:lambda=3:rho=4096:q=0.4", from);
    double q = 0.4, back = q / 999 / (1 - q * 998 / 999), stays = (1 - q) / (1 - q * back);
    int kept[2] = {from[0] + from[1] + from[2], from[3]};
    double chance = (1 - stays) * 2 / 999; // of a mutant to hit another parent's value
    double probability[2] = {stays + chance, 1 - stays - chance};
    assert_true(chi_square(2, kept, probability) < chi_square_limit(1));
}

// With fewer than lambda results children are uniform draws, however good the results are.
static void test_no_breeding_before_lambda_results(void **state)
{
    (void)state;
    struct space *s = space_wide();
    struct search_problem problem = {.space = s};
    struct strategy *o = strategy_create("opevo:lambda=7:rho=3:async=1:q=0.001", &problem, 1, NULL);
    struct config c[12];
    for (int n = 0; n < 12; n++) {
        assert_int_equal(strategy_ask(o, &c[n]), ASK_NEW);
        strategy_tell(o, &c[n], OUTCOME_OK, 1);
        int inherited = 0;
        for (int i = 0; i < PARAMS; i++) {
            bool from_any = false;
            for (int j = 0; j < n; j++)
                from_any = from_any || c[n].slot[i] == c[j].slot[i];
            inherited += from_any;
        }
        if (n < 9) // three batches of three: when the third was made six results were known
            assert_true(inherited < PARAMS / 4);
        else
            assert_true(inherited > PARAMS / 2);
    }
    strategy_destroy(o);
    space_destroy(s);
}

// All failed: children are uniform over the space, whoever the parents are.
static void test_all_failed_is_uniform(void **state)
{
    (void)state;
    struct space *s = space_create("wide");
    add_categorical(s, "a", 10);
    add_discrete(s, "b", 1000);
    add_factorization(s, "c", 1 << 20, 6);
    struct search_problem problem = {.space = sealed(s)};
    struct drive d = drive_create("opevo", &problem, 13); // every measurement fails
    assert_false(drive_run(&d, 20000));
    int by_a[10] = {0}, by_b[10] = {0};
    double uniform[10];
    for (int i = 0; i < 10; i++)
        uniform[i] = 0.1;
    for (int i = 0; i < d.asked.count; i++) {
        struct config c;
        config_set_get(&d.asked, i, &c);
        by_a[c.slot[0]]++;
        by_b[c.slot[1] / 100]++;
    }
    assert_true(chi_square(10, by_a, uniform) < chi_square_limit(9));
    assert_true(chi_square(10, by_b, uniform) < chi_square_limit(9));
    drive_destroy(&d);
    space_destroy(s);
}

static int ask_all(struct strategy *s, struct config *out, int most)
{
    int count = 0;
    while (count < most && strategy_ask(s, &out[count]) == ASK_NEW)
        count++;
    return count;
}

static void test_synchronous_generations(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    struct search_problem problem = {.space = s};
    struct strategy *o = strategy_create("opevo:lambda=5:rho=3", &problem, 1, NULL);
    assert_false(strategy_is_async(o));
    assert_int_equal(strategy_generation(o), 0);
    struct config c[20], unused;
    int expected[] = {5, 3, 3, 3};
    for (int g = 0; g < 4; g++) {
        assert_int_equal(strategy_ask(o, &c[0]), ASK_NEW);
        assert_int_equal(strategy_generation(o), g);
        assert_int_equal(1 + ask_all(o, c + 1, 19), expected[g]);
        assert_int_equal(strategy_generation(o), g);
        for (int i = 0; i < expected[g]; i++) {
            assert_int_equal(strategy_ask(o, &unused), ASK_WAIT);
            strategy_tell(o, &c[i], OUTCOME_OK, 1 + i);
        }
    }
    strategy_destroy(o);
    space_destroy(s);
}

// As NNI: rho at a time, the next ones at the first result after the last was handed out.
static void test_asynchronous_generations(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    struct search_problem problem = {.space = s};
    struct strategy *o = strategy_create("opevo:async=1", &problem, 1, NULL);
    assert_true(strategy_is_async(o));
    struct config c[40];
    assert_int_equal(ask_all(o, c, 40), 8);
    strategy_tell(o, &c[3], OUTCOME_OK, 1);
    assert_int_equal(ask_all(o, c + 8, 40), 8); // still random: one result is fewer than lambda
    assert_int_equal(strategy_generation(o), 1);
    strategy_tell(o, &c[12], OUTCOME_OK, 2);
    assert_int_equal(ask_all(o, c + 16, 3), 3);
    strategy_tell(o, &c[0], OUTCOME_OK, 3); // the queue is not empty: starts nothing
    assert_int_equal(ask_all(o, c + 19, 40), 5);
    strategy_tell(o, &c[19], OUTCOME_OK, 4);
    struct individual best[8];
    assert_int_equal(strategy_population(o, 8, best), 4);
    const int generations[] = {2, 0, 1, 0}, asks[] = {20, 1, 13, 4};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(best[i].ask, asks[i]);
        assert_true(best[i].fitness == 4 - i);
        assert_int_equal(best[i].generation, generations[i]);
    }
    assert_int_equal(ask_all(o, c + 24, 40), 8);
    strategy_destroy(o);
    space_destroy(s);
}

// The lambda best, newest first among equals.
static void test_population(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    struct search_problem problem = {.space = s};
    struct strategy *o = strategy_create("opevo:lambda=4:rho=6", &problem, 1, NULL);
    struct config c[10];
    const double fitness[] = {2, 0, 1, 2, 0, 2, 1, 3, 0, 0.5};
    struct individual best[4];
    assert_int_equal(strategy_population(o, 4, best), 0);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(strategy_ask(o, &c[i]), ASK_NEW);
        if (i == 3 || i == 9)
            for (int j = i == 3 ? 0 : 4; j <= i; j++)
                strategy_tell(o, &c[j], fitness[j] > 0 ? OUTCOME_OK : OUTCOME_WRONG, fitness[j]);
        if (i == 3) {
            const int order[] = {3, 0, 2, 1};
            assert_int_equal(strategy_population(o, 4, best), 4);
            for (int j = 0; j < 4; j++)
                assert_true(config_equal(best[j].config, &c[order[j]]));
        }
    }
    const int order[] = {7, 5, 3, 0};
    assert_int_equal(strategy_population(o, 2, best), 2);
    assert_int_equal(strategy_population(o, 4, best), 4);
    for (int j = 0; j < 4; j++) {
        assert_true(config_equal(best[j].config, &c[order[j]]));
        assert_int_equal(best[j].ask, order[j] + 1);
        assert_true(best[j].fitness == fitness[order[j]]);
        assert_int_equal(best[j].generation, order[j] > 3);
    }
    strategy_destroy(o);
    space_destroy(s);
}

struct bowl {
    const struct space *space;
    struct config hidden;
};

static double nearness(void *context, const struct config *c)
{
    struct bowl *b = context;
    return 1.0 / (1 + space_distance(b->space, &b->hidden, c));
}

static double median_best(const char *spec, const struct space *s, int trials)
{
    enum { SEEDS = 20 };
    double best[SEEDS];
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct search_problem problem = {.space = s};
        struct bowl bowl = {.space = s};
        struct rng rng;
        rng_seed(&rng, 1000 + seed);
        space_sample(s, &rng, &bowl.hidden);
        struct drive d = drive_create(spec, &problem, seed);
        d.measure = nearness;
        d.context = &bowl;
        drive_run(&d, trials);
        best[seed] = d.best;
        drive_destroy(&d);
    }
    return median_of(best, SEEDS);
}

static void test_beats_random(void **state)
{
    (void)state;
    struct space *spaces[] = {space_mm(512, 1024, 1024), space_mixed()};
    for (int i = 0; i < 2; i++) {
        double random = median_best("random", spaces[i], 100);
        assert_true(median_best("opevo", spaces[i], 100) > random);
        assert_true(median_best("opevo:async=1", spaces[i], 100) > random);
        space_destroy(spaces[i]);
    }
}

TEST_GROUP(opevo)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selection_by_fitness),
        cmocka_unit_test(test_failed_parents_never_breed),
        cmocka_unit_test(test_every_child_is_mutated),
        cmocka_unit_test(test_no_breeding_before_lambda_results),
        cmocka_unit_test(test_all_failed_is_uniform),
        cmocka_unit_test(test_synchronous_generations),
        cmocka_unit_test(test_asynchronous_generations),
        cmocka_unit_test(test_population),
        cmocka_unit_test(test_beats_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
