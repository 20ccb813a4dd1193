// Rows made from a loop nest: by hand, and against loops that are run one iteration after the
// other.
#include "model/features.h"

#include "group.h"
#include "nests.h"
#include "spaces.h"

#include <math.h>
#include <string.h>

static double logarithm(double x)
{
    return x < 0 ? -log2(1 - x) : log2(1 + x);
}

static void assert_near(double value, double expected)
{
    if (fabs(value - expected) > 2e-5 * (1 + fabs(expected)))
        fail_msg("%.9g instead of %.9g", value, expected);
}

// itervar

enum { OF_LOOP = 18, OF_ACCESS = 5 };

static bool stands_in(const struct nest *n, int statement, int loop)
{
    for (int i = 0; i < n->statement[statement].loop_count; i++)
        if (n->statement[statement].loop[i] == loop)
            return true;
    return false;
}

static int place_of(const struct nest_point *p, int statement, int loop)
{
    int i = 0;
    while (nest_path(p, statement)[i] != loop)
        i++;
    return i;
}

// The columns of a loop come from the first statement in it.
static void expect_loop(const struct nest_point *p, int statement, int loop, double *x)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    int at = place_of(p, statement, loop);
    if (x[1] == 0) {
        x[0] = p->length[loop];
        x[1] = at + 1;
        x[2] = (double)run_innermost(p, statement, 0, s->loop_count).iterations /
               (double)run_innermost(p, statement, 0, s->loop_count - at - 1).iterations;
        x[4 + (int)p->nest->loop[loop].kind] = 1;
    }
    x[3] = fmax(x[3], (double)run_innermost(p, statement, 0, s->loop_count - at).iterations);
    if (at == s->loop_count - 1) {
        x[15] += p->value[s->add];
        x[16] += p->value[s->multiply];
        x[17] += p->value[s->divide];
    }
}

static int parallelism(const struct nest_point *p, int loop)
{
    enum nest_loop_kind k = p->nest->loop[loop].kind;
    bool block = k == NEST_BLOCK_X || k == NEST_BLOCK_Y || k == NEST_BLOCK_Z;
    bool thread = k == NEST_THREAD_X || k == NEST_THREAD_Y || k == NEST_THREAD_Z;
    return block ? 2 : thread || k == NEST_PARALLEL;
}

static void expect_access(const struct nest_point *p, int statement, int access, int loop,
                          double *x)
{
    int count = p->nest->statement[statement].loop_count, at = place_of(p, statement, loop);
    const int *path = nest_path(p, statement);
    int one[NEST_MAX_PATH] = {0};
    one[at] = 1;
    struct run r = run_innermost(p, statement, access, count - at);
    x[0] = (double)address_of(p, statement, access, one);
    x[1] = (double)r.different;
    x[2] = (double)r.iterations / (double)r.different;
    // The base is the first loop inside that belongs to a less parallel level.
    int below = at + 1, level = parallelism(p, path[at]);
    while (below < count && parallelism(p, path[below]) >= level)
        below++;
    if (level == 0 || below == count)
        return;
    struct run b = run_innermost(p, statement, access, count - below);
    x[3] = x[1] / (double)b.different;
    x[4] = x[2] / ((double)b.iterations / (double)b.different);
}

static void check_itervar(struct space *s, const struct config *c)
{
    const struct nest *n = s->nest;
    struct nest_point p;
    nest_point_init(&p, n);
    nest_evaluate(n, s, c, &p);
    struct features *f = features_create(s, FEATURES_ITERVAR, NULL);
    float *row = mem_zero((size_t)features_width(f), sizeof *row);
    assert_int_equal(features_fill(f, c, row), 1);

    const float *at = row;
    for (int loop = 0; loop < n->loop_count; loop++) {
        double x[OF_LOOP] = {0};
        for (int i = 0; i < n->statement_count; i++)
            if (p.present[i] && stands_in(n, i, loop))
                expect_loop(&p, i, loop, x);
        for (int i = 0; i < OF_LOOP; i++)
            assert_near(*at++, logarithm(x[i]));
        for (int i = 0; i < n->statement_count; i++)
            for (int j = 0; stands_in(n, i, loop) && j < n->statement[i].access_count; j++) {
                double y[OF_ACCESS] = {0};
                if (p.present[i])
                    expect_access(&p, i, j, loop, y);
                for (int k = 0; k < OF_ACCESS; k++)
                    assert_near(*at++, logarithm(y[k]));
            }
    }
    assert_true(row + features_width(f) - at == (s->param_count == 4 ? 1 : 3)); // the options
    free(row);
    features_destroy(f);
    nest_point_finish(&p);
}

static void test_itervar_against_running_it(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 5);
    struct config c;
    for (int i = 0; i < 60; i++) {
        struct space *s = space_with_random_nest(&rng, &c);
        check_itervar(s, &c);
        space_and_nest_destroy(s);
    }
    struct space *s = space_with_product(&c);
    check_itervar(s, &c);
    space_and_nest_destroy(s);
}

static void test_itervar_by_hand(void **state)
{
    (void)state;
    struct config c;
    struct space *s = space_with_product(&c);
    struct features *f = features_create(s, FEATURES_ITERVAR, NULL);
    int width = features_width(f);
    // The four launched loops stand around all 7 accesses, tile around 5, round around 2, k around
    // 3, i and j around 5; then the option.
    assert_int_equal(width, 9 * 18 + 5 * (4 * 7 + 5 + 2 + 3 + 2 * 5) + 1);
    float *row = mem_zero((size_t)width, sizeof *row);
    features_fill(f, &c, row);

    const float *thread_x = row + 3 * (18 + 5 * 7);
    const double loop[18] = {4, 4, 32, 64, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    for (int i = 0; i < 18; i++)
        assert_near(thread_x[i], logarithm(loop[i]));
    const double a[5] = {0, 8, 8, 8 / 8, 8 / 2}; // moved by tile, k, i; not by j and itself
    for (int i = 0; i < 5; i++)
        assert_near(thread_x[18 + 5 * 3 + i], logarithm(a[i]));
    const double tile[5] = {2, 16, 4, 16 / 4, 4 / 4}; // moved by itself, k, j; not by tile, i
    for (int i = 0; i < 5; i++)
        assert_near(thread_x[18 + 5 * 4 + i], logarithm(tile[i]));
    assert_true(row[width - 1] == 4);
    free(row);
    features_destroy(f);
    space_and_nest_destroy(s);
}

// curve

enum { SAMPLES = 20 };

// Returns y at the last x that is at most `at`, and the distance from there.
static void expect_sample(int points, const double *x, const double *y, int at, const float *row)
{
    int last = 0;
    for (int i = 0; i < points; i++)
        if (x[i] <= at + 1e-5)
            last = i;
    assert_near(row[0], y[last]);
    assert_near(row[1], at - x[last]);
}

static void check_curve(const struct nest_point *p, int statement, int access, const float *row)
{
    int loops = p->nest->statement[statement].loop_count;
    double count[NEST_MAX_PATH + 1], reuse[NEST_MAX_PATH + 1], top_down[NEST_MAX_PATH + 1];
    double all = (double)run_innermost(p, statement, access, loops).iterations;
    for (int i = 0; i <= loops; i++) {
        struct run r = run_innermost(p, statement, access, i);
        count[i] = log2((double)r.different);
        reuse[i] = log2((double)r.iterations / (double)r.different);
        top_down[loops - i] = log2(all / (double)r.iterations);
    }
    const double *relation[4][2] = {
        {count, reuse}, {reuse, count}, {count, top_down}, {top_down, count}};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < SAMPLES; j++, row += 2)
            expect_sample(loops + 1, relation[i][0], relation[i][1], j, row);
}

static void test_curve(void **state)
{
    (void)state;
    struct config c;
    struct space *s = space_with_product(&c);
    struct features *f = features_create(s, FEATURES_CURVE, NULL);
    assert_int_equal(features_width(f), 3 * 160 + 1);
    float row[3 * 160 + 1];
    assert_int_equal(features_fill(f, &c, row), 1);
    struct nest_point p;
    nest_point_init(&p, s->nest);
    nest_evaluate(s->nest, s, &c, &p);
    for (int i = 0; i < 3; i++)
        check_curve(&p, PRODUCT, i, row + i * 160);
    assert_true(row[480] == 4);
    nest_point_finish(&p);
    features_destroy(f);
    space_and_nest_destroy(s);
}

// statements

static void assert_row(const float *row, int from, int count, const double *expected)
{
    for (int i = 0; i < count; i++)
        assert_near(row[from + i], logarithm(expected[i]));
}

// The columns of an access agree with the results of test_access.c.
static void assert_access(const float *row, int place, int type, int reuse, const double *x)
{
    const float *at = row + 57 + 18 * place;
    for (int i = 0; i < 3; i++) {
        assert_true(at[i] == (float)(i == type));
        assert_true(at[7 + i] == (float)(i == reuse));
    }
    assert_row(at, 3, 4, x);
    assert_row(at, 10, 8, x + 4);
}

static void test_statement_by_hand(void **state)
{
    (void)state;
    struct config c;
    struct space *s = space_with_product(&c);
    struct features *f = features_create(s, FEATURES_STATEMENTS, NULL);
    assert_int_equal(features_width(f), 164);
    assert_int_equal(features_most_rows(f), PRODUCT_STATEMENTS);
    float rows[PRODUCT_STATEMENTS * 164];
    assert_int_equal(features_fill(f, &c, rows), PRODUCT_STATEMENTS);

    const float *row = rows + PRODUCT * 164;
    const double operations[16] = {0, 512, 512};
    assert_row(row, 0, 16, operations);
    const double nowhere[11] = {0, 0, 0, 1}, unrolled[11] = {2, 4, 2, 0, 0, 0, 0, 0, 0, 0, 1};
    assert_row(row, 16, 11, nowhere);
    assert_row(row, 27, 11, unrolled);
    assert_row(row, 38, 11, nowhere);
    const double launch[8] = {1, 2, 2, 1, 4, 2, 1, 1};
    assert_row(row, 49, 8, launch);
    // A has the most lines; the other two have as many lines and bytes, and keep their order.
    assert_access(row, 0, 0, 0, (double[]){2048, 128, 64, 2, 1, 12, 2, 1024, 64, 32, 1, 0});
    assert_access(row, 1, 2, 0, (double[]){2048, 16, 32, 1, 4, 32, 2, 1024, 8, 16, 0.5, 1});
    assert_access(row, 2, 0, 0, (double[]){2048, 64, 32, 1, 2, 20, 2, 1024, 32, 16, 0.5, 1});
    const double allocation[7] = {16, 4 * 32, 32, 16, 512, 8, 4};
    assert_row(row, 157, 7, allocation);

    // The tile is allocated outside the threads.
    const double tile[7] = {64, 16 * 4, 4, 32, 128, 6, 4};
    assert_row(rows + FILL * 164, 157, 7, tile);
    // The result is allocated outside everything, and never touched again.
    const double result[7] = {512, 128, 1, 128, 128, 6, 4};
    assert_row(rows + STORE * 164, 157, 7, result);
    assert_access(rows + STORE * 164, 0, 1, 2,
                  (double[]){512, 512, 8, 8, 0, 0, 0, 1024, 1024, 16, 16, 1});
    features_destroy(f);
    space_and_nest_destroy(s);
}

// Computes operations by bytes touched, from the innermost loop on, on a logarithmic scale of
// operations.
static void test_intensity(void **state)
{
    (void)state;
    struct config c;
    struct space *s = space_with_product(&c);
    struct features *f = features_create(s, FEATURES_STATEMENTS, NULL);
    float rows[PRODUCT_STATEMENTS * 164];
    features_fill(f, &c, rows);
    const float *row = rows + PRODUCT * 164 + 147;

    struct nest_point p;
    nest_point_init(&p, s->nest);
    nest_evaluate(s->nest, s, &c, &p);
    double x[9], y[9];
    for (int i = 0; i <= 8; i++) {
        double bytes = 0, runs = (double)run_innermost(&p, PRODUCT, 0, i).iterations;
        for (int j = 0; j < 3; j++)
            bytes += 4 * (double)run_innermost(&p, PRODUCT, j, i).different;
        x[i] = logarithm(2 * runs);
        y[i] = 2 * runs / bytes;
    }
    for (int i = 0; i < 10; i++) {
        double goal = x[8] * (i + 1) / 10;
        int at = 0;
        while (at < 8 && x[at] < goal - 1e-9)
            at++;
        double value =
            at == 0 ? y[0]
                    : y[at - 1] + (y[at] - y[at - 1]) * (goal - x[at - 1]) / (x[at] - x[at - 1]);
        assert_near(row[i], logarithm(value));
    }
    assert_near(row[9], logarithm(1024 / (4. * (4 + 32 + 16))));
    for (int i = 0; i < 10; i++)
        assert_true(rows[FILL * 164 + 147 + i] == 0); // it computes nothing
    nest_point_finish(&p);
    features_destroy(f);
    space_and_nest_destroy(s);
}

// all

static void test_rows_of_absent_statements(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 9);
    int missing = 0;
    for (int i = 0; i < 100; i++) {
        struct config c;
        struct space *s = space_with_random_nest(&rng, &c);
        struct features *f = features_create(s, FEATURES_STATEMENTS, NULL);
        float *rows = mem_zero((size_t)(features_most_rows(f) * 164), sizeof *rows);
        int present = 0;
        for (int j = 0; j < s->nest->statement_count; j++)
            present += s->nest->formulas.node[s->nest->statement[j].when].constant != 0;
        assert_int_equal(features_fill(f, &c, rows), present);
        missing += s->nest->statement_count - present;
        free(rows);
        features_destroy(f);
        space_and_nest_destroy(s);
    }
    assert_true(missing > 0);
}

static void test_which_spaces_are_alike(void **state)
{
    (void)state;
    struct config c;
    struct space *s = space_with_product(&c), *t = space_with_product(&c);
    struct space *u = space_with_chain(&c);
    for (int kind = FEATURES_ITERVAR; kind <= FEATURES_STATEMENTS; kind++) {
        struct features *f = features_create(s, (enum feature_kind)kind, NULL);
        struct features *g = features_create(t, (enum feature_kind)kind, NULL);
        struct features *h = features_create(u, (enum feature_kind)kind, NULL);
        struct features *knob = features_create(s, FEATURES_KNOB, NULL);
        assert_true(features_are_like(f, g));
        assert_true(features_are_like(f, h) == (kind == FEATURES_STATEMENTS));
        assert_false(features_are_like(f, knob));
        features_destroy(f);
        features_destroy(g);
        features_destroy(h);
        features_destroy(knob);
    }
    space_and_nest_destroy(s);
    space_and_nest_destroy(t);
    space_and_nest_destroy(u);
}

TEST_GROUP(features_nest)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_itervar_against_running_it),
        cmocka_unit_test(test_itervar_by_hand),
        cmocka_unit_test(test_curve),
        cmocka_unit_test(test_statement_by_hand),
        cmocka_unit_test(test_intensity),
        cmocka_unit_test(test_rows_of_absent_statements),
        cmocka_unit_test(test_which_spaces_are_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
