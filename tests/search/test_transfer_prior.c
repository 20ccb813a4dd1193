// The results of other searches as a prior mean: it helps where it holds, and is dropped where
// it does not.
#include "driver.h"
#include "group.h"
#include "search/transfer_prior.h"
#include "space/nearest.h"
#include "spaces.h"

#include <math.h>
#include <string.h>

enum { KNOWN = 150, ASKS = 60 };

// Steps from a point, as speed: 1 there.
struct hill {
    const struct space *space;
    struct config top;
};

static double climb(void *context, const struct config *c)
{
    const struct hill *h = context;
    return 1.0 / (1 + space_distance(h->space, &h->top, c));
}

static struct hill hill_at(const struct space *s, uint64_t seed)
{
    struct hill h = {.space = s};
    struct rng r;
    rng_seed(&r, seed);
    space_sample(s, &r, &h.top);
    return h;
}

// Random points, measured on a hill, in another unit.
static void make_history(struct hill *h, struct config *config, double *fitness)
{
    struct rng r;
    rng_seed(&r, 99);
    for (int i = 0; i < KNOWN; i++) {
        space_sample(h->space, &r, &config[i]);
        fitness[i] = 1000 * climb(h, &config[i]);
    }
}

// Trials until the top was found; ASKS + 1: never.
static int search(const struct search_problem *p, struct hill *h, uint64_t seed)
{
    struct drive d = drive_create("walk", p, seed);
    int trials = 0;
    d.measure = climb;
    d.context = h;
    while (trials < ASKS && d.best < 1)
        drive_run(&d, ++trials);
    trials += d.best < 1;
    drive_destroy(&d);
    return trials;
}

struct world {
    struct space *space;
    struct config config[KNOWN];
    double fitness[KNOWN];
    struct search_history history;
    struct search_problem alone, with;
};

static void begin(struct world *w, struct space *space, struct hill *of)
{
    *w = (struct world){.space = space};
    make_history(of, w->config, w->fitness);
    w->history = (struct search_history){"other", of->space, w->config, w->fitness, KNOWN};
    w->alone = w->with = (struct search_problem){.space = space};
    w->with.history = &w->history;
    w->with.history_count = 1;
}

static void test_helps(void **state)
{
    (void)state;
    static struct world w;
    struct space *s = space_mm(64, 64, 64);
    struct hill h = hill_at(s, 3);
    int alone = 0, with = 0;
    begin(&w, s, &h);
    for (uint64_t seed = 1; seed <= 8; seed++) {
        alone += search(&w.alone, &h, seed);
        with += search(&w.with, &h, seed);
    }
    assert_true(with < 0.75 * alone);
    space_destroy(s);
}

// The weight that a history has after `told` results of random points on another hill.
static double weight_after(struct world *w, struct hill *h, int told)
{
    struct coordinates coordinates;
    struct transfer_prior e;
    struct batches batches;
    struct rng r;
    double best = 0;
    rng_seed(&r, 5);
    coordinates_init(&coordinates, w->space, true);
    batches_init(&batches, &w->with, NULL);
    transfer_prior_init(&e, &w->with, &coordinates, 10, 1);
    assert_int_equal(e.count, 1);
    for (int i = 0; i < told; i++) {
        struct config c;
        assert_true(batches_draw(&batches, &r));
        config_set_get(&batches.archive.given, i, &c);
        best = fmax(best, batches.fitness[i] = climb(h, &c));
    }
    if (told)
        transfer_prior_weigh(&e, &batches, told, best, &r);
    double weight = e.source[0].weight;
    transfer_prior_finish(&e);
    batches_finish(&batches);
    coordinates_finish(&coordinates);
    return weight;
}

// A history of the same hill keeps its weight; one that says the opposite loses all of it.
static void test_weights(void **state)
{
    (void)state;
    static struct world w;
    struct space *s = space_mm(64, 64, 64);
    struct hill h = hill_at(s, 3);
    begin(&w, s, &h);
    assert_float_equal(weight_after(&w, &h, 0), 1, 0);
    assert_true(weight_after(&w, &h, 60) > 0.5);
    for (int i = 0; i < KNOWN; i++)
        w.fitness[i] = 1 / w.fitness[i];
    assert_float_equal(weight_after(&w, &h, 60), 0, 0);
    space_destroy(s);
}

// A history with other parameters, or without a valid result, changes no proposal.
static void assert_ignored(struct world *w)
{
    struct drive a = drive_create("walk", &w->alone, 7), b = drive_create("walk", &w->with, 7);
    struct hill h = hill_at(w->space, 3);
    a.measure = b.measure = climb;
    a.context = b.context = &h;
    drive_run(&a, 30);
    drive_run(&b, 30);
    assert_int_equal(a.asked.count, b.asked.count);
    for (int i = 0; i < a.asked.count; i++) {
        struct config x, y;
        config_set_get(&a.asked, i, &x);
        config_set_get(&b.asked, i, &y);
        assert_true(config_equal(&x, &y));
    }
    drive_destroy(&a);
    drive_destroy(&b);
}

static void test_ignored(void **state)
{
    (void)state;
    static struct world w;
    struct space *s = space_mm(16, 16, 16), *other = space_mixed();
    struct hill h = hill_at(s, 3), transfer_prior = hill_at(other, 3);
    begin(&w, s, &transfer_prior);
    assert_ignored(&w);
    begin(&w, s, &h);
    memset(w.fitness, 0, sizeof w.fitness);
    assert_ignored(&w);
    space_destroy(other);
    space_destroy(s);
}

// A history of another shape: the same schedule, where the sizes allow it.
static void test_other_shape(void **state)
{
    (void)state;
    static struct world w;
    struct space *s = space_mm(64, 64, 64), *larger = space_mm(128, 64, 256);
    struct hill h = hill_at(s, 3), there = {.space = larger};
    assert_true(space_nearest_like(larger, s, &h.top, false, &there.top));
    int alone = 0, with = 0;
    begin(&w, s, &there);
    for (uint64_t seed = 1; seed <= 8; seed++) {
        alone += search(&w.alone, &h, seed);
        with += search(&w.with, &h, seed);
    }
    assert_true(with < alone);
    space_destroy(larger);
    space_destroy(s);
}

TEST_GROUP(transfer_prior)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_helps),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_ignored),
        cmocka_unit_test(test_other_shape),
    };
    return cmocka_run_group_tests_name("transfer_prior", tests, NULL, NULL);
}
