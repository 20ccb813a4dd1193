// Matrix units as text: what is written is read back, anything else is refused.
#include "group.h"

#include "base/mem.h"
#include "space/limits.h"

#include <stddef.h>
#include <string.h>

static void there_and_back(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "none", "nv 16x16x16.f16.f32",
        "khr 16x8x16.f16.f16 65535x1x32.i8.i32 8x8x8.u8.u32 16x8x16.f16.f32",
        "khr 16x16x16.bf16.f32 16x16x16.f8e4m3.f32 16x16x16.f8e5m2.f32"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct matrix_units u;
        struct str out = {0};
        assert_true(matrix_units_parse(texts[i], &u));
        matrix_units_add_text(&u, &out);
        assert_string_equal(str_text(&out), texts[i]);
        str_finish(&out);
    }
}

static void fields(void **state)
{
    (void)state;
    struct matrix_units u;
    struct str out = {0};
    assert_true(matrix_units_parse("khr 16x8x4.f16.f32", &u));
    assert_int_equal(u.api, MATRIX_KHR);
    assert_int_equal(u.count, 1);
    assert_true(u.shape[0].m == 16 && u.shape[0].n == 8 && u.shape[0].k == 4);
    assert_string_equal(u.shape[0].input, "f16");
    assert_string_equal(u.shape[0].sum, "f32");
    matrix_shape_add_text(&u.shape[0], &out);
    assert_string_equal(str_text(&out), "16x8x4 f16 f32");
    str_finish(&out);
}

static void damaged(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "kh",
                                        "khrx 16x16x16.f16.f32",
                                        "khr",
                                        "none 16x16x16.f16.f32",
                                        "nv 16x16.f16.f32",
                                        "nv 0x16x16.f16.f32",
                                        "nv 65536x1x1.f16.f32",
                                        "nv 16x16x16.f16",
                                        "nv 16x16x16.f1666.f32",
                                        "nv 16x16x16.f16.f32,",
                                        "nv 16x16x16.f16.f32 8"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct matrix_units u = {.count = 77};
        if (matrix_units_parse(texts[i], &u))
            fail_msg("'%s' is taken", texts[i]);
        assert_int_equal(u.count, 77);
    }
}

static void each_shape_once(void **state)
{
    (void)state;
    struct matrix_units u = {0};
    for (int i = 0; i < 2 * MATRIX_MAX_SHAPES; i++) {
        struct matrix_shape s = {(uint16_t)(i / 2 + 1), 1, 1, "f16", "f32"};
        matrix_units_add(&u, &s);
        assert_int_equal(u.count, i / 2 + 1);
    }
    struct matrix_shape one_more = {1, 1, 2, "f16", "f32"};
    matrix_units_add(&u, &one_more);
    assert_int_equal(u.count, MATRIX_MAX_SHAPES);
}

TEST_GROUP(matrix)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(fields),
        cmocka_unit_test(damaged),
        cmocka_unit_test(each_shape_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
