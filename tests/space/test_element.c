// Types of elements: each number comes back from its bits, rounding is to the nearest one, and the
// table's bounds are those of the bits.
#include "group.h"

#include "space/tensor.h"

#include <math.h>
#include <string.h>

// The types whose bit patterns can all be tried.
static const enum element small[] = {ELEMENT_F16, ELEMENT_BF16, ELEMENT_F8E4M3, ELEMENT_F8E5M2,
                                     ELEMENT_I8,  ELEMENT_U8,   ELEMENT_I16,    ELEMENT_U16};
enum { SMALL = sizeof small / sizeof *small };

static double number_of(enum element e, uint16_t bits)
{
    return element_get(&bits, e, 0);
}

static uint16_t bits_of(enum element e, double x)
{
    uint16_t bits = 0;
    element_put(&bits, e, 0, x);
    return bits;
}

static void numbers_come_back(void **state)
{
    (void)state;
    for (int k = 0; k < SMALL; k++) {
        enum element e = small[k];
        double least = 0, most = 0;
        for (uint32_t bits = 0; bits < 1u << 8 * element_bytes(e); bits++) {
            double x = number_of(e, (uint16_t)bits);
            if (isnan(x)) {
                assert_true(element_is_real(e) && isnan(number_of(e, bits_of(e, x))));
                continue;
            }
            if (bits_of(e, x) != bits)
                fail_msg("%s: 0x%x is %g and becomes 0x%x", element_name(e), bits, x,
                         bits_of(e, x));
            least = isfinite(x) ? fmin(least, x) : least;
            most = isfinite(x) ? fmax(most, x) : most;
        }
        assert_true(least == element_least(e) && most == element_most(e));
        for (double whole = 0; whole <= element_exact(e); whole++)
            assert_true(number_of(e, bits_of(e, whole)) == whole);
        if (element_is_real(e))
            assert_false(number_of(e, bits_of(e, element_exact(e) + 1)) == element_exact(e) + 1);
    }
}

// Between neighbours: the nearer one, and of two equally near ones that with the even bits.
static void rounding_is_to_the_nearest(void **state)
{
    (void)state;
    for (int k = 0; k < SMALL && element_is_real(small[k]); k++) {
        enum element e = small[k];
        for (uint16_t bits = 0; number_of(e, bits) < element_most(e); bits++) {
            double low = number_of(e, bits), high = number_of(e, (uint16_t)(bits + 1));
            double middle = low + (high - low) / 2, quarter = (high - low) / 4;
            assert_int_equal(bits_of(e, middle), bits + bits % 2);
            assert_int_equal(bits_of(e, middle - quarter), bits);
            assert_int_equal(bits_of(e, middle + quarter), bits + 1);
            assert_int_equal(bits_of(e, -middle - quarter),
                             (bits + 1) | 1 << (8 * element_bytes(e) - 1));
        }
    }
}

static void bits_are_those_of_the_standards(void **state)
{
    (void)state;
    static const struct {
        enum element e;
        uint16_t bits;
        double number;
    } known[] = {
        {ELEMENT_BF16, 0x3f80, 1},        {ELEMENT_BF16, 0xc040, -3},
        {ELEMENT_BF16, 0x7f80, INFINITY}, {ELEMENT_BF16, 0x0001, 0x1p-133},
        {ELEMENT_F8E4M3, 0x38, 1},        {ELEMENT_F8E4M3, 0x7e, 448},
        {ELEMENT_F8E4M3, 0x01, 0x1p-9},   {ELEMENT_F8E4M3, 0x88, -0x1p-6},
        {ELEMENT_F8E5M2, 0x3c, 1},        {ELEMENT_F8E5M2, 0x7b, 57344},
        {ELEMENT_F8E5M2, 0x01, 0x1p-16},  {ELEMENT_F8E5M2, 0xfc, -INFINITY},
        {ELEMENT_F16, 0x7bff, 65504},     {ELEMENT_U8, 0xff, 255},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_true(number_of(known[i].e, known[i].bits) == known[i].number);
        assert_int_equal(bits_of(known[i].e, known[i].number), known[i].bits);
    }
    assert_true(isnan(number_of(ELEMENT_F8E4M3, 0x7f)) && isnan(number_of(ELEMENT_F8E4M3, 0xff)));
    // What is too large becomes an infinity, or a NaN where there is none.
    assert_int_equal(bits_of(ELEMENT_F8E4M3, 464.1), 0x7f);
    assert_int_equal(bits_of(ELEMENT_F8E4M3, 463), 0x7e);
    assert_int_equal(bits_of(ELEMENT_F8E5M2, 1e9), 0x7c);
    assert_int_equal(bits_of(ELEMENT_BF16, 3.4e38), 0x7f80);
}

// A double does not hold all whole numbers of 64 bits, but their distance is found.
static void whole_numbers_of_64_bits_differ_by_one(void **state)
{
    (void)state;
    const uint64_t a[] = {(UINT64_C(1) << 60) + 1, UINT64_MAX}, b[] = {UINT64_C(1) << 60, 0};
    assert_true(element_get(a, ELEMENT_U64, 0) == element_get(b, ELEMENT_U64, 0));
    assert_true(element_distance(a, b, ELEMENT_U64, 0) == 1);
    assert_true(element_distance(b, a, ELEMENT_I64, 0) == 1);
    assert_true(element_distance(a, b, ELEMENT_I64, 1) == 1); // -1 and 0
    assert_true(element_distance(a, b, ELEMENT_U64, 1) == 0x1p64);
    uint64_t moved = 0;
    element_move(&moved, 0, a, 0, ELEMENT_I64);
    assert_true(moved == a[0]);
}

static void names_are_found(void **state)
{
    (void)state;
    for (enum element e = 0; e < ELEMENT_COUNT; e++)
        assert_int_equal(element_named(element_name(e)), e);
    assert_int_equal(element_named("f8"), ELEMENT_COUNT);
}

TEST_GROUP(element)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_back),
        cmocka_unit_test(rounding_is_to_the_nearest),
        cmocka_unit_test(bits_are_those_of_the_standards),
        cmocka_unit_test(whole_numbers_of_64_bits_differ_by_one),
        cmocka_unit_test(names_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
