// The q-random walk against its exact distribution (OpEvo section 3.2): S = (1-q) (I - Q)^-1 e_s
// with Q[w][v] = q/deg(v) for neighbours, and a vertex without neighbours keeps its mass. The
// fractions below are solved by hand; the solver here must reproduce them, and 200 000 walks must
// fit (chi-square, p = 1e-4).
#include "group.h"
#include "spaces.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_VALUES = 64, WALKS = 200000 };

struct expected {
    int32_t value[4];
    double probability;
};

// Neumann series of (I - Q)^-1: the mass that is still walking after each step.
static void solve(const struct param *p, const struct config_set *all, int start, double q,
                  double *stopped)
{
    double walking[MAX_VALUES] = {0}, next[MAX_VALUES];
    memset(stopped, 0, (size_t)all->count * sizeof *stopped);
    walking[start] = 1;
    for (int step = 0; step < 2000; step++) {
        memset(next, 0, sizeof next);
        for (int v = 0; v < all->count; v++) {
            struct config c, d = {0};
            config_set_get(all, v, &c);
            int degree = param_degree(p, c.slot);
            stopped[v] += degree ? (1 - q) * walking[v] : walking[v];
            for (int k = 0; k < degree; k++) {
                param_neighbour(p, c.slot, k, d.slot);
                next[config_set_find(all, &d)] += q * walking[v] / degree;
            }
        }
        memcpy(walking, next, sizeof walking);
    }
}

// Walks from the first of `expected`, whose probabilities the solver must confirm.
static void check(struct space *s, double q, int count, const struct expected *expected)
{
    const struct param *p = &s->param[0];
    struct config_set all = {.slots = p->width};
    struct config c = {0};
    for (uint64_t i = 0; i < param_size(p); i++) {
        param_value(p, i, c.slot);
        config_set_add(&all, &c, NULL);
    }
    size_t bytes = (size_t)p->width * sizeof *c.slot;
    memcpy(c.slot, expected[0].value, bytes);
    int start = config_set_find(&all, &c), seen[MAX_VALUES] = {0};
    double exact[MAX_VALUES], sum = 0;
    solve(p, &all, start, q, exact);
    for (int i = 0; i < all.count; i++)
        sum += exact[i];
    assert_true(fabs(sum - 1) < 1e-12);
    for (int i = 0; i < count; i++) {
        struct config e = {0};
        memcpy(e.slot, expected[i].value, bytes);
        assert_true(fabs(exact[config_set_find(&all, &e)] - expected[i].probability) < 1e-12);
    }

    struct rng rng;
    rng_seed(&rng, 20);
    for (int i = 0; i < WALKS; i++) {
        struct config d = c;
        param_walk(p, q, &rng, d.slot);
        seen[config_set_find(&all, &d)]++;
    }
    double chi = chi_square(all.count, seen, exact);
    if (all.count > 1 && !(chi < chi_square_limit(all.count - 1)))
        fail_msg("chi-square %g with %d values", chi, all.count);
    config_set_finish(&all);
    space_destroy(s);
}

static struct space *one_factorization(int64_t product, int parts)
{
    struct space *s = space_create("walk");
    add_factorization(s, "p", product, parts);
    return sealed(s);
}

static struct space *one(void (*add)(struct space *, const char *, int), int count)
{
    struct space *s = space_create("walk");
    add(s, "p", count);
    return sealed(s);
}

#define CHECK(space, q, ...)                                                                       \
    check(space, q, (int)(sizeof(struct expected[]){__VA_ARGS__} / sizeof(struct expected)),       \
          (struct expected[]){__VA_ARGS__})

static void test_factorization_8_3(void **state)
{
    (void)state;
    CHECK(one_factorization(8, 3), 0.5, {{8, 1, 1}, 305 / 564.0}, {{4, 2, 1}, 23 / 141.0},
          {{4, 1, 2}, 23 / 141.0}, {{2, 2, 2}, 1 / 20.0}, {{2, 4, 1}, 19 / 705.0},
          {{2, 1, 4}, 19 / 705.0}, {{1, 4, 2}, 7 / 705.0}, {{1, 2, 4}, 7 / 705.0},
          {{1, 8, 1}, 13 / 2820.0}, {{1, 1, 8}, 13 / 2820.0});
    CHECK(one_factorization(8, 3), 0.7, {{8, 1, 1}, 581341 / 1605420.0},
          {{4, 2, 1}, 14245 / 80271.0}, {{4, 1, 2}, 14245 / 80271.0}, {{2, 2, 2}, 49 / 540.0},
          {{2, 4, 1}, 4165 / 80271.0}, {{2, 1, 4}, 4165 / 80271.0}, {{1, 4, 2}, 2401 / 80271.0},
          {{1, 2, 4}, 2401 / 80271.0}, {{1, 8, 1}, 22981 / 1605420.0},
          {{1, 1, 8}, 22981 / 1605420.0});
}

static void test_factorization_two_primes(void **state)
{
    (void)state;
    CHECK(one_factorization(6, 3), 0.5, {{6, 1, 1}, 19 / 35.0}, {{3, 2, 1}, 3 / 35.0},
          {{3, 1, 2}, 3 / 35.0}, {{2, 3, 1}, 3 / 35.0}, {{2, 1, 3}, 3 / 35.0},
          {{1, 6, 1}, 1 / 35.0}, {{1, 1, 6}, 1 / 35.0}, {{1, 2, 3}, 1 / 35.0},
          {{1, 3, 2}, 1 / 35.0});
    CHECK(one_factorization(12, 2), 0.5, {{12, 1}, 404 / 715.0}, {{6, 2}, 23 / 143.0},
          {{4, 3}, 328 / 2145.0}, {{2, 6}, 10 / 143.0}, {{3, 4}, 68 / 2145.0},
          {{1, 12}, 14 / 715.0});
}

static void test_discrete(void **state)
{
    (void)state;
    CHECK(one(add_discrete, 4), 0.5, {{0}, 26 / 45.0}, {{1}, 14 / 45.0}, {{2}, 4 / 45.0},
          {{3}, 1 / 45.0});
    CHECK(one(add_discrete, 3), 0.5, {{0}, 7 / 12.0}, {{1}, 1 / 3.0}, {{2}, 1 / 12.0});
}

static void test_categorical(void **state)
{
    (void)state;
    CHECK(one(add_categorical, 6), 0.5, {{2}, 6 / 11.0}, {{0}, 1 / 11.0}, {{1}, 1 / 11.0},
          {{3}, 1 / 11.0}, {{4}, 1 / 11.0}, {{5}, 1 / 11.0});
}

static void test_permutation(void **state)
{
    (void)state;
    CHECK(one(add_permutation, 3), 0.5, {{0, 1, 2}, 5 / 9.0}, {{1, 0, 2}, 1 / 9.0},
          {{0, 2, 1}, 1 / 9.0}, {{2, 1, 0}, 1 / 9.0}, {{1, 2, 0}, 1 / 18.0}, {{2, 0, 1}, 1 / 18.0});
    // Swaps on S4 have the eigenvalues 1, -1 (once), 1/3, -1/3 (9 times) and 0 (4 times).
    double back = 0.2 / 24 * (1 / 0.2 + 1 / 1.8 + 9 / (1 - 0.8 / 3) + 9 / (1 + 0.8 / 3) + 4);
    CHECK(one(add_permutation, 4), 0.8, {{0, 1, 2, 3}, back});
}

static void test_custom(void **state)
{
    (void)state;
    // Expected visits on a ring of 4: start 1 + a/2, each side a = (start + opposite)/4, opposite
    // a/2.
    CHECK(one(add_ring, 4), 0.5, {{0}, 7 / 12.0}, {{1}, 1 / 6.0}, {{3}, 1 / 6.0}, {{2}, 1 / 12.0});
}

static void test_no_neighbours(void **state)
{
    (void)state;
    CHECK(one_factorization(1, 3), 0.999, {{1, 1, 1}, 1});
    CHECK(one_factorization(12, 1), 0.999, {{12}, 1});
    CHECK(one(add_permutation, 1), 0.999, {{0}, 1});
    CHECK(one(add_discrete, 1), 0.999, {{0}, 1});
    CHECK(one(add_categorical, 1), 0.999, {{0}, 1});
    CHECK(one(add_ring, 1), 0.999, {{0}, 1});
}

// Steps are geometric with mean q/(1-q); q = 1/2 stops at once half of the time.
static void test_steps(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    struct rng rng;
    rng_seed(&rng, 3);
    int count[12] = {0};
    double probability[12];
    for (int i = 0; i < 12; i++)
        probability[i] = i < 11 ? pow(0.5, i + 1) : pow(0.5, 11);
    for (int i = 0; i < WALKS; i++) {
        struct config c;
        space_sample(s, &rng, &c);
        int steps = param_walk(&s->param[0], 0.5, &rng, c.slot);
        count[steps < 11 ? steps : 11]++;
    }
    assert_true(chi_square(12, count, probability) < chi_square_limit(11));
    space_destroy(s);
}

TEST_GROUP(walk)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factorization_8_3), cmocka_unit_test(test_factorization_two_primes),
        cmocka_unit_test(test_discrete),          cmocka_unit_test(test_categorical),
        cmocka_unit_test(test_permutation),       cmocka_unit_test(test_custom),
        cmocka_unit_test(test_no_neighbours),     cmocka_unit_test(test_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
