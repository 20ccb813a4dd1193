// When a search leaves, where it goes, and when it is home again.
#include "driver.h"
#include "group.h"
#include "search/restart.h"
#include "spaces.h"

#include <math.h>

enum { LONG = 100 };

// One trial at home that promises and brings `gain`; returns the next index.
static int at_home(struct excursion *e, int index, double promise, double fitness)
{
    assert_int_equal(excursion_next(e), TRIAL_HOME);
    excursion_promise(e, promise);
    excursion_told(e, index, fitness, index + 1);
    return index + 1;
}

// Trials at home that promise nothing, until it leaves.
static int until_it_leaves(struct excursion *e, int index)
{
    int first = index;
    while (excursion_next(e) == TRIAL_HOME) {
        assert_true(index - first < LONG);
        index = at_home(e, index, 0, 0.5);
    }
    assert_int_equal(excursion_next(e), TRIAL_PROBE);
    return index;
}

static int probe_all(struct excursion *e, int index, int surprising, double above)
{
    for (int i = 0; excursion_next(e) == TRIAL_PROBE; i++, index++) {
        excursion_probe(e, index, 0.3, 0.1);
        excursion_told(e, index, i == surprising ? 0.3 + above : 0.3, index + 1);
    }
    return index;
}

static void test_stays_where_gains_are_promised(void **state)
{
    (void)state;
    struct excursion e = {.least = 1e-4}, never = {0};
    int index = at_home(&e, 0, 0.1, 1);
    for (int i = 0; i < LONG; i++)
        index = at_home(&e, index, 0.01, 0.5);
    until_it_leaves(&e, index);
    for (int i = 0; i < LONG; i++)
        at_home(&never, i, 0, 0.5);
}

// Promises that came true are worth more than those that did not.
static void test_learns_what_promises_are_worth(void **state)
{
    (void)state;
    struct excursion kept = {.least = 1e-4}, broken = {.least = 1e-4};
    double best = 1;
    at_home(&kept, 0, 0, best);
    at_home(&broken, 0, 0, best);
    for (int i = 1; i < 20; i++) {
        best *= 1.05;
        at_home(&kept, i, 0.05, best);
        at_home(&broken, i, 0.05, 1);
    }
    for (int i = 20; i < 40 + LONG; i++) {
        excursion_promise(&kept, 2e-4);
        excursion_told(&kept, i, 0.5, i + 1);
        if (excursion_next(&broken) != TRIAL_HOME)
            break;
        excursion_promise(&broken, 2e-4);
        excursion_told(&broken, i, 0.5, i + 1);
    }
    assert_int_equal(excursion_next(&broken), TRIAL_PROBE);
    assert_int_equal(excursion_next(&kept), TRIAL_HOME);
}

static void test_nothing_is_surprising(void **state)
{
    (void)state;
    struct excursion e = {.least = 1e-4};
    int index = at_home(&e, 0, 0, 1);
    index = until_it_leaves(&e, index);
    index = probe_all(&e, index, 3, 0.05);
    assert_int_equal(excursion_next(&e), TRIAL_HOME);
    int again = until_it_leaves(&e, index);
    assert_true(again > index);
}

static int follow_in_vain(double above)
{
    struct excursion e = {.least = 1e-4};
    int index = at_home(&e, 0, 0, 1), followed = 0;
    index = until_it_leaves(&e, index);
    int first = index;
    index = probe_all(&e, index, 5, above);
    for (; excursion_next(&e) == TRIAL_FOLLOWS; index++, followed++) {
        assert_int_equal(e.own[0], first + 5);
        excursion_told(&e, index, 0.2, index + 1);
    }
    assert_int_equal(excursion_next(&e), TRIAL_HOME);
    return followed;
}

// The more surprising, the longer.
static void test_follows_what_is_surprising(void **state)
{
    (void)state;
    assert_true(follow_in_vain(0.15) > 0);
    assert_true(follow_in_vain(0.4) > follow_in_vain(0.15));
    assert_true(follow_in_vain(0.65) < LONG);
}

static void test_a_gain_leads_home(void **state)
{
    (void)state;
    struct excursion e = {.least = 1e-4};
    int index = at_home(&e, 0, 0, 1);
    index = until_it_leaves(&e, index);
    index = probe_all(&e, index, 0, 0.3);
    excursion_told(&e, index, 0.7, index + 1);
    assert_int_equal(excursion_next(&e), TRIAL_FOLLOWS);
    assert_int_equal(e.own[0], index++);
    excursion_told(&e, index, 1.1, index + 1);
    assert_int_equal(excursion_next(&e), TRIAL_HOME);
    assert_true(e.best == 1.1);
}

// --- what is very surprising is followed at once; the tests above are of `surprise` 0 ---

static void probe(struct excursion *e, int index)
{
    assert_int_equal(excursion_next(e), TRIAL_PROBE);
    excursion_probe(e, index, 0.3, 0.1);
}

// Expected at `mean`; how long it is followed when all are `fitness`.
static int follow(struct excursion *e, int index, double mean, double fitness)
{
    int followed = 0;
    for (; excursion_next(e) == TRIAL_FOLLOWS; followed++, index++) {
        assert_true(followed < LONG);
        excursion_follower(e, index, mean, 0.1);
        excursion_told(e, index, fitness, index + 1);
    }
    return followed;
}

static void test_follows_at_once(void **state)
{
    (void)state;
    struct excursion e = {.least = 1e-4, .surprise = 2.5};
    int index = at_home(&e, 0, 0, 1), probes = 0;
    index = until_it_leaves(&e, index);
    for (; probes < 3; probes++, index++) {
        probe(&e, index);
        excursion_told(&e, index, probes == 2 ? 0.56 : 0.4, index + 1);
    }
    assert_int_equal(excursion_next(&e), TRIAL_FOLLOWS);
    int found = index - 1;
    assert_int_equal(e.own[0], found);
    assert_int_equal(excursion_known(&e, index), found);
    // Faster, but as it was expected; then slower, but above what was.
    excursion_follower(&e, index, 0.8, 0.1);
    excursion_told(&e, index, 0.81, index + 1);
    excursion_follower(&e, index + 1, 0.2, 0.1);
    excursion_told(&e, index + 1, 0.4, index + 2);
    assert_int_equal(e.owned, 2);
    assert_int_equal(e.own[0], found);
    assert_int_equal(e.own[1], index + 1);
    index += 2;
    index += follow(&e, index, 0.3, 0.3);
    // The probes that are left, and home again.
    for (; excursion_next(&e) == TRIAL_PROBE; probes++, index++) {
        assert_int_equal(excursion_known(&e, index), index);
        probe(&e, index);
        excursion_told(&e, index, 0.3, index + 1);
    }
    assert_int_equal(excursion_next(&e), TRIAL_HOME);
    assert_true(probes > 3 && probes < LONG);
}

// What goes on being above expectation is followed for longer than what is not.
static void test_follows_while_it_is_surprised(void **state)
{
    (void)state;
    int followed[2];
    for (int gains = 0; gains < 2; gains++) {
        struct excursion e = {.least = 1e-4, .surprise = 2.5};
        int index = at_home(&e, 0, 0, 1);
        index = until_it_leaves(&e, index);
        probe(&e, index);
        excursion_told(&e, index, 0.56, index + 1);
        index++;
        for (int i = 0; gains && i < 10; i++, index++) {
            assert_int_equal(excursion_next(&e), TRIAL_FOLLOWS);
            excursion_follower(&e, index, 0.3, 0.1);
            excursion_told(&e, index, 0.6 + 0.01 * i, index + 1);
        }
        followed[gains] = (gains ? 10 : 0) + follow(&e, index, 0.3, 0.3);
    }
    assert_int_equal(followed[1], followed[0] + 10);
}

// Where no probe is so surprising, the most surprising one is followed, if it is 1.5 deviations
// above expectation.
static void test_else_follows_the_most_surprising(void **state)
{
    (void)state;
    const double above[] = {0.14, 0.16, 0.24};
    int followed[3];
    for (int i = 0; i < 3; i++) {
        struct excursion e = {.least = 1e-4, .surprise = 2.5};
        int index = until_it_leaves(&e, at_home(&e, 0, 0, 1)), first = index;
        index = probe_all(&e, index, 4, above[i]);
        for (followed[i] = 0; excursion_next(&e) == TRIAL_FOLLOWS; followed[i]++, index++) {
            assert_int_equal(e.own[0], first + 4);
            excursion_told(&e, index, 0.2, index + 1);
        }
        assert_int_equal(excursion_next(&e), TRIAL_HOME);
    }
    assert_int_equal(followed[0], 0);
    assert_true(followed[1] > 0 && followed[2] > followed[1]);
}

// So it is, too, where another probe was followed at once before, and led nowhere.
static void test_follows_both(void **state)
{
    (void)state;
    struct excursion e = {.least = 1e-4, .surprise = 2.5};
    int index = until_it_leaves(&e, at_home(&e, 0, 0, 1)), mild = index;
    probe(&e, index);
    excursion_told(&e, index, 0.5, index + 1);
    probe(&e, ++index);
    excursion_told(&e, index, 0.6, index + 1);
    assert_int_equal(excursion_next(&e), TRIAL_FOLLOWS);
    assert_int_equal(e.own[0], index++);
    index += follow(&e, index, 0.3, 0.3);
    probe_all(&e, index, -1, 0);
    assert_int_equal(excursion_next(&e), TRIAL_FOLLOWS);
    assert_int_equal(e.own[0], mild);
}

// With several trials open: probes that are told later count, and can be followed too; what was
// asked for at home is no probe.
static void test_probes_still_out(void **state)
{
    (void)state;
    enum { OUT = 4 };
    struct excursion e = {.least = 1e-4, .surprise = 2.5};
    int index = at_home(&e, 0, 0, 1);
    index = until_it_leaves(&e, index);
    for (int i = 0; i < OUT; i++)
        probe(&e, index + i);
    excursion_told(&e, index - 1, 0.9, index + OUT);
    assert_int_equal(e.told, 0);
    excursion_told(&e, index, 0.6, index + OUT);
    assert_int_equal(excursion_next(&e), TRIAL_FOLLOWS);
    excursion_told(&e, index + 1, 0.7, index + OUT);
    excursion_told(&e, index + 2, 0.31, index + OUT);
    excursion_told(&e, index + 3, 0, index + OUT);
    assert_int_equal(e.told, OUT);
    assert_int_equal(e.owned, 2);
    assert_int_equal(e.own[0], index + 1);
    assert_int_equal(e.vain, 0);
}

static double nearest(struct coordinates *s, const struct config_set *given, int count,
                      const double *weight, const struct config *c)
{
    double least = INFINITY, x[COORDINATES_MOST], y[COORDINATES_MOST];
    coordinates_of(s, c, x);
    for (int i = 0; i < count; i++) {
        struct config known;
        double distance = 0;
        config_set_get(given, i, &known);
        coordinates_of(s, &known, y);
        for (int k = 0; k < s->count; k++)
            distance += weight[k] * fmin(1, fabs(x[k] - y[k]));
        least = fmin(least, distance);
    }
    return least;
}

static bool is_odd(void *context, const struct config *c)
{
    (void)context;
    return config_hash(c) % 2;
}

// Of all legal points, by the formula.
static void test_farthest(void **state)
{
    (void)state;
    enum { STEPS = 20 };
    struct space *s = space_mixed();
    struct search_problem problem = {.space = s, .legal = is_odd};
    struct coordinates coordinates;
    struct config_set given = {.slots = s->slots};
    struct config c;
    struct rng r;
    double weight[COORDINATES_MOST];
    coordinates_init(&coordinates, s, false);
    struct field f = {.problem = &problem, .coordinates = &coordinates};
    rng_seed(&r, 6);
    for (int k = 0; k < coordinates.count; k++)
        weight[k] = rng_real(&r);
    space_point(s, 0, &c);
    config_set_add(&given, &c, NULL);
    for (int n = 1; n <= STEPS; n++) {
        double most = 0;
        assert_true(field_farthest(&f, &given, n, weight, &r, &c));
        assert_true(is_odd(NULL, &c));
        for (uint64_t i = 0; i < s->size; i++) {
            struct config other;
            space_point(s, i, &other);
            if (is_odd(NULL, &other))
                most = fmax(most, nearest(&coordinates, &given, n, weight, &other));
        }
        assert_true(fabs(nearest(&coordinates, &given, n, weight, &c) - most) < 1e-5);
        config_set_add(&given, &c, NULL);
    }
    for (uint64_t i = 0; i < s->size; i++) {
        space_point(s, i, &c);
        config_set_add(&given, &c, NULL);
    }
    assert_false(field_farthest(&f, &given, given.count, weight, &r, &c));
    field_finish(&f);
    coordinates_finish(&coordinates);
    config_set_finish(&given);
    space_destroy(s);
}

TEST_GROUP(excursion)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stays_where_gains_are_promised),
        cmocka_unit_test(test_learns_what_promises_are_worth),
        cmocka_unit_test(test_nothing_is_surprising),
        cmocka_unit_test(test_follows_what_is_surprising),
        cmocka_unit_test(test_a_gain_leads_home),
        cmocka_unit_test(test_follows_at_once),
        cmocka_unit_test(test_follows_while_it_is_surprised),
        cmocka_unit_test(test_else_follows_the_most_surprising),
        cmocka_unit_test(test_follows_both),
        cmocka_unit_test(test_probes_still_out),
        cmocka_unit_test(test_farthest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
