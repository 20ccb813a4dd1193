// Gaussian process regression: compared with the formulas computed another way, and learning.
#include "group.h"

#include "model/gp.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { WIDTH = 3, POINTS = 12, QUERIES = 5 };

static void expect(double value, double wanted)
{
    assert_true(fabs(value - wanted) < 1e-9 * (1 + fabs(wanted)));
}

// The third coordinate is a label.
static void draw(struct rng *r, double x[WIDTH])
{
    x[0] = rng_real(r);
    x[1] = rng_real(r);
    x[2] = (double)rng_below(r, 3);
}

static double correlation(const struct gp *g, const double *a, const double *b)
{
    double s = 0;
    for (int i = 0; i < WIDTH; i++)
        s += g->weight[i] * fmin(1, fabs(a[i] - b[i]));
    return pow(1 + s / 2, -2);
}

// Inverts `a` in place by the elimination of Gauss and Jordan.
static void invert(double a[POINTS][POINTS])
{
    for (int k = 0; k < POINTS; k++) {
        double pivot = a[k][k];
        a[k][k] = 1;
        for (int j = 0; j < POINTS; j++)
            a[k][j] /= pivot;
        for (int i = 0; i < POINTS; i++) {
            double factor = a[i][k];
            if (i == k)
                continue;
            a[i][k] = 0;
            for (int j = 0; j < POINTS; j++)
                a[i][j] -= factor * a[k][j];
        }
    }
}

static double form(const double *a, double inverse[POINTS][POINTS], const double *b)
{
    double sum = 0;
    for (int i = 0; i < POINTS; i++)
        for (int j = 0; j < POINTS; j++)
            sum += a[i] * inverse[i][j] * b[j];
    return sum;
}

// Computes c^T R^-1 (y - mean) and 1 - c^T R^-1 c by the inverse itself.
static void test_prediction_is_the_formula(void **state)
{
    (void)state;
    struct gp g;
    struct rng r;
    double x[POINTS][WIDTH], y[POINTS], rest[POINTS], one[POINTS], inverse[POINTS][POINTS];
    double query[QUERIES][WIDTH], mean[QUERIES], deviation[QUERIES];
    rng_seed(&r, 5);
    gp_init(&g, WIDTH, 20, QUERIES);
    g.weight[0] = 3;
    g.weight[1] = 0.2;
    for (int i = 0; i < POINTS; i++) {
        draw(&r, x[i]);
        y[i] = rng_real(&r);
        one[i] = 1;
        gp_add(&g, x[i], y[i]);
    }
    for (int i = 0; i < QUERIES; i++)
        draw(&r, query[i]);
    gp_fit(&g, 0, &r);
    gp_predict(&g, query[0], QUERIES, mean, deviation);

    for (int i = 0; i < POINTS; i++)
        for (int j = 0; j < POINTS; j++)
            inverse[i][j] = correlation(&g, x[i], x[j]) + (i == j ? g.noise : 0);
    invert(inverse);
    double level = form(one, inverse, y) / form(one, inverse, one);
    for (int i = 0; i < POINTS; i++)
        rest[i] = y[i] - level;
    double scale = sqrt(form(rest, inverse, rest) / POINTS);
    for (int q = 0; q < QUERIES; q++) {
        double c[POINTS];
        for (int i = 0; i < POINTS; i++)
            c[i] = correlation(&g, query[q], x[i]);
        expect(mean[q], level + form(c, inverse, rest));
        assert_true(fabs(deviation[q] - scale * sqrt(1 - form(c, inverse, c))) < 1e-7);
    }
    gp_finish(&g);
}

static double first_coordinate(const double *x)
{
    return sin(6 * x[0]);
}

static void fill(struct gp *g, struct rng *r, int count, double scale, double shift)
{
    double x[WIDTH];
    gp_clear(g);
    for (int i = 0; i < count; i++) {
        draw(r, x);
        gp_add(g, x, shift + scale * first_coordinate(x));
    }
}

// A changed weight is kept only if it is likelier; the coordinate that matters gets the largest.
static void test_learns_which_coordinate_matters(void **state)
{
    (void)state;
    struct gp g;
    struct rng r;
    rng_seed(&r, 6);
    gp_init(&g, WIDTH, 60, 1);
    fill(&g, &r, 60, 1, 0);
    gp_fit(&g, 0, &r);
    for (int n = 0; n < 60; n++) {
        double before = g.now.likelihood;
        gp_fit(&g, 1, &r);
        assert_true(g.now.likelihood >= before - 1e-6); // rounding
    }
    assert_true(g.weight[0] > 5 * g.weight[1]);
    assert_true(g.weight[0] > 5 * g.weight[2]);

    double x[WIDTH], mean, deviation, error = 0;
    for (int n = 0; n < 100; n++) {
        draw(&r, x);
        gp_predict(&g, x, 1, &mean, &deviation);
        error += fabs(mean - first_coordinate(x)) / 100;
    }
    assert_true(error < 0.1); // of values between -1 and 1
    gp_finish(&g);
}

// Values in another unit, with another zero, give the same model, in that unit.
static void test_unit_and_zero_do_not_matter(void **state)
{
    (void)state;
    double at[WIDTH] = {0.3, 0.6, 1}, mean[2], deviation[2], weight[2];
    for (int i = 0; i < 2; i++) {
        struct gp g;
        struct rng r;
        rng_seed(&r, 7);
        gp_init(&g, WIDTH, 30, 1);
        fill(&g, &r, 30, i ? 1024 : 1, i ? 4096 : 0);
        gp_fit(&g, 40, &r);
        gp_predict(&g, at, 1, &mean[i], &deviation[i]);
        weight[i] = g.weight[0];
        gp_finish(&g);
    }
    assert_true(fabs(weight[1] / weight[0] - 1) < 1e-6);
    assert_true(fabs(mean[1] - (4096 + 1024 * mean[0])) < 1e-3);
    assert_true(fabs(deviation[1] / (1024 * deviation[0]) - 1) < 1e-5);
}

// Known points are predicted as they are, with small deviations, also if all values are the same.
static void test_known_points_and_equal_values(void **state)
{
    (void)state;
    struct gp g;
    struct rng r;
    double x[10][WIDTH], mean, deviation, far;
    rng_seed(&r, 8);
    gp_init(&g, WIDTH, 10, 1);
    g.noise = 1e-4;
    for (int i = 0; i < 10; i++) {
        draw(&r, x[i]);
        gp_add(&g, x[i], i);
    }
    gp_fit(&g, 0, &r);
    gp_predict(&g, (double[]){9, 9, 9}, 1, &mean, &far);
    for (int i = 0; i < 10; i++) {
        gp_predict(&g, x[i], 1, &mean, &deviation);
        assert_true(fabs(mean - i) < 0.1);
        assert_true(deviation < far / 2);
    }

    gp_clear(&g);
    for (int i = 0; i < 10; i++)
        gp_add(&g, x[i], 3);
    gp_fit(&g, 20, &r);
    gp_predict(&g, (double[]){0.5, 0.5, 0}, 1, &mean, &deviation);
    assert_true(fabs(mean - 3) < 1e-9);
    assert_true(deviation < 1e-6);
    gp_finish(&g);
}

// Compares with the sum of the integrand.
static void test_expected_improvement(void **state)
{
    (void)state;
    const double step = 1e-4, target = 1.3, two_pi = 6.283185307179586;
    for (int k = 0; k < 9; k++) {
        double mean = 0.5 + 0.2 * k, deviation = 0.1 + 0.1 * (k % 3), sum = 0;
        for (double z = -12; z < 12; z += step)
            sum += step * fmax(0, mean + deviation * z - target) * exp(-z * z / 2) / sqrt(two_pi);
        assert_true(fabs(gp_expected_improvement(mean, deviation, target) - sum) < 1e-6);
    }
    assert_true(gp_expected_improvement(1, 0, target) == 0); // known, and slower
    assert_true(fabs(gp_expected_improvement(2, 0, target) - 0.7) < 1e-9);
}

// The largest value is found without the deviations of all other queries.
static void test_acquisition(void **state)
{
    (void)state;
    enum { MANY = 100 };
    struct rng r;
    rng_seed(&r, 12);
    for (int round = 0; round < 20; round++) {
        struct gp g;
        double x[MANY][WIDTH], mean[MANY], deviation[MANY], value[MANY], target = 1 + 0.1 * round;
        gp_init(&g, WIDTH, POINTS, MANY);
        for (int i = 0; i < POINTS; i++) {
            double at[WIDTH];
            draw(&r, at);
            gp_add(&g, at, at[0] - at[1] * at[1]);
        }
        gp_fit(&g, 20, &r);
        for (int q = 0; q < MANY; q++)
            draw(&r, x[q]);
        gp_predict(&g, *x, MANY, mean, deviation);
        gp_acquisition(&g, *x, MANY, target, value);
        int best = 0;
        for (int q = 0; q < MANY; q++) {
            double wanted = gp_expected_improvement(mean[q], deviation[q], target);
            double most = gp_expected_improvement(mean[best], deviation[best], target);
            best = wanted > most ? q : best;
            assert_true(value[q] == wanted || value[q] == -INFINITY);
        }
        assert_true(isfinite(value[best]));
        gp_finish(&g);
    }
}

static bool is_third(void *context, int query)
{
    ++*(int *)context;
    return query % 3 == 0;
}

// Compares with the values of all queries. Only those that may be the best are asked about.
static void test_best_accepted(void **state)
{
    (void)state;
    enum { MANY = 99, ROUNDS = 20 };
    struct rng r;
    int asked = 0;
    const struct gp_filter third = {is_third, &asked};
    rng_seed(&r, 14);
    for (int round = 0; round < ROUNDS; round++) {
        struct gp g;
        double x[MANY][WIDTH], mean[MANY], deviation[MANY], most = 0, value = 0;
        int wanted = -1;
        gp_init(&g, WIDTH, POINTS, MANY);
        for (int i = 0; i < POINTS; i++) {
            double at[WIDTH];
            draw(&r, at);
            gp_add(&g, at, at[0] - at[1] * at[1]);
        }
        gp_fit(&g, 20, &r);
        for (int q = 0; q < MANY; q++)
            draw(&r, x[q]);
        gp_predict(&g, *x, MANY, mean, deviation);
        for (int q = 0; q < MANY; q += 3) {
            double gain = gp_expected_improvement(mean[q], deviation[q], 0.8);
            wanted = gain > most ? q : wanted;
            most = fmax(most, gain);
        }
        assert_int_equal(gp_best(&g, *x, MANY, 0.8, third, &value), wanted);
        assert_true(value == most);
        assert_int_equal(gp_best(&g, *x, MANY, 0.8, third, &value), -1);
        assert_true(value == most);
        gp_finish(&g);
    }
    assert_true(asked < ROUNDS * MANY / 2);
}

// Each output is predicted as by a process of its own with the same weights and noise.
static void test_additional_outputs(void **state)
{
    (void)state;
    struct gp g, alone[2];
    struct rng r;
    rng_seed(&r, 21);
    gp_init(&g, WIDTH, POINTS, 1);
    gp_add_outputs(&g, 2);
    for (int k = 0; k < 2; k++)
        gp_init(&alone[k], WIDTH, POINTS, 1);
    for (int i = 0; i < POINTS; i++) {
        double x[WIDTH];
        draw(&r, x);
        gp_add(&g, x, sin(6 * x[0]));
        for (int k = 0; k < 2; k++) {
            double value = k ? x[1] > 0.5 : 3 - x[0] * x[1];
            gp_set_output(&g, k, value);
            gp_add(&alone[k], x, value);
        }
    }
    gp_fit(&g, 30, &r);
    for (int k = 0; k < 2; k++) {
        memcpy(alone[k].weight, g.weight, WIDTH * sizeof *g.weight);
        alone[k].noise = g.noise;
        gp_fit(&alone[k], 0, NULL);
    }
    for (int q = 0; q < QUERIES; q++) {
        double x[WIDTH], output[GP_OUTPUTS];
        draw(&r, x);
        gp_mean(&g, x, output);
        for (int k = 0; k < 2; k++)
            expect(output[k], gp_mean(&alone[k], x, NULL));
    }
    gp_finish(&g);
    gp_finish(&alone[0]);
    gp_finish(&alone[1]);
}

// A factor that depends on a predicted output and on the number of the query.
static double cheaper(void *context, int query, const double *output)
{
    return query % *(int *)context == 0 ? 0 : exp(-output[0]);
}

// Compares with the product for each query.
static void test_acquisition_factor(void **state)
{
    (void)state;
    enum { MANY = 100 };
    struct rng r;
    int bought = 3;
    rng_seed(&r, 22);
    for (int round = 0; round < 20; round++) {
        struct gp g;
        double x[MANY][WIDTH], mean[MANY], deviation[MANY], value[MANY], most = -1;
        gp_init(&g, WIDTH, POINTS, MANY);
        gp_add_outputs(&g, 1);
        g.factor = cheaper;
        g.factor_context = &bought;
        for (int i = 0; i < POINTS; i++) {
            double at[WIDTH];
            draw(&r, at);
            gp_add(&g, at, at[0] - at[1] * at[1]);
            gp_set_output(&g, 0, 4 * at[0]);
        }
        gp_fit(&g, 20, &r);
        for (int q = 0; q < MANY; q++)
            draw(&r, x[q]);
        gp_predict(&g, *x, MANY, mean, deviation);
        gp_acquisition(&g, *x, MANY, 0.7, value);
        int best = 0, plain = 0;
        for (int q = 0; q < MANY; q++) {
            double output[GP_OUTPUTS], gain = gp_expected_improvement(mean[q], deviation[q], 0.7);
            gp_mean(&g, x[q], output);
            double wanted = q % bought ? gain * exp(-output[0]) : 0;
            best = wanted > most ? q : best;
            most = fmax(most, wanted);
            plain += value[q] > -INFINITY && value[q] != gain;
            assert_true(value[q] == -INFINITY || fabs(value[q] - wanted) < 1e-12);
        }
        assert_true(fabs(value[best] - most) < 1e-12);
        assert_true(plain > 0);
        gp_finish(&g);
    }
}

TEST_GROUP(gp)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prediction_is_the_formula),
        cmocka_unit_test(test_learns_which_coordinate_matters),
        cmocka_unit_test(test_unit_and_zero_do_not_matter),
        cmocka_unit_test(test_known_points_and_equal_values),
        cmocka_unit_test(test_expected_improvement),
        cmocka_unit_test(test_acquisition),
        cmocka_unit_test(test_best_accepted),
        cmocka_unit_test(test_additional_outputs),
        cmocka_unit_test(test_acquisition_factor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
