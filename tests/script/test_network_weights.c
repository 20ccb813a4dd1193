// Constants of networks from files, and one clear line for each mistake of a layer. Mistakes in the
// files themselves are tested in tests/weights.
#include "errors.h"
#include "group.h"

#include "base/file.h"
#include "base/mem.h"
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
    const char *text, *place;
} wrong[] = {
    {LAYER("{ Z = 'w.npy' }"), "net.lua:3"},
    {LAYER("{ A = 'w.npy' }"), "net.lua:3"},
    {LAYER("{ B = 'w.npy' }"), "net.lua:3"},
    {DENSE("'w.npy'"), "net.lua:3"},
    {"output(layers.dense { 'a', x, outputs = 8, bias = 'w.npy' })", "net.lua:3"},
    {DENSE("'none.npy'"), "net.lua:3"},
    {DENSE("'../w.npy'"), "net.lua:3"},
    {DENSE("'/w.npy'"), "net.lua:3"},
    {DENSE("'w.npz'"), "net.lua:3"},
    {DENSE("{ 'w.npy', 'w' }"), "net.lua:3"},
    {DENSE("{ 'm.safetensors' }"), "net.lua:3"},
    {DENSE("{ 'm.safetensors', 'c' }"), "net.lua:3"},
    {DENSE("{ 'w.npy', rounds = true }"), "net.lua:3"},
    {DENSE("{ 'w.npy', round = 1 }"), "net.lua:3"},
    {DENSE("{ }"), "net.lua:3"},
    {DENSE("{ 1 }"), "net.lua:3"},
    {DENSE("3"), "net.lua:3"},
    {LAYER("'w.npy'"), "net.lua:3"},
    {"input { name = 'y', sizes = { 8, 4 }, file = 'w.npy' }", "net.lua:3"},
};

static void mistakes_are_named(void **state)
{
    int bad = 0;
    struct wording r;
    (void)state;
    wording_begin(&r, "script", "network weights");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct network n;
        struct err e;
        char *text = mem_printf(NETWORK "%s", wrong[i].text);
        if (load(text, &n, &e))
            fail_msg("%s\n  is taken", wrong[i].text);
        network_finish(&n);
        char *message = errors_format(&e, folder);
        bad += !errors_add(&r, wrong[i].text, message, wrong[i].place, false);
        free(message);
        free(text);
    }
    wording_end(&r);
    assert_int_equal(bad, 0);
}

TEST_GROUP(network_weights)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_come_from_files),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
