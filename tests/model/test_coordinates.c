// Coordinates of configurations: each kind of parameter and a profile by hand, and distances as on
// the graphs.
#include "group.h"
#include "model/coordinates.h"
#include "nests.h"
#include "spaces.h"

#include <math.h>
#include <stddef.h>

static void add_numbers(struct space *s, const char *name, int count, const double *number)
{
    struct param p;
    assert_true(param_discrete(&p, &s->arena, name, count, number, NULL));
    assert_true(space_add(s, &p, NULL));
}

static void expect(const struct space *s, const struct config *c, int count, const double *wanted)
{
    struct coordinates where;
    double x[COORDINATES_MOST];
    coordinates_init(&where, s, true);
    assert_int_equal(where.count, count);
    coordinates_of(&where, c, x);
    for (int i = 0; i < count; i++)
        assert_true(fabs(x[i] - wanted[i]) < 1e-12);
    coordinates_finish(&where);
}

static void test_discrete(void **state)
{
    (void)state;
    struct space *s = space_create("ladders");
    add_numbers(s, "powers", 4, (double[]){8, 16, 32, 64}); // twos are ranks
    add_numbers(s, "steps", 5, (double[]){0, 16, 32, 48, 64});
    add_numbers(s, "odd", 3, (double[]){1, 3, 5});
    add_numbers(s, "fractions", 3, (double[]){0.5, 1, 2});
    add_numbers(s, "flag", 2, (double[]){0, 1});
    add_numbers(s, "one", 1, (double[]){7});
    sealed(s);
    struct config c = {.slot = {3, 3, 1, 2, 1, 0}};
    expect(s, &c, 11,
           (double[]){3, 1, 3, 0.75, 4 / 6.0, 0, 1, 0.5, 2, 1, 1}); // 48 is 16 * 3, 64 is 2^6
    c.slot[1] = 4;
    expect(s, &c, 11, (double[]){3, 1, 4, 1, 1, 1, 1, 0.5, 2, 1, 1});
    c.slot[1] = 0; // no power of two
    expect(s, &c, 11, (double[]){3, 1, 0, 0, 0, 0, 1, 0.5, 2, 1, 1});
    space_destroy(s);
}

static void test_other_kinds(void **state)
{
    (void)state;
    struct space *s = space_create("kinds");
    add_factorization(s, "tile", 64, 3);
    add_permutation(s, "order", 3);
    add_categorical(s, "where", 4);
    add_ring(s, "ring", 5);
    add_factorization(s, "prime", 1, 2); // one value
    sealed(s);
    struct config c = {.slot = {2, 32, 1, 2, 0, 1, 3, 4, 1, 1}};
    expect(s, &c, 11, (double[]){2, 1 / 6.0, 32, 5 / 6.0, 1, 0, 2, 0, 1, 3, 4});
    space_destroy(s);
}

// Different configurations lie apart, and a step on the graph is the same wherever it is made.
static void test_steps_of_factorizations(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    struct coordinates where;
    struct rng r;
    coordinates_init(&where, s, true);
    rng_seed(&r, 3);
    for (int n = 0; n < 1000; n++) {
        struct config a, b;
        double x[COORDINATES_MOST], y[COORDINATES_MOST], apart = 0;
        space_sample(s, &r, &a);
        space_neighbour(s, &a, (int)rng_below(&r, (uint64_t)space_degree(s, &a)), &b);
        coordinates_of(&where, &a, x);
        coordinates_of(&where, &b, y);
        for (int i = 1; i < where.count; i += 2) // each after a label
            apart += fabs(x[i] - y[i]);
        assert_true(fabs(apart - 2 / 9.0) < 1e-9 || fabs(apart - 2 / 10.0) < 1e-9);
    }
    coordinates_finish(&where);
    space_destroy(s);
}

static void test_profile(void **state)
{
    (void)state;
    struct config c;
    struct space *s = space_with_product(&c);
    struct coordinates with, without;
    double x[COORDINATES_MOST];
    coordinates_init(&with, s, true);
    coordinates_init(&without, s, false);
    assert_int_equal(with.count, without.count + PROFILE_NUMBERS);
    coordinates_of(&with, &c, x);
    // An invocation fills twice two elements, multiplies 2 x 2 x 2 x 2 times and stores 2 x 2: each
    // time it reads or writes global memory once, and shared memory but when it stores.
    static const double wanted[PROFILE_NUMBERS] = {
        [PROFILE_GROUPS] = 4,          [PROFILE_THREADS] = 8,
        [PROFILE_REGISTER_BYTES] = 16, [PROFILE_SHARED_BYTES] = 64,
        [PROFILE_TRIPS] = 2 + 4 + 4,   [PROFILE_EXECUTIONS] = 4 + 16 + 4,
        [PROFILE_GLOBAL] = 4 + 16 + 4, [PROFILE_SHARED] = 4 + 16,
        [PROFILE_WRITTEN_OUT] = 4,     [PROFILE_LANES] = 1,
    };
    for (int i = 0; i < PROFILE_NUMBERS; i++)
        assert_true(fabs(x[without.count + i] - log2(1 + wanted[i]) / 8) < 1e-12);
    coordinates_finish(&with);
    coordinates_finish(&without);
    space_and_nest_destroy(s);
}

// A vector is one access.
static void test_profile_of_vectors(void **state)
{
    (void)state;
    struct config c;
    struct space *s = space_with_chain(&c);
    struct nest_point p;
    double profile[PROFILE_NUMBERS];
    nest_point_init(&p, s->nest);
    nest_evaluate(s->nest, s, &c, &p);
    profile_of(&p, profile);
    assert_true(profile[PROFILE_LANES] == 3 && profile[PROFILE_EXECUTIONS] == 12 + 4);
    assert_true(profile[PROFILE_GLOBAL] == 2 * 4 + 2 * 4 && profile[PROFILE_SHARED] == 0);
    nest_point_finish(&p);
    space_and_nest_destroy(s);
}

TEST_GROUP(coordinates)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_discrete),
        cmocka_unit_test(test_other_kinds),
        cmocka_unit_test(test_steps_of_factorizations),
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_profile_of_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
