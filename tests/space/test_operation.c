// Operations: what a kind has, what may be set, and how an operation is written.
#include "group.h"
#include "wording.h"

#include "space/operation.h"

#include <stddef.h>
#include <string.h>

static struct operation matmul(int64_t n, int64_t m, int64_t k)
{
    struct operation o;
    operation_init(&o, operation_kind_find("matmul"));
    assert_true(operation_set_size(&o, "N", n, NULL));
    assert_true(operation_set_size(&o, "M", m, NULL));
    assert_true(operation_set_size(&o, "K", k, NULL));
    return o;
}

static struct operation complete(const char *kind, const char *sizes[], const int64_t *value)
{
    struct operation o;
    operation_init(&o, operation_kind_find(kind));
    for (int i = 0; sizes[i]; i++)
        assert_true(operation_set_size(&o, sizes[i], value[i], NULL));
    assert_true(operation_complete(&o, NULL));
    return o;
}

static struct operation conv2d(void)
{
    static const char *names[] = {"batch",        "in_channels", "height",   "width",
                                  "out_channels", "kernel_h",    "kernel_w", "stride",
                                  "padding",      "groups",      NULL};
    return complete("conv2d", names, (const int64_t[]){2, 6, 11, 13, 8, 3, 5, 2, 1, 2});
}

static struct operation batch_matmul(int64_t batch_a, int64_t row_a)
{
    static const char *names[] = {"batch", "N", "M", "K", "batch_a", "row_a", NULL};
    return complete("batch_matmul", names, (const int64_t[]){3, 4, 5, 6, batch_a, row_a});
}

static void kinds_are_found_by_name(void **state)
{
    (void)state;
    for (int i = 0; operation_kinds[i]; i++) {
        const struct operation_kind *kind = operation_kinds[i];
        assert_ptr_equal(operation_kind_find(kind->name), kind);
        int sizes = 0, choices = 0;
        while (kind->sizes[sizes].name)
            sizes++;
        for (; kind->choices && kind->choices[choices].name; choices++)
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
    assert_true(operation_set_choice(&o, "activation", "relu", NULL));
    assert_true(operation_set_size(&o, "row_c", 24, NULL));
    assert_true(operation_set_real(&o, "scale", 0.5, NULL));
    assert_string_equal(operation_choice(&o, "type"), "f32"); // the first is the default
    assert_true(operation_set_choice(&o, "type", "f16", NULL));
    assert_true(operation_set_choice(&o, "layout", "tn", NULL));
    assert_string_equal(operation_choice(&o, "type"), "f16");
    assert_string_equal(operation_choice(&o, "layout"), "tn");
    struct str s = {0};
    assert_true(operation_complete(&o, NULL));
    operation_add_text(&o, &s);
    assert_string_equal(str_text(&s), "matmul f16 tn 1x22x333 row_c=24 activation=relu scale=0.5");
    str_finish(&s);
    operation_add_json(&o, &s);
    assert_string_equal(
        str_text(&s),
        "{\"kind\":\"matmul\",\"N\":1,\"M\":22,\"K\":333,\"row_c\":24,\"type\":\"f16\","
        "\"layout\":\"tn\",\"activation\":\"relu\",\"scale\":0.5}");
    str_finish(&s);
}

static void what_cannot_be_set_is_named(void **state)
{
    (void)state;
    struct operation o = matmul(8, 8, 8), before = o;
    struct err e;
    assert_false(operation_set_size(&o, "NN", 8, &e));
    wording_is("space", "operation: size NN", e.text);
    assert_false(operation_set_size(&o, "batch", 8, &e));
    wording_is("space", "operation: size batch", e.text);
    static const int64_t bad[] = {0, -1, INT64_MIN, INT64_MAX, (int64_t)INT32_MAX + 1};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(operation_set_size(&o, "N", bad[i], &e));
    assert_non_null(strstr(e.text, "1..2147483647"));
    assert_false(operation_set_choice(&o, "layout", "nnn", &e));
    wording_is("space", "operation: layout nnn", e.text);
    assert_false(operation_set_choice(&o, "tile", "nn", &e));
    wording_is("space", "operation: choice tile", e.text);
    assert_false(operation_set_real(&o, "bias", 1, &e));
    wording_is("space", "operation: number bias", e.text);
    assert_false(operation_set_real(&o, "scale", 1.0 / 0.0, &e));
    wording_is("space", "operation: scale inf", e.text);
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
    wording_is("space", "operation: size missing", e.text);
    operation_set_size(&o, "M", 8, NULL);
    assert_true(operation_complete(&o, &e));
}

static void what_does_not_go_together_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *choice, *value, *size, *real, *text;
        int64_t n;
        double x;
    } bad[] = {
        {"accumulate", "f16", NULL, NULL, "accumulate = \"f16\" needs type = \"f16\""},
        {"accumulate", "mixed", NULL, NULL, "accumulate = \"mixed\" needs type = \"f16\""},
        {"activation", "clamp", NULL, "low", "low is greater than high", 0, 7},
        {"layout", "tn", "row_a", NULL, "row_a is smaller than a row of A", 7},
        {"layout", "nn", "row_c", NULL, "row_c is smaller than a row of C", 8},
        {"type", "i8", NULL, "scale", "i8 has no scale", 0, 2},
        {"type", "u8", NULL, "scale", "u8 has no scale", 0, 2},
        {"blocks", "q4_0", NULL, NULL, "have 32 weights"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct operation o = matmul(8, 9, 7);
        struct err e;
        assert_true(operation_set_choice(&o, bad[i].choice, bad[i].value, &e));
        assert_true(!bad[i].size || operation_set_size(&o, bad[i].size, bad[i].n, &e));
        assert_true(!bad[i].real || operation_set_real(&o, bad[i].real, bad[i].x, &e));
        assert_false(operation_complete(&o, &e));
        assert_non_null(strstr(e.text, bad[i].text));
    }
}

static void a_convolution_derives_its_output(void **state)
{
    (void)state;
    struct operation o = conv2d();
    assert_int_equal(operation_size(&o, "out_height"), 6);
    assert_int_equal(operation_size(&o, "out_width"), 6);
    assert_true(operation_flop(&o) == 2.0 * 2 * 8 * 6 * 6 * 3 * 3 * 5);
    struct tensor t[OPERATION_MAX_TENSORS];
    assert_int_equal(operation_tensors(&o, t), 3);
    assert_int_equal(tensor_count(&t[0]), 2 * 6 * 11 * 13);
    assert_int_equal(tensor_count(&t[1]), 8 * 3 * 3 * 5);
    assert_int_equal(tensor_count(&t[2]), 2 * 8 * 6 * 6);
    assert_true(operation_set_choice(&o, "layout", "nhwc", NULL));
    assert_true(operation_set_choice(&o, "bias", "add", NULL));
    assert_int_equal(operation_tensors(&o, t), 4);
    assert_int_equal(t[0].size[3], 6);
    assert_string_equal(t[2].name, "bias");
    assert_int_equal(t[2].size[0], 8);
    assert_true(operation_set_size(&o, "groups", 3, NULL));
    assert_false(operation_complete(&o, NULL));
    assert_true(operation_set_size(&o, "groups", 1, NULL));
    assert_true(operation_set_size(&o, "dilation", 7, NULL));
    assert_false(operation_complete(&o, NULL)); // 15 rows of kernel over 13
}

// Checks that exactly the elements are found, by listing them.
static void check_places(const struct tensor *t)
{
    bool has[256] = {false};
    int64_t found = 0;
    assert_in_range(tensor_extent(t), 1, 256);
    for (int64_t line = 0; line < tensor_lines(t); line++)
        for (int64_t i = 0; i < t->size[t->rank - 1]; i++) {
            int64_t at = tensor_line(t, line) + i * t->stride[t->rank - 1];
            assert_in_range(at, 0, tensor_extent(t) - 1);
            assert_false(has[at]);
            has[at] = true;
            found++;
        }
    assert_int_equal(found, tensor_count(t));
    for (int64_t at = 0; at < tensor_extent(t); at++)
        assert_int_equal(tensor_has(t, at), has[at]);
}

static void tensors_know_their_gaps(void **state)
{
    (void)state;
    static const int64_t batch_and_row[][2] = {{0, 0}, {0, 8}, {37, 9}, {6, 18}, {7, 22}};
    struct tensor t[OPERATION_MAX_TENSORS];
    for (size_t i = 0; i < sizeof batch_and_row / sizeof *batch_and_row; i++) {
        struct operation o = batch_matmul(batch_and_row[i][0], batch_and_row[i][1]);
        assert_int_equal(operation_tensors(&o, t), 3);
        for (int k = 0; k < 3; k++)
            check_places(&t[k]);
    }
    struct operation o = batch_matmul(6, 18);
    assert_true(operation_set_size(&o, "row_a", 17, NULL)); // 3 rows of 6 in turn need 18
    assert_false(operation_complete(&o, NULL));
    assert_int_equal(tensor_bytes(&(struct tensor){"t", ELEMENT_I8, 1, {5}, {1}}), 8);
    const int64_t most = INT32_MAX;
    struct tensor huge = {"t", ELEMENT_F32, 4, {most, most, most, most}, {most, most, most, 1}};
    assert_true(tensor_bytes(&huge) >= (uint64_t)most * (uint64_t)most * 4);
}

static struct workload work_of(const char *kind, const char *sizes[][2], const char *type)
{
    struct operation o;
    operation_init(&o, operation_kind_find(kind));
    for (int i = 0; sizes[i][0]; i++)
        assert_true(operation_set_size(&o, sizes[i][0], strtoll(sizes[i][1], NULL, 10), NULL));
    assert_true(operation_set_choice(&o, "type", type, NULL));
    assert_true(operation_complete(&o, NULL));
    return operation_work(&o);
}

static void work_is_bytes_where_bytes_count(void **state)
{
    (void)state;
    struct workload w =
        work_of("copy", (const char *[][2]){{"rows", "10"}, {"columns", "30"}, {0}}, "f32");
    assert_string_equal(w.unit, WORK_BYTES);
    assert_true(w.amount == 2 * 300 * 4);
    w = work_of("softmax", (const char *[][2]){{"rows", "10"}, {"columns", "30"}, {0}}, "f16");
    assert_true(w.amount == 2 * 300 * 2);
    w = work_of("matmul", (const char *[][2]){{"N", "1"}, {"M", "20"}, {"K", "30"}, {0}}, "f32");
    assert_string_equal(w.unit, WORK_BYTES); // a vector times a matrix
    assert_true(w.amount == (30 + 600 + 20) * 4);
    w = work_of("matmul", (const char *[][2]){{"N", "2"}, {"M", "20"}, {"K", "30"}, {0}}, "f32");
    assert_string_equal(w.unit, WORK_FLOP);
    assert_true(w.amount == 2 * 2 * 20 * 30);
}

TEST_GROUP(operation)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_bytes_where_bytes_count),
        cmocka_unit_test(kinds_are_found_by_name),
        cmocka_unit_test(a_matmul_counts_two_for_each_product),
        cmocka_unit_test(text_and_json_name_everything),
        cmocka_unit_test(what_cannot_be_set_is_named),
        cmocka_unit_test(a_missing_size_is_named),
        cmocka_unit_test(what_does_not_go_together_is_refused),
        cmocka_unit_test(a_convolution_derives_its_output),
        cmocka_unit_test(tensors_know_their_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
