// Configurations as rows of numbers: the parameters themselves.
#include "model/features.h"

#include "group.h"
#include "spaces.h"

#include <string.h>

static bool on_path(void *context, int i, int j)
{
    (void)context;
    return abs(i - j) == 1;
}

static void add_numbers(struct space *s, const char *name)
{
    struct param p;
    assert_true(param_custom(&p, &s->arena, name,
                             &(struct custom_graph){3, (double[]){0.5, -4, 3}, NULL, on_path, NULL},
                             NULL));
    assert_true(space_add(s, &p, NULL));
}

// A space with one parameter of each kind: parts 3, order 3, number 4, label 3, ring 4, and numbers
// with a graph 3.
static struct space *space_of_all(int parts, const char *last)
{
    struct space *s = space_create("all");
    add_factorization(s, "tile", 12, parts);
    add_permutation(s, "order", 3);
    add_discrete(s, "step", 4);
    add_categorical(s, "way", 3);
    add_ring(s, "ring", 4);
    add_numbers(s, last);
    return sealed(s);
}

static void test_row_by_hand(void **state)
{
    (void)state;
    struct space *s = space_of_all(3, "own");
    struct features *f = features_create(s, FEATURES_KNOB, NULL);
    assert_int_equal(features_width(f), 3 + 3 + 1 + 3 + 4 + 1);
    assert_int_equal(features_most_rows(f), 1);

    const struct config c = {{/* tile */ 2, 1, 6, /* order */ 2, 0, 1, 3, 1, 2, 1}};
    const float expected[15] = {2, 1, 6, 2, 0, 1, /* step */ 9, 0, 1, 0, 0, 0, 1, 0, /* own */ -4};
    float row[16];
    row[15] = 77;
    for (int i = 0; i < 15; i++)
        row[i] = 55; // nothing is left of what was there
    assert_int_equal(features_fill(f, &c, row), 1);
    assert_memory_equal(row, expected, sizeof expected);
    assert_true(row[15] == 77);
    features_destroy(f);
    space_destroy(s);
}

static void test_rows_tell_all_points_apart(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    struct features *f = features_create(s, FEATURES_KNOB, NULL);
    size_t width = (size_t)features_width(f), count = (size_t)s->size;
    float *row = mem_zero(count * width, sizeof *row);
    for (size_t i = 0; i < count; i++) {
        struct config c;
        space_point(s, i, &c);
        features_fill(f, &c, row + i * width);
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(row + i * width, row + j * width, width * sizeof *row);
    }
    free(row);
    features_destroy(f);
    space_destroy(s);
}

static bool are_like(struct space *a, struct space *b)
{
    struct features *f = features_create(a, FEATURES_KNOB, NULL);
    struct features *g = features_create(b, FEATURES_KNOB, NULL);
    bool like = features_are_like(f, g);
    assert_true(features_are_like(g, f) == like && features_are_like(f, f));
    features_destroy(f);
    features_destroy(g);
    space_destroy(a);
    space_destroy(b);
    return like;
}

static struct space *space_of_ways(int count)
{
    struct space *s = space_create("ways");
    add_categorical(s, "way", count);
    add_discrete(s, "step", 8 - count); // no matter how many: one column
    return sealed(s);
}

static struct space *space_of_single(void (*add)(struct space *s, const char *name, int count))
{
    struct space *s = space_create("single");
    add(s, "way", 3);
    return sealed(s);
}

static void test_which_spaces_are_alike(void **state)
{
    (void)state;
    assert_true(are_like(space_of_all(3, "own"), space_of_all(3, "own")));
    assert_true(are_like(space_mm(64, 64, 64), space_mm(1024, 96, 2)));
    assert_true(are_like(space_of_ways(3), space_of_ways(3)));
    assert_false(are_like(space_of_ways(3), space_of_ways(4)));
    assert_false(are_like(space_of_all(3, "own"), space_of_all(4, "own")));
    assert_false(are_like(space_of_all(3, "own"), space_of_all(3, "other")));
    assert_false(are_like(space_mixed(), space_mm(64, 64, 64)));
    assert_false(are_like(space_of_single(add_categorical), space_of_single(add_permutation)));
    assert_false(are_like(space_of_single(add_categorical), space_of_single(add_ring)));
}

static void test_without_a_nest_there_is_only_knob(void **state)
{
    (void)state;
    struct space *s = space_24();
    for (int kind = FEATURES_ITERVAR; kind <= FEATURES_STATEMENTS; kind++) {
        struct err e = {0};
        assert_null(features_create(s, (enum feature_kind)kind, &e));
        assert_non_null(strstr(e.text, "loop nest"));
    }
    space_destroy(s);
}

TEST_GROUP(features_knob)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_row_by_hand),
        cmocka_unit_test(test_rows_tell_all_points_apart),
        cmocka_unit_test(test_which_spaces_are_alike),
        cmocka_unit_test(test_without_a_nest_there_is_only_knob),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
