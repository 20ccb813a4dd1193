// The properties of AutoTVM's ga: weights, one cut, mutation, elites, and no repeated
// measurement.
#include "driver.h"
#include "group.h"
#include "spaces.h"

#include <math.h>

enum { PARAMS = 24, POP = 3000 };

static struct space *space_wide(void)
{
    struct space *s = space_create("wide");
    for (int i = 0; i < PARAMS; i++)
        add_categorical(s, (char[]){(char)('A' + i), '\0'}, 1000);
    return sealed(s);
}

static void ask_and_tell(struct strategy *s, double fitness)
{
    struct config c;
    assert_int_equal(strategy_ask(s, &c), ASK_NEW);
    strategy_tell(s, &c, fitness > 0 ? OUTCOME_OK : OUTCOME_CRASH, fitness);
}

// A big first generation, of which every third has the same of three fitnesses; then where the
// parameters of each child of the second come from.
struct heirs {
    struct space *space;
    struct strategy *strategy;
    int64_t from[POP][SPACE_MAX_PARAMS];
};

static struct heirs *heirs_create(const char *spec, const double fitness[3])
{
    struct heirs *h = mem_zero(1, sizeof *h);
    h->space = space_wide();
    struct search_problem problem = {.space = h->space};
    h->strategy = strategy_create(spec, &problem, 21, NULL);
    int64_t none[SPACE_MAX_PARAMS];
    struct config c;
    for (int i = 0; i < POP; i++) {
        ask_and_tell(h->strategy, fitness[i % 3]);
        assert_false(strategy_origin(h->strategy, none));
        assert_int_equal(strategy_generation(h->strategy), 0);
    }
    for (int i = 0; i < POP; i++) {
        assert_int_equal(strategy_ask(h->strategy, &c), ASK_NEW);
        assert_true(strategy_origin(h->strategy, h->from[i]));
        assert_int_equal(strategy_generation(h->strategy), 1);
    }
    return h;
}

static void heirs_destroy(struct heirs *h)
{
    strategy_destroy(h->strategy);
    space_destroy(h->space);
    free(h);
}

// Without mutation: how many leading parameters the first parent gave. 0: all are of one.
static int cut_of(const int64_t *from)
{
    for (int i = 1; i < PARAMS; i++)
        if (from[i] != from[0])
            return from[i] && from[0] ? i : 0; // a parameter drawn anew made a copy a new one
    return 0;
}

static void test_one_cut_uniformly_placed(void **state)
{
    (void)state;
    struct heirs *h = heirs_create("ga:pop=3000:mutation=0", (double[]){1, 1, 1});
    int count[PARAMS] = {0};
    double uniform[PARAMS];
    for (int i = 0; i < PARAMS; i++)
        uniform[i] = 1.0 / PARAMS;
    for (int n = 0; n < POP; n++) {
        int cut = cut_of(h->from[n]);
        count[cut]++;
        for (int i = 1; cut && i < PARAMS; i++) // two different parents, and no third
            assert_true(h->from[n][i] == h->from[n][i < cut ? 0 : cut]);
    }
    assert_true(chi_square(PARAMS, count, uniform) < chi_square_limit(PARAMS - 1));
    heirs_destroy(h);
}

static void count_parents(const double fitness[3], int first[3], int second[3])
{
    struct heirs *h = heirs_create("ga:pop=3000:mutation=0", fitness);
    for (int n = 0; n < POP; n++) {
        int cut = cut_of(h->from[n]);
        if (cut == 0)
            continue;
        first[(h->from[n][0] - 1) % 3]++;
        second[(h->from[n][cut] - 1) % 3]++;
    }
    heirs_destroy(h);
}

static void test_weights_are_fitness(void **state)
{
    (void)state;
    int first[3] = {0}, second[3] = {0};
    const double expected[3] = {0.125, 0.25, 0.625};
    count_parents((double[]){1, 2, 5}, first, second);
    assert_true(chi_square(3, first, expected) < chi_square_limit(2));
    assert_true(chi_square(3, second, expected) < chi_square_limit(2));
}

// Whatever the unit: failures weigh 1e-8 of the best, not 1e-8 of something.
static void test_failures_hardly_breed(void **state)
{
    (void)state;
    int first[3] = {0}, second[3] = {0};
    count_parents((double[]){3e-9, 0, 1e-9}, first, second);
    assert_int_equal(first[1] + second[1], 0);
    const int others[2] = {first[0], first[2]};
    assert_true(chi_square(2, others, (double[]){0.75, 0.25}) < chi_square_limit(1));
}

static void test_all_failed_breed_alike(void **state)
{
    (void)state;
    int first[3] = {0}, second[3] = {0};
    const double uniform[3] = {1 / 3.0, 1 / 3.0, 1 / 3.0};
    count_parents((double[]){0, 0, 0}, first, second);
    assert_true(chi_square(3, first, uniform) < chi_square_limit(2));
    assert_true(chi_square(3, second, uniform) < chi_square_limit(2));
}

// Each parameter with chance 0.1; a child that is a copy otherwise (cut 0 and no mutation) once
// more.
static void test_mutation_rate(void **state)
{
    (void)state;
    struct heirs *h = heirs_create("ga:pop=3000", (double[]){1, 1, 1});
    double drawn = 0, expected = 0.1 * PARAMS + pow(0.9, PARAMS) / PARAMS;
    for (int n = 0; n < POP; n++)
        for (int i = 0; i < PARAMS; i++)
            drawn += h->from[n][i] == 0;
    double error = sqrt(PARAMS * 0.09 / POP);
    assert_true(fabs(drawn / POP - expected) < 4 * error);
    heirs_destroy(h);
}

// With two of ten kept: who breeds is of the last generation, or one of the two best before it.
static void test_elites_breed_on(void **state)
{
    (void)state;
    enum { SIZE = 10, GENERATIONS = 30 };
    struct space *s = space_wide();
    struct search_problem problem = {.space = s};
    struct strategy *g = strategy_create("ga:pop=10:elite=2", &problem, 3, NULL);
    double fitness[SIZE * GENERATIONS + 1] = {0};
    int old_ones = 0;
    for (int n = 1; n <= SIZE * GENERATIONS; n++) {
        int64_t from[SPACE_MAX_PARAMS];
        int last_start = (n - 1) / SIZE * SIZE - SIZE + 1; // of the generation before
        fitness[n] = 1000 + (n * 7919) % 1009;             // no two alike
        ask_and_tell(g, fitness[n]);
        bool bred = strategy_origin(g, from);
        assert_true(bred == (n > SIZE));
        for (int i = 0; bred && i < PARAMS; i++) {
            int better = 0;
            for (int j = 1; j < last_start; j++)
                better += fitness[j] > fitness[from[i]];
            bool elite = from[i] < last_start && better < 2;
            assert_true(from[i] == 0 || elite ||
                        (from[i] >= last_start && from[i] < last_start + SIZE));
            old_ones += from[i] && elite;
        }
    }
    assert_true(old_ones > 500); // a sixth of 7000
    struct individual pool[20];
    assert_int_equal(strategy_population(g, 20, pool), SIZE + 2);
    for (int i = 1; i < SIZE + 2; i++)
        assert_true(pool[i - 1].fitness > pool[i].fitness);
    assert_true(pool[0].fitness == fitness[pool[0].ask]);
    assert_int_equal(pool[0].generation, (pool[0].ask - 1) / SIZE);
    strategy_destroy(g);
    space_destroy(s);
}

// 24 points in generations of 10: the last has 4, what is left in the order of the index.
static void test_last_generation_is_the_rest(void **state)
{
    (void)state;
    struct space *s = space_24();
    struct search_problem problem = {.space = s};
    struct strategy *g = strategy_create("ga:pop=10", &problem, 5, NULL);
    struct config_set asked = {.slots = s->slots}, all = {.slots = s->slots};
    struct config c;
    for (uint64_t i = 0; i < s->size; i++) {
        space_point(s, i, &c);
        config_set_add(&all, &c, NULL);
    }
    int last = -1;
    for (int n = 0; n < 24; n++) {
        bool is_new;
        assert_int_equal(strategy_ask(g, &c), ASK_NEW);
        config_set_add(&asked, &c, &is_new);
        assert_true(is_new);
        assert_int_equal(strategy_generation(g), n / 10);
        if (n >= 20) {
            assert_true(config_set_find(&all, &c) > last);
            last = config_set_find(&all, &c);
        }
        strategy_tell(g, &c, OUTCOME_OK, 1 + n);
    }
    assert_int_equal(strategy_ask(g, &c), ASK_EXHAUSTED);
    config_set_finish(&asked);
    config_set_finish(&all);
    strategy_destroy(g);
    space_destroy(s);
}

// TVM v0.16 measured duplicates again. Without mutation a parameter is drawn anew only because the
// child was known: that happens all the time here, and yet none is given twice.
static void test_never_measures_twice(void **state)
{
    (void)state;
    enum { SIZE = 10, GENERATIONS = 100 };
    struct space *s = space_mixed();
    struct search_problem problem = {.space = s};
    struct strategy *g = strategy_create("ga:pop=10:mutation=0", &problem, 9, NULL);
    struct config_set asked = {.slots = s->slots};
    int would_be_twice = 0;
    for (int n = 0; n < SIZE * GENERATIONS; n++) {
        struct config c;
        int64_t from[SPACE_MAX_PARAMS];
        bool is_new, drawn_anew = false;
        assert_int_equal(strategy_ask(g, &c), ASK_NEW);
        config_set_add(&asked, &c, &is_new);
        assert_true(is_new);
        if (strategy_origin(g, from))
            for (int i = 0; i < s->param_count; i++)
                drawn_anew |= from[i] == 0;
        would_be_twice += drawn_anew;
        strategy_tell(g, &c, OUTCOME_OK, c.slot[0] == 1 ? 1000 : 1);
    }
    assert_true(would_be_twice > SIZE * GENERATIONS / 2);
    assert_int_equal(strategy_generation(g), GENERATIONS - 1);
    config_set_finish(&asked);
    strategy_destroy(g);
    space_destroy(s);
}

// TVM v0.6 filled the last batch of a generation, when batches do not divide it, with its first
// genes again. Batches of 4 of a population of 10: 4, 4 and 2, then the next generation.
static void test_last_batch_of_a_generation_is_cut(void **state)
{
    (void)state;
    enum { SIZE = 10, BATCH = 4, GENERATIONS = 20 };
    struct space *s = space_wide();
    struct search_problem problem = {.space = s};
    struct strategy *g = strategy_create("ga:pop=10", &problem, 5, NULL);
    struct config_set asked = {.slots = s->slots};
    for (int generation = 0; generation < GENERATIONS; generation++)
        for (int left = SIZE; left > 0; left -= BATCH) {
            struct config batch[BATCH];
            int size = left < BATCH ? left : BATCH, given = 0;
            while (given < BATCH && strategy_ask(g, &batch[given]) == ASK_NEW)
                given++;
            assert_int_equal(given, size);
            assert_int_equal(strategy_generation(g), generation);
            for (int i = 0; i < given; i++) {
                bool is_new;
                config_set_add(&asked, &batch[i], &is_new);
                assert_true(is_new);
                strategy_tell(g, &batch[i], OUTCOME_OK, 1);
            }
        }
    config_set_finish(&asked);
    strategy_destroy(g);
    space_destroy(s);
}

static void test_generations_wait(void **state)
{
    (void)state;
    struct space *s = space_wide();
    struct search_problem problem = {.space = s};
    struct strategy *g = strategy_create("ga:pop=7", &problem, 5, NULL);
    struct config c[7], more;
    for (int i = 0; i < 7; i++)
        assert_int_equal(strategy_ask(g, &c[i]), ASK_NEW);
    for (int i = 0; i < 7; i++) {
        assert_int_equal(strategy_ask(g, &more), ASK_WAIT);
        strategy_tell(g, &c[i], OUTCOME_OK, 1);
    }
    assert_int_equal(strategy_ask(g, &more), ASK_NEW);
    strategy_destroy(g);
    space_destroy(s);
}

TEST_GROUP(ga)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_cut_uniformly_placed),
        cmocka_unit_test(test_weights_are_fitness),
        cmocka_unit_test(test_failures_hardly_breed),
        cmocka_unit_test(test_all_failed_breed_alike),
        cmocka_unit_test(test_mutation_rate),
        cmocka_unit_test(test_elites_breed_on),
        cmocka_unit_test(test_last_generation_is_the_rest),
        cmocka_unit_test(test_never_measures_twice),
        cmocka_unit_test(test_last_batch_of_a_generation_is_cut),
        cmocka_unit_test(test_generations_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
