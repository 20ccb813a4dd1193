// Operations: what a kind has, what may be set, and how an operation is written.
#include "space/operation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct operation matmul(int64_t n, int64_t m, int64_t k)
{
    struct operation o;
    operation_init(&o, operation_kind_find("matmul"));
    assert_true(operation_set_size(&o, "N", n, NULL));
    assert_true(operation_set_size(&o, "M", m, NULL));
    assert_true(operation_set_size(&o, "K", k, NULL));
    return o;
}

static void kinds_are_found_by_name(void **state)
{
    (void)state;
    for (int i = 0; operation_kinds[i]; i++) {
        const struct operation_kind *kind = operation_kinds[i];
        assert_ptr_equal(operation_kind_find(kind->name), kind);
        int sizes = 0, choices = 0;
        while (kind->sizes[sizes])
            sizes++;
        for (; kind->choices[choices].name; choices++)
            assert_non_null(kind->choices[choices].values[0]);
        assert_in_range(sizes, 1, OPERATION_MAX_SIZES);
        assert_in_range(choices, 0, OPERATION_MAX_CHOICES);
    }
    assert_null(operation_kind_find("matmull"));
    assert_null(operation_kind_find(""));
}

static void a_matmul_counts_two_for_each_product(void **state)
{
    (void)state;
    struct operation o = matmul(512, 1024, 2000);
    assert_true(operation_flop(&o) == 2.0 * 512 * 1024 * 2000);
    o = matmul(INT32_MAX, INT32_MAX, INT32_MAX); // beyond 64 bits
    assert_true(operation_flop(&o) == 2.0 * INT32_MAX * INT32_MAX * INT32_MAX);
    assert_int_equal(operation_size(&o, "K"), INT32_MAX);
}

static void text_and_json_name_everything(void **state)
{
    (void)state;
    struct operation o = matmul(1, 22, 333);
    assert_string_equal(operation_choice(&o, "type"), "f32"); // the first is the default
    assert_true(operation_set_choice(&o, "type", "f16", NULL));
    assert_true(operation_set_choice(&o, "layout", "tn", NULL));
    assert_string_equal(operation_choice(&o, "type"), "f16");
    assert_string_equal(operation_choice(&o, "layout"), "tn");
    struct str s = {0};
    operation_add_text(&o, &s);
    assert_string_equal(str_text(&s), "matmul f16 tn 1x22x333");
    str_finish(&s);
    operation_add_json(&o, &s);
    assert_string_equal(str_text(&s), "{\"kind\":\"matmul\",\"N\":1,\"M\":22,\"K\":333,"
                                      "\"type\":\"f16\",\"layout\":\"tn\"}");
    str_finish(&s);
}

static void what_cannot_be_set_is_named(void **state)
{
    (void)state;
    struct operation o = matmul(8, 8, 8), before = o;
    struct err e;
    assert_false(operation_set_size(&o, "NN", 8, &e));
    assert_string_equal(e.text, "matmul has no size 'NN' (did you mean 'N'?)");
    assert_false(operation_set_size(&o, "batch", 8, &e));
    assert_string_equal(e.text, "matmul has no size 'batch' (it has N, M, K)");
    static const int64_t bad[] = {0, -1, INT64_MIN, INT64_MAX, (int64_t)INT32_MAX + 1};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(operation_set_size(&o, "N", bad[i], &e));
    assert_non_null(strstr(e.text, "is not within 1..2147483647"));
    assert_false(operation_set_choice(&o, "layout", "nnn", &e));
    assert_string_equal(e.text, "matmul has no layout 'nnn' (did you mean 'nn'?)");
    assert_false(operation_set_choice(&o, "tile", "nn", &e));
    assert_string_equal(e.text, "matmul has no choice 'tile'");
    assert_memory_equal(o.size, before.size, sizeof o.size);
    assert_memory_equal(o.choice, before.choice, sizeof o.choice);
}

static void a_missing_size_is_named(void **state)
{
    (void)state;
    struct operation o;
    struct err e;
    operation_init(&o, operation_kind_find("matmul"));
    operation_set_size(&o, "N", 8, NULL);
    operation_set_size(&o, "K", 8, NULL);
    assert_false(operation_complete(&o, &e));
    assert_string_equal(e.text, "matmul: size M is missing");
    operation_set_size(&o, "M", 8, NULL);
    assert_true(operation_complete(&o, &e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_found_by_name),
        cmocka_unit_test(a_matmul_counts_two_for_each_product),
        cmocka_unit_test(text_and_json_name_everything),
        cmocka_unit_test(what_cannot_be_set_is_named),
        cmocka_unit_test(a_missing_size_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
