// The memory use of accesses, compared with loops that are run one iteration after the other.
#include "model/feature_kind.h"

#include "group.h"
#include "nests.h"

#include <math.h>
#include <stddef.h>

static void check_touched(const struct nest_point *p, int statement, int access,
                          const struct access_use *u)
{
    int loops = p->nest->statement[statement].loop_count;
    for (int i = 0; i <= loops; i++) {
        struct run r = run_innermost(p, statement, access, i);
        assert_true(u->touched[i] == 4 * (double)r.different);
        assert_true(u->touched[i] == 4 * nest_touched(p, statement, access, i));
    }
    struct run all = run_innermost(p, statement, access, loops);
    double line = all.longest * 4 < 64 ? (double)all.longest * 4 : 64;
    assert_true(u->bytes == 4 * (double)all.iterations);
    assert_true(u->unique_bytes == 4 * (double)all.different);
    assert_true(fabs(u->unique_lines - fmax(1, 4 * (double)all.different / line)) < 1e-9);
}

static void check_reuse(const struct nest_point *p, int statement, int access,
                        const struct access_use *use)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    const struct access_use *u = &use[access];
    struct run all = run_innermost(p, statement, access, s->loop_count);
    assert_true(u->distance == (double)all.to_the_same);
    assert_true((u->reuse == REUSE_NONE) == (all.to_the_same == 0));
    if (u->reuse == REUSE_NONE)
        return;
    assert_int_equal(u->reuse, REUSE_LOOP);
    double bytes = 0;
    for (int i = 0; i < s->access_count; i++)
        bytes += 4 * (double)different_in(p, statement, i, all.to_the_same);
    assert_true(u->distance_bytes == bytes);
    // The element is touched again as often as the loop runs that brings it back.
    struct run until = {0};
    int loops = 0;
    while (until.to_the_same == 0)
        until = run_innermost(p, statement, access, ++loops);
    assert_true(u->reuse_count == (double)until.iterations / (double)all.to_the_same);
}

static void test_against_running_it(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 11);
    int reused = 0, checked = 0;
    for (int i = 0; i < 400; i++) {
        struct config c;
        struct space *s = space_with_random_nest(&rng, &c);
        struct nest_point p;
        nest_point_init(&p, s->nest);
        nest_evaluate(s->nest, s, &c, &p);
        for (int j = 0; j < s->nest->statement_count; j++) {
            if (!p.present[j])
                continue;
            struct access_use use[NEST_MAX_ACCESSES];
            access_uses(&p, j, use);
            for (int k = 0; k < s->nest->statement[j].access_count; k++) {
                check_touched(&p, j, k, &use[k]);
                check_reuse(&p, j, k, use);
                reused += use[k].reuse == REUSE_LOOP;
                checked++;
            }
        }
        nest_point_finish(&p);
        space_and_nest_destroy(s);
    }
    assert_true(reused > checked / 10 && reused < checked * 19 / 20);
}

struct expected {
    int statement, access;
    double lines, unique_lines, stride;
    enum access_reuse reuse;
    double reuse_count, distance, distance_bytes;
};

// Computed by hand; every loop of the product but `thread_x` is 2 long.
static const struct expected by_hand[] = {
    // round moves a row of 8 elements on: half a line; t is contiguous, 16 elements are one line
    {FILL, 0, 128 * 0.5, 1, 8, REUSE_LOOP, 2, 2, 2 * 4 + 2 * 4},      // by tile, after both rounds
    {FILL, 1, 128, 4, 16, REUSE_LOOP, 2, 64, 4 * (16 + 64)},          // by block_y alone
    {PRODUCT, 0, 512 / 16., 1, 1, REUSE_LOOP, 2, 4, 4 * (4 + 2 + 2)}, // by k
    {PRODUCT, 1, 512 / 2 / 4., 2, 0, REUSE_LOOP, 2, 1, 3 * 4},        // by j
    {PRODUCT, 2, 512 / 16., 1, 1, REUSE_LOOP, 2, 2, 4 * (2 + 1 + 2)}, // by i
    {STORE, 0, 128 / 16., 8, 1, REUSE_NONE, 0, 0, 0},
    {STORE, 1, 128 / 16., 1, 1, REUSE_LOOP, 4, 4, 4 * (4 + 4)}, // by thread_x: each has its own
};

static void test_product_by_hand(void **state)
{
    (void)state;
    struct config c;
    struct space *s = space_with_product(&c);
    struct nest_point p;
    nest_point_init(&p, s->nest);
    nest_evaluate(s->nest, s, &c, &p);
    for (size_t i = 0; i < sizeof by_hand / sizeof by_hand[0]; i++) {
        const struct expected *e = &by_hand[i];
        struct access_use use[NEST_MAX_ACCESSES];
        access_uses(&p, e->statement, use);
        const struct access_use *u = &use[e->access];
        assert_true(u->lines == e->lines);
        assert_true(u->unique_lines == e->unique_lines);
        assert_true(u->stride == e->stride);
        assert_int_equal(u->reuse, e->reuse);
        assert_true(u->reuse_count == e->reuse_count);
        assert_true(u->distance == e->distance);
        assert_true(u->distance_bytes == e->distance_bytes);
    }
    nest_point_finish(&p);
    space_and_nest_destroy(s);
}

static void test_reuse_across_statements(void **state)
{
    (void)state;
    struct config c;
    struct space *s = space_with_chain(&c);
    struct nest_point p;
    nest_point_init(&p, s->nest);
    nest_evaluate(s->nest, s, &c, &p);
    struct access_use one[NEST_MAX_ACCESSES], two[NEST_MAX_ACCESSES];
    access_uses(&p, 0, one);
    access_uses(&p, 1, two);
    // X[i, .] is met again by the other statement in the same iteration of i.
    assert_int_equal(one[0].reuse, REUSE_SERIAL);
    assert_true(one[0].reuse_count == 1 && one[0].distance == 3);
    assert_true(one[0].distance_bytes == 4 * (3 + 3));
    assert_int_equal(two[1].reuse, REUSE_SERIAL);
    assert_true(two[1].reuse_count == 1 && two[1].distance == 1);
    assert_true(two[1].distance_bytes == 4 * (1 + 1));
    assert_int_equal(one[1].reuse, REUSE_LOOP); // Y[j], by i
    assert_true(one[1].reuse_count == 4 && one[1].distance == 3);
    assert_int_equal(two[0].reuse, REUSE_NONE); // Z
    nest_point_finish(&p);
    space_and_nest_destroy(s);
}

TEST_GROUP(access)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_running_it),
        cmocka_unit_test(test_product_by_hand),
        cmocka_unit_test(test_reuse_across_statements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
