// The choice of usable matrix units among the products that a driver lists.
#include "group.h"

#include "gpu/vk.h"

#include <stddef.h>

enum {
    F16 = 0,
    F32 = 1,
    F64 = 2,
    I8 = 3,
    I32 = 5,
    U8 = 7,
    U32 = 9,
    BF16 = 1000141000,
    E4M3 = 1000491002,
    E5M2
};
enum { WORKGROUP = 2, SUBGROUP = 3 };

static const struct matrix_properties_khr usual = {
    .m = 16, .n = 8, .k = 4, .a = F16, .b = F16, .c = F32, .result = F32, .scope = SUBGROUP};

static int taken(struct matrix_properties_khr p)
{
    struct matrix_units u = {0};
    matrix_add_properties(&u, &p);
    return u.count;
}

static void types(void **state)
{
    (void)state;
    struct matrix_units u = {0};
    struct matrix_properties_khr p = usual;
    matrix_add_properties(&u, &p);
    p.c = p.result = F16;
    matrix_add_properties(&u, &p);
    p.a = p.b = I8;
    p.c = p.result = I32;
    matrix_add_properties(&u, &p);
    p.a = p.b = U8;
    matrix_add_properties(&u, &p);
    p.c = p.result = U32;
    matrix_add_properties(&u, &p);
    for (int i = 0; i < 3; i++) {
        p.a = p.b = (int[]){BF16, E4M3, E5M2}[i];
        p.c = p.result = p.a; // kernels sum these in f32 alone
        matrix_add_properties(&u, &p);
        p.c = p.result = F16;
        matrix_add_properties(&u, &p);
        p.c = p.result = F32;
        matrix_add_properties(&u, &p);
    }
    u.api = MATRIX_KHR;
    struct str text = {0};
    matrix_units_add_text(&u, &text);
    assert_string_equal(str_text(&text), "khr 16x8x4.f16.f32 16x8x4.f16.f16 16x8x4.i8.i32 "
                                         "16x8x4.u8.i32 16x8x4.u8.u32 16x8x4.bf16.f32 "
                                         "16x8x4.f8e4m3.f32 16x8x4.f8e5m2.f32");
    str_finish(&text);
}

static void others(void **state)
{
    (void)state;
    struct matrix_properties_khr p = usual;
    assert_int_equal(taken(p), 1);
    p.scope = WORKGROUP;
    assert_int_equal(taken(p), 0);
    p = usual, p.saturates = VK_TRUE;
    assert_int_equal(taken(p), 0);
    p = usual, p.result = F16;
    assert_int_equal(taken(p), 0);
    p = usual, p.b = F32;
    assert_int_equal(taken(p), 0);
    p = usual, p.a = p.b = I8, p.c = p.result = U32;
    assert_int_equal(taken(p), 0);
    p = usual, p.a = p.b = F64, p.c = p.result = F64;
    assert_int_equal(taken(p), 0);
    p = usual, p.k = 1 << 16;
    assert_int_equal(taken(p), 0);
}

// Sizes whose multiples are matrices, of a subgroup or of a workgroup with its invocations.
static void flexible(void **state)
{
    const struct matrix_flexible_nv of_subgroup = {
        .m = 8, .n = 8, .k = 8, .a = F16, .b = F16, .c = F32, .result = F32, .scope = SUBGROUP};
    struct matrix_flexible_nv p = of_subgroup;
    struct matrix_units u = {0};
    (void)state;
    p.invocations = 32; // says nothing of a subgroup
    matrix_add_flexible(&u, &p, true);
    p.scope = WORKGROUP;
    matrix_add_flexible(&u, &p, false);
    assert_int_equal(u.count, 1);
    matrix_add_flexible(&u, &p, true);
    p.invocations = 64;
    matrix_add_flexible(&u, &p, true);
    matrix_add_flexible(&u, &p, true);
    assert_int_equal(u.count, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(u.shape[i].invocations, 32 * i);
    p.invocations = 0;
    matrix_add_flexible(&u, &p, true);
    p.invocations = 1 << 16;
    matrix_add_flexible(&u, &p, true);
    p = of_subgroup, p.a = p.b = F64, p.c = p.result = F64;
    matrix_add_flexible(&u, &p, true);
    p = of_subgroup, p.scope = 1; // a device
    matrix_add_flexible(&u, &p, true);
    assert_int_equal(u.count, 3);
}

TEST_GROUP(matrix)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types),
        cmocka_unit_test(others),
        cmocka_unit_test(flexible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
