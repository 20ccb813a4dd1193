#include "group.h"
#include "wording.h"

#include "space/tensor.h"
#include "trial/operator.h"

#include "base/mem.h"
#include "base/rng.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static struct operation matmul(int64_t n, int64_t m, int64_t k, const char *type,
                               const char *layout)
{
    struct operation o;
    operation_init(&o, operation_kind_find("matmul"));
    assert_true(operation_set_size(&o, "N", n, NULL));
    assert_true(operation_set_size(&o, "M", m, NULL));
    assert_true(operation_set_size(&o, "K", k, NULL));
    assert_true(operation_set_choice(&o, "type", type, NULL));
    assert_true(operation_set_choice(&o, "layout", layout, NULL));
    assert_true(operation_complete(&o, NULL));
    return o;
}

struct case_data {
    struct operation o;
    struct operator_layout layout;
    void *buffer[3], *result;
};

static struct case_data make_case(struct operation o, enum input_set set, uint64_t seed)
{
    struct case_data c = {.o = o, .layout = operator_layout(&o)};
    for (int i = 0; i < 3; i++)
        c.buffer[i] = mem_zero(1, c.layout.buffer[i].bytes);
    operator_fill(&o, set, seed, 0, c.buffer[0]);
    operator_fill(&o, set, seed, 1, c.buffer[1]);
    operator_reference(&o, (const void *const[]){c.buffer[0], c.buffer[1]}, c.buffer[2]);
    c.result = mem_alloc(c.layout.buffer[2].bytes);
    memcpy(c.result, c.buffer[2], c.layout.buffer[2].bytes);
    return c;
}

static void free_case(struct case_data *c)
{
    for (int i = 0; i < 3; i++)
        free(c->buffer[i]);
    free(c->result);
}

static double value_at(const struct operation *o, const void *buffer, int64_t i)
{
    if (strcmp(operation_choice(o, "type"), "f16") == 0)
        return (double)half_to_float(((const uint16_t *)buffer)[i]);
    return (double)((const float *)buffer)[i];
}

// A[i,k] and B[k,j] as stored.
static double a_at(const struct case_data *c, int64_t i, int64_t k)
{
    int64_t n = c->o.size[0], depth = c->o.size[2];
    bool t = operation_choice(&c->o, "layout")[0] == 't';
    return value_at(&c->o, c->buffer[0], t ? k * n + i : i * depth + k);
}

static double b_at(const struct case_data *c, int64_t k, int64_t j)
{
    int64_t m = c->o.size[1], depth = c->o.size[2];
    bool t = operation_choice(&c->o, "layout")[1] == 't';
    return value_at(&c->o, c->buffer[1], t ? j * depth + k : k * m + j);
}

static void halves_survive_the_way_through_floats(void **state)
{
    (void)state;
    for (uint32_t h = 0; h <= UINT16_MAX; h++) {
        float x = half_to_float((uint16_t)h);
        if (isnan(x)) {
            assert_true(isnan(half_to_float(half_from_float(x))));
            assert_true((h & 0x7c00) == 0x7c00 && (h & 0x3ff) != 0);
        } else {
            assert_int_equal(half_from_float(x), h);
        }
    }
    assert_true(half_to_float(0x3c00) == 1.0f && half_to_float(0x7bff) == 65504.0f);
    assert_true(half_to_float(1) == 0x1p-24f);
}

// Between two neighbouring halves: the nearer, and of two equally near ones the even.
static void floats_round_to_the_nearest_half(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x7bff; h++) {
        float low = half_to_float((uint16_t)h), high = half_to_float((uint16_t)(h + 1));
        float middle = (low + high) / 2; // exact: floats have 13 bits more
        assert_int_equal(half_from_float(middle), h % 2 ? h + 1 : h);
        assert_int_equal(half_from_float(nextafterf(middle, 0)), h);
        assert_int_equal(half_from_float(nextafterf(middle, INFINITY)), h + 1);
        assert_int_equal(half_from_float(-nextafterf(middle, INFINITY)), (h + 1) | 0x8000);
    }
    assert_int_equal(half_from_float(65519.9f), 0x7bff);
    assert_int_equal(half_from_float(65520.0f), 0x7c00);
    assert_int_equal(half_from_float(1e30f), 0x7c00);
    assert_int_equal(half_from_float(1e-30f), 0);
}

// The reference is the triple loop, for ragged sizes and every layout and type.
static void reference_is_the_product(void **state)
{
    (void)state;
    static const char *const layouts[] = {"nn", "nt", "tn", "tt"}, *const types[] = {"f32", "f16"};
    for (int t = 0; t < 2; t++)
        for (int l = 0; l < 4; l++) {
            struct case_data c = make_case(matmul(7, 5, 33, types[t], layouts[l]), INPUT_EXACT, 3);
            assert_int_equal(c.layout.buffer[2].bytes, t ? 72 : 140);
            for (int64_t i = 0; i < 7; i++)
                for (int64_t j = 0; j < 5; j++) {
                    double sum = 0;
                    for (int64_t k = 0; k < 33; k++)
                        sum += a_at(&c, i, k) * b_at(&c, k, j);
                    assert_true(sum == value_at(&c.o, c.buffer[2], i * 5 + j));
                }
            free_case(&c);
        }
}

// Exact inputs: whatever the order, every partial sum is an integer that the type of the
// accumulator holds; a result in half precision is one that a half holds.
static void exact_inputs_are_exact(void **state)
{
    (void)state;
    static const int64_t depths[] = {1, 2, 3, 64, 256, 1000, 1024, 4096, 65536, 1 << 20};
    for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
        for (int t = 0; t < 2; t++) {
            int64_t k = depths[d];
            struct case_data c =
                make_case(matmul(3, 4, k, t ? "f16" : "f32", "nt"), INPUT_EXACT, d);
            double largest = 0, biggest_sum = 0;
            int64_t distinct = 0;
            for (int64_t i = 0; i < 3; i++)
                for (int64_t j = 0; j < 4; j++) {
                    double magnitude = 0, sum = 0;
                    for (int64_t p = 0; p < k; p++) {
                        double product = a_at(&c, i, p) * b_at(&c, p, j);
                        assert_true(product == floor(product));
                        distinct += product != 0;
                        magnitude += fabs(product);
                        sum += product;
                    }
                    largest = fmax(largest, magnitude);
                    biggest_sum = fmax(biggest_sum, fabs(sum));
                    assert_true(sum == value_at(&c.o, c.buffer[2], i * 4 + j));
                }
            assert_true(largest <= 0x1p24);
            assert_true(!t || biggest_sum <= 2048);
            assert_true(distinct > 0 || k < 3);
            free_case(&c);
        }
}

static void fills_are_functions_of_the_seed(void **state)
{
    (void)state;
    struct operation o = matmul(8, 8, 8, "f32", "nn");
    float first[64], again[64], other[64], second[64];
    for (int set = INPUT_EXACT; set <= INPUT_RANDOM; set++) {
        operator_fill(&o, (enum input_set)set, 5, 0, first);
        operator_fill(&o, (enum input_set)set, 5, 0, again);
        operator_fill(&o, (enum input_set)set, 6, 0, other);
        operator_fill(&o, (enum input_set)set, 5, 1, second);
        assert_memory_equal(first, again, sizeof first);
        assert_memory_not_equal(first, other, sizeof first);
        assert_memory_not_equal(first, second, sizeof first);
    }
    for (int i = 0; i < 64; i++)
        assert_true(first[i] >= -1 && first[i] < 1);
}

static void compare_finds_every_kind_of_wrong(void **state)
{
    (void)state;
    struct case_data c = make_case(matmul(16, 8, 32, "f32", "nn"), INPUT_EXACT, 1);
    float *result = c.result, right = result[17];
    char reason[200];
    struct operator_verdict v;
    v = operator_compare(&c.o, INPUT_EXACT, result, c.buffer[2], reason, sizeof reason);
    assert_true(v.right);
    assert_true(v.worst == 0 && reason[0] == '\0');
    const float wrong[] = {NAN, INFINITY, -INFINITY, right + 1, nextafterf(right, INFINITY)};
    for (int i = 0; i < 5; i++) {
        result[17] = wrong[i];
        v = operator_compare(&c.o, INPUT_EXACT, result, c.buffer[2], reason, sizeof reason);
        assert_false(v.right);
        assert_true(v.worst > 1);
        assert_non_null(strstr(reason, "C[2,1] = "));
        assert_non_null(strstr(reason, "(1 of 128 wrong)"));
    }
    memset(result, 0xff, c.layout.buffer[2].bytes);
    assert_false(operator_compare(&c.o, INPUT_EXACT, result, c.buffer[2], reason, 30).right);
    assert_int_equal(strlen(reason), 29);
    assert_false(operator_compare(&c.o, INPUT_EXACT, result, c.buffer[2], NULL, 0).right);
    free_case(&c);
}

static void nan_is_right_where_it_is_expected_and_written(void **state)
{
    (void)state;
    struct case_data c = make_case(matmul(16, 8, 32, "f32", "nn"), INPUT_EXACT, 1);
    float *result = c.result, *reference = c.buffer[2], right = result[17];
    char reason[200];
    reference[17] = result[17] = NAN;
    assert_true(operator_compare(&c.o, INPUT_EXACT, result, reference, reason, 200).right);
    memset(&result[17], 0xff, sizeof *result);
    assert_false(operator_compare(&c.o, INPUT_EXACT, result, reference, reason, 200).right);
    assert_non_null(strstr(reason, "C[2,1] is not written"));
    result[17] = right;
    assert_false(operator_compare(&c.o, INPUT_EXACT, result, reference, reason, 200).right);
    free_case(&c);
}

// A right kernel that sums in another order, and one that forgets the last term of a single
// element.
static void tolerance_passes_right_and_not_wrong_kernels(void **state)
{
    (void)state;
    static const int64_t depths[] = {1, 7, 256, 2048};
    for (size_t d = 0; d < 4; d++) {
        int64_t k = depths[d];
        struct case_data c = make_case(matmul(9, 11, k, "f32", "nn"), INPUT_RANDOM, d);
        float *result = c.result;
        struct operator_verdict v;
        for (int64_t i = 0; i < 9; i++)
            for (int64_t j = 0; j < 11; j++) {
                float sum = 0;
                for (int64_t p = k - 1; p >= 0; p--)
                    sum += (float)a_at(&c, i, p) * (float)b_at(&c, p, j);
                result[i * 11 + j] = sum;
            }
        v = operator_compare(&c.o, INPUT_RANDOM, result, c.buffer[2], NULL, 0);
        assert_true(v.right);
        assert_true(v.worst <= 1);
        result[98] += k < 100 ? 1e-3f : 0.25f; // the mean size of a term is 1/4
        v = operator_compare(&c.o, INPUT_RANDOM, result, c.buffer[2], NULL, 0);
        assert_false(v.right);
        free_case(&c);
    }
}

static void halves_may_be_rounded_either_way(void **state)
{
    (void)state;
    struct case_data c = make_case(matmul(8, 8, 64, "f16", "nn"), INPUT_RANDOM, 2);
    uint16_t *result = c.result;
    for (int i = 0; i < 64; i++)
        result[i] = (uint16_t)(result[i] + (i % 2 ? 1 : -1)); // a neighbouring half
    assert_true(operator_compare(&c.o, INPUT_RANDOM, result, c.buffer[2], NULL, 0).right);
    result[5] = (uint16_t)(result[5] + 3);
    assert_false(operator_compare(&c.o, INPUT_RANDOM, result, c.buffer[2], NULL, 0).right);
    free_case(&c);
}

static void what_the_device_cannot_hold_is_named(void **state)
{
    (void)state;
    struct operation o = matmul(100, 10, 200, "f32", "nn"); // A is the largest
    struct limits l = {.buffer_bytes = 80000, .types = 1u << ELEMENT_F32};
    struct err e = {0};
    assert_true(operator_fits(&o, &l, &e));
    l.buffer_bytes--;
    assert_false(operator_fits(&o, &l, &e));
    assert_non_null(strstr(e.text, " 80000 bytes, "));
    o = matmul(100, 10, 20, "f32", "nn");
    l.buffers = 3;
    assert_true(operator_fits(&o, &l, &e));
    l.buffers = 2;
    assert_false(operator_fits(&o, &l, &e));
    wording_is("trial", "operator: buffers", e.text);
    l.buffers = 0; // nobody knows
    o = matmul(100, 10, 20, "f16", "nn");
    assert_false(operator_fits(&o, &l, &e));
    wording_is("trial", "operator: f16", e.text);
    l.types |= 1u << ELEMENT_F16;
    assert_true(operator_fits(&o, &l, &e));
    o = matmul(100, 10, 20, "i8", "nn");
    assert_false(operator_fits(&o, &l, &e));
    o = matmul(INT32_MAX, INT32_MAX, 1, "f32", "nn"); // just below 2^64 bytes
    l.buffer_bytes = UINT64_C(1) << 40;
    assert_false(operator_fits(&o, &l, &e));
    assert_non_null(strstr(e.text, " 18446744056529682436 "));
}

static void what_the_reference_is_has_a_name(void **state)
{
    (void)state;
    static const char *const by_loops[] = {"max_pool", "softmax", "copy", "elementwise", "lrn"};
    struct operation o;
    for (size_t i = 0; i < sizeof by_loops / sizeof *by_loops; i++) {
        operation_init(&o, operation_kind_find(by_loops[i]));
        assert_string_equal(operator_reference_name(&o), "loops of tilewalk's own, in double");
    }
    static const char *const by_blas[] = {"matmul", "batch_matmul", "conv2d", "attention"};
    for (size_t i = 0; i < sizeof by_blas / sizeof *by_blas; i++) {
        operation_init(&o, operation_kind_find(by_blas[i]));
        assert_string_equal(operator_reference_name(&o), "OpenBLAS");
    }
}

static void sizes_do_not_wrap(void **state)
{
    (void)state;
    struct operation o = matmul(INT32_MAX, INT32_MAX, INT32_MAX, "f32", "nn");
    struct err e = {0};
    size_t size = 0;
    assert_false(shared_size(&o, &size, &e));
    assert_non_null(strstr(e.text, "too large"));
    o = matmul(1, 1, 1, "f32", "nn");
    assert_true(shared_size(&o, &size, &e));
    assert_int_equal(size, 2 * 3 * 64);
}

// A run with a product of 1024^3 that hangs is over within a minute; long loops have their time.
static void references_have_the_time_that_they_need(void **state)
{
    (void)state;
    struct operation small = matmul(1, 1, 1, "f32", "nn"),
                     usual = matmul(1024, 1024, 1024, "f32", "nn"),
                     large = matmul(1 << 14, 1 << 14, 1 << 14, "f32", "nn");
    double seconds = operator_reference_seconds(&usual);
    assert_true(operator_reference_seconds(&small) >= 30 && seconds > 31 && seconds < 45);
    assert_true(operator_reference_seconds(&large) <= 600 &&
                operator_reference_seconds(&large) > 10 * seconds);
    assert_true(operator_reference_bytes(&small) > 0);
}

TEST_GROUP(operator)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_survive_the_way_through_floats),
        cmocka_unit_test(floats_round_to_the_nearest_half),
        cmocka_unit_test(reference_is_the_product),
        cmocka_unit_test(exact_inputs_are_exact),
        cmocka_unit_test(fills_are_functions_of_the_seed),
        cmocka_unit_test(compare_finds_every_kind_of_wrong),
        cmocka_unit_test(nan_is_right_where_it_is_expected_and_written),
        cmocka_unit_test(tolerance_passes_right_and_not_wrong_kernels),
        cmocka_unit_test(halves_may_be_rounded_either_way),
        cmocka_unit_test(what_the_device_cannot_hold_is_named),
        cmocka_unit_test(what_the_reference_is_has_a_name),
        cmocka_unit_test(sizes_do_not_wrap),
        cmocka_unit_test(references_have_the_time_that_they_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
