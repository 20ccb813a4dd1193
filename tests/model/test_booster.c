// Boosted trees: they learn, they stop, and the same rows give the same model.
#include "group.h"

#include "model/trees.h"

#include "base/mem.h"
#include "base/rng.h"

#include <math.h>
#include <string.h>

enum { ROWS = 300, WIDTH = 6, TRIES = 200 };

static const struct booster_options squared = {
    .objective = BOOSTER_SQUARED,
    .depth = 3,
    .eta = 0.3,
    .gamma = 1e-4,
    .child_weight = 1,
    .lambda = 1,
    .recall_at = 64,
    .most_rounds = 500,
    .patience = 20,
    .look_every = 1,
    .seed = 7,
    .hist = true,
};

static struct booster_options with(enum booster_objective objective)
{
    struct booster_options o = squared;
    o.objective = objective;
    return o;
}

// A function within 0..1, with a product of two columns and a step; the other columns are noise.
static float truth(const float *x)
{
    return 0.5F * x[0] * x[1] + (x[2] > 0.3F ? 0.4F : 0) + 0.1F * x[3];
}

static void draw(struct rng *r, int rows, float *x, float *y)
{
    for (int i = 0; i < rows * WIDTH; i++)
        x[i] = (float)rng_real(r);
    for (int i = 0; i < rows; i++)
        y[i] = truth(x + i * WIDTH);
}

struct data {
    float x[ROWS * WIDTH], y[ROWS], other_x[TRIES * WIDTH], other_y[TRIES];
    struct booster_rows rows;
};

static struct data *data_create(uint64_t seed)
{
    struct data *d = mem_zero(1, sizeof *d);
    struct rng r;
    rng_seed(&r, seed);
    draw(&r, ROWS, d->x, d->y);
    draw(&r, TRIES, d->other_x, d->other_y);
    d->rows =
        (struct booster_rows){.x = d->x, .y = d->y, .rows = ROWS, .width = WIDTH, .programs = ROWS};
    return d;
}

static struct booster *fit(const struct booster_options *o, const struct booster_rows *r)
{
    struct err e = {0};
    struct booster *b = booster_fit(o, r, NULL, &e);
    assert_string_equal(e.text, "");
    assert_non_null(b);
    return b;
}

static void test_learns(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        struct data *d = data_create(1);
        struct booster_options o = with((enum booster_objective)(i / 2));
        o.hist = i % 2;
        struct booster *b = fit(&o, &d->rows);
        float predicted[TRIES];
        booster_predict(b, d->other_x, TRIES, predicted);
        assert_true(rank_correlation(TRIES, d->other_y, predicted) > 0.9);
        assert_true(recall_at(TRIES, d->other_y, predicted, 20) > 0.6);
        assert_in_range(booster_rounds(b), 21, 499);
        assert_in_range(booster_bytes(b), 1000, 1000000);
        booster_destroy(b);
        free(d);
    }
}

static void test_predicts_in_any_portion(void **state)
{
    (void)state;
    struct data *d = data_create(2);
    struct booster *b = fit(&squared, &d->rows);
    float all[TRIES], one;
    booster_predict(b, d->other_x, TRIES, all);
    for (int i = 0; i < TRIES; i++) {
        booster_predict(b, d->other_x + i * WIDTH, 1, &one);
        assert_true(one == all[i]);
    }
    booster_destroy(b);
    free(d);
}

static void test_same_rows_same_model(void **state)
{
    (void)state;
    struct data *d = data_create(3);
    for (int i = 0; i < 3; i++) {
        struct booster_options o = with((enum booster_objective)i);
        struct booster *a = fit(&o, &d->rows), *b = fit(&o, &d->rows);
        float from_a[TRIES], from_b[TRIES];
        booster_predict(a, d->other_x, TRIES, from_a);
        booster_predict(b, d->other_x, TRIES, from_b);
        assert_memory_equal(from_a, from_b, sizeof from_a);
        assert_int_equal(booster_rounds(a), booster_rounds(b));
        booster_destroy(a);
        booster_destroy(b);
    }
    free(d);
}

// Margins that equal the labels leave nothing to learn, unless they went to other rows.
static void test_margins_belong_to_their_rows(void **state)
{
    (void)state;
    struct data *d = data_create(4);
    struct booster_options o = with(BOOSTER_SQUARED);
    o.recall_at = 0;
    d->rows.margin = d->y;
    struct booster *b = fit(&o, &d->rows);
    float predicted[TRIES];
    booster_predict(b, d->other_x, TRIES, predicted);
    for (int i = 0; i < TRIES; i++)
        assert_true(predicted[i] == 0);
    booster_destroy(b);

    float turned[ROWS];
    for (int i = 0; i < ROWS; i++)
        turned[i] = d->y[(i + 1) % ROWS];
    d->rows.margin = turned;
    b = fit(&o, &d->rows);
    booster_predict(b, d->other_x, TRIES, predicted);
    double sum = 0;
    for (int i = 0; i < TRIES; i++)
        sum += fabs((double)predicted[i]);
    assert_true(sum / TRIES > 0.05);
    booster_destroy(b);
    free(d);
}

// Rows in another order, margins with them, give the same predictions but for the order of sums.
static void test_shuffled_rows(void **state)
{
    (void)state;
    struct data *d = data_create(5);
    float x[ROWS * WIDTH], y[ROWS], margin[ROWS], shuffled_margin[ROWS];
    for (int i = 0; i < ROWS; i++)
        margin[i] = 0.3F * d->x[i * WIDTH + 1] - 0.1F;
    for (int i = 0; i < ROWS; i++) {
        int from = (i * 7 + 3) % ROWS;
        memcpy(x + i * WIDTH, d->x + from * WIDTH, WIDTH * sizeof *x);
        y[i] = d->y[from];
        shuffled_margin[i] = margin[from];
    }
    struct booster_rows shuffled = d->rows;
    shuffled.x = x;
    shuffled.y = y;
    shuffled.margin = shuffled_margin;
    d->rows.margin = margin;
    struct booster_options o = with(BOOSTER_SQUARED);
    o.hist = false;
    o.most_rounds = o.patience = 60;
    struct booster *a = fit(&o, &d->rows), *b = fit(&o, &shuffled);
    float from_a[TRIES], from_b[TRIES];
    booster_predict(a, d->other_x, TRIES, from_a);
    booster_predict(b, d->other_x, TRIES, from_b);
    for (int i = 0; i < TRIES; i++)
        assert_true(fabsf(from_a[i] - from_b[i]) < 1e-3F);
    booster_destroy(a);
    booster_destroy(b);
    free(d);
}

static void test_packed_gradient_by_hand(void **state)
{
    (void)state;
    const float y[] = {0.5F, 1, 0}, prediction[] = {0.25F, 0.5F, 0.75F, 3, 4};
    const int first[] = {0, 2, 3, 5};
    struct booster_rows r = {.y = y, .first = first, .rows = 5, .programs = 3};
    float gradient[5], curvature[5];
    booster_packed_gradient(&r, prediction, gradient, curvature);
    const float wanted[] = {0.125F, 0.125F, -0.25F, 0, 0}, weight[] = {0.5F, 0.5F, 1, 0, 0};
    assert_memory_equal(gradient, wanted, sizeof wanted);
    assert_memory_equal(curvature, weight, sizeof weight);
}

// Each of two rows makes a pair with the other; rows of one label make none.
static void test_pairwise_gradient_by_hand(void **state)
{
    (void)state;
    const float y[] = {0, 1}, prediction[] = {2, 2 + 0.6931472F}; // e to their difference is 2
    struct booster_rows r = {.y = y, .rows = 2, .programs = 2};
    float gradient[2], curvature[2];
    booster_pairwise_gradient(&r, prediction, 0, gradient, curvature);
    for (int i = 0; i < 2; i++) { // two pairs of the same two rows
        assert_float_equal(gradient[i], (i ? -2 : 2) / 3.0, 1e-6);
        assert_float_equal(curvature[i], 8 / 9.0, 1e-6);
    }
    const float same[] = {1, 1};
    r.y = same;
    booster_pairwise_gradient(&r, prediction, 0, gradient, curvature);
    assert_true(gradient[0] == 0 && gradient[1] == 0 && curvature[0] == 0 && curvature[1] == 0);
}

// Programs of one to three rows whose numbers add up.
static void test_packed_learns_sums(void **state)
{
    (void)state;
    enum { PROGRAMS = ROWS / 2 };
    struct data *d = data_create(6);
    int first[PROGRAMS + 1] = {0};
    float y[PROGRAMS];
    for (int p = 0; p < PROGRAMS; p++) {
        first[p + 1] = first[p] + 1 + p % 3;
        y[p] = 0;
        for (int i = first[p]; i < first[p + 1]; i++)
            y[p] += d->y[i] / 3;
    }
    d->rows.rows = first[PROGRAMS];
    d->rows.programs = PROGRAMS;
    d->rows.first = first;
    d->rows.y = y;
    struct booster_options o = with(BOOSTER_PACKED);
    o.recall_at = 0;
    o.child_weight = 0;
    o.depth = 6;
    struct booster *b = fit(&o, &d->rows);
    float predicted[TRIES];
    booster_predict(b, d->other_x, TRIES, predicted);
    assert_true(rank_correlation(TRIES, d->other_y, predicted) > 0.8);
    booster_destroy(b);
    free(d);
}

// Every program failed: no weights, no labels, and still a model.
static void test_nothing_to_learn(void **state)
{
    (void)state;
    struct data *d = data_create(8);
    memset(d->y, 0, sizeof d->y);
    for (int i = 0; i < 3; i++) {
        struct booster_options o = with((enum booster_objective)i);
        o.child_weight = 0;
        struct booster *b = fit(&o, &d->rows);
        float predicted[TRIES];
        booster_predict(b, d->other_x, TRIES, predicted);
        for (int k = 0; k < TRIES; k++)
            assert_true(isfinite(predicted[k]));
        booster_destroy(b);
    }
    free(d);
}

static void test_stops(void **state)
{
    (void)state;
    struct data *d = data_create(9);
    struct err e = {0};
    atomic_bool stop = true;
    assert_null(booster_fit(&squared, &d->rows, &stop, &e));
    assert_string_equal(e.text, "stopped");

    struct booster_options o = squared;
    o.patience = 1;
    struct booster *early = fit(&o, &d->rows);
    o.patience = o.most_rounds = 30;
    struct booster *full = fit(&o, &d->rows);
    assert_true(booster_rounds(early) < 30);
    assert_int_equal(booster_rounds(full), 30);
    booster_destroy(early);
    booster_destroy(full);

    o.depth = -1;
    assert_null(booster_fit(&o, &d->rows, NULL, &e));
    assert_memory_equal(e.text, "XGBoost: ", 9);
    assert_null(strchr(e.text, '\n'));
    booster_destroy(NULL);
    free(d);
}

TEST_GROUP(booster)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learns),
        cmocka_unit_test(test_predicts_in_any_portion),
        cmocka_unit_test(test_same_rows_same_model),
        cmocka_unit_test(test_margins_belong_to_their_rows),
        cmocka_unit_test(test_shuffled_rows),
        cmocka_unit_test(test_packed_gradient_by_hand),
        cmocka_unit_test(test_pairwise_gradient_by_hand),
        cmocka_unit_test(test_packed_learns_sums),
        cmocka_unit_test(test_nothing_to_learn),
        cmocka_unit_test(test_stops),
    };
    if (!trees_available(NULL))
        return group_skip("this build has no XGBoost");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
