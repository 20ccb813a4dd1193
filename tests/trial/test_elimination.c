// The race over shapes, against all shapes measured of every candidate: what it finds, and what
// that takes. Times are synthetic: a candidate's own speed, that of the shape, and how differently
// it does on each.
#include "group.h"

#include "base/rng.h"
#include "trial/shapes.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { SHAPES = 8, CANDIDATES = 300, SEEDS = 40 };

struct world {
    double seconds[CANDIDATES][SHAPES];
};

static double normal(struct rng *r)
{
    double sum = 0; // of twelve uniform ones
    for (int i = 0; i < 12; i++)
        sum += rng_real(r);
    return sum - 6;
}

// `spread`: of the logarithm of a candidate's time from shape to shape.
static void make(struct world *w, double spread, uint64_t seed)
{
    struct rng r;
    double of_shape[SHAPES];
    rng_seed(&r, seed);
    for (int i = 0; i < SHAPES; i++)
        of_shape[i] = 1e-3 * exp(normal(&r));
    for (int c = 0; c < CANDIDATES; c++) {
        double own = exp(0.7 * normal(&r));
        for (int i = 0; i < SHAPES; i++)
            w->seconds[c][i] = own * of_shape[i] * exp(spread * normal(&r));
    }
}

static struct shapes_goal goal_of(const struct world *w, bool by_worst)
{
    struct shapes_goal g = {.count = SHAPES, .by_worst = by_worst};
    for (int i = 0; i < SHAPES; i++)
        g.weight[i] = 1 + i % 3;
    shapes_goal_add_reference(&g, w->seconds[0]); // as if the first were in use
    return g;
}

static int best_of_all(const struct world *w, const struct shapes_goal *g)
{
    int best = 0;
    for (int c = 1; c < CANDIDATES; c++)
        if (shapes_goal_seconds(g, w->seconds[c]) < shapes_goal_seconds(g, w->seconds[best]))
            best = c;
    return best;
}

struct found {
    int best, runs;
};

static struct found race(const struct world *w, const struct shapes_goal *g)
{
    struct elimination l = {.goal = *g};
    struct found f = {.best = -1};
    double best_s = INFINITY;
    for (int c = 0; c < CANDIDATES; c++) {
        double seconds[TRIAL_MAX_SHAPES] = {0};
        bool over = false;
        for (int i; !over && (i = elimination_next(&l, seconds)) >= 0; f.runs++) {
            seconds[i] = w->seconds[c][i];
            over = elimination_is_over(&l, seconds, seconds);
        }
        bool is_whole = elimination_next(&l, seconds) < 0;
        elimination_observe(&l, seconds);
        if (!is_whole) // what is expected of it is no better than the best
            elimination_expect(&l, seconds);
        double all = shapes_goal_seconds(g, seconds);
        assert_true(is_whole || all >= best_s);
        if (is_whole && all < best_s) {
            best_s = all;
            f.best = c;
        }
    }
    return f;
}

// Counts over all seeds.
struct tally {
    int hits, runs;
    double worst_loss;
};

static struct tally tally(double spread, bool by_worst)
{
    static struct world w;
    struct tally t = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        make(&w, spread, seed);
        struct shapes_goal g = goal_of(&w, by_worst);
        struct found f = race(&w, &g);
        int right = best_of_all(&w, &g);
        t.hits += f.best == right;
        t.runs += f.runs;
        t.worst_loss = fmax(t.worst_loss, shapes_goal_seconds(&g, w.seconds[f.best]) /
                                                  shapes_goal_seconds(&g, w.seconds[right]) -
                                              1);
    }
    print_message(
        "spread %.2f, by %s: %d of %d found, at worst %.1f %% more, %.1f %% of all runs\n", spread,
        by_worst ? "worst" : "time", t.hits, SEEDS, 100 * t.worst_loss,
        100.0 * t.runs / (SEEDS * CANDIDATES * SHAPES));
    return t;
}

#define ALL (SEEDS * CANDIDATES * SHAPES)

static void alike_shapes_take_one_measurement(void **state)
{
    (void)state;
    for (int by_worst = 0; by_worst < 2; by_worst++) {
        struct tally t = tally(0, by_worst);
        assert_int_equal(t.hits, SEEDS);
        assert_true(t.runs < ALL / 4);
    }
}

static void what_could_win_is_found(void **state)
{
    (void)state;
    static const double spread[] = {0.1, 0.3, 0.6};
    for (int k = 0; k < 3; k++)
        for (int by_worst = 0; by_worst < 2; by_worst++) {
            struct tally t = tally(spread[k], by_worst);
            assert_true(t.hits >= SEEDS * 9 / 10);
            assert_true(t.worst_loss < 0.1);
            assert_true(t.runs < ALL / 2);
        }
}

// Before anything is known of how shapes differ, only what is certain ends a candidate.
static void nothing_is_guessed_at_first(void **state)
{
    (void)state;
    struct elimination l = {.goal = {.count = 2, .weight = {1, 1}}};
    const double first[TRIAL_MAX_SHAPES] = {1, 1}, slow[TRIAL_MAX_SHAPES] = {1.9},
                 slower[TRIAL_MAX_SHAPES] = {2.1};
    assert_false(elimination_is_over(&l, slower, slower)); // there is nobody yet
    elimination_observe(&l, first);
    assert_false(elimination_is_over(&l, slow, slow)); // the other shape might take 0.05
    assert_true(elimination_is_over(&l, slower, slower));
}

// A candidate may be above the incumbent by its time, and not by its fastest samples.
static void noise_ends_nobody(void **state)
{
    (void)state;
    struct elimination l = {.goal = {.count = 2, .weight = {1, 1}}};
    const double first[TRIAL_MAX_SHAPES] = {1, 1}, noisy[TRIAL_MAX_SHAPES] = {2.1},
                 least[TRIAL_MAX_SHAPES] = {1.5};
    elimination_observe(&l, first);
    assert_false(elimination_is_over(&l, noisy, least));
}

// First where the incumbent has most to lose; the worst shape is the one that gains least.
static void the_order_follows_the_goal(void **state)
{
    (void)state;
    struct elimination l = {.goal = {.count = 3, .weight = {1, 5, 1}, .reference_s = {1, 10, 4}}};
    const double incumbent[TRIAL_MAX_SHAPES] = {3, 1, 4}, nothing[TRIAL_MAX_SHAPES] = {0};
    assert_int_equal(elimination_next(&l, nothing), 0);
    elimination_observe(&l, incumbent);
    assert_int_equal(elimination_next(&l, nothing), 1); // 5 of 12
    assert_int_equal(shapes_goal_worst(&l.goal, incumbent), 0);
    assert_true(shapes_goal_seconds(&l.goal, incumbent) == 12);
    l.goal.by_worst = true;
    assert_int_equal(elimination_next(&l, nothing), 0); // three times as slow as before
    assert_true(shapes_goal_seconds(&l.goal, incumbent) == 3 * (1 + 50 + 4));
}

TEST_GROUP(elimination)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alike_shapes_take_one_measurement),
        cmocka_unit_test(what_could_win_is_found),
        cmocka_unit_test(nothing_is_guessed_at_first),
        cmocka_unit_test(noise_ends_nobody),
        cmocka_unit_test(the_order_follows_the_goal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
