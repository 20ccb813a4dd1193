// Moves by number: as many as the formulas say, each its own inverse's inverse, and draws of
// neighbours that are uniform. The numbers of the paper's spaces.
#include "group.h"
#include "spaces.h"

#include "search/actions.h"
#include "search/na2c.h"

#include <string.h>

static struct space *space_gemm(int size)
{
    struct space *s = space_create("gemm");
    add_factorization(s, "m", size, 4);
    add_factorization(s, "k", size, 2);
    add_factorization(s, "n", size, 4);
    return sealed(s);
}

static int count_actions(struct space *s)
{
    struct actions a;
    actions_init(&a, s);
    space_destroy(s);
    return a.count;
}

static void test_sizes_of_the_papers_spaces(void **state)
{
    (void)state;
    static const struct {
        int edge;
        uint64_t size;
    } cubes[] = {{512, 484000}, {1024, 899756}, {2048, 1589952}};
    for (int i = 0; i < 3; i++) {
        struct space *s = space_gemm(cubes[i].edge);
        assert_true(s->size == cubes[i].size);
        space_destroy(s);
    }
}

static void test_numbers_of_actions(void **state)
{
    (void)state;
    assert_int_equal(count_actions(space_gemm(1024)), 26);
    assert_int_equal(count_actions(space_mm(1024, 1024, 1024)), 30); // NNI's 4/3/4
    struct space *s = space_create("batch");
    add_factorization(s, "b", 960, 2); // primes 2, 3, 5
    assert_int_equal(count_actions(sealed(s)), 6);
    assert_int_equal(count_actions(space_mixed()), 2 + 3 + 2 + 3 + 2);
    assert_int_equal(count_actions(space_of_one()), 0 + 0 + 0 + 2 + 1 + 0);
}

static void test_order_of_actions(void **state)
{
    (void)state;
    struct space *s = space_create("12");
    add_factorization(s, "a", 12, 3);
    add_factorization(s, "b", 2, 2);
    struct actions a;
    actions_init(&a, sealed(s));
    // Sorted by giver, then taker, then prime: 0 -> 1 by 2 and 3, 0 -> 2 by 2 and 3, ...
    struct config from = {{12, 1, 1, 2, 1}}, to;
    const int32_t expected[][5] = {
        {6, 2, 1, 2, 1}, {4, 3, 1, 2, 1}, {6, 1, 2, 2, 1}, {4, 1, 3, 2, 1}};
    for (int k = 0; k < 4; k++) {
        assert_true(actions_apply(&a, k, &from, &to));
        assert_memory_equal(to.slot, expected[k], sizeof expected[k]);
    }
    for (int k = 4; k < 12; k++) {
        assert_false(actions_apply(&a, k, &from, &to)); // the other parts have nothing to give
        assert_true(config_equal(&from, &to));
    }
    assert_true(actions_apply(&a, 12, &from, &to));
    assert_int_equal(to.slot[3], 1);
    assert_false(actions_apply(&a, 13, &from, &to));
    space_destroy(s);
}

// At every state: legal actions and graph neighbours are the same edges, one action each.
static void test_actions_are_the_edges(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    struct actions a;
    actions_init(&a, s);
    for (uint64_t i = 0; i < s->size; i++) {
        struct config from, to, back;
        struct config_set reached = {.slots = s->slots};
        bool legal[16];
        space_point(s, i, &from);
        actions_mask(&a, &from, legal);
        for (int k = 0; k < a.count; k++) {
            assert_int_equal(legal[k], actions_apply(&a, k, &from, &to));
            if (!legal[k])
                continue;
            assert_int_equal(actions_between(&a, &from, &to), k);
            assert_int_equal(space_distance(s, &from, &to), 1);
            config_set_add(&reached, &to, NULL);
            // The inverse, as the memory of N-A2C needs it.
            assert_true(actions_apply(&a, actions_between(&a, &to, &from), &to, &back));
            assert_true(config_equal(&back, &from));
        }
        assert_int_equal(reached.count, space_degree(s, &from));
        config_set_finish(&reached);
    }
    space_destroy(s);
}

static bool next_to_lower(void *context, int i, int j) // a star: 0 next to all, padded for others
{
    (void)context;
    return i != j && (i == 0 || j == 0);
}

static void test_custom_actions_are_padded(void **state)
{
    (void)state;
    struct space *s = space_create("star");
    struct param p;
    const double number[5] = {1, 2, 3, 4, 5};
    assert_true(param_custom(&p, &s->arena, "star",
                             &(struct custom_graph){5, number, NULL, next_to_lower, NULL}, NULL));
    assert_true(space_add(s, &p, NULL));
    struct actions a;
    actions_init(&a, sealed(s));
    assert_int_equal(a.count, 4);
    bool legal[4];
    actions_mask(&a, &(struct config){{0}}, legal);
    assert_true(legal[0] && legal[1] && legal[2] && legal[3]);
    actions_mask(&a, &(struct config){{3}}, legal);
    assert_true(legal[0] && !legal[1] && !legal[2] && !legal[3]);
    space_destroy(s);
}

static void test_start_is_untiled(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    struct config c;
    actions_start(s, &c);
    assert_memory_equal(c.slot, ((int32_t[]){4, 1, 0, 1, 2, 0, 0, 0}), 8 * sizeof(int32_t));
    space_destroy(s);
}

static void test_neighbours_are_drawn_uniformly(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    struct config from, next, first;
    space_point(s, 500, &from);
    int degree = space_degree(s, &from), by_first[16] = {0}, by_pair[16] = {0};
    double uniform[16];
    struct config_set all = {.slots = s->slots};
    for (int k = 0; k < degree; k++) {
        space_neighbour(s, &from, k, &next);
        config_set_add(&all, &next, NULL);
        uniform[k] = 1.0 / degree;
    }
    struct rng r;
    rng_seed(&r, 5);
    for (int n = 0; n < 5000; n++) {
        struct neighbours draws;
        struct config_set seen = {.slots = s->slots};
        neighbours_init(&draws, s, &from);
        while (neighbours_draw(&draws, &r, &next)) {
            bool is_new;
            int index = config_set_add(&seen, &next, &is_new);
            assert_true(is_new);
            first = index == 0 ? next : first;
            if (index == 1) // the second by how far it stands behind the first
                by_pair[(config_set_find(&all, &next) - config_set_find(&all, &first) + degree) %
                        degree]++;
        }
        assert_int_equal(seen.count, degree);
        by_first[config_set_find(&all, &first)]++;
        neighbours_finish(&draws);
        config_set_finish(&seen);
    }
    assert_true(chi_square(degree, by_first, uniform) < chi_square_limit(degree - 1));
    uniform[0] = 0;
    for (int k = 1; k < degree; k++)
        uniform[k] = 1.0 / (degree - 1);
    assert_true(chi_square(degree, by_pair, uniform) < chi_square_limit(degree - 2));
    config_set_finish(&all);
    space_destroy(s);
}

static void test_encoding(void **state)
{
    (void)state;
    struct space *s = space_mm(1024, 1024, 1024);
    assert_int_equal(encoding_width(s), 11); // NNI's
    struct config c;
    double x[32];
    actions_start(s, &c);
    encoding_fill(s, &c, x);
    assert_true(x[0] == 0.5 && x[1] == 1 / 1024.0 - 0.5 && x[10] == 1 / 1024.0 - 0.5);
    space_destroy(s);

    s = space_mixed();
    assert_int_equal(encoding_width(s), 2 + 9 + 1 + 3 + 5);
    c = (struct config){{2, 2, 1, 2, 0, 3, 2, 4}};
    encoding_fill(s, &c, x);
    const double expected[20] = {0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0.5, 0, 0, 1, 0, 0, 0, 0, 1};
    for (int i = 0; i < 20; i++)
        assert_true(x[i] == expected[i]);
    space_destroy(s);

    s = space_of_one(); // no ladder to stand on: nothing is divided by 0
    encoding_fill(s, &(struct config){{1, 1, 1, 12}}, x);
    assert_true(x[4] == 1 && x[5] == 0 && x[6] == 1 && x[7] == 1);
    space_destroy(s);
}

TEST_GROUP(actions)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_of_the_papers_spaces),
        cmocka_unit_test(test_numbers_of_actions),
        cmocka_unit_test(test_order_of_actions),
        cmocka_unit_test(test_actions_are_the_edges),
        cmocka_unit_test(test_custom_actions_are_padded),
        cmocka_unit_test(test_start_is_untiled),
        cmocka_unit_test(test_neighbours_are_drawn_uniformly),
        cmocka_unit_test(test_encoding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
