// The nearest value and point, compared with all values and all points.
#include "group.h"
#include "space/nearest.h"
#include "spaces.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static double distance(const struct param *p, const struct wish *w, const int32_t *v)
{
    double sum = 0;
    for (int i = 0; i < p->width; i++)
        sum += pow(log((double)v[i] / w->number[i]), 2);
    return sum;
}

// No value is nearer.
static void check_factorization(int64_t product, int parts, const struct wish *w)
{
    struct space *s = space_create("one");
    add_factorization(s, "p", product, parts);
    const struct param *p = &sealed(s)->param[0];
    int32_t found[PARAM_MAX_WIDTH], other[PARAM_MAX_WIDTH];
    assert_true(param_nearest(p, w, found));
    assert_true(param_valid(p, found));
    double nearest = distance(p, w, found);
    for (uint64_t i = 0; i < p->size; i++) {
        param_value(p, i, other);
        double d = distance(p, w, other);
        assert_true(d > nearest - 1e-9);
        if (d < nearest + 1e-9)
            assert_true(found[0] >= other[0]);
    }
    space_destroy(s);
}

static void test_factorizations(void **state)
{
    (void)state;
    static const int64_t products[] = {1, 2, 7, 12, 360, 512, 1000, 1024, 4096, 5040};
    struct rng r;
    rng_seed(&r, 7);
    for (int n = 0; n < 300; n++) {
        int parts = 1 + (int)rng_below(&r, 4);
        struct wish w = {.count = parts};
        for (int i = 0; i < parts; i++)
            w.number[i] = (double)(1 + rng_below(&r, 40));
        check_factorization(products[rng_below(&r, 10)], parts, &w);
    }
}

static void expect_parts(int64_t product, const struct wish *w, const int32_t *expected)
{
    struct space *s = space_create("one");
    add_factorization(s, "p", product, w->count);
    int32_t found[PARAM_MAX_WIDTH];
    assert_true(param_nearest(&sealed(s)->param[0], w, found));
    assert_memory_equal(found, expected, (size_t)w->count * sizeof *found);
    space_destroy(s);
}

static void test_known_factorizations(void **state)
{
    (void)state;
    const struct wish w = {.count = 3, .number = {8, 4, 16}};
    expect_parts(512, &w, (int32_t[]){8, 4, 16});      // a value stays
    expect_parts(1024, &w, (int32_t[]){16, 4, 16});    // what is left goes to the first part
    expect_parts(512 * 8, &w, (int32_t[]){16, 8, 32}); // in proportion
    expect_parts(512 / 8, &w, (int32_t[]){4, 2, 8});
    expect_parts(1, &w, (int32_t[]){1, 1, 1});
    // Too many values to enumerate: a power of two has one valley.
    const struct wish many = {.count = 12, .number = {8, 8, 8, 1, 1, 1, 1, 1, 1, 1, 1, 1}};
    const int32_t sixteen[12] = {16, 16, 8, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    expect_parts(2048, &many, sixteen);
}

static void test_other_kinds(void **state)
{
    (void)state;
    struct space *s = space_create("kinds");
    add_discrete(s, "d", 4);    // 0, 1, 4, 9
    add_categorical(s, "c", 3); // "0", "1", "2"
    add_permutation(s, "o", 3);
    sealed(s);
    int32_t v[PARAM_MAX_WIDTH];
    static const double wished[][2] = {{-5, 0}, {0.5, 0}, {0.6, 1}, {2.5, 1}, {6.6, 3}, {100, 3}};
    for (size_t i = 0; i < sizeof wished / sizeof *wished; i++) {
        assert_true(param_nearest(&s->param[0], &(struct wish){1, {wished[i][0]}, {NULL}}, v));
        assert_int_equal(v[0], (int32_t)wished[i][1]);
    }
    assert_false(param_nearest(&s->param[0], &(struct wish){1, {0}, {"1"}}, v));
    assert_false(param_nearest(&s->param[0], &(struct wish){2, {1, 1}, {NULL}}, v));
    assert_true(param_nearest(&s->param[1], &(struct wish){1, {0}, {"2"}}, v));
    assert_int_equal(v[0], 2);
    assert_false(param_nearest(&s->param[1], &(struct wish){1, {0}, {"3"}}, v));
    assert_false(param_nearest(&s->param[1], &(struct wish){1, {2}, {NULL}}, v));
    const char *const *label = s->param[2].label;
    struct wish order = {3, {0}, {label[2], label[0], label[1]}};
    assert_true(param_nearest(&s->param[2], &order, v));
    assert_int_equal(v[0], 2);
    assert_int_equal(v[1], 0);
    order.text[0] = label[0]; // twice
    assert_false(param_nearest(&s->param[2], &order, v));
    space_destroy(s);
}

// Legal: the first slot is of a kind, and few others are.
static bool is_rare(void *context, const struct config *c)
{
    const int *modulus = context;
    return config_hash(c) % (uint64_t)*modulus == 0;
}

static void test_legal(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    for (int modulus = 1; modulus < 200; modulus += 9) {
        struct config from, found, other;
        space_point(s, (uint64_t)(modulus * 5), &from);
        found = from;
        int nearest = -1;
        for (uint64_t i = 0; i < s->size; i++) {
            space_point(s, i, &other);
            int d = space_distance(s, &from, &other);
            if (is_rare(&modulus, &other) && (nearest < 0 || d < nearest))
                nearest = d;
        }
        assert_int_equal(space_nearest_legal(s, is_rare, &modulus, &found), nearest >= 0);
        if (nearest >= 0) {
            assert_true(is_rare(&modulus, &found));
            assert_int_equal(space_distance(s, &from, &found), nearest);
        } else {
            assert_true(config_equal(&found, &from));
        }
    }
    space_destroy(s);
}

static bool nothing(void *context, const struct config *c)
{
    (void)c;
    ++*(int *)context;
    return false;
}

static void test_gives_up(void **state)
{
    (void)state;
    struct space *s = space_huge();
    struct config c = {0};
    int looks = 0;
    space_point(s, 0, &c);
    assert_false(space_nearest_legal(s, nothing, &looks, &c));
    assert_int_equal(looks, 4096);
    space_destroy(s);
}

TEST_GROUP(nearest)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factorizations), cmocka_unit_test(test_known_factorizations),
        cmocka_unit_test(test_other_kinds),    cmocka_unit_test(test_legal),
        cmocka_unit_test(test_gives_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
