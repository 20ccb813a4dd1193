// Spaces as products of parameters: exact sizes, points, distances, and configurations as text.
#include "group.h"
#include "spaces.h"
#include "wording.h"

#include <string.h>

// The spaces of OpEvo's experiments.
static void test_sizes_of_the_paper(void **state)
{
    (void)state;
    const struct {
        int n, m, k;
        uint64_t size;
    } mm[] = {{512, 1024, 1024, 4152720}, {512, 4096, 1024, 6606600}, {512, 1024, 4096, 5725720}};
    for (size_t i = 0; i < 3; i++) {
        struct space *s = space_mm(mm[i].n, mm[i].m, mm[i].k);
        assert_int_equal(s->size, mm[i].size);
        assert_int_equal(strtoull(s->size_text, NULL, 10), mm[i].size);
        space_destroy(s);
    }
    struct space *c2 = space_create("C2");
    add_factorization(c2, "f", 192, 4);
    add_factorization(c2, "y", 27, 4);
    add_factorization(c2, "x", 27, 4);
    add_factorization(c2, "rc", 64, 2);
    add_factorization(c2, "ry", 5, 2);
    add_factorization(c2, "rx", 5, 2);
    add_discrete(c2, "unroll", 3);
    add_categorical(c2, "explicit", 2);
    assert_string_equal(sealed(c2)->size_text, "22579200");
    space_destroy(c2);
}

static void test_sizes_beyond_64_bits(void **state)
{
    (void)state;
    struct space *s = space_create("2^64");
    for (int i = 0; i < 8; i++)
        add_categorical(s, (char[]){(char)('a' + i), '\0'}, 256);
    assert_string_equal(sealed(s)->size_text, "18446744073709551616");
    assert_true(s->size == UINT64_MAX);
    space_destroy(s);

    s = space_create("2^64 - 1"); // 3 * 5 * 17 * 257 * 641 * 65537 * 6700417
    add_categorical(s, "a", 3 * 5 * 17 * 257);
    s->param[0].size *= UINT64_C(641) * 65537 * 6700417; // no real parameters have these sizes
    assert_string_equal(sealed(s)->size_text, "18446744073709551615");
    assert_true(s->size == UINT64_MAX);
    space_destroy(s);

    s = space_create("16!^3");
    add_permutation(s, "a", 16);
    add_permutation(s, "b", 16);
    add_permutation(s, "c", 16);
    assert_string_equal(sealed(s)->size_text, "9159226129831418921308831875072000000000");
    space_destroy(s);
}

static void test_every_point_once(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    assert_int_equal(s->size, 3 * 6 * 4 * 3 * 5);
    struct config_set all = {.slots = s->slots};
    for (uint64_t i = 0; i < s->size; i++) {
        struct config c;
        bool is_new;
        space_point(s, i, &c);
        assert_int_equal(config_set_add(&all, &c, &is_new), i);
        assert_true(is_new);
    }
    struct rng rng;
    rng_seed(&rng, 1);
    int count[1080] = {0};
    double uniform[1080];
    for (int i = 0; i < 1080; i++)
        uniform[i] = 1 / 1080.0;
    for (int i = 0; i < 100000; i++) {
        struct config c;
        space_sample(s, &rng, &c);
        count[config_set_find(&all, &c)]++;
    }
    assert_true(chi_square(1080, count, uniform) < chi_square_limit(1079));
    config_set_finish(&all);
    space_destroy(s);
}

// Sums over the parameters: a step is one step away, and a walk of n steps at most n.
static void test_neighbours_and_distance(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    struct rng rng;
    rng_seed(&rng, 2);
    for (int i = 0; i < 100; i++) {
        struct config c, d;
        space_sample(s, &rng, &c);
        struct config_set seen = {.slots = s->slots};
        for (int k = 0; k < space_degree(s, &c); k++) {
            space_neighbour(s, &c, k, &d);
            bool is_new;
            config_set_add(&seen, &d, &is_new);
            assert_true(is_new);
            assert_int_equal(space_distance(s, &c, &d), 1);
            assert_int_equal(space_distance(s, &d, &c), 1);
        }
        assert_int_equal(space_distance(s, &c, &c), 0);
        d = c;
        for (int step = 0; step < 3; step++)
            space_neighbour(s, &d, (int)rng_below(&rng, (uint64_t)space_degree(s, &d)), &d);
        assert_true(space_distance(s, &c, &d) <= 3);
        config_set_finish(&seen);
    }
    space_destroy(s);
}

static void test_degenerate(void **state)
{
    (void)state;
    struct space *s = space_of_one();
    assert_string_equal(s->size_text, "1");
    struct rng rng;
    rng_seed(&rng, 4);
    struct config a, b;
    space_sample(s, &rng, &a);
    space_point(s, 0, &b);
    assert_true(config_equal(&a, &b));
    assert_int_equal(space_degree(s, &a), 0);
    space_walk(s, 0.999, &rng, &a);
    assert_true(config_equal(&a, &b));
    space_destroy(s);
}

static void test_text_of_configurations(void **state)
{
    (void)state;
    struct space *s = space_mixed();
    struct config c, d;
    struct err e = {0};
    assert_true(config_parse_key(s, "2,2,1,0,2,3,0,4", &c, &e));
    struct str text = {0};
    config_add_key(s, &c, &text);
    assert_string_equal(str_text(&text), "2,2,1,0,2,3,0,4");
    str_finish(&text);
    config_add_json(s, &c, &text);
    assert_string_equal(str_text(&text),
                        "{\"split\":[2,2],\"order\":[\"1\",\"0\",\"2\"],\"unroll\":9,"
                        "\"layout\":\"0\",\"ring\":\"4\"}");
    str_finish(&text);
    for (uint64_t i = 0; i < s->size; i += 7) {
        space_point(s, i, &c);
        config_add_key(s, &c, &text);
        assert_true(config_parse_key(s, str_text(&text), &d, &e));
        assert_true(config_equal(&c, &d));
        assert_true(config_hash(&c) == config_hash(&d));
        str_finish(&text);
    }
    const char *const bad[] = {"",
                               "2,2,1,0,2,3,0",
                               "2,2,1,0,2,3,0,4,5",
                               "2,2,1,0,2,3,0,",
                               "2,2,1,0,2,3,0,x",
                               "2,2,1,0,2,3,0,99999999999",
                               "2,3,1,0,2,3,0,4",
                               "2,2,1,1,2,3,0,4",
                               "2,2,1,0,2,4,0,4",
                               "2,2,1,0,2,3,-1,4"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(config_parse_key(s, bad[i], &d, &e));
    assert_non_null(strstr(e.text, "'layout'"));
    space_destroy(s);
}

static void test_building_refuses(void **state)
{
    (void)state;
    struct space *s = space_create("bad");
    struct err e = {0};
    assert_false(space_seal(s, &e));
    assert_non_null(strstr(e.text, "no parameters"));
    add_permutation(s, "a", 16);
    struct param p;
    assert_true(param_factorization(&p, &s->arena, "a", 8, 2, &e));
    assert_false(space_add(s, &p, &e));
    wording_is("space", "space: twice", e.text);
    add_permutation(s, "b", 16);
    add_permutation(s, "c", 15);
    assert_true(param_factorization(&p, &s->arena, "d", 8, 2, &e));
    assert_false(space_add(s, &p, &e)); // 49 slots
    add_discrete(s, "d", 3);
    assert_int_equal(sealed(s)->slots, SPACE_MAX_SLOTS);
    assert_ptr_equal(space_find(s, "c"), &s->param[2]);
    assert_null(space_find(s, "C"));
    space_destroy(s);

    s = space_create("many");
    for (int i = 0; i < SPACE_MAX_PARAMS; i++)
        add_discrete(s, (char[]){(char)('A' + i), '\0'}, 2);
    assert_true(param_factorization(&p, &s->arena, "more", 8, 2, &e));
    assert_false(space_add(s, &p, &e));
    wording_is("space", "space: parameters", e.text);
    space_destroy(s);
    space_destroy(NULL);
}

// Against a plain list: the same indices, also over many growths.
static void test_config_set(void **state)
{
    (void)state;
    struct space *s = space_mm(512, 1024, 1024);
    struct config_set set = {.slots = s->slots};
    struct config c, d;
    space_point(s, 0, &c);
    assert_int_equal(config_set_find(&set, &c), -1);
    for (int i = 0; i < 50000; i++) {
        space_point(s, (uint64_t)i * 83, &c);
        bool is_new;
        assert_int_equal(config_set_add(&set, &c, &is_new), i);
        assert_true(is_new);
    }
    for (int i = 0; i < 50000; i += 11) {
        space_point(s, (uint64_t)i * 83, &c);
        bool is_new;
        assert_int_equal(config_set_find(&set, &c), i);
        assert_int_equal(config_set_add(&set, &c, &is_new), i);
        assert_false(is_new);
        config_set_get(&set, i, &d);
        assert_true(config_equal(&c, &d));
        space_point(s, (uint64_t)i * 83 + 1, &c);
        assert_int_equal(config_set_find(&set, &c), -1);
    }
    assert_int_equal(set.count, 50000);
    config_set_finish(&set);
    assert_int_equal(config_set_find(&set, &c), -1);
    space_destroy(s);
}

// Against all combinations of all values: points are those in which what is not live rests.
static void test_a_conditional_space(void **state)
{
    (void)state;
    struct space *s = space_conditional();
    struct config_set points = {.slots = s->slots};
    bool is_new;
    assert_int_equal(s->size, 110);
    for (uint64_t i = 0; i < s->size; i++) {
        struct config c, settled;
        struct verdict v;
        space_point(s, i, &c);
        settled = c;
        space_settle(s, &settled);
        assert_true(config_equal(&c, &settled));
        assert_true(space_judge(s, NULL, &c, &v, NULL) && v.legal);
        config_set_add(&points, &c, &is_new);
        assert_true(is_new);
    }
    int product = 1, legal = 0;
    for (int i = 0; i < s->param_count; i++)
        product *= (int)s->param[i].size;
    for (int i = 0; i < product; i++) {
        struct config c = {{0}};
        struct verdict v;
        for (int k = 0, rest = i; k < s->param_count; rest /= (int)s->param[k++].size)
            param_value(&s->param[k], (uint64_t)rest % s->param[k].size,
                        c.slot + s->param[k].offset);
        assert_true(space_judge(s, NULL, &c, &v, NULL));
        assert_int_equal(v.legal, config_set_find(&points, &c) >= 0);
        legal += v.legal;
        space_settle(s, &c);
        assert_true(config_set_find(&points, &c) >= 0);
    }
    assert_int_equal(legal, 110);
    config_set_finish(&points);
    space_destroy(s);
}

// Neighbours are points, other ones, and each once; what a choice brings begins at rest.
static void test_neighbours_in_a_conditional_space(void **state)
{
    (void)state;
    struct space *s = space_conditional();
    for (uint64_t i = 0; i < s->size; i++) {
        struct config c, next, settled;
        struct config_set seen = {.slots = s->slots};
        space_point(s, i, &c);
        for (int k = 0; k < space_degree(s, &c); k++) {
            bool is_new;
            space_neighbour(s, &c, k, &next);
            settled = next;
            space_settle(s, &settled);
            assert_true(config_equal(&next, &settled));
            assert_false(config_equal(&next, &c));
            config_set_add(&seen, &next, &is_new);
            assert_true(is_new);
            for (int p = 1; p < s->param_count && next.slot[0] != c.slot[0]; p++)
                if (space_is_live(s, &next, p) && !space_is_live(s, &c, p))
                    assert_memory_equal(next.slot + s->param[p].offset, s->param[p].rest,
                                        (size_t)s->param[p].width * sizeof *next.slot);
        }
        config_set_finish(&seen);
    }
    struct config c;
    struct str text = {0};
    space_point(s, s->size - 1, &c);
    config_add_json(s, &c, &text);
    assert_string_equal(str_text(&text), "{\"kind\":\"2\",\"always\":16,\"switch\":\"1\"}");
    str_finish(&text);
    space_destroy(s);
}

TEST_GROUP(space)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_conditional_space),
        cmocka_unit_test(test_neighbours_in_a_conditional_space),
        cmocka_unit_test(test_sizes_of_the_paper),
        cmocka_unit_test(test_sizes_beyond_64_bits),
        cmocka_unit_test(test_every_point_once),
        cmocka_unit_test(test_neighbours_and_distance),
        cmocka_unit_test(test_degenerate),
        cmocka_unit_test(test_text_of_configurations),
        cmocka_unit_test(test_building_refuses),
        cmocka_unit_test(test_config_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
