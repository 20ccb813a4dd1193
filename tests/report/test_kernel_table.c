// Tables of kernels: what is replaced, what cannot be read.
#include "group.h"

#include "report/kernel_table.h"

#include "base/file.h"
#include "base/str.h"

#include <string.h>
#include <unistd.h>

struct made {
    int64_t size[3]; // N, M, K
    const char *type, *layout;
    const char *device, *device_type, *driver, *identity;
    double ms;
};

static const struct made plain = {{64, 64, 64}, "f32",        "nn",     "Card 1",
                                  "discrete",   "Maker, 1.0", "card-1", 2};

static char *entry_text(const struct made *m)
{
    return mem_printf(
        "{\n  \"title\": \"t\", \"space\": \"gemm\", \"unknown\": [\"kept\", {\"a\": \"}\"}],\n"
        "  \"problem\": {\"kind\":\"matmul\",\"N\":%d,\"M\":%d,\"K\":%d,\"type\":\"%s\",\"layout\":"
        "\"%s\"},\n  \"configuration\": {\"p\": [%d]}, \"device\": \"%s\", \"device_type\": \"%s\","
        " \"driver\": \"%s\", \"device_identity\": \"%s\",\n"
        "  \"timing\": {\"ms\": %g, \"tflops\": %g}\n}",
        (int)m->size[0], (int)m->size[1], (int)m->size[2], m->type, m->layout, (int)m->ms,
        m->device, m->device_type, m->driver, m->identity, m->ms, 1 / m->ms);
}

static enum kernel_change add(struct kernel_table *t, const struct made *m)
{
    struct err e;
    enum kernel_change change;
    char *text = entry_text(m);
    if (!kernel_table_add(t, text, &change, &e))
        fail_msg("%s", e.text);
    free(text);
    return change;
}

static void test_the_fastest_stays(void **state)
{
    (void)state;
    struct kernel_table t;
    kernel_table_init(&t);
    struct made m = plain;
    assert_int_equal(add(&t, &m), KERNEL_ADDED);
    m.ms = 3;
    assert_int_equal(add(&t, &m), KERNEL_KEPT);
    m.ms = 1;
    assert_int_equal(add(&t, &m), KERNEL_REPLACED);
    assert_int_equal(add(&t, &m), KERNEL_KEPT);
    m.identity = "card-2";
    assert_int_equal(add(&t, &m), KERNEL_ADDED);
    m.type = "f16";
    assert_int_equal(add(&t, &m), KERNEL_ADDED);
    m.size[2] = 65;
    assert_int_equal(add(&t, &m), KERNEL_ADDED);
    assert_int_equal(t.count, 4);
    assert_true(t.entry[0].ms == 1);
    kernel_table_finish(&t);
}

// Written and read again it is the same text, with all that an entry held.
static void test_round_trip(void **state)
{
    (void)state;
    struct kernel_table t, again;
    struct str first = {0}, second = {0};
    struct err e;
    struct made m = plain;
    char path[] = "/tmp/table-XXXXXX";
    close(mkstemp(path));
    kernel_table_init(&t);
    kernel_table_init(&again);
    add(&t, &m);
    m.size[0] = 128;
    add(&t, &m);
    kernel_table_add_text(&t, &first);
    assert_non_null(strstr(str_text(&first), "\"unknown\": [\"kept\", {\"a\": \"}\"}]"));
    assert_true(file_write(path, str_text(&first), first.length, &e));
    assert_true(kernel_table_read(&again, path, &e));
    kernel_table_add_text(&again, &second);
    assert_string_equal(str_text(&first), str_text(&second));
    unlink(path);
    str_finish(&first);
    str_finish(&second);
    kernel_table_finish(&again);
    kernel_table_finish(&t);
}

static void expect_unreadable(const char *text, const char *part)
{
    struct kernel_table t;
    struct err e;
    char path[] = "/tmp/table-XXXXXX";
    close(mkstemp(path));
    kernel_table_init(&t);
    assert_true(file_write(path, text, strlen(text), &e));
    assert_false(kernel_table_read(&t, path, &e));
    assert_string_equal(e.file, path);
    assert_non_null(strstr(e.text, part));
    unlink(path);
    kernel_table_finish(&t);
}

static void test_unreadable(void **state)
{
    (void)state;
    expect_unreadable("{\"format\": \"tilewalk-recording\"}", "export --as table");
    expect_unreadable("{\"format\": \"tilewalk-table\", \"version\": 2, \"entries\": []}",
                      "version 2");
    expect_unreadable("{\"format\": \"tilewalk-table\", \"version\": 1, \"entries\": [{}]}",
                      "an entry needs");
    expect_unreadable("{\"format\": \"tilewalk-table\", \"entries\": [", "");
    expect_unreadable("", "");
}

TEST_GROUP(kernel_table)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_fastest_stays),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_unreadable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
