// Local search: descents by the first better move, near moves before far ones, kicks, new starts.
#include "driver.h"
#include "group.h"
#include "spaces.h"

#include <math.h>

// A run, told by a function of the configuration.
enum { ASKS = 400 };
struct run {
    const struct space *space;
    struct strategy *strategy;
    struct config given[ASKS + 1]; // by ask
    double fitness[ASKS + 1];
    int64_t from[ASKS + 1]; // the ask it comes from, 0: drawn
};

static void check_one_origin(const struct run *r, int n)
{
    int64_t from[SPACE_MAX_PARAMS];
    if (!strategy_origin(r->strategy, from)) {
        assert_int_equal(r->from[n], 0);
        return;
    }
    for (int i = 0; i < r->space->param_count; i++)
        assert_int_equal(from[i], r->from[n]);
    assert_in_range(r->from[n], 1, n - 1);
}

static struct run *run_create(const struct space *s, const char *spec, uint64_t seed, int asks,
                              double (*measure)(const struct space *s, const struct config *c))
{
    struct run *r = mem_zero(1, sizeof *r);
    struct search_problem problem = {.space = s};
    r->space = s;
    r->strategy = strategy_create(spec, &problem, seed, NULL);
    for (int n = 1; n <= asks; n++) {
        assert_int_equal(strategy_ask(r->strategy, &r->given[n]), ASK_NEW);
        int64_t from[SPACE_MAX_PARAMS];
        r->from[n] = strategy_origin(r->strategy, from) ? from[0] : 0;
        check_one_origin(r, n);
        r->fitness[n] = measure(s, &r->given[n]);
        strategy_tell(r->strategy, &r->given[n], r->fitness[n] > 0 ? OUTCOME_OK : OUTCOME_CRASH,
                      r->fitness[n]);
    }
    return r;
}

static void run_destroy(struct run *r)
{
    strategy_destroy(r->strategy);
    free(r);
}

// One optimum, the first point, and every step towards it is better.
static double bowl(const struct space *s, const struct config *c)
{
    struct config zero;
    space_point(s, 0, &zero);
    return 1.0 / (1 + space_distance(s, &zero, c));
}

static double flat(const struct space *s, const struct config *c)
{
    (void)s;
    (void)c;
    return 1;
}

static double fails(const struct space *s, const struct config *c)
{
    (void)s;
    (void)c;
    return 0;
}

static void test_descends_to_the_bottom(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct run *r = run_create(s, "local:starts=1", seed, ASKS, bowl);
        double best = 0;
        for (int n = 1; n <= ASKS; n++)
            best = fmax(best, r->fitness[n]);
        assert_true(best == 1); // one of 899756 points
        run_destroy(r);
    }
    space_destroy(s);
}

// From where the search stands a move changes one parameter; the first better one is stepped to.
static void test_first_improvement(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    struct run *r = run_create(s, "local:starts=1:reach=0", 4, 40, bowl);
    int64_t best = 1;
    int steps = 0;
    for (int n = 2; n <= 40 && r->fitness[best] < 1; n++) {
        assert_int_equal(r->from[n], best);
        assert_int_equal(space_distance(s, &r->given[n], &r->given[best]), 1);
        if (r->fitness[n] > r->fitness[best]) {
            best = n;
            steps++;
        }
    }
    assert_true(steps >= 5);
    run_destroy(r);
    space_destroy(s);
}

static void test_starts_from_the_best_draw(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    struct run *r = run_create(s, "local:starts=30", 4, 31, bowl);
    int best = 1;
    for (int n = 1; n <= 30; n++) {
        assert_int_equal(r->from[n], 0);
        best = r->fitness[n] > r->fitness[best] ? n : best;
    }
    assert_int_equal(r->from[31], best);
    run_destroy(r);
    space_destroy(s);
}

// While nothing is valid there is no place to stand on.
static void test_draws_until_one_is_valid(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    struct run *r = run_create(s, "local:starts=3", 4, 200, fails);
    for (int n = 1; n <= 200; n++)
        assert_int_equal(r->from[n], 0);
    run_destroy(r);
    space_destroy(s);
}

// On a plain every place is a local optimum once its moves were tried: near ones, then far ones,
// then kicks with the moves around them, all from the first optimum.
static void test_near_moves_then_far_ones_then_kicks(void **state)
{
    (void)state;
    struct space *s = space_create("path");
    add_discrete(s, "a", 9);
    add_discrete(s, "b", 100);
    add_discrete(s, "c", 9);
    sealed(s);
    struct run *r = run_create(s, "local:starts=1:reach=50:kick=2:patience=3", 8, 100, flat);
    const struct config *start = &r->given[1];
    int near = space_degree(s, start); // b, of 100 values, has nothing beyond that within reach
    int far = 8 + 8 - (near - param_degree(&s->param[1], &start->slot[1]));
    for (int n = 2; n <= 1 + near; n++)
        assert_int_equal(space_distance(s, start, &r->given[n]), 1);
    for (int n = 2 + near; n <= 1 + near + far; n++) {
        int changed = 0;
        for (int i = 0; i < 3; i++)
            changed += r->given[n].slot[i] != start->slot[i];
        assert_int_equal(changed, 1);
        assert_int_equal(r->given[n].slot[1], start->slot[1]);
        assert_int_equal(r->from[n], 1);
    }
    int64_t kick = 2 + near + far;
    assert_int_equal(r->from[kick], 1);
    assert_int_equal(r->from[kick + 1], kick);
    run_destroy(r);
    space_destroy(s);
}

// After `patience` kicks in vain comes a draw.
static void test_patience(void **state)
{
    (void)state;
    struct space *s = space_create("ring");
    add_ring(s, "a", 4000);
    sealed(s);
    struct run *r = run_create(s, "local:starts=1:reach=0:kick=50:patience=3", 8, 100, flat);
    int kicks = 0, starts = 1;
    int64_t start = 1;
    for (int n = 2; n <= 100; n++) {
        if (r->from[n] == 0) { // each costs: start, its moves, and as much for every kick
            assert_int_equal(kicks, 3);
            kicks = 0;
            start = n;
            starts++;
        } else if (r->from[n] == start && space_distance(s, &r->given[start], &r->given[n]) > 1) {
            kicks++;
        }
    }
    assert_true(starts >= 7);
    run_destroy(r);
    space_destroy(s);
}

// From the same optimum each time, so many steps away (a step back now and then makes it fewer; a
// landing on something known, more).
static void test_kicks_are_from_the_optimum(void **state)
{
    (void)state;
    struct space *s = space_create("rings");
    for (int i = 0; i < 8; i++)
        add_ring(s, (char[]){(char)('A' + i), '\0'}, 50);
    sealed(s);
    struct run *r = run_create(s, "local:starts=1:reach=0:kick=6:patience=100", 8, ASKS, flat);
    int kicks = 0, steps = 0;
    for (int n = 2; n <= ASKS; n++) {
        int distance = space_distance(s, &r->given[1], &r->given[n]);
        if (r->from[n] != 1 || distance == 1)
            continue;
        assert_in_range(distance, 2, 8);
        kicks++;
        steps += distance;
    }
    assert_true(kicks > 20);
    assert_true(steps > 4 * kicks && steps <= 6 * kicks);
    run_destroy(r);
    space_destroy(s);
}

static void test_first_move_is_uniform(void **state)
{
    (void)state;
    struct space *s = space_create("even"); // every point has 3 + 2 + 3 neighbours
    add_categorical(s, "a", 4);
    add_ring(s, "b", 5);
    add_permutation(s, "c", 3);
    sealed(s);
    int count[8] = {0};
    double uniform[8];
    for (uint64_t seed = 0; seed < 4000; seed++) {
        struct run *r = run_create(s, "local:starts=1", seed, 2, flat);
        for (int k = 0; k < 8; k++) {
            struct config c;
            space_neighbour(s, &r->given[1], k, &c);
            count[k] += config_equal(&c, &r->given[2]);
        }
        run_destroy(r);
    }
    for (int k = 0; k < 8; k++)
        uniform[k] = 1 / 8.0;
    assert_true(chi_square(8, count, uniform) < chi_square_limit(7));
    space_destroy(s);
}

// A batch is tried at once, and the best of it counts.
static void test_best_of_a_batch(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    struct search_problem problem = {.space = s};
    struct strategy *l = strategy_create("local:starts=1:batch=4", &problem, 1, NULL);
    struct config c[5], more;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 4; i++)
            assert_int_equal(strategy_ask(l, &c[i]), ASK_NEW);
        assert_int_equal(strategy_ask(l, &more), ASK_WAIT);
        for (int i = 0; i < 4; i++)
            strategy_tell(l, &c[i], OUTCOME_OK, 10 * round + (i == 2 ? 5 : 1 + i));
    }
    int64_t from[SPACE_MAX_PARAMS];
    assert_int_equal(strategy_ask(l, &more), ASK_NEW);
    assert_true(strategy_origin(l, from));
    assert_int_equal(from[0], 4 + 3);
    struct individual here;
    assert_int_equal(strategy_population(l, 1, &here), 1);
    assert_true(here.ask == 7 && here.fitness == 15);
    strategy_destroy(l);
    space_destroy(s);
}

TEST_GROUP(local)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descends_to_the_bottom),
        cmocka_unit_test(test_first_improvement),
        cmocka_unit_test(test_starts_from_the_best_draw),
        cmocka_unit_test(test_draws_until_one_is_valid),
        cmocka_unit_test(test_near_moves_then_far_ones_then_kicks),
        cmocka_unit_test(test_patience),
        cmocka_unit_test(test_kicks_are_from_the_optimum),
        cmocka_unit_test(test_first_move_is_uniform),
        cmocka_unit_test(test_best_of_a_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
