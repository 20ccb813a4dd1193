// The table of a device's limits: every field of it goes to JSON and comes back, what older
// programs stored is read, what they did not know is not judged, and broken objects are refused.
#include "group.h"

#include "base/mem.h"
#include "space/limits.h"

#include <stddef.h>
#include <string.h>

// A value of its own for each field, byte by byte as large as the field.
static void fill(struct limits *l, int field)
{
    const struct limits_field *f = &limits_fields[field];
    void *at = (char *)l + f->offset;
    uint32_t *number = at;
    static const char flexible[] = "khr 8x8x8.f16.f32 8x8x8.f16.f32*128 8x8x8.f16.f32*65535";
    switch (f->type) {
    case LIMITS_NUMBER:
    case LIMITS_BITS:
    case LIMITS_FEATURES:
        if (f->size == sizeof(uint64_t))
            *(uint64_t *)at = (UINT64_C(1) << 53) - (uint64_t)field;
        else
            *number = UINT32_MAX - (uint32_t)field;
        return;
    case LIMITS_AXES:
        for (uint32_t i = 0; i < 3; i++)
            number[i] = UINT32_MAX - 100 * (i + 1) - (uint32_t)field;
        return;
    case LIMITS_FLAG: *(bool *)at = true; return;
    case LIMITS_ELEMENTS: *number = 1u << ELEMENT_F16 | 1u << (ELEMENT_COUNT - 1); return;
    case LIMITS_MATRIX:
        assert_true(matrix_units_parse("khr 16x8x65535.f16.f32 8x8x32.i8.i32", at));
        return;
    case LIMITS_FLEXIBLE: // the last two differ by their invocations alone
        assert_true(matrix_units_parse(flexible, at));
        assert_int_equal(((struct matrix_units *)at)->count, 3);
        return;
    }
    fail_msg("a type of field without a value: %s", f->name);
}

static bool same_field(const struct limits *a, const struct limits *b, int field)
{
    const struct limits_field *f = &limits_fields[field];
    return memcmp((const char *)a + f->offset, (const char *)b + f->offset, f->size) == 0;
}

static char *written(const struct limits *l)
{
    struct str out = {0};
    limits_add_json(&out, l);
    return str_take(&out);
}

// The table itself is the test: a field that the writer or the reader drops comes back different.
static void every_field_comes_back(void **state)
{
    (void)state;
    struct limits all, back;
    memset(&all, 0, sizeof all);
    for (int i = 0; i < LIMITS_FIELD_COUNT; i++)
        fill(&all, i);
    char *text = written(&all);
    memset(&back, 0, sizeof back);
    assert_true(limits_parse(text, &back));
    assert_int_equal(back.unknown, 0);
    for (int i = 0; i < LIMITS_FIELD_COUNT; i++)
        if (!same_field(&all, &back, i) || same_field(&all, &limits_vulkan_minimum, i))
            fail_msg("%s is lost in %s", limits_fields[i].name, text);
    char *again = written(&back);
    assert_string_equal(again, text);
    free(again);
    free(text);
}

// The table is the structure: nothing lies between its fields but what pads them.
static void the_table_is_the_structure(void **state)
{
    (void)state;
    size_t end = 0;
    for (int i = 0; i < LIMITS_FIELD_COUNT; i++) {
        assert_true(limits_fields[i].offset >= end && limits_fields[i].offset < end + 8);
        end = limits_fields[i].offset + limits_fields[i].size;
    }
    assert_true(offsetof(struct limits, unknown) < end + 4);
    assert_int_equal(sizeof(struct limits), (offsetof(struct limits, unknown) + 4 + 7) / 8 * 8);
}

// A field alone is what is known; it is so again when it is written.
static void what_is_not_there_is_unknown(void **state)
{
    (void)state;
    for (int i = 0; i < LIMITS_FIELD_COUNT; i++) {
        struct limits one = limits_vulkan_minimum, back;
        fill(&one, i);
        one.unknown = ~(UINT32_C(1) << i);
        char *text = written(&one), *again;
        assert_true(limits_parse(text, &back));
        assert_true(back.unknown == (((UINT32_C(1) << LIMITS_FIELD_COUNT) - 1) & one.unknown));
        assert_true(same_field(&one, &back, i));
        again = written(&back);
        assert_string_equal(again, text);
        free(again);
        free(text);
    }
}

#define OLD_SIZES                                                                                  \
    "{\"invocations\":1024,\"group_size_x\":1024,\"group_size_y\":512,\"group_size_z\":64,"        \
    "\"group_count_x\":65535,\"group_count_y\":65534,\"group_count_z\":65533,"                     \
    "\"shared_bytes\":32768,\"buffer_bytes\":134217728,\"loop_trips\":65535,"                      \
    "\"accumulators\":256,\"statements\":20000,\"subgroup_size\":8,\"f16\":1"

// The rows of databases of today, and of those before 8-bit integers and before matrix units.
static void old_rows_are_read(void **state)
{
    (void)state;
    static const char *const rows[] = {
        OLD_SIZES ",\"i8\":1,\"matrix\":\"khr 16x8x16.f16.f32\"}",
        OLD_SIZES ",\"matrix\":\"none\"}",
        OLD_SIZES "}",
    };
    unsigned lost = (1u << LIMITS_FIELD_COUNT) - (1u << LIMITS_buffers); // it and all later ones
    const unsigned unknown[] = {lost, lost | 1u << LIMITS_i8,
                                lost | 1u << LIMITS_i8 | 1u << LIMITS_matrix};
    for (int i = 0; i < 3; i++) {
        struct limits l;
        assert_true(limits_parse(rows[i], &l));
        assert_int_equal(l.unknown, unknown[i]);
        assert_true(l.invocations == 1024 && l.group_size[1] == 512 && l.group_size[2] == 64);
        assert_true(l.group_count[0] == 65535 && l.group_count[2] == 65533);
        assert_true(l.shared_bytes == 32768 && l.buffer_bytes == 134217728);
        assert_true(l.loop_trips == 65535 && l.accumulators == 256 && l.statements == 20000);
        assert_true(l.subgroup_size == 8 && l.f16 && l.i8 == (i == 0));
        assert_int_equal(l.matrix.count, i == 0);
        assert_true(l.buffers == 0 && l.features == 0); // no limit; what scripts do not see
    }
}

// A field that is not known forbids nothing; every limit has such a field.
static void unknown_is_not_judged(void **state)
{
    (void)state;
    struct limits l = limits_vulkan_minimum;
    struct resources huge;
    char text[200];
    memset(&huge, 0x7f, sizeof huge);
    l.loop_trips = 1000, l.registers = 128;
    unsigned allowed = 0, all = limits_exceeded(&l, &huge);
    assert_int_equal(all, (1u << LIMIT_COUNT) - 2);
    for (int i = 0; i < LIMITS_FIELD_COUNT; i++) {
        l.unknown = 1u << i;
        unsigned more = all & ~limits_exceeded(&l, &huge);
        assert_int_equal(more & (more - 1), 0); // one at most
        assert_int_equal(more & allowed, 0);
        allowed |= more;
    }
    assert_int_equal(allowed, all);
    assert_true(limits_parse("{}", &l));
    assert_int_equal(limits_exceeded(&l, &huge), 0);
    assert_string_equal(limits_explain(&l, &huge, text, sizeof text), "");
}

static void broken_rows_are_refused(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",
        "{",
        "[]",
        "null",
        "7",
        "\"{}\"",
        "{} {}",
        "{\"invocations\":1}x",
        "{\"invocations\":-1}",
        "{\"invocations\":1.5}",
        "{\"invocations\":4294967296}",
        "{\"invocations\":\"8\"}",
        "{\"invocations\":null}",
        "{\"invocations\":[8]}",
        "{\"buffer_bytes\":1e300}",
        "{\"buffer_bytes\":-0.5}",
        "{\"group_size\":[1,2]}",
        "{\"group_size\":[1,2,3,4]}",
        "{\"group_size\":[1,2,\"3\"]}",
        "{\"group_size\":{\"a\":1,\"b\":1,\"c\":1}}",
        "{\"group_size\":7}",
        "{\"group_size_x\":7}",
        "{\"group_size_x\":7,\"group_size_y\":8}",
        "{\"f16\":\"yes\"}",
        "{\"f16\":-1}",
        "{\"f16\":[]}",
        "{\"matrix\":\"\"}",
        "{\"matrix\":\"khr\"}",
        "{\"matrix\":\"khr 0x1x1.f16.f16\"}",
        "{\"matrix\":7}",
        "{\"matrix\":[]}",
        "{\"matrix\":{},\"matrix_api\":\"none\"}",
        "{\"matrix_api\":\"none\",\"matrix\":[{}]}",
        "{\"matrix_api\":\"khr\",\"matrix\":[]}",
        "{\"matrix_api\":\"khr\",\"matrix\":[{}]}",
        "{\"matrix_api\":\"khr\",\"matrix\":[7]}",
        "{\"matrix_api\":\"vhr\",\"matrix\":[{\"m\":8,\"n\":8,\"k\":8,\"a\":\"i8\",\"c\":\"i32\"}]"
        "}",
        "{\"matrix_api\":\"khr\",\"matrix\":[{\"m\":8,\"n\":8,\"k\":8,\"a\":\"i8\"}]}",
        "{\"matrix_api\":\"khr\",\"matrix\":[{\"m\":8.5,\"n\":8,\"k\":8,\"a\":\"i8\",\"c\":\"i32\"}"
        "]}",
        "{\"matrix_api\":\"khr\",\"matrix\":[{\"m\":70000,\"n\":8,\"k\":8,\"a\":\"i8\",\"c\":"
        "\"i32\"}]}",
    };
    struct limits l = {.invocations = 77};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (limits_parse(rows[i], &l) || l.invocations != 77)
            fail_msg("taken: %s", rows[i]);
    assert_false(limits_parse(NULL, &l));
    assert_true(limits_parse("{\"new\":{\"er\":[1]},\"invocations\":5}", &l)); // of a newer program
    assert_int_equal(l.invocations, 5);
    assert_true(limits_parse("{\"buffer_bytes\":18446744073709551615}", &l));
    assert_true(l.buffer_bytes == UINT64_MAX);
}

TEST_GROUP(limits)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_comes_back),
        cmocka_unit_test(the_table_is_the_structure),
        cmocka_unit_test(what_is_not_there_is_unknown),
        cmocka_unit_test(old_rows_are_read),
        cmocka_unit_test(unknown_is_not_judged),
        cmocka_unit_test(broken_rows_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
