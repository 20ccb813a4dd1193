// ONNX models that are rarely met, or made to do harm: what is imported of them computes what they
// say, and the rest is named.
#include "onnx_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#define SIZES(...)       ((const int[]){__VA_ARGS__, 0})
#define SHAPE(rank, ...) (&(const struct onnx_shape){rank, {__VA_ARGS__}})

static const float numbers[64] = {1, 2, 3, 4, 5, 6, 7, 8};

static struct str begin(const int *in, const int *out)
{
    struct str g = {0};
    onnx_put_value(&g, 11, "x", in);
    onnx_put_value(&g, 12, "y", out);
    return g;
}

static struct lowered lower(struct str *graph)
{
    struct lowered m;
    struct err e;
    if (!lowered_make(&m, graph, &e))
        fail_msg("%s", e.text);
    return m;
}

static void expect_refused(struct str *graph, const char *words)
{
    struct lowered m;
    struct err e = {0};
    assert_false(lowered_make(&m, graph, &e));
    if (!strstr(e.text, words))
        fail_msg("'%s', expected '%s'", e.text, words);
    lowered_finish(&m);
}

static const char *lacking(const struct lowered *m, const char *name)
{
    for (int i = 0; i < m->graph.step_count; i++)
        if (strcmp(m->graph.step[i].name, name) == 0)
            return m->graph.step[i].lacking ? m->graph.step[i].lacking : "nothing";
    return "no such node";
}

// That the graph's first node that is lacking is `name`, for that reason.
static void expect_lacking(struct str *graph, const char *name, const char *words)
{
    struct lowered m = lower(graph);
    if (!strstr(lacking(&m, name), words))
        fail_msg("'%s', expected '%s'", lacking(&m, name), words);
    lowered_finish(&m);
}

static void constants_of_all_types_are_cast(void **state)
{
    (void)state;
    static const int64_t whole[3] = {2, -3, 4};
    struct str g = begin(SIZES(1, 3), SIZES(1, 3));
    onnx_put_typed(&g, "c", ONNX_INT64, SHAPE(1, 3), whole, sizeof whole);
    onnx_put_node(&g, "Cast", "c", "f", "to=1");
    onnx_put_node(&g, "Mul", "x f", "y", "");
    struct lowered m = lower(&g);
    assert_int_equal(m.layers.layer_count, 1);
    for (int i = 0; i < 3; i++)
        assert_float_equal(onnx_weight(&m.layers.layer[0].weights[0], i), whole[i], 0);
    lowered_finish(&m);
}

static void a_split_that_fails_leaves_nothing(void **state)
{
    (void)state;
    struct str g = begin(SIZES(2, 4), SIZES(2, 2));
    static const int64_t parts[3] = {2, 2, 0};
    onnx_put_value(&g, 12, "z", SIZES(2, 1));
    onnx_put_typed(&g, "parts", ONNX_INT64, SHAPE(1, 3), parts, sizeof parts);
    onnx_put_node(&g, "Split", "x parts", "p q z", "axis=1");
    onnx_put_node(&g, "Relu", "p", "y", "");
    struct lowered m = lower(&g);
    assert_string_equal(lacking(&m, "p"), "it gives nothing");
    assert_int_equal(m.layers.layer_count, 1);
    assert_true(m.layers.layer[0].from[0].source < 0);
    lowered_finish(&m);
}

// Numbers for each column, where there are as many channels.
static void columns_are_no_channels(void **state)
{
    (void)state;
    struct str g = begin(SIZES(1, 3, 2, 3), SIZES(1, 3, 2, 3));
    onnx_put_constant(&g, "c", SIZES(3), numbers, 3);
    onnx_put_node(&g, "Mul", "x c", "y", "");
    struct lowered m = lower(&g);
    assert_int_equal(m.layers.layer_count, 1);
    assert_string_equal(m.layers.layer[0].preset, "depthwise");
    assert_string_equal(lowered_setting(&m.layers.layer[0], "batch"), "6");
    assert_string_equal(lowered_setting(&m.layers.layer[0], "width"), "1");
    lowered_finish(&m);
}

static void what_no_buffer_holds_is_refused(void **state)
{
    (void)state;
    static const int64_t many[] = {INT64_MAX, (int64_t)1 << 62, (int64_t)1 << 31};
    for (int i = 0; i < 3; i++) {
        struct str g = begin(SIZES(1, 3), SIZES(1, 3));
        onnx_put_typed(&g, "a", 0, SHAPE(2, 1, many[i]), NULL, 0);
        onnx_put_typed(&g, "b", 0, SHAPE(2, 1, many[i]), NULL, 0);
        onnx_put_node(&g, "Concat", "a b", "c", "axis=1");
        onnx_put_node(&g, "Add", "x c", "y", "");
        expect_refused(&g, "'a' has more elements than any buffer holds");
    }
    struct str g = begin(SIZES(1, 3), SIZES(1, 3));
    onnx_put_typed(&g, "a", ONNX_FLOAT, SHAPE(4, 0, INT32_MAX, INT32_MAX, INT32_MAX), NULL, 0);
    onnx_put_node(&g, "Transpose", "a", "y", "");
    expect_refused(&g, "'a' has more elements than any buffer holds");
    g = begin(SIZES(70000, 70000), SIZES(1, 3));
    onnx_put_node(&g, "Relu", "x", "y", "");
    expect_refused(&g, "'x' has more elements than any buffer holds");
    g = begin(SIZES(1, 40000), SIZES(1, 1));
    onnx_put_node(&g, "Transpose", "x", "t", "");
    onnx_put_node(&g, "Add", "x t", "s", "");
    onnx_put_node(&g, "Concat", "s s", "c", "axis=0");
    onnx_put_node(&g, "Relu", "c", "y", "");
    expect_refused(&g, "it gives 80000x40000 elements, more than any buffer holds");
}

static void constants_of_unknown_types_are_named(void **state)
{
    (void)state;
    enum { TEXTS = 8, FLOAT8 = 17 };
    for (int type = TEXTS; type <= FLOAT8; type += FLOAT8 - TEXTS) {
        struct str g = begin(SIZES(1, 3), SIZES(1, 3));
        onnx_put_typed(&g, "w", type, SHAPE(2, 3, 3), numbers, 9);
        onnx_put_node(&g, "MatMul", "x w", "y", "");
        expect_lacking(&g, "y", "'w' is of a type that tilewalk does not know");
    }
}

static void sums_are_joined_with_what_is_as_large(void **state)
{
    (void)state;
    struct str g = begin(SIZES(4, 3), SIZES(4, 4));
    onnx_put_value(&g, 11, "row", SIZES(1, 4));
    onnx_put_constant(&g, "w", SIZES(3, 1), numbers, 3);
    onnx_put_node(&g, "MatMul", "x w", "a", "");
    onnx_put_node(&g, "Add", "a row", "y", "");
    struct lowered m = lower(&g);
    assert_string_equal(lowered_setting(&m.layers.layer[0], "residual"), "");
    assert_string_equal(m.layers.layer[m.layers.layer_count - 1].preset, "elementwise");
    assert_string_equal(lowered_setting(&m.layers.layer[m.layers.layer_count - 1], "count"), "16");
    lowered_finish(&m);
}

// What is for training is not what is computed when it is used.
static void training_is_named(void **state)
{
    (void)state;
    static const unsigned char yes = 1;
    struct str g = begin(SIZES(1, 3), SIZES(1, 3));
    onnx_put_typed(&g, "half", ONNX_FLOAT, SHAPE(0, 0), numbers, 4);
    onnx_put_typed(&g, "yes", ONNX_BOOL, SHAPE(0, 0), &yes, 1);
    onnx_put_node(&g, "Dropout", "x half yes", "a", "");
    onnx_put_node(&g, "Relu", "a", "y", "");
    expect_lacking(&g, "a", "it is for training");
    g = begin(SIZES(1, 3), SIZES(1, 3));
    onnx_put_value(&g, 11, "trains", SIZES(1));
    onnx_put_typed(&g, "half", ONNX_FLOAT, SHAPE(0, 0), numbers, 4);
    onnx_put_node(&g, "Dropout", "x half trains", "a", "");
    onnx_put_node(&g, "Relu", "a", "y", "");
    expect_lacking(&g, "a", "it is for training");
    g = begin(SIZES(1, 3), SIZES(1, 3));
    onnx_put_constant(&g, "c", SIZES(3), numbers, 3);
    onnx_put_node(&g, "BatchNormalization", "x c c c c", "a mean var saved_mean saved_var", "");
    onnx_put_node(&g, "Relu", "a", "y", "");
    expect_lacking(&g, "a", "it also gives what training asks for");
}

static void what_costs_too_much_is_named(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    struct str g = begin(SIZES(1, 1), SIZES(1, MANY)), names = {0};
    for (int i = 0; i < MANY; i++)
        str_add(&names, "x ");
    onnx_put_node(&g, "Concat", str_text(&names), "a", "axis=1");
    onnx_put_node(&g, "Relu", "a", "y", "");
    str_finish(&names);
    expect_lacking(&g, "a", "it joins more than 64");
    g = begin(SIZES(1, 1 << 24), SIZES(1, 1 << 24)); // a factor is one number, not one for each
    onnx_put_typed(&g, "two", ONNX_FLOAT, SHAPE(0, 0), &numbers[1], 4);
    onnx_put_node(&g, "Mul", "x two", "y", "");
    struct lowered m = lower(&g);
    assert_int_equal(m.layers.layer_count, 1);
    assert_string_equal(lowered_setting(&m.layers.layer[0], "channels"), "1");
    assert_string_equal(lowered_setting(&m.layers.layer[0], "width"), "16777216");
    lowered_finish(&m);
    g = begin(SIZES(1, 1, 2000000000, 1), SIZES(1, 1, 2, 1));
    onnx_put_node(&g, "MaxPool", "x", "a",
                  "kernel_shape=1,1 strides=1000000000,1000000000 pads=0,0,0,5");
    onnx_put_node(&g, "Relu", "a", "y", "");
    struct lowered pool = lower(&g);
    assert_int_equal(pool.layers.layer_count, 2);
    lowered_finish(&pool);
}

static void places_are_none_of_an_axis(void **state)
{
    (void)state;
    static const int64_t far[3] = {0, (int64_t)1 << 62, INT64_MIN};
    struct str g = begin(SIZES(1, 3), SIZES(1, 3));
    onnx_put_typed(&g, "i", ONNX_INT64, SHAPE(1, 3), far, sizeof far);
    onnx_put_node(&g, "Gather", "x i", "y", "axis=1");
    expect_lacking(&g, "y", "its indices are");
}

static const struct onnx_value *value(const struct lowered *m, const char *name)
{
    return &m->graph.value[onnx_graph_find(&m->graph, name)];
}

static void outputs_that_nothing_computes_are_named(void **state)
{
    (void)state;
    static const char *const names[] = {"c", "x", "same", "places", "mask"};
    struct str g = begin(SIZES(1, 1, 4, 4), SIZES(1, 1, 2, 2));
    for (int i = 0; i < 5; i++)
        onnx_put_value(&g, 12, names[i], SIZES(1));
    onnx_put_constant(&g, "c", SIZES(3), numbers, 3);
    onnx_put_node(&g, "Identity", "x", "same", "");
    onnx_put_node(&g, "MaxPool", "x", "a places", "kernel_shape=2,2 strides=2,2");
    onnx_put_node(&g, "Dropout", "a", "b mask", "");
    onnx_put_node(&g, "Relu", "b", "y", "");
    struct lowered m = lower(&g);
    assert_string_equal(value(&m, "c")->lacking, "it is a constant");
    assert_string_equal(value(&m, "x")->lacking, "it is an input");
    assert_string_equal(value(&m, "same")->lacking, "it is an input");
    assert_string_equal(value(&m, "places")->lacking, "no kernel gives it");
    assert_string_equal(value(&m, "mask")->lacking, "no kernel gives it");
    assert_null(value(&m, "y")->lacking);
    assert_int_equal(m.layers.layer_count, 2);
    lowered_finish(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_of_all_types_are_cast),
        cmocka_unit_test(a_split_that_fails_leaves_nothing),
        cmocka_unit_test(columns_are_no_channels),
        cmocka_unit_test(what_no_buffer_holds_is_refused),
        cmocka_unit_test(constants_of_unknown_types_are_named),
        cmocka_unit_test(sums_are_joined_with_what_is_as_large),
        cmocka_unit_test(training_is_named),
        cmocka_unit_test(what_costs_too_much_is_named),
        cmocka_unit_test(places_are_none_of_an_axis),
        cmocka_unit_test(outputs_that_nothing_computes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
