// Imports logs of GGML_VK_PERF_LOGGER, of old and new versions, as network files.
#include "group.h"
#include "wording.h"

#include "base/file.h"
#include "import/import.h"
#include "script/network.h"

#include <math.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/tilewalk-log-XXXXXX";

static bool import(const char *text, struct imported *m, struct err *e)
{
    const struct import_format *f;
    const struct import_request q = {.path = path};
    assert_true(file_write(path, text, strlen(text), e));
    assert_true(import_detect(path, &f, e));
    assert_ptr_equal(f, &import_perf_log);
    return import_run(f, &q, m, e);
}

static const struct {
    const char *line, *name, *title;
    int64_t uses;
    double seconds; // of all
} known[] = {
    {"MUL_MAT m=11008 n=512 k=4096: 62 x 14361.3 ms", "unknown.m11008.n512.k4096",
     "matmul f16 nt 512x11008x4096", 62, 62 * 14.3613},
    {"MUL_MAT_VEC m=11008 k=4096: 2 x 200.069 ms", "unknown.m11008.n1.k4096",
     "matmul f16 nt 1x11008x4096", 2, 2 * 0.200069},
    {"MUL_MAT_VEC m=4096 n=1 k=4096: 224 x 63.5 us\r", "unknown.m4096.n1.k4096",
     "matmul f16 nt 1x4096x4096", 224, 224 * 63.5e-6},
    {"MUL_MAT_VEC f32 m=512 n=1 k=2048: 61488 x 33.658 us = 1.2e+06 us (62.2913 GFLOPS/s)",
     "f32.m512.n1.k2048", "matmul f32 nt 1x512x2048", 61488, 61488 * 33.658e-6},
    {"0.12 I MUL_MAT_ADD MUL_MAT_VEC q8_0 m=2048 n=2 k=4096: 1 x 1.5e+03 us = 1500 us",
     "q8_0.m2048.n2.k4096", "matmul f16 nt 2x2048x4096", 1, 1.5e-3},
    {"MUL_MAT f16 m=256 n=64 k=128 batch=32: 3 x 10 us", "f16.m256.n64.k128.batch32",
     "batch_matmul f16 nt 32x64x256x128", 3, 30e-6},
    {"MUL_MAT_ID_MUL MUL_MAT_ID_VEC q4_K m=512 n=8 k=2048 n_expert=256: 80 x 27 us",
     "q4_K.m512.n8.k2048.experts256", "matmul f16 nt 1x512x2048", 640, 80 * 27e-6},
    {"MUL_MAT_ID q4_K m=512 n=8 k=2048 n_expert=256 batch=512: 2 x 500 us",
     "q4_K.m512.n8.k2048.batch512.experts256", "matmul f16 nt 16x512x2048", 512, 1e-3},
    {"MUL_MAT_ID_VEC q4_K m=512 n=8 k=2048: 1 x 27 us", "q4_K.m512.n8.k2048.experts8",
     "matmul f16 nt 1x512x2048", 8, 27e-6},
};

static void load(const struct imported *m, struct network *n)
{
    const struct script_text text = {"log.lua", "log.lua", str_text(&m->text)};
    const struct script_options o = {.path = "log.lua", .texts = &text, .text_count = 1};
    struct err e;
    if (!network_load(&o, n, &e))
        fail_msg("%s:%d: %s\n%s", e.file, e.line, e.text, text.text);
}

static void lines_of_all_versions_are_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct imported m;
        struct network n;
        struct err e;
        if (!import(known[i].line, &m, &e))
            fail_msg("%s", e.text);
        load(&m, &n);
        assert_int_equal(n.layer_count, 1);
        assert_string_equal(n.layer[0].output.name, known[i].name);
        assert_string_equal(n.task[0].title, known[i].title);
        assert_int_equal(n.task[0].uses, known[i].uses);
        assert_true(fabs(n.task[0].told_s / known[i].seconds - 1) < 1e-6);
        network_finish(&n);
        imported_finish(&m);
    }
}

static const char whole[] =
    "main: loading\n"
    "Vulkan Timings:\n"
    "ADD: 64 x 5 us = 320 us\n"
    "MUL_MAT_VEC q4_K m=64 n=1 k=32: 10 x 2 us\n"
    "FLASH_ATTN_EXT dst(256,16,1,1),  q(256,1,16,1): 32 x 10 us = 320 us\n"
    "MUL_MAT_VEC q4_K m=64 n=1 k=64, MUL_MAT_VEC f32 m=64 n=1 k=32, RMS_NORM: 10 x 9 us\n"
    "Total time: 750 us.\n"
    "Vulkan Timings:\n"
    "MUL_MAT_VEC q4_K m=64 n=1 k=32: 30 x 3 us\n"
    "Total time: 750 us.\n";

// Products that are alike are counted as one, those that ran together share the time, and the
// longest come first.
static void times_are_weights(void **state)
{
    struct imported m;
    struct network n;
    struct err e;
    (void)state;
    assert_true(import(whole, &m, &e));
    assert_int_equal(m.note_count, 1);
    wording_is("import", "perf_log: other time", m.note[0]);
    load(&m, &n);
    assert_int_equal(n.layer_count, 3);
    assert_string_equal(n.layer[0].output.name, "q4_K.m64.n1.k32");
    assert_int_equal(n.layer[0].uses, 40);
    assert_true(fabs(n.task[0].told_s - 110e-6) < 1e-9);
    assert_string_equal(n.layer[1].output.name, "q4_K.m64.n1.k64");
    assert_true(fabs(n.task[1].told_s - 60e-6) < 1e-9);
    assert_true(fabs(n.task[2].told_s - 30e-6) < 1e-9);
    assert_true(fabs(network_told(&n) - 200e-6) < 1e-9);
    network_finish(&n);
    imported_finish(&m);
}

static const char *const bad[] = {
    "MUL_MAT q4_K m=0 n=1 k=32: 10 x 2 us",
    "MUL_MAT q4_K m=99999999999 n=1 k=32: 10 x 2 us",
    "MUL_MAT q4_K m=64 n=-1 k=32: 10 x 2 us",
    "MUL_MAT q4_K m=64 n=1: 10 x 2 us",
    "MUL_MAT q4_K m=64 n=1 k=32: 0 x 2 us",
    "MUL_MAT q4_K m=64 n=1 k=32: 10 x -2 us",
    "MUL_MAT q4_K m=64 n=1 k=32: 10 x 1e999 us",
    "MUL_MAT q4_K m=64 n=1 k=32: 10 times 2 us",
    "MUL_MAT q4_K m=64 n=1 k=32",
};

static void unreadable_lines_are_named(void **state)
{
    (void)state;
    struct wording w;
    wording_begin(&w, "import", "perf_log: no log");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct imported m;
        struct err e;
        char *text = mem_printf("Vulkan Timings:\n%s\n", bad[i]);
        if (import(text, &m, &e))
            fail_msg("'%s' is taken", bad[i]);
        assert_string_equal(e.file, path);
        assert_int_equal(e.line, 2);
        wording_add(&w, bad[i], e.text);
        imported_finish(&m);
        free(text);
    }
    wording_end(&w);
}

// A network file that is too long to be read is not written: the products that took most are.
static void many_products_are_cut(void **state)
{
    (void)state;
    struct str log = {0};
    struct imported m;
    struct network n;
    struct err e;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 100000; i++)
            str_printf(&log, "MUL_MAT_VEC q4_K m=%d n=%d k=64: 1 x %d us\n", i % 500 + 1,
                       i / 500 + 1, i + 1);
    if (!import(str_text(&log), &m, &e))
        fail_msg("%s", e.text);
    load(&m, &n);
    assert_in_range(n.layer_count, 100, 1000);
    assert_string_equal(n.layer[0].output.name, "q4_K.m500.n200.k64");
    assert_int_equal(n.task[0].uses, 2);
    assert_true(fabs(n.task[0].told_s / 0.2 - 1) < 1e-6); // both lines
    assert_int_equal(m.note_count, 1);
    network_finish(&n);
    imported_finish(&m);
    str_finish(&log);
}

static int set_up(void **state)
{
    (void)state;
    return close(mkstemp(path));
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

TEST_GROUP(perf_log)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_all_versions_are_known),
        cmocka_unit_test(times_are_weights),
        cmocka_unit_test(many_products_are_cut),
        cmocka_unit_test(unreadable_lines_are_named),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
