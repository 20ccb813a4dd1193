// Short names of parameters, values and differences of configurations.
#include "group.h"
#include "text.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// "name" is discrete, "name[3]" a factorization with three parts, "name!" a permutation.
static struct space *space_of(const char *const *names, int count)
{
    static const double numbers[] = {0.5, 2, 8};
    static const char *const items[] = {"n", "m", "k"};
    struct space *s = space_create("test");
    for (int i = 0; i < count; i++) {
        struct param p;
        struct err e;
        char name[64];
        snprintf(name, sizeof name, "%s", names[i]);
        char *mark = strpbrk(name, "[!");
        int parts = mark && *mark == '[' ? atoi(mark + 1) : 0;
        bool order = mark && *mark == '!';
        if (mark)
            *mark = '\0';
        if (parts > 0)
            assert_true(param_factorization(&p, &s->arena, name, 1024, parts, &e));
        else if (order)
            assert_true(param_permutation(&p, &s->arena, name, 3, items, &e));
        else
            assert_true(param_discrete(&p, &s->arena, name, 3, numbers, &e));
        assert_true(space_add(s, &p, &e));
    }
    struct err e;
    assert_true(space_seal(s, &e));
    return s;
}

#define SPACE_OF(names) space_of(names, (int)(sizeof(names) / sizeof *(names)))

static void test_names_of_gemm(void **state)
{
    (void)state;
    static const char *const names[] = {
        "threads[3]", "registers[5]", "tile_k[3]", "stage_a",  "stage_b", "pad", "vector_a",
        "vector_b",   "order!",       "unroll",    "explicit", "split_k", "walk"};
    static const char *const expected[] = {"th", "re",  "tk",  "sa",  "sb", "pad", "va",
                                           "vb", "ord", "unr", "exp", "sk", "wal"};
    struct space *s = SPACE_OF(names);
    char out[SPACE_MAX_PARAMS][4];
    short_names(s, out);
    for (int i = 0; i < s->param_count; i++)
        assert_string_equal(out[i], expected[i]);
    space_destroy(s);
}

static void check_unique(struct space *s)
{
    char out[SPACE_MAX_PARAMS][4];
    short_names(s, out);
    for (int i = 0; i < s->param_count; i++) {
        assert_true(out[i][0]);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(out[i], out[j]);
    }
    space_destroy(s);
}

static void test_names_that_look_alike(void **state)
{
    (void)state;
    static const char *const tiles[] = {"tile_k[4]", "tall_king[4]", "tk", "tk2", "tk_3",
                                        "t_k[3]",    "tic_kick",     "k",  "kk",  "_"};
    check_unique(SPACE_OF(tiles));
    static const char *const same[] = {"a",  "a_", "a__",   "_a",    "_a_",  "a_1",  "a1",  "a_a",
                                       "aa", "A",  "aaa",   "aaaa",  "a_aa", "aa_a", "aab", "aac",
                                       "ab", "ac", "ad[2]", "ae[2]", "a__b", "a__c", "a-d", "a.e"};
    check_unique(SPACE_OF(same));
    static const char *const strange[] = {"", "é", "-", "ü", "..", "日本", "_1", "1"};
    check_unique(SPACE_OF(strange));
}

static void test_differences(void **state)
{
    (void)state;
    static const char *const names[] = {"tile_k[3]", "order!", "pad"};
    struct space *s = SPACE_OF(names);
    struct config a = {.slot = {8, 8, 16, 0, 1, 2, 0}}, b = {.slot = {8, 8, 16, 2, 1, 0, 1}};
    struct str text = {0};
    char brief[SPACE_MAX_PARAMS][4];
    config_add_difference(s, &a, NULL, NULL, &text);
    assert_string_equal(str_text(&text), "tile_k=8,8,16 order=n,m,k pad=0.5");
    str_finish(&text);
    short_names(s, brief);
    config_add_difference(s, &b, &a, brief, &text);
    assert_string_equal(str_text(&text), "ord=k,m,n pad=2");
    str_finish(&text);
    config_add_difference(s, &a, &a, NULL, &text);
    assert_string_equal(str_text(&text), "");
    str_finish(&text);
    space_destroy(s);
}

static void test_labels_in_two_letters(void **state)
{
    static const char *const labels[] = {"none",   "shared", "double", "group2",
                                         "group4", "group8", "no"};
    static const char *const items[] = {"n", "m", "k"};
    static const char *const wanted[] = {"nn", "sh", "do", "g2", "g4", "g8", "n"};
    struct space *s = space_create("test");
    struct param p;
    struct err e;
    (void)state;
    assert_true(param_categorical(&p, &s->arena, "stage", 7, labels, &e));
    assert_true(space_add(s, &p, &e));
    assert_true(param_permutation(&p, &s->arena, "order", 3, items, &e));
    assert_true(space_add(s, &p, &e) && space_seal(s, &e));
    for (int i = 0; i < 7; i++) {
        struct config c = {{i, 2, 0, 1}};
        struct str text = {0};
        factor_add_brief(s, (struct factor){0, -1}, &c, &text);
        assert_string_equal(str_text(&text), wanted[i]);
        str_finish(&text);
        factor_add_brief(s, (struct factor){1, -1}, &c, &text);
        assert_string_equal(str_text(&text), "knm");
        str_finish(&text);
        factor_add_value(s, (struct factor){1, -1}, &c, &text);
        assert_string_equal(str_text(&text), "k,n,m");
        str_finish(&text);
    }
    space_destroy(s);
}

TEST_GROUP(trial_text)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_gemm),
        cmocka_unit_test(test_names_that_look_alike),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_labels_in_two_letters),
    };
    return cmocka_run_group_tests_name("trial text", tests, NULL, NULL);
}
