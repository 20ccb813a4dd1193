// Network files: declarations, the flow of values, and one clear line for each mistake.
#include "errors.h"
#include "group.h"

#include "base/file.h"
#include "base/mem.h"
#include "script/network.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/tilewalk-network-XXXXXX";

static void write_beside(const char *name, const char *text)
{
    struct err e;
    char *path = path_join(folder, name);
    assert_true(file_write(path, text, strlen(text), &e));
    free(path);
}

static bool load_with(const char *text, const struct setting *set, int count, struct network *n,
                      struct err *e)
{
    char *path = path_join(folder, "net.lua");
    write_beside("net.lua", text);
    bool ok = network_read(path, set, count, n, e);
    free(path);
    return ok;
}

static bool load(const char *text, struct network *n, struct err *e)
{
    return load_with(text, NULL, 0, n, e);
}

#define NETWORK "network 'a net' "
#define INPUT   "local x = input { name = 'x', sizes = { 4, 8 } } "
#define PRODUCT "preset = 'mm', set = { N = 4, M = 8, K = 8 }"

static const char small[] = NETWORK "local batch = size('batch', 2)\n"
                                    "local x = input { name = 'x', sizes = { batch, 8 } }\n"
                                    "local function product(name, from)\n"
                                    "  return layer { name = name, preset = 'gemm', from = from,\n"
                                    "    set = { N = batch, M = 8, K = 8, residual = 'add' } }\n"
                                    "end\n"
                                    "local y = product('one', { A = x, residual = x })\n"
                                    "local z = product('two', { residual = x, A = y })\n"
                                    "local w = layer { name = 'three', preset = 'gemm', from = z,\n"
                                    "  set = { N = batch, M = 8, K = 8, scale = 0.5 } }\n"
                                    "output(w)\n"
                                    "output(y)\n";

static void layers_are_as_declared(void **state)
{
    struct network n;
    struct err e;
    (void)state;
    assert_true(load(small, &n, &e));
    assert_string_equal(n.name, "net");
    assert_string_equal(n.about, "a net");
    assert_int_equal(n.task_count, 2);
    assert_int_equal(n.layer_count, 3);
    assert_string_equal(n.task[0].label, "one");
    assert_int_equal(n.task[0].uses, 2);
    assert_string_equal(n.task[1].label, "three");
    assert_int_equal(n.task[1].uses, 1);
    assert_string_equal(n.task[1].preset, "gemm");
    assert_string_equal(n.task[1].kind, "matmul");
    assert_string_equal(n.task[1].title, "matmul f32 nn 2x8x8 scale=0.5");
    assert_true(n.task[0].flop == 2 * 2 * 8 * 8 && network_flop(&n) == 3 * 2 * 2 * 8 * 8);
    static const struct network_input inputs[] = {{"A", 0}, {"residual", -1}};
    assert_int_equal(n.layer[1].input_count, 2);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(n.layer[1].input[i].tensor, inputs[i].tensor);
        assert_int_equal(n.layer[1].input[i].layer, inputs[i].layer);
    }
    assert_string_equal(n.layer[2].output.name, "three");
    assert_int_equal(n.layer[0].output.count, 16);
    assert_int_equal(n.layer[0].output.uses, 2); // by 'two', and as an output
    assert_int_equal(n.input_count, 1);
    assert_int_equal(n.input[0].uses, 3);
    assert_int_equal(n.output_count, 2);
    assert_int_equal(n.output[0], 2);
    assert_int_equal(n.output[1], 0);
    network_finish(&n);
}

static const char *value_of(const struct network_task *t, const char *name)
{
    for (int i = 0; i < t->set_count; i++)
        if (strcmp(t->set[i].name, name) == 0)
            return t->set[i].value;
    return NULL;
}

// --set changes the settings of the file; sizes that a layer leaves to its preset are fixed.
static void settings_are_taken(void **state)
{
    const struct setting set[] = {{"batch", "3"}};
    struct network n;
    struct err e;
    (void)state;
    assert_true(load_with(small, set, 1, &n, &e));
    assert_int_equal(n.input[0].count, 24);
    assert_int_equal(n.setting_count, 1);
    assert_string_equal(n.setting[0].value, "3");
    assert_string_equal(n.setting[0].standard, "2");
    assert_string_equal(value_of(&n.task[0], "N"), "3");
    assert_string_equal(value_of(&n.task[0], "row_a"), "0"); // a size that was not given
    assert_string_equal(value_of(&n.task[1], "scale"), "0.5");
    assert_null(value_of(&n.task[0], "scale"));
    network_finish(&n);
    const struct setting wrong[] = {{"batsch", "3"}};
    assert_false(load_with(small, wrong, 1, &n, &e));
    assert_true(e.usage && str_starts(e.text, "--set batsch=3: ") && strstr(e.text, "'batch'"));
    network_finish(&n);
}

// Two that say the same in other words.
static void equal_tasks_are_one(void **state)
{
    struct network n;
    struct err e;
    (void)state;
    assert_true(load(NETWORK INPUT "local y = layer { name = 'a', from = x, preset = 'mm', "
                                   "set = { K = 8, M = 8, N = 4 } }\n"
                                   "output(layer { name = 'b', from = y, preset = 'mm', "
                                   "set = { N = '4', M = 8.0, K = 8, layout = 'nn' } })",
                     &n, &e));
    assert_int_equal(n.layer_count, 2);
    assert_int_equal(n.task_count, 1);
    assert_int_equal(n.task[0].uses, 2);
    network_finish(&n);
}

static bool fails_at(struct wording *r, const char *tried, const char *text, const char *place)
{
    struct network n;
    struct err e;
    if (load(text, &n, &e))
        fail_msg("%s\n  is taken", tried);
    network_finish(&n);
    char *message = errors_format(&e, folder);
    bool good = errors_add(r, tried, message, place, false);
    free(message);
    return good;
}

static const struct {
    const char *text, *place;
} wrong[] = {
    // what does not chain
    {NETWORK INPUT "\noutput(layer { name = 'a', preset = 'mm', set = { N = 4, M = 8, K = 9 }, "
                   "from = x })",
     "net.lua:2"},
    {NETWORK INPUT "output(layer { name = 'a', from = x, preset = 'mm', "
                   "set = { N = 4, M = 8, K = 8, type = 'f16' } })",
     "net.lua:1"},
    {NETWORK INPUT "local y = layer { name = 'a', " PRODUCT ", from = x }\n"
                   "output(layer { name = 'b', preset = 'maxpool', from = y, set = { batch = 1, "
                   "channels = 1, height = 8, width = 8, window = 2, stride = 2 } })",
     "net.lua:2"},
    {NETWORK INPUT "output(layer { name = 'a', preset = 'gemm', "
                   "set = { N = 2, M = 8, K = 16, row_a = 24 }, from = x })",
     "net.lua:1"},
    // what is not there
    {NETWORK INPUT "output(layer { name = 'a', preset = 'gem', from = x })", "net.lua:1"},
    {NETWORK INPUT "output(layer { name = 'a', preset = '../mm.lua', from = x })", "net.lua:1"},
    {NETWORK INPUT "output(layer { name = 'a', preset = 'mm', set = { Q = 1 }, from = x })",
     "net.lua:1"},
    {NETWORK INPUT "output(layer { name = 'a', preset = 'mm', set = { N = 0.5 }, from = x })",
     "net.lua:1"},
    {NETWORK INPUT "output(layer { name = 'a', preset = 'maxpool', set = { window = 60, "
                   "height = 1 }, from = x })",
     "net.lua:1"},
    {NETWORK INPUT "output(layer { name = 'a', preset = 'gemm', from = { B = x }, "
                   "set = { blocks = 'q4_0', N = 70016, M = 1, K = 65536 } })",
     "net.lua:1"},
    {NETWORK INPUT "output(layer { name = 'a', " PRODUCT ", from = { Z = x } })", "net.lua:1"},
    {NETWORK INPUT "output(layer { name = 'a', " PRODUCT ", from = { A = x, residual = x } })",
     "net.lua:1"},
    {NETWORK INPUT "output(layer { name = 'a', preset = '/etc/passwd', from = x })", "net.lua:1"},
    {NETWORK INPUT "output(layer { name = 'a', preset = '/etc/a.lua', from = x })", "net.lua:1"},
    // what is used before it is made, so that nothing can go round
    {NETWORK INPUT "local z local y = layer { name = 'a', " PRODUCT ", from = z }\n"
                   "z = layer { name = 'b', " PRODUCT ", from = y } output(z)",
     "net.lua:1"},
    {NETWORK INPUT "output(layer { name = 'a', " PRODUCT ", from = y })", "net.lua:1"},
    {NETWORK INPUT "local t = {} t.from = t t.name = 'a' t.preset = 'mm' output(layer(t))",
     "net.lua:1"},
    {NETWORK INPUT "output(layer { name = 'a', " PRODUCT ", from = { A = { } } })", "net.lua:1"},
    {NETWORK INPUT "output(layer { name = 'a', " PRODUCT ", from = {} })", "net.lua:1"},
    {NETWORK INPUT "output(layer { name = 'a', " PRODUCT ", from = { x } })", "net.lua:1"},
    {NETWORK INPUT "output(layer { name = 'a', " PRODUCT ", from = 'x' })", "net.lua:1"},
    // what nothing uses, names, numbers
    {NETWORK INPUT "\nlayer { name = 'a', " PRODUCT ", from = x }\n\n"
                   "output(layer { name = 'b', " PRODUCT ", from = x })",
     "net.lua:2"},
    {NETWORK INPUT "\ninput { name = 'z', sizes = { 1 } }\n"
                   "output(layer { name = 'b', " PRODUCT ", from = x })",
     "net.lua:2"},
    {NETWORK INPUT "layer { name = 'a', " PRODUCT ", from = x }", "net.lua"},
    {NETWORK INPUT, "net.lua"},
    {NETWORK INPUT "\nlayer { name = 'x', " PRODUCT ", from = x }", "net.lua:2"},
    {NETWORK "for i = 1, 5000 do input { name = 'x' .. i, sizes = { 1 } } end", "net.lua:1"},
    {NETWORK INPUT "for i = 1, 5000 do x = layer { name = 'a' .. i, " PRODUCT
                   ", from = x } end output(x)",
     "net.lua:1"},
    {NETWORK INPUT "output(x)", "net.lua:1"},
    {NETWORK INPUT "local y = layer { name = 'a', " PRODUCT ", from = x } output(y) output(y)",
     "net.lua:1"},
    {NETWORK INPUT "output(3)", "net.lua:1"},
    {NETWORK "input { name = 'x', sizes = { 1, 2, 3, 4, 5 } }", "net.lua:1"},
    {NETWORK "input { name = 'x', sizes = { 0 } }", "net.lua:1"},
    {NETWORK "input { name = 'x', sizes = { 1 }, type = 'f65' }", "net.lua:1"},
    {NETWORK "input { name = 'x', size = { 1 } }", "net.lua:1"},
    {NETWORK INPUT "x.count = 3", "net.lua:1"},
    // what begins otherwise, and what is not its language
    {"", "net.lua:1"},
    {"local a = 1 " NETWORK, "net.lua:1"},
    {"networks 'a'", "net.lua:1"},
    {NETWORK NETWORK, "net.lua:1"},
    {"network(3)", "net.lua:1"},
    {NETWORK "param.x = 1", "net.lua:1"},
    {NETWORK "use('mm.lua')", "net.lua:1"},
    {NETWORK "local a = device.type", "net.lua:1"},
    {NETWORK "size('batch', 1) size('batch', 1)", "net.lua:1"},
    {NETWORK "while true do end", "net.lua:1"},
};

static void mistakes_are_named(void **state)
{
    int bad = 0;
    struct wording r;
    (void)state;
    wording_begin(&r, "script", "network");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        bad += !fails_at(&r, wrong[i].text, wrong[i].text, wrong[i].place);
    wording_end(&r);
    assert_int_equal(bad, 0);
}

// --- the library ---

#define LAYERS                                                                                     \
    NETWORK "local layers = include 'layers.lua'\n"                                                \
            "local x = input { name = 'x', sizes = { 1, 8, 6, 6 } }\n"

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"net.lua", "own.lua", "helper.lua"};
    for (int i = 0; i < 3; i++) {
        char *path = path_join(folder, names[i]);
        unlink(path);
        free(path);
    }
    return rmdir(folder);
}

// The line of the network file is blamed, whoever found the mistake.
static const struct {
    const char *text, *place;
} wrong_layers[] = {
    {"layers.convolution { 'a', x, channels = 8 }", "net.lua:4"},
    {"layers.convolution { 'a', x, channels = 8, kernel = 3, strides = 2 }", "net.lua:4"},
    {"layers.convolution { 'a', y, channels = 8, kernel = 3 }", "net.lua:4"},
    {"layers.convolution { 'a', nil, channels = 8, kernel = 3 }", "net.lua:4"},
    {"layers.convolution { x, channels = 8, kernel = 3 }", "net.lua:4"},
    {"layers.convolution(3)", "net.lua:4"},
    {"layers.convolution { 'a', x, channels = 8, kernel = 9 }", "net.lua:4"},
    {"layers.convolution { 'a', x, channels = 8, kernel = 3, padding = 1, residual = x, "
     "stride = 2 }",
     "net.lua:4"},
    {"layers.convolution { 'a', x, channels = 8, kernel = 3, activation = 'gelu' }", "net.lua:4"},
    {"layers.dense { 'a', x, outputs = 8, rows = 7 }", "net.lua:4"},
    {"layers.add { 'a', x }", "net.lua:4"},
    {"layers.maxpool { 'a', layers.dense { 'b', x, outputs = 3 }, window = 2 }", "net.lua:4"},
    {"layers.attention { 'a', x, x, x, heads = 2 }", "net.lua:4"},
    {"layers.conv { 'a', x }", "net.lua:4"},
};

static void mistakes_in_layers_are_named(void **state)
{
    int bad = 0;
    struct wording r;
    (void)state;
    wording_begin(&r, "script", "network layers");
    for (size_t i = 0; i < sizeof wrong_layers / sizeof *wrong_layers; i++) {
        char *text = mem_printf(LAYERS "\n%s", wrong_layers[i].text);
        bad += !fails_at(&r, wrong_layers[i].text, text, wrong_layers[i].place);
        free(text);
    }
    wording_end(&r);
    assert_int_equal(bad, 0);
}

// Each layer of the library, once: what it computes follows from its input.
static void layers_follow_from_their_input(void **state)
{
    static const char *const titles[] = {
        "conv2d f16 nchw 1x8x6x6x4x3x3 stride=2 padding=1 bias=add activation=relu",
        "conv2d f16 nchw 1x4x3x3x4x3x3 padding=1 groups=4",
        "lrn f16 nchw 1x4x3x3",
        "avg_pool f16 nchw 1x4x3x3x2 divisor=window",
        "max_pool f16 nchw 1x4x2x2x2",
        "matmul f16 nt 1x6x4",
        "elementwise f16 relu 6",
        "elementwise f16 tanh 6",
        "elementwise f16 add 6",
        "softmax f16 1x6",
    };
    struct network n;
    struct err e;
    char message[1400];
    (void)state;
    if (!load(NETWORK "local layers = include 'layers.lua'\n"
                      "local x = input { name = 'x', sizes = { 1, 8, 6, 6 }, type = 'f16' }\n"
                      "x = layers.convolution { 'a', x, channels = 4, kernel = 3, stride = 2,\n"
                      "                         padding = 1, bias = true, activation = 'relu' }\n"
                      "x = layers.depthwise { 'b', x, kernel = 3, padding = 1 }\n"
                      "x = layers.lrn { 'c', x }\n"
                      "x = layers.avgpool { 'd', x, window = 2, divisor = 'window' }\n"
                      "x = layers.maxpool { 'e', x, window = 2 }\n"
                      "x = layers.dense { 'f', x, outputs = 6 }\n"
                      "x = layers.relu { 'g', x }\n"
                      "x = layers.add { 'i', x, layers.tanh { 'h', x } }\n"
                      "output(layers.softmax { 'j', x })",
              &n, &e))
        fail_msg("%s", err_format(&e, message, sizeof message));
    assert_int_equal(n.task_count, sizeof titles / sizeof *titles);
    for (int i = 0; i < n.task_count; i++)
        assert_string_equal(n.task[i].title, titles[i]);
    network_finish(&n);
}

// A preset beside the network, and a file that it includes.
static void own_presets_are_found(void **state)
{
    struct network n;
    struct err e;
    char message[1400];
    (void)state;
    write_beside("own.lua", "use('mm.lua', { N = 4 })");
    write_beside("helper.lua", "return 8");
    if (!load(NETWORK "local m = include 'helper.lua'\n" INPUT
                      "output(layer { name = 'a', preset = 'own.lua', from = x, "
                      "set = { M = m, K = 8 } })",
              &n, &e))
        fail_msg("%s", err_format(&e, message, sizeof message));
    char *path = path_join(folder, "own.lua");
    assert_string_equal(n.task[0].preset, path);
    assert_string_equal(n.task[0].title, "matmul f32 nn 4x8x8");
    assert_string_equal(value_of(&n.task[0], "N"), "4"); // the preset's, settled here
    free(path);
    network_finish(&n);
    write_beside("own.lua", "operator.matmul {");
    assert_false(
        load(NETWORK INPUT "output(layer { name = 'a', preset = 'own.lua', from = x })", &n, &e));
    assert_non_null(strstr(e.text, "layer 'a': own.lua: /tmp/"));
    network_finish(&n);
}

// The presets see the device, the network does not.
static void presets_see_the_device(void **state)
{
    static const char text[] =
        NETWORK "local x = input { name = 'x', sizes = { 16, 16 }, type = 'f16' } "
                "output(layer { name = 'a', preset = 'gemm-coop', from = x,"
                "set = { N = 16, M = 16, K = 16, type = 'f16' } })";
    struct limits with = limits_vulkan_minimum;
    const struct matrix_shape shape = {16, 16, 16, "f16", "f32"};
    struct network n;
    struct err e;
    (void)state;
    assert_false(load(text, &n, &e));
    assert_non_null(strstr(e.text, "layer 'a': gemm-coop: "));
    char *message = errors_format(&e, folder);
    wording_is("script", "network device", message);
    free(message);
    network_finish(&n);
    with.f16 = true;
    with.matrix.api = MATRIX_KHR;
    matrix_units_add(&with.matrix, &shape);
    char *path = path_join(folder, "net.lua");
    struct script_options o = {.path = path, .limits = &with, .device_type = "discrete"};
    assert_true(network_load(&o, &n, &e));
    assert_string_equal(n.task[0].title, "matmul f16 nn 16x16x16");
    network_finish(&n);
    free(path);
}

// Factors of bf16 and f8 are rounded before; types whose products have another output are refused
// with the reason.
static void types_chain_or_are_refused(void **state)
{
    static const char text[] =
        NETWORK "local layers = include 'layers.lua' local type = layers.type() "
                "local x = input { name = 'x', sizes = { 4, 8 }, type = type } "
                "x = layers.dense { 'a', x, outputs = 8 } "
                "output(layers.dense { 'b', x, outputs = 8 })";
    static const char *const rounded[] = {"bf16", "f8e4m3", "f8e5m2"};
    static const char *const refused[] = {"i8", "u8"};
    struct setting set = {"type", "f16"};
    struct network n;
    struct err e;
    (void)state;
    assert_true(load_with(text, &set, 1, &n, &e));
    assert_int_equal(n.task_count, 1);
    network_finish(&n);
    for (size_t i = 0; i < sizeof rounded / sizeof *rounded; i++) {
        set.value = rounded[i];
        assert_true(load_with(text, &set, 1, &n, &e));
        assert_int_equal(n.task_count, 2); // a copy that rounds, and the product
        network_finish(&n);
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        set.value = refused[i];
        assert_false(load_with(text, &set, 1, &n, &e));
        assert_true(e.usage && strstr(e.text, set.value) && strstr(e.text, "converts"));
        network_finish(&n);
    }
}

// A parameter that only kernels on matrix units have.
static bool is_on_units(const struct network_task *t, const struct limits *l)
{
    struct err e;
    char *path = script_find(t->preset, &e);
    const struct script_options o = {.path = path ? path : t->preset,
                                     .set = t->set,
                                     .set_count = t->set_count,
                                     .device_type = "discrete",
                                     .limits = l};
    struct script *s = script_create(&o, &e);
    assert_non_null(s);
    bool is = space_find(script_space(s), "matrix") != NULL;
    script_destroy(s);
    free(path);
    return is;
}

// Layers that multiply halves take the matrix units that a device has by themselves: of four rows
// and columns at least.
static void layers_choose_matrix_units(void **state)
{
    static const char text[] =
        NETWORK "local layers = include 'layers.lua' "
                "local type = layers.type() "
                "local x = input { name = 'x', sizes = { 4, 16, 16, 16 }, type = type } "
                "local y = layers.convolution { 'a', x, channels = 16, kernel = 3, padding = 1 } "
                "y = layers.convolution { 'b', y, channels = 16, kernel = 1 } "
                "y = layers.convolution { 'c', y, channels = 16, kernel = 3,"
                "                         preset = type == 'f16' and 'conv-winograd' } "
                "output(layers.dense { 'd', y, outputs = 16 }) "
                "local q = input { name = 'q', sizes = { 16, 32 }, type = type } "
                "output(layers.attention { 'e', q, q, q, heads = 2 })";
    static const struct {
        struct setting set[2];
        bool on_units;
    } rows[] = {
        {{{"type", "f16"}, {"units", "auto"}}, true},  {{{"type", "f16"}, {"units", "khr"}}, true},
        {{{"type", "f16"}, {"units", "none"}}, false}, {{{"type", "bf16"}, {"units", "khr"}}, true},
        {{{"type", "f32"}, {"units", "auto"}}, false},
    };
    struct limits l = limits_vulkan_minimum;
    const struct matrix_shape shape[] = {{16, 16, 16, "f16", "f32"}, {16, 16, 16, "bf16", "f32"}};
    struct err e;
    (void)state;
    l.f16 = true;
    l.types |= UINT32_C(1) << ELEMENT_BF16;
    l.matrix.api = MATRIX_KHR;
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        matrix_units_add(&l.matrix, &shape[i]);
    write_beside("net.lua", text);
    char *path = path_join(folder, "net.lua");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct network n;
        const struct script_options o = {.path = path,
                                         .set = rows[i].set,
                                         .set_count = 2,
                                         .device_type = "discrete",
                                         .limits = &l};
        if (!network_load(&o, &n, &e))
            fail_msg("%s", e.text);
        int products = 0;
        for (int t = 0; t < n.task_count; t++) {
            bool is_product = strcmp(n.task[t].preset, "copy") != 0;
            products += is_product;
            if (is_product && is_on_units(&n.task[t], &l) != rows[i].on_units)
                fail_msg("%s %s: %s", rows[i].set[0].value, rows[i].set[1].value, n.task[t].label);
        }
        assert_int_equal(products, 5);
        network_finish(&n);
    }
    free(path);
}

// Sizes that fit are found: of the first size for which that is enough, else of all; those that are
// given stay, unless nothing else helps.
static void smaller_sizes(void **state)
{
    static const char text[] =
        NETWORK "local a, b = size('a', 80), size('b', 1000)\n"
                "for i, n in ipairs { a * 1000, a * b // 4 } do\n"
                "  layer { name = 'l' .. i, preset = 'elementwise', uses = 1,\n"
                "          set = { count = n, apply = 'relu' } }\n"
                "end\n";
    static const struct {
        struct setting given[1];
        uint64_t bytes;
        bool found;
        const char *sizes, *hint;
    } rows[] = {
        {{{NULL, NULL}}, 280000, true, "a=70", "--set a=70 fits"},
        {{{"a", "80"}}, 280000, false, "a=70", "--set a=70 fits"},
        {{{"a", "8"}}, 31999, false, "a=7", "--set a=7 fits"},
        {{{NULL, NULL}}, 30000, false, "", "no eighth"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct limits limits = limits_vulkan_minimum;
        const struct script_text as = {"net.lua", "net.lua", text};
        struct script_options o = {.path = "net.lua", .texts = &as, .text_count = 1};
        struct network n;
        struct arena a;
        struct network_sizes sizes = {.arena = &a};
        struct err e;
        arena_init(&a);
        o.set = rows[i].given;
        o.set_count = rows[i].given->name != NULL;
        assert_true(network_load(&o, &n, &e));
        limits.buffer_bytes = rows[i].bytes;
        assert_false(network_fits(&n, &limits, 0, &e));
        assert_int_equal(network_fit(&n, &o, &limits, 0, &sizes, &e), rows[i].found);
        assert_string_equal(sizes.text, rows[i].sizes);
        assert_non_null(strstr(e.text, rows[i].hint));
        network_finish(&n);
        arena_finish(&a);
    }
}

static void large_networks(void **state)
{
    (void)state;
    struct limits limits = limits_vulkan_minimum;
    struct network n;
    struct err e;
    struct wording r;
    wording_begin(&r, "script", "network sizes");
    assert_true(load(NETWORK INPUT "local y = layer { name = 'a', " PRODUCT ", from = x } "
                                   "output(layer { name = 'b', from = y, preset = 'mm', "
                                   "set = { N = 4, M = 1000000, K = 8 } })",
                     &n, &e));
    limits.buffer_bytes = 32000000;
    assert_true(network_fits(&n, &limits, 0, &e));
    limits.buffer_bytes--;
    assert_false(network_fits(&n, &limits, 0, &e));
    assert_true(str_starts(e.text, "layer 'b' of net ") && strstr(e.text, "32 MB"));
    wording_add(&r, "a byte more than a buffer may have", e.text);
    limits.buffer_bytes++;
    uint64_t bytes = plan_bytes(&n.plan).kept + plan_bytes(&n.plan).shared;
    assert_true(network_fits(&n, &limits, bytes, &e));
    assert_false(network_fits(&n, &limits, bytes - 1, &e));
    assert_non_null(strstr(e.text, "48 MB"));
    wording_add(&r, "a byte more than the memory", e.text);
    wording_end(&r);
    network_finish(&n);
}

static void unknown_names_in_networks(void **state)
{
    struct err e;
    struct wording r;
    wording_begin(&r, "script", "network names");
    int count;
    (void)state;
    char *net = path_join(folder, "net.lua");
    static const struct {
        const char *text;
        bool is;
    } files[] = {{"network 'a'", true},
                 {" -- a\n--[[ b\n ]]\tnetwork(\"a\")", true},
                 {"local a network 'b'", false},
                 {"networks 'a'", false},
                 {"network", false},
                 {"network\n  'a'", true},
                 {"('a'):len() network 'a'", false},
                 {"-- network 'a'", false},
                 {"--[[ network 'a'", false},
                 {"", false}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        write_beside("net.lua", files[i].text);
        assert_int_equal(network_is(net), files[i].is);
    }
    assert_false(network_is(folder));
    assert_false(network_is("gemm"));
    assert_true(network_is("alexnet"));
    assert_null(script_find("mobilenet", &e));
    wording_add(&r, "script_find mobilenet", e.text);
    assert_null(network_find("alexnett", &e));
    wording_add(&r, "network_find alexnett", e.text);
    wording_end(&r);
    char **names = network_names(&count);
    assert_int_equal(count, 5);
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
    free(net);
}

TEST_GROUP(network)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_are_as_declared),
        cmocka_unit_test(settings_are_taken),
        cmocka_unit_test(equal_tasks_are_one),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(mistakes_in_layers_are_named),
        cmocka_unit_test(layers_follow_from_their_input),
        cmocka_unit_test(own_presets_are_found),
        cmocka_unit_test(presets_see_the_device),
        cmocka_unit_test(types_chain_or_are_refused),
        cmocka_unit_test(layers_choose_matrix_units),
        cmocka_unit_test(smaller_sizes),
        cmocka_unit_test(large_networks),
        cmocka_unit_test(unknown_names_in_networks),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
