// Network files: what they declare, what flows, and one clear line for each mistake.
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

// What --set says is the file's own; what a layer leaves to its preset is settled.
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
    assert_true(e.usage && strstr(e.text, "--set batsch=3: unknown size (did you mean 'batch'?)"));
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

static const struct {
    const char *text, *expected;
} wrong[] = {
    // what does not chain
    {NETWORK INPUT "\noutput(layer { name = 'a', preset = 'mm', set = { N = 4, M = 8, K = 9 }, "
                   "from = x })",
     "net.lua:2: layer 'a': 'x' gives f32 4x8 (32 elements), A takes f32 4x9 (36 elements)"},
    {NETWORK INPUT "output(layer { name = 'a', from = x, preset = 'mm', "
                   "set = { N = 4, M = 8, K = 8, type = 'f16' } })",
     "net.lua:1: layer 'a': 'x' gives f32 4x8 (32 elements), A takes f16 4x8 (32 elements)"},
    {NETWORK INPUT "local y = layer { name = 'a', " PRODUCT ", from = x }\n"
                   "output(layer { name = 'b', preset = 'maxpool', from = y, set = { batch = 1, "
                   "channels = 1, height = 8, width = 8, window = 2, stride = 2 } })",
     "2: layer 'b': 'a' gives f32 4x8 (32 elements), X takes f32 1x1x8x8 (64 elements)"},
    {NETWORK INPUT "output(layer { name = 'a', preset = 'gemm', "
                   "set = { N = 2, M = 8, K = 16, row_a = 24 }, from = x })",
     "'x' gives f32 4x8 (32 elements), A takes f32 2x16 (32 elements in 48)"},
    // what is not there
    {NETWORK INPUT "output(layer { name = 'a', preset = 'gem', from = x })",
     "layer 'a': gem: no file and no preset 'gem' (did you mean 'gemm'?)"},
    {NETWORK INPUT "output(layer { name = 'a', preset = '../mm.lua', from = x })",
     "layer 'a': ../mm.lua: "},
    {NETWORK INPUT "output(layer { name = 'a', preset = 'mm', set = { Q = 1 }, from = x })",
     "layer 'a': mm: Q=1: unknown size (did you mean 'N'?)"},
    {NETWORK INPUT "output(layer { name = 'a', preset = 'mm', set = { N = 0.5 }, from = x })",
     "layer 'a': mm: N=0.5: a size is a whole number from 1 to 2147483647"},
    {NETWORK INPUT "output(layer { name = 'a', preset = 'maxpool', set = { window = 60, "
                   "height = 1 }, from = x })",
     "max_pool: the window is larger than the padded image"},
    {NETWORK INPUT "output(layer { name = 'a', " PRODUCT ", from = { Z = x } })",
     "layer 'a': from: matmul reads no 'Z' (it reads A, B)"},
    {NETWORK INPUT "output(layer { name = 'a', " PRODUCT ", from = { A = x, residual = x } })",
     "layer 'a': from: matmul reads no 'residual' (it reads A, B)"},
    {NETWORK INPUT "output(layer { name = 'a', preset = '/etc/passwd', from = x })",
     "layer 'a': /etc/passwd: no file and no preset '/etc/passwd'"},
    {NETWORK INPUT "output(layer { name = 'a', preset = '/etc/a.lua', from = x })",
     "layer 'a': /etc/a.lua: a file is named relative to the network's folder"},
    // what is used before it is made, so that nothing can go round
    {NETWORK INPUT "local z local y = layer { name = 'a', " PRODUCT ", from = z }\n"
                   "z = layer { name = 'b', " PRODUCT ", from = y } output(z)",
     "1: layer 'a': from: expected what input or layer has returned, got nothing (a value can be "
     "used only after the line that makes it)"},
    {NETWORK INPUT "output(layer { name = 'a', " PRODUCT ", from = y })", "1: unknown name 'y'"},
    {NETWORK INPUT "local t = {} t.from = t t.name = 'a' t.preset = 'mm' output(layer(t))",
     "layer 'a': from: matmul reads no 'from'"},
    {NETWORK INPUT "output(layer { name = 'a', " PRODUCT ", from = { A = { } } })",
     "layer 'a': from: A: expected what input or layer has returned, got table"},
    {NETWORK INPUT "output(layer { name = 'a', " PRODUCT ", from = {} })",
     "layer 'a': from is empty"},
    {NETWORK INPUT "output(layer { name = 'a', " PRODUCT ", from = { x } })",
     "layer 'a': from: expected a string, got number"},
    {NETWORK INPUT "output(layer { name = 'a', " PRODUCT ", from = 'x' })",
     "layer 'a': from: expected what input or layer has returned, got string"},
    // what nothing uses, names, numbers
    {NETWORK INPUT "\nlayer { name = 'a', " PRODUCT ", from = x }\n\n"
                   "output(layer { name = 'b', " PRODUCT ", from = x })",
     "net.lua:2: layer 'a' is used by nothing (give it to a layer's from, or to output)"},
    {NETWORK INPUT "\ninput { name = 'z', sizes = { 1 } }\n"
                   "output(layer { name = 'b', " PRODUCT ", from = x })",
     "net.lua:2: input 'z' is used by nothing"},
    {NETWORK INPUT "layer { name = 'a', " PRODUCT ", from = x }",
     "the network has no output (output(x))"},
    {NETWORK INPUT, "the network has no layers"},
    {NETWORK INPUT "\nlayer { name = 'x', " PRODUCT ", from = x }",
     "2: layer: the name 'x' is taken already"},
    {NETWORK "for i = 1, 5000 do input { name = 'x' .. i, sizes = { 1 } } end",
     "1: more than 4096 inputs"},
    {NETWORK INPUT "for i = 1, 5000 do x = layer { name = 'a' .. i, " PRODUCT
                   ", from = x } end output(x)",
     "1: more than 4096 layers"},
    {NETWORK INPUT "output(x)", "output: 'x' is an input, no layer has made it"},
    {NETWORK INPUT "local y = layer { name = 'a', " PRODUCT ", from = x } output(y) output(y)",
     "output: 'a' is an output already"},
    {NETWORK INPUT "output(3)", "output: expected what input or layer has returned, got number"},
    {NETWORK "input { name = 'x', sizes = { 1, 2, 3, 4, 5 } }",
     "input: sizes: expected 1 to 4 numbers, got 5"},
    {NETWORK "input { name = 'x', sizes = { 0 } }", "input: sizes is 0, not within 1..2147483647"},
    {NETWORK "input { name = 'x', sizes = { 1 }, type = 'f64' }",
     "input: type has no 'f64' (f32, f16, i8, i32)"},
    {NETWORK "input { name = 'x', size = { 1 } }",
     "input has no field 'size' (did you mean 'sizes'?)"},
    {NETWORK INPUT "x.count = 3", "a value of the network is read-only"},
    // what begins otherwise, and what is not its language
    {"", "net.lua:1: a network file begins with: network \"what it is\""},
    {"local a = 1 " NETWORK, "net.lua:1: a network file begins with"},
    {"networks 'a'", "net.lua:1: a network file begins with"},
    {NETWORK NETWORK, "the network is declared twice"},
    {"network(3)", "network: expected a string, got number"},
    {NETWORK "param.x = 1", "unknown name 'param'"},
    {NETWORK "use('mm.lua')", "unknown name 'use'"},
    {NETWORK "local a = device.type", "unknown name 'device'"},
    {NETWORK "size('batch', 1) size('batch', 1)", "size 'batch' is declared twice"},
    {NETWORK "while true do end",
     "too many steps: the limit is 50 million in loading a space file (an endless loop?)"},
};

static void mistakes_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct network n;
        struct err e;
        char message[1400];
        if (load(wrong[i].text, &n, &e))
            fail_msg("%s\n  is taken", wrong[i].text);
        network_finish(&n);
        err_format(&e, message, sizeof message);
        if (!strstr(message, wrong[i].expected))
            fail_msg("%s\n  gives %s\n  not   %s", wrong[i].text, message, wrong[i].expected);
        assert_null(strchr(message, '\n'));
    }
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
    const char *text, *expected;
} wrong_layers[] = {
    {"layers.convolution { 'a', x, channels = 8 }",
     "net.lua:4: convolution 'a': kernel is missing"},
    {"layers.convolution { 'a', x, channels = 8, kernel = 3, strides = 2 }",
     "net.lua:4: convolution 'a' has no field 'strides'"},
    {"layers.convolution { 'a', y, channels = 8, kernel = 3 }", "net.lua:4: unknown name 'y'"},
    {"layers.convolution { 'a', nil, channels = 8, kernel = 3 }",
     "net.lua:4: convolution 'a': expected 1 input after its name"},
    {"layers.convolution { x, channels = 8, kernel = 3 }",
     "net.lua:4: convolution: the first is its name, a string"},
    {"layers.convolution(3)", "net.lua:4: convolution { \"name\", x, ... }: expected a table"},
    {"layers.convolution { 'a', x, channels = 8, kernel = 9 }",
     "net.lua:4: layer 'a': conv-implicit: "},
    {"layers.convolution { 'a', x, channels = 8, kernel = 3, padding = 1, residual = x, "
     "stride = 2 }",
     "net.lua:4: layer 'a': 'x' gives f32 1x8x6x6 (288 elements), residual takes f32 1x8x3x3 (72 "
     "elements)"},
    {"layers.convolution { 'a', x, channels = 8, kernel = 3, activation = 'gelu' }",
     "layer 'a': conv-implicit: activation=gelu: activation has none, relu, leaky, clamp"},
    {"layers.dense { 'a', x, outputs = 8, rows = 7 }", "net.lua:4: dense 'a': 'x' has not 7 equal"},
    {"layers.add { 'a', x }", "net.lua:4: add 'a': expected 2 inputs after its name"},
    {"layers.maxpool { 'a', layers.dense { 'b', x, outputs = 3 }, window = 2 }",
     "net.lua:4: maxpool 'a': 'b' is no image"},
    {"layers.attention { 'a', x, x, x, heads = 2 }", "queries and keys are matrices"},
    {"layers.conv { 'a', x }", "net.lua:4: attempt to call a nil value (field 'conv')"},
};

static void mistakes_in_layers_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong_layers / sizeof *wrong_layers; i++) {
        struct network n;
        struct err e;
        char message[1400], text[1000];
        snprintf(text, sizeof text, LAYERS "\n%s", wrong_layers[i].text);
        if (load(text, &n, &e))
            fail_msg("%s\n  is taken", wrong_layers[i].text);
        network_finish(&n);
        err_format(&e, message, sizeof message);
        if (!strstr(message, wrong_layers[i].expected))
            fail_msg("%s\n  gives %s\n  not   %s", wrong_layers[i].text, message,
                     wrong_layers[i].expected);
    }
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
    assert_non_null(strstr(e.text, "the device has no matrix units that multiply f16"));
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

static void large_networks_are_told(void **state)
{
    (void)state;
    struct limits limits = limits_vulkan_minimum;
    struct network n;
    struct err e;
    assert_true(load(NETWORK INPUT "local y = layer { name = 'a', " PRODUCT ", from = x } "
                                   "output(layer { name = 'b', from = y, preset = 'mm', "
                                   "set = { N = 4, M = 1000000, K = 8 } })",
                     &n, &e));
    limits.buffer_bytes = 32000000;
    assert_true(network_fits(&n, &limits, 0, &e));
    limits.buffer_bytes--;
    assert_false(network_fits(&n, &limits, 0, &e));
    assert_string_equal(e.text, "layer 'b' of net has a buffer of 32 MB, the device takes 31 MB "
                                "(--set makes a network smaller)");
    limits.buffer_bytes++;
    uint64_t bytes = plan_bytes(&n.plan).kept + plan_bytes(&n.plan).shared;
    assert_true(network_fits(&n, &limits, bytes, &e));
    assert_false(network_fits(&n, &limits, bytes - 1, &e));
    assert_string_equal(e.text, "net needs 48 MB of memory, the device has 48 MB (--set makes a "
                                "network smaller)");
    network_finish(&n);
}

static void words_for_networks(void **state)
{
    struct err e;
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
    assert_string_equal(e.text,
                        "'mobilenet' is a network, not a preset (tilewalk check mobilenet)");
    assert_null(network_find("alexnett", &e));
    assert_string_equal(e.text, "no file and no network 'alexnett' (did you mean 'alexnet'?)");
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
        cmocka_unit_test(large_networks_are_told),
        cmocka_unit_test(words_for_networks),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
