// The random forest: the prediction of one tree, the law of total variance, learning.
#include "group.h"

#include "base/mem.h"
#include "base/rng.h"
#include "model/trees.h"

#include <math.h>
#include <string.h>

enum { ROWS = 400, WIDTH = 3 };

static float wave(const float *x)
{
    return sinf(3 * x[0]) + x[1] * x[1];
}

static void make(struct rng *r, int rows, float *x, float *y)
{
    for (int i = 0; i < rows * WIDTH; i++)
        x[i] = (float)(2 * rng_real(r) - 1);
    for (int i = 0; i < rows; i++)
        y[i] = wave(x + i * WIDTH);
}

// A tree of one split predicts the mean and the variance of each half.
static void test_one_split(void **state)
{
    (void)state;
    const float x[] = {0, 0, 0, 1, 1, 1}, y[] = {1, 2, 3, 10, 10, 13};
    const struct forest_options o = {1, 1, 1, 1, 1, 1};
    struct forest *f = forest_fit(&o, x, y, 6, 1, NULL);
    float mean[2], variance[2];
    forest_predict(f, (const float[]){0, 1}, 2, mean, variance);
    assert_true(fabsf(mean[0] - 2) < 1e-5F && fabsf(variance[0] - 2.0F / 3) < 1e-5F);
    assert_true(fabsf(mean[1] - 11) < 1e-5F && fabsf(variance[1] - 2) < 1e-5F);
    forest_destroy(f);
}

// Predictions for new points are far better than the mean, and uncertain where labels are noise.
static void test_learns(void **state)
{
    (void)state;
    static float x[ROWS * WIDTH], y[ROWS], new_x[ROWS * WIDTH], new_y[ROWS], mean[ROWS],
        variance[ROWS], again[ROWS];
    struct rng r;
    rng_seed(&r, 1);
    make(&r, ROWS, x, y);
    make(&r, ROWS, new_x, new_y);
    for (int i = 0; i < ROWS; i++) // on one side of the third column
        if (x[i * WIDTH + 2] > 0)
            y[i] += (float)(4 * rng_real(&r) - 2);
    const struct forest_options o = {50, 20, 3, 0.8, 0.8, 7};
    struct forest *f = forest_fit(&o, x, y, ROWS, WIDTH, NULL),
                  *g = forest_fit(&o, x, y, ROWS, WIDTH, NULL);
    forest_predict(f, new_x, ROWS, mean, variance);
    forest_predict(g, new_x, ROWS, again, y);
    assert_memory_equal(mean, again, sizeof mean);
    double error = 0, noisy = 0, quiet = 0, total = 0;
    for (int i = 0; i < ROWS; i++) {
        double off = (double)(mean[i] - new_y[i]);
        if (new_x[i * WIDTH + 2] > 0.1F)
            noisy += (double)variance[i];
        else if (new_x[i * WIDTH + 2] < -0.1F) {
            quiet += (double)variance[i];
            error += off * off;
            total += (double)(new_y[i] - 0.33F) * (double)(new_y[i] - 0.33F);
        }
    }
    assert_true(error < 0.15 * total);
    assert_true(noisy > 4 * quiet);
    forest_destroy(f);
    forest_destroy(g);
    forest_destroy(NULL);
}

TEST_GROUP(forest)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_split),
        cmocka_unit_test(test_learns),
    };
    if (!trees_available(NULL))
        return group_skip("this build has no XGBoost");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
