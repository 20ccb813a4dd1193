// Tables of kernels: what is replaced, what is nearest, against all entries one by one.
#include "group.h"

#include "report/kernel_table.h"

#include "base/file.h"
#include "base/rng.h"
#include "base/str.h"

#include <math.h>
#include <stddef.h>
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

static struct operation problem(const struct made *m)
{
    struct operation o;
    struct err e;
    operation_init(&o, operation_kind_find("matmul"));
    assert_true(operation_set_size(&o, "N", m->size[0], &e) &&
                operation_set_size(&o, "M", m->size[1], &e) &&
                operation_set_size(&o, "K", m->size[2], &e) &&
                operation_set_choice(&o, "type", m->type, &e) &&
                operation_set_choice(&o, "layout", m->layout, &e) && operation_complete(&o, &e));
    return o;
}

static struct kernel_place place(const struct made *m)
{
    return (struct kernel_place){m->device, m->device_type, m->driver, m->identity};
}

static struct kernel_near nearest(const struct kernel_table *t, const struct made *m)
{
    struct kernel_near near;
    struct operation o = problem(m);
    struct kernel_place p = place(m);
    kernel_table_nearest(t, &o, &p, &near);
    return near;
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

// The likest device first, then the nearest shape.
static void test_devices(void **state)
{
    (void)state;
    struct kernel_table t;
    kernel_table_init(&t);
    static const struct made devices[] = {
        {{64, 64, 64}, "f32", "nn", "Chip", "cpu", "Other, 1", "chip", 1},
        {{64, 64, 64}, "f32", "nn", "Card 9", "discrete", "Other, 1", "card-9", 1},
        {{64, 64, 64}, "f32", "nn", "Card 2", "integrated", "Maker, 7", "card-2", 1},
        {{512, 64, 64}, "f32", "nn", "Card 1", "discrete", "New, 2.0", "card-1-new", 1},
        {{1024, 64, 64}, "f32", "nn", "Card 1", "discrete", "Maker, 1.0", "card-1", 1},
    };
    static const enum kernel_kinship expected[] = {KERNEL_OTHER_DEVICE, KERNEL_SAME_TYPE,
                                                   KERNEL_SAME_VENDOR, KERNEL_OTHER_DRIVER,
                                                   KERNEL_SAME_DEVICE};
    assert_null(nearest(&t, &plain).entry);
    for (int i = 0; i < 5; i++) {
        add(&t, &devices[i]);
        struct kernel_near near = nearest(&t, &plain);
        assert_ptr_equal(near.entry, &t.entry[i]);
        assert_int_equal(near.kinship, expected[i]);
    }
    struct kernel_near near;
    struct operation o = problem(&plain);
    kernel_table_nearest(&t, &o, NULL, &near); // whatever device: the nearest shape
    assert_true(near.distance == 0);
    struct made other = plain;
    other.layout = "nt";
    assert_null(nearest(&t, &other).entry);
    kernel_table_finish(&t);
}

static double distance(const struct made *a, const struct made *b)
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += pow(log((double)a->size[i] / (double)b->size[i]) / log(2), 2);
    return sqrt(sum);
}

static void test_shapes(void **state)
{
    (void)state;
    enum { SHAPES = 60 };
    static const char *const layouts[] = {"nn", "tt"};
    struct kernel_table t;
    struct made made[SHAPES];
    struct rng r;
    rng_seed(&r, 1);
    kernel_table_init(&t);
    for (int i = 0; i < SHAPES; i++) {
        made[i] = plain;
        for (int k = 0; k < 3; k++)
            made[i].size[k] = 1 + (int64_t)rng_below(&r, 4096);
        made[i].layout = layouts[i % 2];
        add(&t, &made[i]);
    }
    for (int n = 0; n < 200; n++) {
        struct made wanted = made[n % SHAPES];
        double least = INFINITY;
        for (int k = 0; k < 3; k++)
            wanted.size[k] = 1 + (int64_t)rng_below(&r, 4096);
        for (int i = 0; i < SHAPES; i++)
            if (!strcmp(made[i].layout, wanted.layout))
                least = fmin(least, distance(&made[i], &wanted));
        struct kernel_near near = nearest(&t, &wanted);
        assert_true(fabs(near.distance - least) < 1e-9);
        int which = (int)(near.entry - t.entry);
        assert_true(fabs(distance(&made[which], &wanted) - least) < 1e-9);
        assert_string_equal(made[which].layout, wanted.layout);
    }
    kernel_table_finish(&t);
}

TEST_GROUP(kernel_table)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_fastest_stays),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
