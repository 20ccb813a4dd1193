// Annealing: what it proposes, what it accepts, how it cools.
#include "group.h"
#include "spaces.h"

#include "search/strategy.h"

#include <math.h>

enum { PARAMS = 24, RUNS = 4000 };

static struct space *space_wide(void)
{
    struct space *s = space_create("wide");
    for (int i = 0; i < PARAMS; i++)
        add_categorical(s, (char[]){(char)('A' + i), '\0'}, 1000);
    return sealed(s);
}

static struct config ask_and_tell(struct strategy *s, double fitness)
{
    struct config c;
    assert_int_equal(strategy_ask(s, &c), ASK_NEW);
    strategy_tell(s, &c, fitness > 0 ? OUTCOME_OK : OUTCOME_CRASH, fitness);
    return c;
}

// The ask from which the next one moves away, 0: it is a draw.
static int64_t stands_on(struct strategy *s)
{
    int64_t from[SPACE_MAX_PARAMS];
    ask_and_tell(s, 0);
    return strategy_origin(s, from) ? from[0] : 0;
}

// Counts in how many of RUNS runs, with these fitnesses, the search accepts the last one.
static int count_accepted(const char *spec, int count, const double *fitness)
{
    struct space *s = space_wide(); // so wide that hardly a move ends on something known
    struct search_problem problem = {.space = s};
    int accepted = 0;
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        struct strategy *a = strategy_create(spec, &problem, seed, NULL);
        for (int i = 0; i < count; i++)
            ask_and_tell(a, fitness[i]);
        accepted += stands_on(a) == count;
        strategy_destroy(a);
    }
    space_destroy(s);
    return accepted;
}

static void check_chance(int accepted, double chance)
{
    const int count[2] = {accepted, RUNS - accepted};
    assert_true(chi_square(2, count, (double[]){chance, 1 - chance}) < chi_square_limit(1));
}

// Half the speed is twice the time: a relative loss of 1.
static void test_accepts_as_metropolis(void **state)
{
    (void)state;
    check_chance(count_accepted("annealing:heat=2:cooling=1", 2, (double[]){1, 0.5}), exp(-0.5));
    check_chance(count_accepted("annealing:heat=1:cooling=1", 2, (double[]){1e9, 0.8e9}),
                 exp(-0.25));
    check_chance(count_accepted("annealing:heat=1:cooling=1", 2, (double[]){1e-9, 0.8e-9}),
                 exp(-0.25));
}

static void test_better_is_always_accepted(void **state)
{
    (void)state;
    assert_int_equal(count_accepted("annealing:heat=0.001", 2, (double[]){1, 1.0001}), RUNS);
    assert_int_equal(count_accepted("annealing:heat=0.001", 2, (double[]){1, 1}), RUNS);
}

static void test_failures_are_never_gone_to_and_always_left(void **state)
{
    (void)state;
    assert_int_equal(count_accepted("annealing:heat=1000000", 2, (double[]){1, 0}), 0);
    assert_int_equal(count_accepted("annealing:heat=0.001", 2, (double[]){0, 1e-9}), RUNS);
    assert_int_equal(count_accepted("annealing:heat=0.001", 2, (double[]){0, 0}), RUNS);
}

// The temperature falls with every trial, of whatever outcome: the sixth is decided at the fifth
// power.
static void test_cools_with_every_trial(void **state)
{
    (void)state;
    check_chance(count_accepted("annealing:heat=2:cooling=0.9", 6, (double[]){1, 0, 0, 0, 0, 0.5}),
                 exp(-1 / (2 * pow(0.9, 5))));
}

static void test_frozen_chain_starts_anew(void **state)
{
    (void)state;
    struct space *s = space_wide();
    struct search_problem problem = {.space = s};
    struct strategy *a = strategy_create("annealing:patience=5", &problem, 1, NULL);
    ask_and_tell(a, 1);
    for (int i = 0; i < 5; i++)
        assert_int_equal(stands_on(a), 1);
    assert_int_equal(stands_on(a), 0); // a draw
    strategy_destroy(a);
    space_destroy(s);
}

// Uniform over parameters first: one with few values is moved as often as one with many.
static void test_moves_are_uniform(void **state)
{
    (void)state;
    struct space *s = space_create("uneven");
    add_ring(s, "a", 50);       // 2 neighbours
    add_categorical(s, "b", 1); // none
    add_categorical(s, "c", 4); // 3
    add_permutation(s, "d", 4); // 6
    struct search_problem problem = {.space = sealed(s)};
    int count[11] = {0};
    double expected[11];
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        struct strategy *a = strategy_create("annealing:jump=0", &problem, seed, NULL);
        struct config first = ask_and_tell(a, 1), second = ask_and_tell(a, 1);
        for (int k = 0; k < 11; k++) {
            struct config c;
            space_neighbour(s, &first, k, &c);
            count[k] += config_equal(&c, &second);
        }
        strategy_destroy(a);
    }
    for (int k = 0; k < 11; k++)
        expected[k] = 1 / 3.0 / (k < 2 ? 2 : k < 5 ? 3 : 6);
    assert_true(chi_square(11, count, expected) < chi_square_limit(10));
    space_destroy(s);
}

// A jump takes any other value of a parameter within reach.
static void test_jumps_are_uniform(void **state)
{
    (void)state;
    struct space *s = space_create("path");
    add_discrete(s, "a", 4);
    add_discrete(s, "b", 1000); // beyond reach: to a neighbour
    struct search_problem problem = {.space = sealed(s)};
    int count[4] = {0}, moved_b = 0;
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        struct strategy *a = strategy_create("annealing:jump=1:reach=4", &problem, seed, NULL);
        struct config first = ask_and_tell(a, 1), second = ask_and_tell(a, 1);
        if (first.slot[1] == second.slot[1]) {
            count[(second.slot[0] - first.slot[0] + 4) % 4]++;
        } else {
            assert_int_equal(abs(first.slot[1] - second.slot[1]), 1);
            moved_b++;
        }
        strategy_destroy(a);
    }
    const double expected[4] = {0, 1 / 3.0, 1 / 3.0, 1 / 3.0};
    assert_true(chi_square(4, count, expected) < chi_square_limit(2));
    check_chance(moved_b, 0.5);
    space_destroy(s);
}

// On a path what is known is in the way of what is new: a hot chain walks over it, without a trial
// and without ever starting anew. A cold one is held back, and still comes to an end.
static void test_known_points_cost_nothing(void **state)
{
    (void)state;
    struct space *s = space_create("path");
    add_discrete(s, "a", 20);
    struct search_problem problem = {.space = sealed(s)};
    const char *const spec[] = {"annealing:jump=0:heat=1e6", "annealing:jump=0:heat=1e-6"};
    int drawn[2] = {0};
    for (int i = 0; i < 2; i++) {
        struct strategy *a = strategy_create(spec[i], &problem, 3, NULL);
        struct config c;
        int64_t from[SPACE_MAX_PARAMS];
        for (int n = 0; n < 20; n++) {
            ask_and_tell(a, 1 + n % 7);
            drawn[i] += !strategy_origin(a, from);
        }
        assert_int_equal(strategy_ask(a, &c), ASK_EXHAUSTED);
        strategy_destroy(a);
    }
    assert_int_equal(drawn[0], 1);
    assert_true(drawn[1] > 1);
    space_destroy(s);
}

static void test_chains_take_turns(void **state)
{
    (void)state;
    struct space *s = space_wide();
    struct search_problem problem = {.space = s};
    struct strategy *a = strategy_create("annealing:chains=3:heat=1e-6", &problem, 3, NULL);
    struct config c[3], more;
    int64_t from[SPACE_MAX_PARAMS];
    for (int round = 0; round < 4; round++) { // rounds 0 and 2 are better than what was before
        for (int i = 0; i < 3; i++) {
            assert_int_equal(strategy_ask(a, &c[i]), ASK_NEW);
            assert_true(strategy_origin(a, from) == (round > 0));
            if (round > 0)
                assert_int_equal(from[0], 1 + i + (round == 3 ? 6 : 0));
        }
        assert_int_equal(strategy_ask(a, &more), ASK_WAIT);
        for (int i = 0; i < 3; i++)
            strategy_tell(a, &c[i], OUTCOME_OK, (round % 2 ? 0.1 : 1 + round) * (3 - i));
    }
    strategy_destroy(a);
    space_destroy(s);
}

TEST_GROUP(annealing)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepts_as_metropolis),
        cmocka_unit_test(test_better_is_always_accepted),
        cmocka_unit_test(test_failures_are_never_gone_to_and_always_left),
        cmocka_unit_test(test_cools_with_every_trial),
        cmocka_unit_test(test_frozen_chain_starts_anew),
        cmocka_unit_test(test_moves_are_uniform),
        cmocka_unit_test(test_jumps_are_uniform),
        cmocka_unit_test(test_known_points_cost_nothing),
        cmocka_unit_test(test_chains_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
