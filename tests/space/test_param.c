// Parameters against brute force: sizes, values, neighbours, distances, and what constructors
// refuse.
#include "group.h"
#include "spaces.h"

#include <string.h>

#define MAX_POINTS 16384

// Every ordered factorization by nested loops over all numbers, without primes.
static uint64_t count_factorizations(int product, int parts)
{
    if (parts == 1)
        return 1;
    uint64_t count = 0;
    for (int d = 1; d <= product; d++)
        if (product % d == 0)
            count += count_factorizations(product / d, parts - 1);
    return count;
}

static struct space *one(void (*add)(struct space *, const char *, int), int count)
{
    struct space *s = space_create("one parameter");
    add(s, "p", count);
    return sealed(s);
}

static struct space *one_factorization(int64_t product, int parts)
{
    struct space *s = space_create("one parameter");
    add_factorization(s, "p", product, parts);
    return sealed(s);
}

static struct config_set all_values(const struct param *p)
{
    struct config_set all = {.slots = p->width};
    assert_true(param_size(p) <= MAX_POINTS);
    for (uint64_t i = 0; i < param_size(p); i++) {
        struct config c = {0};
        bool is_new;
        param_value(p, i, c.slot);
        assert_true(param_valid(p, c.slot));
        config_set_add(&all, &c, &is_new);
        assert_true(is_new);
    }
    return all;
}

// Breadth-first search over param_neighbour itself, from value `from`.
static void graph_distances(const struct param *p, const struct config_set *all, int from,
                            int *distance)
{
    int *queue = mem_alloc((size_t)all->count * sizeof *queue), reached = 1;
    for (int i = 0; i < all->count; i++)
        distance[i] = -1;
    distance[from] = 0;
    queue[0] = from;
    for (int next = 0; next < reached; next++) {
        struct config c, d = {0};
        config_set_get(all, queue[next], &c);
        for (int k = 0; k < param_degree(p, c.slot); k++) {
            param_neighbour(p, c.slot, k, d.slot);
            int j = config_set_find(all, &d);
            if (distance[j] < 0) {
                distance[j] = distance[queue[next]] + 1;
                queue[reached++] = j;
            }
        }
    }
    free(queue);
}

// Neighbours are valid, different, not the value itself, and mutual; the degree range is attained.
static void check_graph(const struct param *p, const struct config_set *all)
{
    bool *adjacent = mem_zero((size_t)all->count * (size_t)all->count, sizeof *adjacent);
    int lowest = INT32_MAX, highest = 0;
    for (int i = 0; i < all->count; i++) {
        struct config c, d = {0};
        config_set_get(all, i, &c);
        int degree = param_degree(p, c.slot);
        lowest = degree < lowest ? degree : lowest;
        highest = degree > highest ? degree : highest;
        for (int k = 0; k < degree; k++) {
            param_neighbour(p, c.slot, k, d.slot);
            int j = config_set_find(all, &d);
            assert_true(j >= 0 && j != i);
            assert_false(adjacent[i * all->count + j]);
            adjacent[i * all->count + j] = true;
        }
    }
    for (int i = 0; i < all->count; i++)
        for (int j = 0; j < i; j++)
            assert_int_equal(adjacent[i * all->count + j], adjacent[j * all->count + i]);
    int low, high;
    param_degree_range(p, &low, &high);
    assert_int_equal(low, lowest);
    assert_int_equal(high, highest);
    free(adjacent);
}

static void check_distances(const struct param *p, const struct config_set *all)
{
    int *distance = mem_alloc((size_t)all->count * sizeof *distance);
    for (int i = 0; i < all->count; i += 1 + all->count / 20) {
        struct config a, b;
        config_set_get(all, i, &a);
        graph_distances(p, all, i, distance);
        for (int j = 0; j < all->count; j++) {
            config_set_get(all, j, &b);
            assert_int_equal(param_distance(p, a.slot, b.slot), distance[j]);
        }
    }
    free(distance);
}

static void check_topology(struct space *s)
{
    const struct param *p = &s->param[0];
    struct config_set all = all_values(p);
    check_graph(p, &all);
    check_distances(p, &all);
    config_set_finish(&all);
    space_destroy(s);
}

static void test_factorization_sizes(void **state)
{
    (void)state;
    const int product[] = {1, 2, 8, 12, 55, 227, 960, 4096};
    for (size_t i = 0; i < sizeof product / sizeof *product; i++)
        for (int parts = 1; parts <= 5; parts++) {
            struct space *s = one_factorization(product[i], parts);
            const struct param *p = &s->param[0];
            assert_int_equal(param_size(p), count_factorizations(product[i], parts));
            if (param_size(p) <= MAX_POINTS) {
                struct config_set all = all_values(p);
                assert_int_equal(all.count, param_size(p));
                config_set_finish(&all);
            }
            space_destroy(s);
        }
}

static void test_largest_sizes(void **state)
{
    (void)state;
    struct space *s = one(add_permutation, PARAM_MAX_WIDTH);
    assert_int_equal(param_size(&s->param[0]), UINT64_C(20922789888000));
    space_destroy(s);
    // binom(45, 15) and, for the product of the first nine primes, 16^9.
    s = one_factorization(1 << 30, 16);
    assert_int_equal(param_size(&s->param[0]), UINT64_C(344867425584));
    struct config c = {0};
    param_value(&s->param[0], param_size(&s->param[0]) - 1, c.slot);
    assert_int_equal(c.slot[0], 1 << 30);
    param_value(&s->param[0], 0, c.slot);
    assert_int_equal(c.slot[15], 1 << 30);
    space_destroy(s);
    s = one_factorization(223092870, 16);
    assert_int_equal(param_size(&s->param[0]), UINT64_C(68719476736));
    char *text = param_size_text(&s->param[0]);
    assert_string_equal(text, "68719476736");
    free(text);
    space_destroy(s);
    s = one_factorization(INT32_MAX, 2); // a prime
    assert_int_equal(param_size(&s->param[0]), 2);
    space_destroy(s);
}

static void test_topologies(void **state)
{
    (void)state;
    const int product[] = {1, 2, 8, 12, 30, 55, 96, 227, 360};
    for (size_t i = 0; i < sizeof product / sizeof *product; i++)
        for (int parts = 1; parts <= 4; parts++)
            check_topology(one_factorization(product[i], parts));
    for (int n = 1; n <= 6; n++) {
        check_topology(one(add_permutation, n));
        check_topology(one(add_discrete, n));
        check_topology(one(add_categorical, n));
        check_topology(one(add_ring, n));
    }
}

static void test_factorization_degree_formula(void **state)
{
    (void)state;
    struct space *s = one_factorization(12, 3);
    const struct param *p = &s->param[0];
    assert_int_equal(param_degree(p, (int32_t[]){12, 1, 1}), 2 * 2);
    assert_int_equal(param_degree(p, (int32_t[]){6, 2, 1}), 3 * 2);
    assert_int_equal(param_degree(p, (int32_t[]){2, 2, 3}), 3 * 2);
    assert_false(param_valid(p, (int32_t[]){12, 1, 2}));
    assert_false(param_valid(p, (int32_t[]){6, 1, 1}));
    assert_false(param_valid(p, (int32_t[]){-12, -1, 1}));
    assert_false(param_valid(p, (int32_t[]){0, 1, 12}));
    space_destroy(s);
}

static void test_uniform_sampling(void **state)
{
    (void)state;
    struct space *spaces[] = {one_factorization(8, 3),    one_factorization(12, 4),
                              one_factorization(1024, 3), one(add_permutation, 4),
                              one(add_discrete, 7),       one(add_ring, 9)};
    struct rng rng;
    rng_seed(&rng, 7);
    for (size_t n = 0; n < sizeof spaces / sizeof *spaces; n++) {
        const struct param *p = &spaces[n]->param[0];
        struct config_set all = all_values(p);
        int count[MAX_POINTS] = {0};
        double uniform[MAX_POINTS];
        for (int i = 0; i < all.count; i++)
            uniform[i] = 1.0 / all.count;
        for (int i = 0; i < 200 * all.count; i++) {
            struct config c = {0};
            param_sample(p, &rng, c.slot);
            count[config_set_find(&all, &c)]++;
        }
        assert_true(chi_square(all.count, count, uniform) < chi_square_limit(all.count - 1));
        config_set_finish(&all);
        space_destroy(spaces[n]);
    }
}

static void expect(bool built, const struct err *e, const char *part)
{
    assert_false(built);
    if (!strstr(e->text, part))
        fail_msg("'%s' does not say '%s'", e->text, part);
}

static bool table_adjacent(void *context, int i, int j)
{
    const char(*table)[4] = context;
    return table[i][j] == 'x';
}

static void test_custom_is_checked(void **state)
{
    (void)state;
    struct arena arena;
    struct param p;
    struct err e = {0};
    arena_init(&arena);
    const char *const label[] = {"a", "b", "c"};
    char one_way[3][4] = {".x.", "..x", ".x."};
    bool built = param_custom(&p, &arena, "w",
                              &(struct custom_graph){3, NULL, label, table_adjacent, one_way}, &e);
    expect(built, &e, "\"a\" has the neighbour \"b\", but \"b\" does not have \"a\"");
    char loop[3][4] = {".x.", "xxx", ".x."};
    built = param_custom(&p, &arena, "w",
                         &(struct custom_graph){3, NULL, label, table_adjacent, loop}, &e);
    expect(built, &e, "\"b\" is its own neighbour");
    char split[3][4] = {".x.", "x..", "..."};
    assert_true(param_custom(
        &p, &arena, "w",
        &(struct custom_graph){3, (double[]){2, 1, 0.5}, NULL, table_adjacent, split}, &e));
    assert_false(p.connected);
    assert_int_equal(param_distance(&p, &(int32_t){0}, &(int32_t){1}), 1);
    assert_int_equal(param_distance(&p, &(int32_t){0}, &(int32_t){2}), -1);
    assert_int_equal(param_degree(&p, &(int32_t){2}), 0);
    struct str json = {0};
    param_add_json(&p, &(int32_t){2}, &json);
    assert_string_equal(str_text(&json), "0.5"); // as declared, not sorted
    str_finish(&json);
    param_add_listed_json(&p, &json);
    assert_string_equal(str_text(&json), "[2,1,0.5]");
    str_finish(&json);
    char path[3][4] = {".x.", "x.x", ".x."};
    assert_true(param_custom(&p, &arena, "w",
                             &(struct custom_graph){3, NULL, label, table_adjacent, path}, &e));
    assert_true(p.connected);
    param_add_listed_json(&p, &json);
    assert_string_equal(str_text(&json), "[\"a\",\"b\",\"c\"]");
    str_finish(&json);
    arena_finish(&arena);
}

static void test_constructors_refuse(void **state)
{
    (void)state;
    struct arena arena;
    struct param p;
    struct err e = {0};
    arena_init(&arena);
    expect(param_factorization(&p, &arena, "w", 0, 3, &e), &e, "parameter 'w': the product 0");
    expect(param_factorization(&p, &arena, "w", INT64_C(1) << 31, 3, &e), &e, "2147483648");
    expect(param_factorization(&p, &arena, "w", 8, 0, &e), &e, "0 parts");
    expect(param_factorization(&p, &arena, "w", 8, 17, &e), &e, "17 parts");
    const char *const twice[] = {"n", "m", "n"};
    expect(param_permutation(&p, &arena, "w", 3, twice, &e), &e, "'n' is listed twice");
    expect(param_permutation(&p, &arena, "w", 17, twice, &e), &e, "17 items");
    expect(param_categorical(&p, &arena, "w", 3, twice, &e), &e, "'n' is listed twice");
    expect(param_categorical(&p, &arena, "w", 0, twice, &e), &e, "0 values");
    expect(param_discrete(&p, &arena, "w", 3, (double[]){4, 2, 4}, &e), &e, "4 is listed twice");
    expect(param_discrete(&p, &arena, "w", 2, (double[]){4, 1 / 0.0}, &e), &e, "not a finite");
    expect(param_discrete(&p, &arena, "w", PARAM_MAX_VALUES + 1, NULL, &e), &e, "65537 values");
    expect(param_custom(&p, &arena, "w",
                        &(struct custom_graph){PARAM_MAX_CUSTOM + 1, NULL, twice, NULL, NULL}, &e),
           &e, "4097 values");
    assert_true(param_discrete(&p, &arena, "w", 3, (double[]){4, -2, 0.1}, &e));
    assert_true(p.number[0] == -2 && p.number[1] == 0.1 && p.number[2] == 4);
    arena_finish(&arena);
}

static void test_kind_names(void **state)
{
    (void)state;
    assert_string_equal(param_kind_name(PARAM_FACTORIZATION), "factorization");
    assert_string_equal(param_kind_name(PARAM_PERMUTATION), "permutation");
    assert_string_equal(param_kind_name(PARAM_DISCRETE), "discrete");
    assert_string_equal(param_kind_name(PARAM_CATEGORICAL), "categorical");
    assert_string_equal(param_kind_name(PARAM_CUSTOM), "custom");
}

TEST_GROUP(param)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factorization_sizes),
        cmocka_unit_test(test_largest_sizes),
        cmocka_unit_test(test_topologies),
        cmocka_unit_test(test_factorization_degree_formula),
        cmocka_unit_test(test_uniform_sampling),
        cmocka_unit_test(test_custom_is_checked),
        cmocka_unit_test(test_constructors_refuse),
        cmocka_unit_test(test_kind_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
