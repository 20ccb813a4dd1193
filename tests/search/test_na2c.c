// The properties of N-A2C: its walks, their growth, its training data; and the defects of NNI,
// each in mode=nni alone.
#include "driver.h"
#include "group.h"
#include "spaces.h"
#include "wording.h"

#include <math.h>
#include <string.h>

static double scrambled(void *context, const struct config *c)
{
    (void)context;
    return 1 + (double)(config_hash(c) >> 11) * 0x1p-53;
}

static struct space *ladder(int rungs)
{
    struct space *s = space_create("ladder");
    add_discrete(s, "a", rungs);
    return sealed(s);
}

static int ask_round(struct strategy *s, struct config *out, int most)
{
    int count = 0;
    while (count < most && strategy_ask(s, &out[count]) == ASK_NEW)
        count++;
    return count;
}

// Rounds of exactly `batch` new states, at most `steps` moves from where the walks start.
static void test_batches_around_the_best(void **state)
{
    (void)state;
    struct space *s = space_mm(1024, 1024, 1024);
    struct search_problem problem = {.space = s};
    struct strategy *n = strategy_create("na2c", &problem, 1, NULL);
    struct config c[32], start = {{1024, 1, 1, 1024, 1, 1, 1, 1024, 1, 1, 1}}, best = start;
    int64_t from[SPACE_MAX_PARAMS];
    for (int round = 0; round < 20; round++) {
        assert_int_equal(ask_round(n, c, 32), 6);
        assert_int_equal(strategy_generation(n), round);
        assert_true(round == 0 || strategy_origin(n, from));
        for (int i = 0; i < 6; i++) {
            assert_in_range(space_distance(s, &best, &c[i]), round > 0, 3);
            strategy_tell(n, &c[i], OUTCOME_OK, i == round % 6 ? 2 + round : 1);
        }
        best = c[round % 6];
        struct individual shown;
        assert_int_equal(strategy_population(n, 1, &shown), 1);
        assert_true(config_equal(shown.config, &best));
        assert_int_equal(shown.ask, 6 * round + round % 6 + 1);
        assert_int_equal(shown.generation, round);
    }
    strategy_destroy(n);
    space_destroy(s);
}

// One move away from where it comes from: what origin says, and no ask later than itself.
static void test_origin_is_the_state_before(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    struct search_problem problem = {.space = s};
    struct strategy *n = strategy_create("na2c", &problem, 7, NULL);
    struct config given[401], c;
    int moved = 0;
    for (int asked = 1, told = 1; asked <= 400;) {
        int64_t from[SPACE_MAX_PARAMS];
        if (strategy_ask(n, &c) == ASK_WAIT) {
            for (; told < asked; told++)
                strategy_tell(n, &given[told], OUTCOME_OK, scrambled(NULL, &given[told]));
            continue;
        }
        given[asked] = c;
        if (strategy_origin(n, from)) {
            assert_in_range(from[0], 1, asked - 1);
            assert_true(from[0] == from[4]);
            assert_int_equal(space_distance(s, &given[from[0]], &c), 1);
            moved++;
        }
        asked++;
    }
    assert_true(moved > 380);
    strategy_destroy(n);
    space_destroy(s);
}

// A space with one top; speed falls with every move away from it.
struct slope {
    struct space *space;
    struct config top;
};

static double slope(void *context, const struct config *c)
{
    const struct slope *s = context;
    return exp(-0.2 * space_distance(s->space, &s->top, c));
}

// Over 20 seeds: the mean distance to the top of the last 50 of 200.
static double distance_after_200(struct slope *s, const char *spec)
{
    struct search_problem problem = {.space = s->space};
    double sum = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct drive d = drive_create(spec, &problem, seed);
        d.measure = slope;
        d.context = s;
        drive_run(&d, 200);
        for (int i = 150; i < 200; i++) {
            struct config c;
            config_set_get(&d.asked, i, &c);
            sum += space_distance(s->space, &s->top, &c);
        }
        drive_destroy(&d);
    }
    return sum / (20 * 50);
}

static void check_learning(struct slope *s, double margin)
{
    double random = distance_after_200(s, "na2c:tau=0");
    assert_true(distance_after_200(s, "na2c") < random - margin);
    assert_true(distance_after_200(s, "na2c:mode=nni") > random); // it unlearns what pays
    space_destroy(s->space);
}

static void test_learning_beats_random_walks(void **state)
{
    (void)state;
    struct slope gemm = {space_create("gemm"), {{8, 4, 16, 2, 32, 32, 16, 1, 8, 8}}};
    add_factorization(gemm.space, "m", 1024, 4);
    add_factorization(gemm.space, "k", 1024, 2);
    add_factorization(gemm.space, "n", 1024, 4);
    sealed(gemm.space);
    check_learning(&gemm, 0);

    struct slope ladders = {space_create("ladders"), {{9, 12, 3, 8, 14, 10}}};
    for (int i = 0; i < 6; i++)
        add_discrete(ladders.space, (char[]){(char)('a' + i), '\0'}, 16);
    sealed(ladders.space);
    check_learning(&ladders, 0.4);
}

// The same asks whatever the order in which a round's results arrive, and in mode=nni not.
static bool same_asks_in_any_order(const char *spec, double scale)
{
    struct space *s = space_mm(512, 512, 512);
    struct search_problem problem = {.space = s};
    struct strategy *a = strategy_create(spec, &problem, 5, NULL);
    struct strategy *b = strategy_create(spec, &problem, 5, NULL);
    struct rng r;
    rng_seed(&r, 1);
    bool same = true;
    for (int round = 0; round < 40 && same; round++) {
        struct config c[16], d[16];
        int count = ask_round(a, c, 16);
        same = ask_round(b, d, 16) == count && memcmp(c, d, (size_t)count * sizeof *c) == 0;
        for (int i = 0; i < count; i++)
            strategy_tell(a, &c[i], OUTCOME_OK, scrambled(NULL, &c[i]));
        for (int left = count; left > 0 && same; left--) {
            int i = scale == 1 ? (int)rng_below(&r, (uint64_t)left) : 0;
            strategy_tell(b, &d[i], OUTCOME_OK, scale * scrambled(NULL, &d[i]));
            memmove(&d[i], &d[i + 1], (size_t)(left - 1 - i) * sizeof *d);
        }
    }
    strategy_destroy(a);
    strategy_destroy(b);
    space_destroy(s);
    return same;
}

static void test_nni_defect_3_rewards_depend_on_arrival(void **state)
{
    (void)state;
    assert_true(same_asks_in_any_order("na2c", 1));
    assert_true(same_asks_in_any_order("na2c:augment=0:gamma=0.5", 1));
    assert_false(same_asks_in_any_order("na2c:mode=nni", 1));
}

static void test_nni_defect_4_rewards_depend_on_units(void **state)
{
    (void)state;
    assert_true(same_asks_in_any_order("na2c", 1024));
    assert_false(same_asks_in_any_order("na2c:mode=nni", 1024));
}

// NNI walks on for ever once all states within its reach are known.
static void test_nni_defect_5_ends_when_all_is_known(void **state)
{
    (void)state;
    struct space *s = space_24();
    struct search_problem problem = {.space = s};
    const char *const specs[] = {"na2c", "na2c:mode=nni", "na2c:tau=0", "na2c:tau=1:entropy=0",
                                 "na2c:soft=6:batch=50"};
    for (int i = 0; i < 5; i++) {
        struct drive d = drive_create(specs[i], &problem, 1);
        d.measure = scrambled;
        assert_true(drive_run(&d, 100));
        assert_int_equal(d.asked.count, 24);
        drive_destroy(&d);
    }
    space_destroy(s);
}

// Best below.
static double downhill(void *context, const struct config *c)
{
    (void)context;
    return 2000 - c->slot[0];
}

// Walks from rung 0 reach rung 3, then, as nothing there is new, further and further, but never
// beyond 10; then the search starts anew anywhere, with short walks.
static void test_walks_grow_when_nothing_is_new(void **state)
{
    (void)state;
    struct space *s = ladder(1000);
    struct search_problem problem = {.space = s};
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct strategy *n = strategy_create("na2c:batch=1:tau=0", &problem, seed, NULL);
        struct config c = {{0}};
        int64_t from[SPACE_MAX_PARAMS];
        bool seen[12] = {false};
        int found = 0;
        while (strategy_ask(n, &c) == ASK_NEW && (found == 0 || strategy_origin(n, from))) {
            assert_in_range(c.slot[0], 0, 10);
            assert_true(c.slot[0] < 2 || seen[c.slot[0] - 1]);
            seen[c.slot[0]] = true;
            found++;
            strategy_tell(n, &c, OUTCOME_OK, downhill(NULL, &c));
        }
        assert_in_range(found, 7, 11);
        int32_t start = c.slot[0];
        strategy_tell(n, &c, OUTCOME_OK, downhill(NULL, &c));
        assert_int_equal(strategy_ask(n, &c), ASK_NEW);
        assert_true(abs(c.slot[0] - start) <= 3);
        strategy_destroy(n);
    }
    space_destroy(s);
}

static void test_walks_are_short_again_after_a_better_state(void **state)
{
    (void)state;
    struct space *s = ladder(1000);
    struct search_problem problem = {.space = s};
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct strategy *n = strategy_create("na2c:batch=1:tau=0", &problem, seed, NULL);
        struct config c = {{0}};
        while (c.slot[0] != 6) {
            assert_int_equal(strategy_ask(n, &c), ASK_NEW);
            strategy_tell(n, &c, OUTCOME_OK, c.slot[0] == 6 ? 5000 : downhill(NULL, &c));
        }
        for (int i = 0; i < 3; i++) {
            assert_int_equal(strategy_ask(n, &c), ASK_NEW);
            assert_int_equal(c.slot[0], 7 + i); // three moves and no more
            strategy_tell(n, &c, OUTCOME_OK, 1);
        }
        strategy_destroy(n);
    }
    space_destroy(s);
}

static int farthest_of_first_round(const char *spec)
{
    struct space *s = ladder(1000);
    struct search_problem problem = {.space = s};
    int farthest = 0;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct config c[64];
        struct strategy *n = strategy_create(spec, &problem, seed, NULL);
        int count = ask_round(n, c, 64);
        for (int i = 0; i < count; i++)
            farthest = c[i].slot[0] > farthest ? c[i].slot[0] : farthest;
        strategy_destroy(n);
    }
    space_destroy(s);
    return farthest;
}

static void test_soft_start(void **state)
{
    (void)state;
    assert_int_equal(farthest_of_first_round("na2c:batch=4"), 3); // 0 to 3, all that is in reach
    assert_int_equal(farthest_of_first_round("na2c:batch=4:soft=6"), 4); // and 0 may be left out
}

// tau=0 on a ladder of four rungs. NNI draws among all moves, and one that changes nothing uses up
// a step: a first walk that finds something finds rung 3 with chance (1/8) / (7/8). Ours draws
// among what is legal, 1/4, and stops when the batch is full.
static void test_illegal_moves(void **state)
{
    (void)state;
    struct space *s = ladder(4);
    struct search_problem problem = {.space = s};
    const struct {
        const char *spec;
        double chance;
    } cases[] = {{"na2c:mode=nni:batch=1:tau=0:hidden=1", 1 / 7.0},
                 {"na2c:batch=3:steps=3:tau=0:hidden=1:memory=1", 0}};
    for (int i = 0; i < 2; i++) {
        int top[2] = {0};
        for (uint64_t seed = 0; seed < 3500; seed++) {
            struct strategy *n = strategy_create(cases[i].spec, &problem, seed, NULL);
            struct config c[8];
            int count = ask_round(n, c, 8);
            assert_true(i == 0 || count == 3);
            bool first_walk = count >= 3 && c[0].slot[0] == 1 && c[1].slot[0] == 2;
            top[i == 0 ? count > 0 && c[count - 1].slot[0] == 3 : first_walk]++;
            strategy_destroy(n);
        }
        // Ours: 1 is certain; then 2 with 1/2, else 0, which is new too.
        double chance = i == 0 ? cases[i].chance : 0.5;
        assert_true(chi_square(2, top, (double[]){1 - chance, chance}) < chi_square_limit(1));
    }
    space_destroy(s);
}

static bool fifth_legal(void *context, const struct config *c)
{
    (void)context;
    return c->slot[0] == 0 || c->slot[0] % 5 == 1;
}

// Four fifths are illegal: a uniform step is uniform over the rest, and a step of the policy
// follows the policy over the rest. Where the start itself is illegal, a draw takes its place.
static void test_rules_leave_no_bias(void **state)
{
    (void)state;
    struct space *s = space_create("star");
    add_categorical(s, "a", 41);
    struct search_problem problem = {.space = sealed(s), .legal = fifth_legal};
    int count[8] = {0};
    double uniform[8];
    for (uint64_t seed = 0; seed < 4000; seed++) {
        struct strategy *n = strategy_create("na2c:tau=0:batch=1:hidden=1", &problem, seed, NULL);
        struct config c;
        assert_int_equal(strategy_ask(n, &c), ASK_NEW);
        assert_int_equal(c.slot[0] % 5, 1);
        count[c.slot[0] / 5]++;
        strategy_destroy(n);
    }
    for (int i = 0; i < 8; i++)
        uniform[i] = 1 / 8.0;
    assert_true(chi_square(8, count, uniform) < chi_square_limit(7));
    space_destroy(s);
}

static bool above_20(void *context, const struct config *c)
{
    (void)context;
    return c->slot[0] > 20;
}

static void test_illegal_start_is_replaced_by_a_draw(void **state)
{
    (void)state;
    struct space *s = ladder(40);
    struct search_problem problem = {.space = s, .legal = above_20};
    const char *const specs[] = {"na2c", "na2c:mode=nni", "na2c:legal=0"};
    const int points[] = {19, 19, 40};
    for (int i = 0; i < 3; i++) {
        struct drive d = drive_create(specs[i], &problem, 3);
        d.measure = scrambled;
        assert_true(drive_run(&d, 100));
        assert_int_equal(d.asked.count, points[i]);
        drive_destroy(&d);
    }
    space_destroy(s);
}

static void test_too_many_moves(void **state)
{
    (void)state;
    struct space *s = space_create("many");
    for (int i = 0; i < 17; i++)
        add_categorical(s, (char[]){(char)('a' + i), '\0'}, 4096);
    struct search_problem problem = {.space = sealed(s)};
    struct err e;
    assert_null(strategy_create("na2c", &problem, 1, &e));
    wording_is("search", "na2c: too many moves", e.text);
    space_destroy(s);
}

TEST_GROUP(na2c)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches_around_the_best),
        cmocka_unit_test(test_origin_is_the_state_before),
        cmocka_unit_test(test_learning_beats_random_walks),
        cmocka_unit_test(test_nni_defect_3_rewards_depend_on_arrival),
        cmocka_unit_test(test_nni_defect_4_rewards_depend_on_units),
        cmocka_unit_test(test_nni_defect_5_ends_when_all_is_known),
        cmocka_unit_test(test_walks_grow_when_nothing_is_new),
        cmocka_unit_test(test_walks_are_short_again_after_a_better_state),
        cmocka_unit_test(test_soft_start),
        cmocka_unit_test(test_illegal_moves),
        cmocka_unit_test(test_rules_leave_no_bias),
        cmocka_unit_test(test_illegal_start_is_replaced_by_a_draw),
        cmocka_unit_test(test_too_many_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
