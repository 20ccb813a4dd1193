// A forest that classifies: what it learns, weights of rows, and the paths of its trees.
#include "group.h"

#include "base/mem.h"
#include "model/classifier.h"

#include <math.h>

enum { WIDTH = 5, ROWS = 300, TREES = 100 };

static void draw(struct rng *r, int32_t x[WIDTH])
{
    for (int i = 0; i < WIDTH; i++)
        x[i] = (int32_t)rng_below(r, 8);
}

static bool is_good(const int32_t *x)
{
    return x[0] <= 2 && x[3] > 4;
}

static struct classifier *learned(uint64_t seed, int32_t x[ROWS][WIDTH])
{
    struct rng r;
    bool good[ROWS];
    double weight[ROWS];
    rng_seed(&r, seed);
    for (int i = 0; i < ROWS; i++) {
        draw(&r, x[i]);
        good[i] = is_good(x[i]);
        weight[i] = 1;
    }
    return classifier_fit(&(struct classifier_rows){*x, good, weight, ROWS, WIDTH}, TREES, &r);
}

// A forest learns a rule of two columns and applies it to new points.
static void test_tells_apart(void **state)
{
    (void)state;
    enum { UNSEEN = 500 };
    int32_t x[ROWS][WIDTH];
    struct rng r;
    int right = 0;
    struct classifier *f = learned(1, x);
    rng_seed(&r, 2);
    for (int i = 0; i < ROWS; i++)
        assert_int_equal(classifier_probability(f, x[i]) > 0.5, is_good(x[i]));
    for (int i = 0; i < UNSEEN; i++) {
        int32_t c[WIDTH];
        draw(&r, c);
        right += (classifier_probability(f, c) > 0.5) == is_good(c);
    }
    assert_true(right > 0.95 * UNSEEN);
    classifier_destroy(f);
}

// Rows that cannot be distinguished end in one leaf, with the good share of their weight.
static void test_weights_count(void **state)
{
    (void)state;
    int32_t x[40][WIDTH] = {{0}};
    bool good[40];
    double weight[40];
    struct rng r;
    rng_seed(&r, 3);
    for (int i = 0; i < 40; i++) {
        good[i] = i % 2;
        weight[i] = good[i] ? 3 : 1;
    }
    struct classifier *f =
        classifier_fit(&(struct classifier_rows){*x, good, weight, 40, WIDTH}, TREES, &r);
    assert_true(fabs(classifier_probability(f, x[0]) - 0.75) < 0.03);
    classifier_destroy(f);
}

// The way down a tree names columns once each; others do not matter to where it ends.
static void test_paths(void **state)
{
    (void)state;
    int32_t x[ROWS][WIDTH];
    struct rng r;
    struct classifier *f = learned(4, x);
    rng_seed(&r, 5);
    for (int t = 0; t < TREES; t++) {
        int column[WIDTH], leaf, other;
        bool on_path[WIDTH] = {false};
        int32_t moved[WIDTH];
        int count = classifier_path(f, t, x[t], column);
        assert_in_range(count, 0, WIDTH);
        for (int i = 0; i < count; i++) {
            assert_false(on_path[column[i]]);
            on_path[column[i]] = true;
        }
        draw(&r, moved);
        for (int i = 0; i < WIDTH; i++)
            if (on_path[i])
                moved[i] = x[t][i];
        double vote = classifier_vote(f, t, x[t], &leaf);
        assert_true(vote >= 0 && vote <= 1);
        assert_true(classifier_vote(f, t, moved, &other) == vote);
        assert_int_equal(leaf, other);
    }
    classifier_destroy(f);
}

// Columns of few values are sorted another way than columns of many: the trees are the same.
static void test_wide_values(void **state)
{
    (void)state;
    enum { FACTOR = 1000 };
    int32_t x[ROWS][WIDTH], wide[ROWS][WIDTH];
    bool good[ROWS];
    double weight[ROWS];
    struct rng r, same;
    rng_seed(&r, 6);
    for (int i = 0; i < ROWS; i++) {
        draw(&r, x[i]);
        for (int k = 0; k < WIDTH; k++)
            wide[i][k] = FACTOR * x[i][k];
        good[i] = is_good(x[i]) != (rng_below(&r, 10) == 0);
        weight[i] = 0.1 + rng_real(&r);
    }
    same = r;
    struct classifier *f =
        classifier_fit(&(struct classifier_rows){*x, good, weight, ROWS, WIDTH}, TREES, &r);
    struct classifier *g =
        classifier_fit(&(struct classifier_rows){*wide, good, weight, ROWS, WIDTH}, TREES, &same);
    for (int i = 0; i < ROWS; i++)
        assert_true(classifier_probability(f, x[i]) == classifier_probability(g, wide[i]));
    classifier_destroy(f);
    classifier_destroy(g);
}

TEST_GROUP(classifier)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tells_apart),
        cmocka_unit_test(test_weights_count),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_wide_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
