// The exploration phases: when they begin, their trials, and when they end.
#include "driver.h"
#include "group.h"
#include "search/restart.h"
#include "spaces.h"

#include <math.h>

enum { LONG = 100 };

// Runs one trial of the model with expected improvement `expected`; returns the next index.
static int model_trial(struct exploration *e, int index, double expected, double fitness)
{
    assert_int_equal(exploration_next(e), TRIAL_MODEL);
    exploration_expect(e, expected);
    exploration_observe(e, index, fitness, index + 1);
    return index + 1;
}

// Runs trials without expected improvement until a phase begins.
static int until_it_explores(struct exploration *e, int index)
{
    int first = index;
    while (exploration_next(e) == TRIAL_MODEL) {
        assert_true(index - first < LONG);
        index = model_trial(e, index, 0, 0.5);
    }
    assert_int_equal(exploration_next(e), TRIAL_PROBE);
    return index;
}

static int probe_all(struct exploration *e, int index, int best, double above)
{
    for (int i = 0; exploration_next(e) == TRIAL_PROBE; i++, index++) {
        exploration_probe(e, index, 0.3, 0.1);
        exploration_observe(e, index, i == best ? 0.3 + above : 0.3, index + 1);
    }
    return index;
}

static void test_exploits_while_improvement_is_expected(void **state)
{
    (void)state;
    struct exploration e = {.least = 1e-4}, never = {0};
    int index = model_trial(&e, 0, 0.1, 1);
    for (int i = 0; i < LONG; i++)
        index = model_trial(&e, index, 0.01, 0.5);
    until_it_explores(&e, index);
    for (int i = 0; i < LONG; i++)
        model_trial(&never, i, 0, 0.5);
}

// Expected improvements that came true count more than others.
static void test_corrects_expected_improvements(void **state)
{
    (void)state;
    struct exploration kept = {.least = 1e-4}, broken = {.least = 1e-4};
    double best = 1;
    model_trial(&kept, 0, 0, best);
    model_trial(&broken, 0, 0, best);
    for (int i = 1; i < 20; i++) {
        best *= 1.05;
        model_trial(&kept, i, 0.05, best);
        model_trial(&broken, i, 0.05, 1);
    }
    for (int i = 20; i < 40 + LONG; i++) {
        exploration_expect(&kept, 2e-4);
        exploration_observe(&kept, i, 0.5, i + 1);
        if (exploration_next(&broken) != TRIAL_MODEL)
            break;
        exploration_expect(&broken, 2e-4);
        exploration_observe(&broken, i, 0.5, i + 1);
    }
    assert_int_equal(exploration_next(&broken), TRIAL_PROBE);
    assert_int_equal(exploration_next(&kept), TRIAL_MODEL);
}

static void test_probes_as_predicted_end_the_phase(void **state)
{
    (void)state;
    struct exploration e = {.least = 1e-4};
    int index = model_trial(&e, 0, 0, 1);
    index = until_it_explores(&e, index);
    index = probe_all(&e, index, 3, 0.05);
    assert_int_equal(exploration_next(&e), TRIAL_MODEL);
    int again = until_it_explores(&e, index);
    assert_true(again > index);
}

static int lenient_search(double above)
{
    struct exploration e = {.least = 1e-4};
    int index = model_trial(&e, 0, 0, 1), followed = 0;
    index = until_it_explores(&e, index);
    int first = index;
    index = probe_all(&e, index, 5, above);
    for (; exploration_next(&e) == TRIAL_LOCAL; index++, followed++) {
        assert_int_equal(e.local[0], first + 5);
        exploration_observe(&e, index, 0.2, index + 1);
    }
    assert_int_equal(exploration_next(&e), TRIAL_MODEL);
    return followed;
}

// A higher z-score gives a longer local search.
static void test_lenient_local_search(void **state)
{
    (void)state;
    assert_true(lenient_search(0.15) > 0);
    assert_true(lenient_search(0.4) > lenient_search(0.15));
    assert_true(lenient_search(0.65) < LONG);
}

static void test_a_gain_ends_the_phase(void **state)
{
    (void)state;
    struct exploration e = {.least = 1e-4};
    int index = model_trial(&e, 0, 0, 1);
    index = until_it_explores(&e, index);
    index = probe_all(&e, index, 0, 0.3);
    exploration_observe(&e, index, 0.7, index + 1);
    assert_int_equal(exploration_next(&e), TRIAL_LOCAL);
    assert_int_equal(e.local[0], index++);
    exploration_observe(&e, index, 1.1, index + 1);
    assert_int_equal(exploration_next(&e), TRIAL_MODEL);
    assert_true(e.best == 1.1);
}

// --- strict local searches; the tests above have `z_at_once` 0 ---

static void probe(struct exploration *e, int index)
{
    assert_int_equal(exploration_next(e), TRIAL_PROBE);
    exploration_probe(e, index, 0.3, 0.1);
}

// Expected at `mean`; how long it is followed when all are `fitness`.
static int follow(struct exploration *e, int index, double mean, double fitness)
{
    int followed = 0;
    for (; exploration_next(e) == TRIAL_LOCAL; followed++, index++) {
        assert_true(followed < LONG);
        exploration_local(e, index, mean, 0.1);
        exploration_observe(e, index, fitness, index + 1);
    }
    return followed;
}

static void test_strict_local_search(void **state)
{
    (void)state;
    struct exploration e = {.least = 1e-4, .z_at_once = 2.5};
    int index = model_trial(&e, 0, 0, 1), probes = 0;
    index = until_it_explores(&e, index);
    for (; probes < 3; probes++, index++) {
        probe(&e, index);
        exploration_observe(&e, index, probes == 2 ? 0.56 : 0.4, index + 1);
    }
    assert_int_equal(exploration_next(&e), TRIAL_LOCAL);
    int found = index - 1;
    assert_int_equal(e.local[0], found);
    assert_int_equal(exploration_known(&e, index), found);
    // Faster, but as it was expected; then slower, but above what was.
    exploration_local(&e, index, 0.8, 0.1);
    exploration_observe(&e, index, 0.81, index + 1);
    exploration_local(&e, index + 1, 0.2, 0.1);
    exploration_observe(&e, index + 1, 0.4, index + 2);
    assert_int_equal(e.local_count, 2);
    assert_int_equal(e.local[0], found);
    assert_int_equal(e.local[1], index + 1);
    index += 2;
    index += follow(&e, index, 0.3, 0.3);
    // The remaining probes follow, then the phase ends.
    for (; exploration_next(&e) == TRIAL_PROBE; probes++, index++) {
        assert_int_equal(exploration_known(&e, index), index);
        probe(&e, index);
        exploration_observe(&e, index, 0.3, index + 1);
    }
    assert_int_equal(exploration_next(&e), TRIAL_MODEL);
    assert_true(probes > 3 && probes < LONG);
}

// A strict local search with high z-scores lasts longer than one without.
static void test_high_z_scores_prolong_it(void **state)
{
    (void)state;
    int followed[2];
    for (int gains = 0; gains < 2; gains++) {
        struct exploration e = {.least = 1e-4, .z_at_once = 2.5};
        int index = model_trial(&e, 0, 0, 1);
        index = until_it_explores(&e, index);
        probe(&e, index);
        exploration_observe(&e, index, 0.56, index + 1);
        index++;
        for (int i = 0; gains && i < 10; i++, index++) {
            assert_int_equal(exploration_next(&e), TRIAL_LOCAL);
            exploration_local(&e, index, 0.3, 0.1);
            exploration_observe(&e, index, 0.6 + 0.01 * i, index + 1);
        }
        followed[gains] = (gains ? 10 : 0) + follow(&e, index, 0.3, 0.3);
    }
    assert_int_equal(followed[1], followed[0] + 10);
}

// If no probe starts a strict local search, the one with the highest z-score starts a lenient
// one, from 1.5 deviations on.
static void test_highest_z_score_without_strict_search(void **state)
{
    (void)state;
    const double above[] = {0.14, 0.16, 0.24};
    int followed[3];
    for (int i = 0; i < 3; i++) {
        struct exploration e = {.least = 1e-4, .z_at_once = 2.5};
        int index = until_it_explores(&e, model_trial(&e, 0, 0, 1)), first = index;
        index = probe_all(&e, index, 4, above[i]);
        for (followed[i] = 0; exploration_next(&e) == TRIAL_LOCAL; followed[i]++, index++) {
            assert_int_equal(e.local[0], first + 4);
            exploration_observe(&e, index, 0.2, index + 1);
        }
        assert_int_equal(exploration_next(&e), TRIAL_MODEL);
    }
    assert_int_equal(followed[0], 0);
    assert_true(followed[1] > 0 && followed[2] > followed[1]);
}

// So it is, too, where another probe was followed at once before, and led nowhere.
static void test_follows_both(void **state)
{
    (void)state;
    struct exploration e = {.least = 1e-4, .z_at_once = 2.5};
    int index = until_it_explores(&e, model_trial(&e, 0, 0, 1)), mild = index;
    probe(&e, index);
    exploration_observe(&e, index, 0.5, index + 1);
    probe(&e, ++index);
    exploration_observe(&e, index, 0.6, index + 1);
    assert_int_equal(exploration_next(&e), TRIAL_LOCAL);
    assert_int_equal(e.local[0], index++);
    index += follow(&e, index, 0.3, 0.3);
    probe_all(&e, index, -1, 0);
    assert_int_equal(exploration_next(&e), TRIAL_LOCAL);
    assert_int_equal(e.local[0], mild);
}

// With several trials open: probes that are observed later count, and can start a local search,
// too. A trial of the model is no probe.
static void test_probes_still_out(void **state)
{
    (void)state;
    enum { OUT = 4 };
    struct exploration e = {.least = 1e-4, .z_at_once = 2.5};
    int index = model_trial(&e, 0, 0, 1);
    index = until_it_explores(&e, index);
    for (int i = 0; i < OUT; i++)
        probe(&e, index + i);
    exploration_observe(&e, index - 1, 0.9, index + OUT);
    assert_int_equal(e.observed, 0);
    exploration_observe(&e, index, 0.6, index + OUT);
    assert_int_equal(exploration_next(&e), TRIAL_LOCAL);
    exploration_observe(&e, index + 1, 0.7, index + OUT);
    exploration_observe(&e, index + 2, 0.31, index + OUT);
    exploration_observe(&e, index + 3, 0, index + OUT);
    assert_int_equal(e.observed, OUT);
    assert_int_equal(e.local_count, 2);
    assert_int_equal(e.local[0], index + 1);
    assert_int_equal(e.failed_streak, 0);
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

// The farthest of all legal points, by the formula.
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
    struct maximin f = {.problem = &problem, .coordinates = &coordinates};
    rng_seed(&r, 6);
    for (int k = 0; k < coordinates.count; k++)
        weight[k] = rng_real(&r);
    space_point(s, 0, &c);
    config_set_add(&given, &c, NULL);
    for (int n = 1; n <= STEPS; n++) {
        double most = 0;
        assert_true(maximin_farthest(&f, &given, n, weight, &r, &c));
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
    assert_false(maximin_farthest(&f, &given, given.count, weight, &r, &c));
    maximin_finish(&f);
    coordinates_finish(&coordinates);
    config_set_finish(&given);
    space_destroy(s);
}

TEST_GROUP(restart)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exploits_while_improvement_is_expected),
        cmocka_unit_test(test_corrects_expected_improvements),
        cmocka_unit_test(test_probes_as_predicted_end_the_phase),
        cmocka_unit_test(test_lenient_local_search),
        cmocka_unit_test(test_a_gain_ends_the_phase),
        cmocka_unit_test(test_strict_local_search),
        cmocka_unit_test(test_high_z_scores_prolong_it),
        cmocka_unit_test(test_highest_z_score_without_strict_search),
        cmocka_unit_test(test_follows_both),
        cmocka_unit_test(test_probes_still_out),
        cmocka_unit_test(test_farthest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
