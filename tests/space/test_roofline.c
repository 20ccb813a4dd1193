// The least time of an operation by a roofline, for arithmetic and for bytes, and damaged figures.
#include "group.h"

#include "space/roofline.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static struct operation product(int64_t n, const char *type)
{
    struct operation o;
    operation_init(&o, operation_kind_find("matmul"));
    operation_set_size(&o, "N", n, NULL);
    operation_set_size(&o, "M", n, NULL);
    operation_set_size(&o, "K", n, NULL);
    operation_set_choice(&o, "type", type, NULL);
    assert_true(operation_complete(&o, NULL));
    return o;
}

static void bounds(const struct roofline *r, int64_t n, const char *type, enum roofline_kind by,
                   double seconds)
{
    enum roofline_kind told;
    struct operation o = product(n, type);
    double s = roofline_seconds(r, &o, &told);
    assert_int_equal(told, by);
    assert_true(fabs(s - seconds) <= 1e-9 * seconds);
}

static void what_takes_longer_bounds(void **state)
{
    (void)state;
    struct roofline r = {.rate = {[ROOFLINE_F32] = 2e9, [ROOFLINE_BYTES] = 12e6}};
    bounds(&r, 1000, "f32", ROOFLINE_F32, 1);     // 2e9 FLOP; 12e6 bytes take as long
    bounds(&r, 100, "f32", ROOFLINE_BYTES, 0.01); // 1e-3 s of arithmetic
    r.rate[ROOFLINE_BYTES] = 0;
    bounds(&r, 100, "f32", ROOFLINE_F32, 1e-3);
    bounds(&(struct roofline){.rate = {0}}, 100, "f32", ROOFLINE_F32, 0);
}

static void the_fastest_arithmetic_of_the_type_counts(void **state)
{
    (void)state;
    struct roofline r = {.rate = {[ROOFLINE_F32] = 4e9}};
    bounds(&r, 100, "f16", ROOFLINE_F32, 5e-4);
    r.rate[ROOFLINE_F16] = 8e9;
    bounds(&r, 100, "f16", ROOFLINE_F16, 2.5e-4);
    r.rate[ROOFLINE_F16_MATRIX] = 80e9;
    bounds(&r, 100, "f16", ROOFLINE_F16_MATRIX, 2.5e-5);
    bounds(&r, 100, "f32", ROOFLINE_F32, 5e-4);
    r.rate[ROOFLINE_I8] = 1e9;
    bounds(&r, 100, "i8", ROOFLINE_I8, 2e-3);
    bounds(&r, 100, "bf16", ROOFLINE_F32, 5e-4);
    r.rate[ROOFLINE_BF16_MATRIX] = 40e9;
    r.rate[ROOFLINE_F8_MATRIX] = r.rate[ROOFLINE_I8_MATRIX] = 160e9;
    bounds(&r, 100, "bf16", ROOFLINE_BF16_MATRIX, 5e-5);
    bounds(&r, 100, "f8e4m3", ROOFLINE_F8_MATRIX, 1.25e-5);
    bounds(&r, 100, "f8e5m2", ROOFLINE_F8_MATRIX, 1.25e-5);
    bounds(&r, 100, "u8", ROOFLINE_I8_MATRIX, 1.25e-5);
}

static void figures_come_back(void **state)
{
    (void)state;
    struct roofline r = {.rate = {1.5e13, 3e13, 0, 1e14, 0, 1e14, 0, 9e11, 2.5e-6}}, again;
    struct str text = {0};
    roofline_add_json(&r, &text);
    assert_true(roofline_parse(str_text(&text), &again));
    assert_memory_equal(&r, &again, sizeof r);
    str_finish(&text);
    static const char *const bad[] = {
        NULL, "", "[]", "{\"f32\":-1}", "{\"f32\":0}", "{\"f32\":1e30}", "{\"f32\":\"1\"}", "7"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(roofline_parse(bad[i], &again));
        assert_true(again.rate[ROOFLINE_F32] == 0);
    }
    assert_true(roofline_parse("{}", &again));
}

// Matrices that the driver emulates are no faster than what it emulates them by.
static void emulated_matrices_are_no_units(void **state)
{
    (void)state;
    struct roofline r = {.rate = {[ROOFLINE_F32] = 9e12, [ROOFLINE_F16] = 18e12}};
    assert_true(roofline_has_matrix_units(&r)); // not measured
    r.rate[ROOFLINE_F16_MATRIX] = 15e12;
    assert_false(roofline_has_matrix_units(&r));
    r.rate[ROOFLINE_F16_MATRIX] = 36e12;
    assert_true(roofline_has_matrix_units(&r));
}

TEST_GROUP(roofline)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_takes_longer_bounds),
        cmocka_unit_test(emulated_matrices_are_no_units),
        cmocka_unit_test(the_fastest_arithmetic_of_the_type_counts),
        cmocka_unit_test(figures_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
