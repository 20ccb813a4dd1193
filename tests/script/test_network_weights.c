// Constants of networks from files: what a layer says, and one clear line for each mistake. What
// may be wrong with the files themselves: tests/weights.
#include "group.h"

#include "base/file.h"
#include "base/str.h"
#include "script/network.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/tilewalk-network-XXXXXX";

static void put(const char *name, const void *begin, size_t begins, size_t floats)
{
    static const float numbers[32] = {0, 1, 2, 3};
    struct str s = {0};
    struct err e;
    char *path = path_join(folder, name);
    str_add_bytes(&s, begin, begins);
    str_add_bytes(&s, numbers, floats * sizeof *numbers);
    assert_true(file_write(path, str_text(&s), s.length, &e));
    str_finish(&s);
    free(path);
}

static int make_folder(void **state)
{
    static const char npy[] = "\x93NUMPY\x01\0\x3b\0{'descr': '<f4', 'fortran_order': False, "
                              "'shape': (4, 8), }",
                      safe[] = "\x37\0\0\0\0\0\0\0{\"b\":{\"dtype\":\"F32\",\"shape\":[8],"
                               "\"data_offsets\":[0,32]}}";
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    put("w.npy", npy, sizeof npy - 1, 32);
    put("m.safetensors", safe, sizeof safe - 1, 8);
    return 0;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"net.lua", "w.npy", "m.safetensors"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = path_join(folder, names[i]);
        unlink(path);
        free(path);
    }
    return rmdir(folder);
}

static bool load(const char *text, struct network *n, struct err *e)
{
    char *path = path_join(folder, "net.lua");
    put("net.lua", text, strlen(text), 0);
    bool ok = network_read(path, NULL, 0, n, e);
    free(path);
    return ok;
}

#define NETWORK                                                                                    \
    "network 'a net' local layers = include 'layers.lua'\n"                                        \
    "local x = input { name = 'x', sizes = { 4, 8 }, file = 'w.npy' }\n"

static void weights_come_from_files(void **state)
{
    struct network n;
    struct err e;
    char message[1400];
    float out[32] = {0};
    (void)state;
    if (!load(NETWORK "x = layers.dense { 'a', x, outputs = 8, bias = true }\n"
                      "x = layers.dense { 'b', x, outputs = 8, bias = { 'm.safetensors', 'b' } }\n"
                      "output(layers.dense { 'c', x, outputs = 4, weights = 'w.npy' })",
              &n, &e))
        fail_msg("%s", err_format(&e, message, sizeof message));
    assert_int_equal(n.task_count, 2); // weights make no other task: 'a' and 'b' are one
    assert_int_equal(n.layer[0].weights_count, 0);
    assert_int_equal(n.layer[1].weights_count, 1);
    assert_string_equal(n.layer[1].weights[0].tensor, "bias");
    assert_string_equal(n.layer[1].weights[0].from.name, "b");
    assert_true(n.layer[1].read_bytes == 32 && n.layer[1].weight_bytes == 288);
    assert_string_equal(n.layer[2].weights[0].tensor, "B");
    assert_int_equal(n.layer[2].weights[0].from.count, 32);
    const struct weights *const from[] = {n.input[0].from, &n.layer[1].weights[0].from,
                                          &n.layer[2].weights[0].from};
    for (int i = 0; i < 3; i++) {
        out[3] = 0;
        assert_true(weights_read(from[i], out, &e) && out[3] == 3);
    }
    network_finish(&n);
}

#define DENSE(weights) "output(layers.dense { 'a', x, outputs = 8, weights = " weights " })"
#define LAYER(weights)                                                                             \
    "output(layer { name = 'a', preset = 'mm', set = { N = 4, M = 8, K = 8 }, from = x, weights "  \
    "= " weights " })"

static const struct {
    const char *text, *expected;
} wrong[] = {
    {LAYER("{ Z = 'w.npy' }"), "layer 'a': weights: matmul reads no 'Z' (it reads A, B)"},
    {LAYER("{ A = 'w.npy' }"), "layer 'a': weights: A is given by from, too"},
    {LAYER("{ B = 'w.npy' }"),
     "net.lua:3: layer 'a': weights: B: w.npy: it holds f32 4x8 (32 elements), B takes f32 8x8 (64 "
     "elements) (is it that of another layer?)"},
    {DENSE("'w.npy'"), "net.lua:3: layer 'a': weights: B: w.npy: it holds f32 4x8"},
    {"output(layers.dense { 'a', x, outputs = 8, bias = 'w.npy' })",
     "net.lua:3: layer 'a': weights: bias: w.npy: it holds f32 4x8 (32 elements), bias takes"},
    {DENSE("'none.npy'"), "layer 'a': weights: B: none.npy: No such file or directory"},
    {DENSE("'../w.npy'"), "../w.npy: a file is named relative to the network's folder, without"},
    {DENSE("'/w.npy'"), "/w.npy: a file is named relative to the network's folder, without '..'"},
    {DENSE("'w.npz'"), "w.npz: a file of weights is a .npy or a .safetensors"},
    {DENSE("{ 'w.npy', 'w' }"), "w.npy: a .npy is one array, which has no name ('w')"},
    {DENSE("{ 'm.safetensors' }"), "it has 1 tensor: { FILE, \"b\" } names it"},
    {DENSE("{ 'm.safetensors', 'c' }"), "m.safetensors: it has no tensor 'c' (did you mean 'b'?)"},
    {DENSE("{ 'w.npy', rounds = true }"), "B has no field 'rounds' (did you mean 'round'?)"},
    {DENSE("{ 'w.npy', round = 1 }"), "weights: B: round: expected a boolean, got number"},
    {DENSE("{ }"), "B: expected \"FILE.npy\" or { \"FILE.safetensors\", \"NAME\" }"},
    {DENSE("{ 1 }"), "weights: B: expected a string, got number"},
    {DENSE("3"), "weights: B: expected a table, got number"},
    {LAYER("'w.npy'"), "layer 'a': weights: expected a table, got string"},
    {"input { name = 'y', sizes = { 8, 4 }, file = 'w.npy' }",
     "net.lua:3: input 'y': file: w.npy: it holds f32 4x8 (32 elements), the input takes f32 8x4"},
};

static void mistakes_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct network n;
        struct err e;
        char message[1400], text[1000];
        snprintf(text, sizeof text, NETWORK "%s", wrong[i].text);
        if (load(text, &n, &e))
            fail_msg("%s\n  is taken", wrong[i].text);
        network_finish(&n);
        err_format(&e, message, sizeof message);
        if (!strstr(message, wrong[i].expected))
            fail_msg("%s\n  gives %s\n  not   %s", wrong[i].text, message, wrong[i].expected);
        assert_null(strchr(message, '\n'));
    }
}

TEST_GROUP(network_weights)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_come_from_files),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
