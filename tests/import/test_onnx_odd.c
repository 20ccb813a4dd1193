// Imports ONNX models that are rare, or made to do harm: the layers compute what the model defines,
// and a note names each node that is left out.
#include "group.h"
#include "onnx_text.h"
#include "wording.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
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

static const char *unsupported(const struct lowered *m, const char *name)
{
    for (int i = 0; i < m->graph.step_count; i++)
        if (strcmp(m->graph.step[i].name, name) == 0)
            return m->graph.step[i].unsupported ? m->graph.step[i].unsupported : "nothing";
    return "no such node";
}

// Checks that the first unsupported node of the graph is `name`, for that reason.
static void expect_lacking(struct str *graph, const char *name, const char *words)
{
    struct lowered m = lower(graph);
    if (!strstr(unsupported(&m, name), words))
        fail_msg("'%s', expected '%s'", unsupported(&m, name), words);
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

// Casts of constants round as the standard says: a table of numbers, and what each type makes of
// it. 1e30f is no float16 and no type of 8 bits, 0.1 none of any.
static void casts_round(void **state)
{
    static const float x[8] = {1, 0.1f, 450, 464, 1e30f, -INFINITY, NAN, 0x1.1p-9f};
    static const struct {
        const char *attributes;
        float expected[8];
    } cast[] = {
        {"to=16", {1, 0.10009765625f, 450, 464, 0x1.94p99f, -INFINITY, NAN, 0x1.1p-9f}},
        {"to=10", {1, 0x1.998p-4f, 450, 464, INFINITY, -INFINITY, NAN, 0x1.1p-9f}},
        {"to=17", {1, 0.1015625f, 448, 448, 448, -448, NAN, 0x1p-9f}},
        {"to=17 saturate=0", {1, 0.1015625f, 448, 448, NAN, NAN, NAN, 0x1p-9f}},
        {"to=19", {1, 0.09375f, 448, 448, 57344, -57344, NAN, 0x1p-9f}},
        {"to=19 saturate=0", {1, 0.09375f, 448, 448, INFINITY, -INFINITY, NAN, 0x1p-9f}},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cast / sizeof *cast; k++) {
        struct str g = begin(SIZES(1, 8), SIZES(1, 8));
        onnx_put_typed(&g, "c", ONNX_FLOAT, SHAPE(1, 8), x, sizeof x);
        onnx_put_node(&g, "Cast", "c", "small", cast[k].attributes);
        onnx_put_node(&g, "Cast", "small", "f", "to=1");
        onnx_put_node(&g, "Mul", "x f", "y", "");
        struct lowered m = lower(&g);
        assert_int_equal(m.layers.layer_count, 1);
        for (int i = 0; i < 8; i++) {
            double got = onnx_weight(&m.layers.layer[0].weights[0], i);
            double expected = (double)cast[k].expected[i];
            if (got != expected && !(isnan(got) && isnan(expected)))
                fail_msg("%s: %g becomes %.9g, not %.9g", cast[k].attributes, (double)x[i], got,
                         expected);
        }
        lowered_finish(&m);
    }
}

// Constants of small floats are read as they lie in the file.
static void small_floats_are_read(void **state)
{
    static const uint8_t bits[4] = {0x38, 0x01, 0xfe, 0xc4};
    static const uint16_t brain[4] = {0x3f80, 0xc049, 0x0001, 0x7f7f};
    static const struct {
        int type;
        const void *data;
        size_t bytes;
        float expected[4];
    } of[] = {
        {ONNX_FLOAT8E4M3FN, bits, sizeof bits, {1, 0x1p-9f, -448, -3}},
        {ONNX_FLOAT8E5M2, bits, sizeof bits, {0.5f, 0x1p-16f, NAN, -4}},
        {ONNX_BFLOAT16, brain, sizeof brain, {1, -3.140625f, 0x1p-133f, 0x1.fep127f}},
    };
    (void)state;
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        struct str g = begin(SIZES(1, 4), SIZES(1, 4));
        onnx_put_typed(&g, "c", of[k].type, SHAPE(1, 4), of[k].data, of[k].bytes);
        onnx_put_node(&g, "Cast", "c", "f", "to=1");
        onnx_put_node(&g, "Mul", "x f", "y", "");
        struct lowered m = lower(&g);
        for (int i = 0; i < 4; i++) {
            double got = onnx_weight(&m.layers.layer[0].weights[0], i);
            double expected = (double)of[k].expected[i];
            if (got != expected && !(isnan(got) && isnan(expected)))
                fail_msg("%s: %.9g, not %.9g", onnx_type_name(of[k].type), got, expected);
        }
        lowered_finish(&m);
    }
}

// All values of a network have one type, so casts between those that it may have are no layers.
static void casts_of_values_are_none(void **state)
{
    (void)state;
    static const char *const to[] = {"to=1", "to=10", "to=16"};
    struct str g;
    for (int i = 0; i < 3; i++) {
        g = begin(SIZES(1, 3), SIZES(1, 3));
        onnx_put_node(&g, "Cast", "x", "small", to[i]);
        onnx_put_node(&g, "Relu", "small", "y", "");
        struct lowered m = lower(&g);
        assert_int_equal(m.layers.layer_count, 1);
        assert_string_equal(m.layers.layer[0].preset, "elementwise");
        lowered_finish(&m);
    }
    static const uint16_t brain[9] = {0x3f80, 0xc049}; // 1, -3.140625
    g = begin(SIZES(1, 3), SIZES(1, 3));
    onnx_put_typed(&g, "w", ONNX_BFLOAT16, SHAPE(2, 3, 3), brain, sizeof brain);
    onnx_put_node(&g, "Cast", "x", "small", "to=16");
    onnx_put_node(&g, "MatMul", "small w", "product", "");
    onnx_put_node(&g, "Cast", "product", "y", "to=1");
    struct lowered m = lower(&g);
    assert_int_equal(m.layers.layer_count, 1);
    assert_true(m.layers.layer[0].is_product);
    assert_int_equal(m.layers.layer[0].type, ONNX_BFLOAT16);
    assert_float_equal(onnx_weight(&m.layers.layer[0].weights[0], 1), -3.140625, 0);
    lowered_finish(&m);
    g = begin(SIZES(1, 3), SIZES(1, 3));
    onnx_put_node(&g, "Cast", "x", "small", "to=17");
    onnx_put_node(&g, "Relu", "small", "y", "");
    expect_lacking(&g, "small", "float8e4m3fn");
}

static void constants_have_the_remainder_that_is_asked_for(void **state)
{
    static const float expected[2][3] = {{1, 2, 2}, {-2, 2, -1}};
    (void)state;
    for (int by_sign = 0; by_sign < 2; by_sign++) {
        struct str g = begin(SIZES(1, 3), SIZES(1, 3));
        onnx_put_constant(&g, "c", SIZES(3), (const float[]){-5, 5, -7}, 3);
        onnx_put_constant(&g, "d", SIZES(1), (const float[]){3}, 1);
        onnx_put_node(&g, "Mod", "c d", "r", by_sign ? "fmod=1" : "");
        onnx_put_node(&g, "Mul", "x r", "y", "");
        struct lowered m = lower(&g);
        for (int i = 0; i < 3; i++)
            assert_float_equal(onnx_weight(&m.layers.layer[0].weights[0], i), expected[by_sign][i],
                               0);
        lowered_finish(&m);
    }
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
    wording_is("import", "onnx: gives nothing", unsupported(&m, "p"));
    assert_int_equal(m.layers.layer_count, 1);
    assert_true(m.layers.layer[0].from[0].source < 0);
    lowered_finish(&m);
}

// A constant with one number for each column is no factor of channels, though there are as many.
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

static void tensors_beyond_a_buffer_are_refused(void **state)
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
    static const int types[] = {8, 14, 18, 20, 23}; // texts, complex, float8 without -0, float4
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct str g = begin(SIZES(1, 3), SIZES(1, 3));
        onnx_put_typed(&g, "w", types[i], SHAPE(2, 3, 3), numbers, 9);
        onnx_put_node(&g, "MatMul", "x w", "y", "");
        expect_lacking(&g, "y", "'w' is of a type that tilewalk does not know");
    }
}

static void residuals_are_as_large_as_the_sum(void **state)
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

// Nodes for training compute something else when the model is used.
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
    wording_is("import", "onnx: constant", value(&m, "c")->unsupported);
    wording_is("import", "onnx: input", value(&m, "x")->unsupported);
    assert_string_equal(value(&m, "same")->unsupported, value(&m, "x")->unsupported);
    wording_is("import", "onnx: no kernel", value(&m, "places")->unsupported);
    assert_string_equal(value(&m, "mask")->unsupported, value(&m, "places")->unsupported);
    assert_null(value(&m, "y")->unsupported);
    assert_int_equal(m.layers.layer_count, 2);
    lowered_finish(&m);
}

static void attributes_have_the_type_of_their_name(void **state)
{
    (void)state;
    static const char *const wrong[] = {"alpha=2", "transB=0.5", "alpha=2,", "transB=yes"};
    for (int i = 0; i < 4; i++) {
        struct str g = begin(SIZES(1, 2), SIZES(1, 2));
        onnx_put_constant(&g, "w", SIZES(2, 2), numbers, 4);
        onnx_put_node(&g, "Gemm", "x w", "y", wrong[i]);
        expect_lacking(&g, "y", "is of another type than it has to be");
    }
}

static void all_axes_or_none_are_reduced(void **state)
{
    (void)state;
    static const char *const words[] = {"noop_with_empty_axes=1", ""};
    for (int i = 0; i < 2; i++) {
        struct str g = begin(SIZES(1, 2, 3, 3), SIZES(1, 2, 3, 3));
        onnx_put_typed(&g, "none", ONNX_INT64, SHAPE(1, 0), NULL, 0);
        onnx_put_node(&g, "ReduceMean", "x none", "a", words[i]);
        onnx_put_node(&g, "Relu", "a", "y", "");
        struct lowered m = lower(&g);
        assert_int_equal(onnx_count(&value(&m, "a")->shape), i ? 1 : 18);
        assert_string_equal(unsupported(&m, "a"), "nothing");
        lowered_finish(&m);
    }
}

// The graph inside of a node reads c, which r = relu(c) reads, too.
static struct str captures(int depth)
{
    struct str g = begin(SIZES(1, 2), SIZES(1, 2)), inner = {0}, node = {0};
    onnx_put_value(&g, 12, "z", SIZES(1, 2));
    onnx_put_constant(&g, "w", SIZES(2, 2), numbers, 4);
    onnx_put_node(&g, "MatMul", "x w", "c", "");
    onnx_put_node(&g, "Relu", "c", "y", "");
    onnx_put_node(&inner, "Add", "c c", "own", "");
    onnx_put_node(&inner, "Add", "own c", "last", "");
    for (int i = 0; i <= depth; i++) {
        struct str attribute = {0};
        onnx_put_text(&attribute, 1, "then_branch");
        onnx_put_message(&attribute, 6, &inner);
        onnx_put_number(&attribute, 20, 5);
        onnx_put_text(&node, 2, "z");
        onnx_put_text(&node, 4, "If");
        onnx_put_message(&node, 5, &attribute);
        onnx_put_message(i < depth ? &inner : &g, 1, &node);
    }
    return g;
}

static void values_read_by_an_inner_graph_are_outputs(void **state)
{
    (void)state;
    for (int depth = 0; depth < 3; depth++) {
        struct str g = captures(depth);
        struct lowered m = lower(&g);
        assert_int_equal(value(&m, "c")->uses, 4);
        assert_int_equal(m.layers.layer_count, 2);
        assert_int_equal(m.layers.output_count, 2);
        assert_string_equal(unsupported(&m, "z"), "there is no such operator here");
        lowered_finish(&m);
    }
    struct str g = captures(1000);
    expect_refused(&g, "it is no ONNX model, or cut off");
}

static void names_are_unique(void **state)
{
    (void)state;
    struct str g = begin(SIZES(1, 2), SIZES(1, 2)), node = {0}, long_name = {0};
    onnx_put_value(&g, 11, "b", SIZES(1, 2));
    onnx_put_text(&node, 1, "x");
    onnx_put_text(&node, 2, "a");
    onnx_put_text(&node, 3, "b"); // the node's own name
    onnx_put_text(&node, 4, "Tanh");
    onnx_put_message(&g, 1, &node);
    for (int i = 0; i < 2000; i++)
        str_add(&long_name, i ? "\xc3\xa4" : "\xff");
    onnx_put_node(&g, "Mul", "a b", str_text(&long_name), "");
    onnx_put_node(&g, "Relu", str_text(&long_name), "y", "");
    str_finish(&long_name);
    struct lowered m = lower(&g);
    assert_int_equal(m.layers.layer_count, 3);
    assert_string_equal(m.layers.layer[0].name, "b.2");
    assert_string_equal(m.layers.input[1].name, "b");
    assert_memory_equal(m.layers.layer[1].name, "_\xc3\xa4", 3);
    assert_int_equal(strlen(m.layers.layer[1].name), 201);
    lowered_finish(&m);
}

static void sizes_that_a_preset_refuses_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *attributes, *reads, *words;
    } wrong[] = {
        {"LRN", "size=0", "x", "none that make sense"},
        {"LRN", "size=3 bias=0.", "x", "none that make sense"},
        {"LRN", "size=3 alpha=-1.", "x", "none that make sense"},
        {"LeakyRelu", "alpha=99999999999999999999999999999999999999999.", "x", "no number"},
        {"Conv", "", "x nothing", "it gives nothing"},
        {"Conv", "dilations=2147483646,2147483646 auto_pad=SAME_LOWER", "x w", "a size of it"},
        {"Clip", "", "x inf inf", "it leaves nothing but infinity"},
    };
    static const uint32_t infinity = 0x7f800000;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct str g = begin(SIZES(1, 2, 5, 5), SIZES(1, 2, 5, 5));
        onnx_put_typed(&g, "inf", ONNX_FLOAT, SHAPE(0, 0), &infinity, 4);
        onnx_put_typed(&g, "nothing", ONNX_FLOAT, SHAPE(4, 0, 2, 1, 1), NULL, 0);
        onnx_put_constant(&g, "w", SIZES(2, 2, 4, 4), numbers, 64);
        onnx_put_node(&g, wrong[i].kind, wrong[i].reads, "y", wrong[i].attributes);
        expect_lacking(&g, "y", wrong[i].words);
    }
}

static void constants_may_be_numbers(void **state)
{
    (void)state;
    struct str g = begin(SIZES(1, 2), SIZES(2, 1));
    onnx_put_value(&g, 12, "word", SIZES(1));
    onnx_put_node(&g, "Constant", "", "shape", "value_ints=2,1");
    onnx_put_node(&g, "Constant", "", "two", "value_float=2.0");
    onnx_put_node(&g, "Constant", "", "word", "value_string=word");
    onnx_put_node(&g, "Reshape", "x shape", "a", "");
    onnx_put_node(&g, "Mul", "a two", "y", "");
    struct lowered m = lower(&g);
    assert_int_equal(m.layers.layer_count, 1);
    assert_float_equal(onnx_weight(&m.layers.layer[0].weights[0], 0), 2, 0);
    assert_int_equal(value(&m, "y")->shape.size[0], 2);
    wording_is("import", "onnx: no tensor", unsupported(&m, "word"));
    lowered_finish(&m);
}

// Large matrices of a file are transposed, or cast, where they are read.
static void large_constants_are_read_where_they_are(void **state)
{
    (void)state;
    enum { SIZE = 2100 };
    static float w[SIZE * SIZE];
    struct str g = begin(SIZES(1, SIZE), SIZES(1, SIZE));
    w[1] = 7;
    onnx_put_constant(&g, "w", SIZES(SIZE, SIZE), w, SIZE * SIZE);
    onnx_put_node(&g, "Transpose", "w", "turned", "");
    onnx_put_node(&g, "MatMul", "x turned", "a", "");
    onnx_put_node(&g, "Cast", "w", "cast", "to=1");
    onnx_put_node(&g, "MatMul", "a cast", "b", "");
    onnx_put_node(&g, "Cast", "turned", "again", "to=1");
    onnx_put_node(&g, "MatMul", "b again", "y", "");
    struct lowered m = lower(&g);
    assert_int_equal(m.layers.layer_count, 3);
    assert_float_equal(onnx_weight(&m.layers.layer[0].weights[0], SIZE), 7, 0);
    assert_float_equal(onnx_weight(&m.layers.layer[1].weights[0], 1), 7, 0);
    wording_is("import", "onnx: constants alone", unsupported(&m, "again"));
    lowered_finish(&m);
}

static void sparse_constants_are_named(void **state)
{
    (void)state;
    struct str g = begin(SIZES(1, 2), SIZES(1, 2)), sparse = {0};
    onnx_put_message(&g, 15, &sparse);
    onnx_put_node(&g, "MatMul", "x w", "y", "");
    expect_refused(&g, "reads 'w', which nothing gives (sparse constants are not read)");
}

// --- shapes go on, and what a definition computes ---

static void shapes_go_on(void **state)
{
    static const struct {
        const char *kind, *inputs, *attributes;
        struct onnx_shape out;
    } rows[] = {
        {"Sin", "x", "", {3, {2, 3, 4}}},
        {"PRelu", "x w", "", {3, {2, 3, 4}}},
        {"Trilu", "x", "", {3, {2, 3, 4}}},
        {"LogSoftmax", "x", "", {3, {2, 3, 4}}},
        {"InstanceNormalization", "x w w", "", {3, {2, 3, 4}}},
        {"CumSum", "x one", "", {3, {2, 3, 4}}},
        {"ScatterND", "x one w", "", {3, {2, 3, 4}}},
        {"ReduceMax", "x", "axes=1, keepdims=0", {2, {2, 4}}},
        {"ReduceL2", "x one", "keepdims=1", {3, {2, 1, 4}}},
        {"Pad", "x pads", "", {3, {2, 6, 5}}},
        {"Tile", "x pair", "", {3, {2, 9, 4}}},
        {"Resize", "x none scales", "", {3, {2, 4, 8}}},
        {"Resize", "x none none pair", "", {3, {1, 3, 1}}},
        {"Upsample", "x scales", "", {3, {2, 4, 8}}},
        {"TopK", "x two", "axis=0", {3, {2, 3, 4}}},
        {"TopK", "x two", "", {3, {2, 3, 2}}},
        {"GatherElements", "x w", "", {1, {4}}},
        {"GatherND", "x which", "", {2, {1, 4}}},
        {"OneHot", "x two w", "axis=1", {4, {2, 2, 3, 4}}},
        {"Where", "w x x", "", {3, {2, 3, 4}}},
        {"QuantizeLinear", "x scale", "", {3, {2, 3, 4}}},
        {"Slice", "x end begin axis back", "", {3, {2, 3, 4}}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str g = begin(SIZES(2, 3, 4), SIZES(1));
        onnx_put_constant(&g, "w", SIZES(4), numbers, 4);
        onnx_put_constant(&g, "scales", SIZES(3), (const float[]){1, 1.5f, 2}, 3);
        onnx_put_constant(&g, "scale", SIZES(1), numbers, 1);
        const int64_t whole[] = {1, 3, 1}, two[] = {2}, pads[] = {0, 1, 1, 0, 2, 0};
        const int64_t which[] = {1, 2}, end[] = {9}, begins[] = {-9}, back[] = {-1}, axis[] = {2};
        onnx_put_typed(&g, "pair", ONNX_INT64, SHAPE(1, 3), whole, sizeof whole);
        onnx_put_typed(&g, "one", ONNX_INT64, SHAPE(1, 1), whole, sizeof *whole);
        onnx_put_typed(&g, "two", ONNX_INT64, SHAPE(1, 1), two, sizeof two);
        onnx_put_typed(&g, "pads", ONNX_INT64, SHAPE(1, 6), pads, sizeof pads);
        onnx_put_typed(&g, "which", ONNX_INT64, SHAPE(2, 1, 2), which, sizeof which);
        onnx_put_typed(&g, "end", ONNX_INT64, SHAPE(1, 1), end, sizeof end);
        onnx_put_typed(&g, "begin", ONNX_INT64, SHAPE(1, 1), begins, sizeof begins);
        onnx_put_typed(&g, "back", ONNX_INT64, SHAPE(1, 1), back, sizeof back);
        onnx_put_typed(&g, "axis", ONNX_INT64, SHAPE(1, 1), axis, sizeof axis);
        onnx_put_typed(&g, "none", ONNX_FLOAT, SHAPE(1, 0), NULL, 0);
        onnx_put_node(&g, rows[i].kind, rows[i].inputs, "a", rows[i].attributes);
        onnx_put_node(&g, "Relu", "a", "y", "");
        struct lowered m = lower(&g);
        const struct onnx_value *a = value(&m, "a");
        if (!a->has_shape || a->shape.rank != rows[i].out.rank ||
            memcmp(a->shape.size, rows[i].out.size,
                   (size_t)a->shape.rank * sizeof *a->shape.size) != 0)
            fail_msg("row %zu (%s): %s", i, rows[i].kind, unsupported(&m, "a"));
        assert_string_not_equal(unsupported(&m, "a"), "nothing");
        lowered_finish(&m);
    }
}

static void windows_of_rows_and_columns_differ(void **state)
{
    static const struct {
        const char *kind, *attributes, *preset;
        int x[6], w[6], y[6];
    } rows[] = {
        {"Conv", "pads=1,1", "conv-axes", {1, 4, 9}, {6, 4, 3}, {1, 6, 9}},
        {"Conv", "strides=2,", "conv-implicit", {1, 4, 9}, {6, 4, 3}, {1, 6, 4}},
        {"Conv", "", "conv1x1", {1, 4, 9}, {6, 4, 1}, {1, 6, 9}},
        {"Conv", "group=4 pads=1,0", "conv-axes", {1, 4, 9}, {4, 1, 3}, {1, 4, 8}},
        {"Conv", "strides=2,1", "conv-axes", {1, 4, 9, 9}, {6, 4, 3, 3}, {1, 6, 4, 7}},
        {"Conv",
         "auto_pad=SAME_LOWER strides=2,2",
         "conv-implicit",
         {1, 4, 9, 8},
         {6, 4, 2, 3},
         {1, 6, 5, 4}},
        {"Conv", "", "", {1, 4, 9, 9, 9}, {6, 4, 3, 3, 3}, {1, 6, 7, 7, 7}},
        {"ConvTranspose",
         "strides=2,3 pads=0,1,0,1 output_padding=1,0",
         "conv-transposed",
         {1, 4, 5, 5},
         {4, 6, 3, 3},
         {1, 6, 12, 13}},
        {"ConvTranspose",
         "strides=2, output_shape=9,",
         "conv-transposed",
         {1, 4, 5},
         {4, 6, 3},
         {1, 6, 9}},
        {"ConvTranspose",
         "auto_pad=SAME_UPPER strides=3,",
         "conv-transposed",
         {1, 4, 5},
         {4, 6, 3},
         {1, 6, 15}},
        {"ConvTranspose",
         "group=2 dilations=2,2",
         "conv-transposed",
         {1, 4, 5, 5},
         {4, 3, 2, 2},
         {1, 6, 7, 7}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str g = begin(rows[i].x, rows[i].y);
        int count = 1, rank = 0;
        for (; rows[i].w[rank]; rank++)
            count *= rows[i].w[rank];
        float *data = mem_zero((size_t)count, sizeof *data);
        onnx_put_constant(&g, "w", rows[i].w, data, count);
        onnx_put_node(&g, rows[i].kind, "x w", "y", rows[i].attributes);
        struct lowered m = lower(&g);
        const struct onnx_value *y = value(&m, "y");
        for (int k = 0; k < rank; k++)
            if (y->shape.rank != rank || y->shape.size[k] != rows[i].y[k])
                fail_msg("row %zu: size %d is %d", i, k, (int)y->shape.size[k]);
        assert_string_equal(m.layers.layer_count ? m.layers.layer[0].preset : "", rows[i].preset);
        lowered_finish(&m);
        free(data);
    }
}

TEST_GROUP(onnx_odd)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_of_all_types_are_cast),
        cmocka_unit_test(casts_round),
        cmocka_unit_test(small_floats_are_read),
        cmocka_unit_test(casts_of_values_are_none),
        cmocka_unit_test(constants_have_the_remainder_that_is_asked_for),
        cmocka_unit_test(a_split_that_fails_leaves_nothing),
        cmocka_unit_test(columns_are_no_channels),
        cmocka_unit_test(tensors_beyond_a_buffer_are_refused),
        cmocka_unit_test(constants_of_unknown_types_are_named),
        cmocka_unit_test(residuals_are_as_large_as_the_sum),
        cmocka_unit_test(training_is_named),
        cmocka_unit_test(what_costs_too_much_is_named),
        cmocka_unit_test(places_are_none_of_an_axis),
        cmocka_unit_test(outputs_that_nothing_computes_are_named),
        cmocka_unit_test(attributes_have_the_type_of_their_name),
        cmocka_unit_test(all_axes_or_none_are_reduced),
        cmocka_unit_test(shapes_go_on),
        cmocka_unit_test(windows_of_rows_and_columns_differ),
        cmocka_unit_test(values_read_by_an_inner_graph_are_outputs),
        cmocka_unit_test(names_are_unique),
        cmocka_unit_test(sizes_that_a_preset_refuses_are_named),
        cmocka_unit_test(constants_may_be_numbers),
        cmocka_unit_test(large_constants_are_read_where_they_are),
        cmocka_unit_test(sparse_constants_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
