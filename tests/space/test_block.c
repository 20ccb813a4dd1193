// Blocks of quantised weights: where each part lies, what quantising keeps, what is exact.
#include "group.h"

#include "space/custom_operation.h"
#include "space/tensor.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { MOST_BYTES = 256 };

static double half_at(const unsigned char *at)
{
    return (double)half_to_float((uint16_t)(at[0] | at[1] << 8));
}

// --- decoders written a second time, weight by weight, as kernels have them ---

static double q4_0_weight(const unsigned char *b, int i)
{
    int byte = b[2 + i % 16];
    return half_at(b) * ((i < 16 ? byte & 15 : byte >> 4) - 8);
}

static double q8_0_weight(const unsigned char *b, int i)
{
    return half_at(b) * (signed char)b[2 + i];
}

static double q4_k_weight(const unsigned char *b, int i)
{
    const unsigned char *s = b + 4;
    int run = i / 32, scale, minimum;
    if (run < 4) {
        scale = s[run] & 0x3f;
        minimum = s[run + 4] & 0x3f;
    } else {
        scale = (s[run + 4] & 0x0f) | ((s[run - 4] & 0xc0) >> 2);
        minimum = ((s[run + 4] & 0xf0) >> 4) | ((s[run] & 0xc0) >> 2);
    }
    int byte = b[16 + run / 2 * 32 + i % 32];
    return half_at(b) * scale * (byte >> 4 * (run % 2) & 15) - half_at(b + 2) * minimum;
}

static double q6_k_weight(const unsigned char *b, int i)
{
    int n = i / 128, l = i % 32, k = i / 32 % 4;
    int low = b[64 * n + l + (k % 2 ? 32 : 0)] >> (k < 2 ? 0 : 4) & 15;
    int high = b[128 + 32 * n + l] >> 2 * k & 3;
    int scale = (signed char)b[192 + 8 * n + 2 * k + l / 16];
    return half_at(b + 208) * scale * ((low | high << 4) - 32);
}

static const struct {
    const char *name;
    int bytes, weights;
    double (*weight)(const unsigned char *block, int i);
    double keeps; // of numbers in [-1, 1), the largest error that quantising may make
} cases[] = {
    {"q4_0", 18, 32, q4_0_weight, 0.16},
    {"q8_0", 34, 32, q8_0_weight, 0.006},
    {"q4_K", 144, 256, q4_k_weight, 0.1},
    {"q6_K", 210, 256, q6_k_weight, 0.025},
};
#define COUNT (sizeof cases / sizeof *cases)

static void test_layout(void **state)
{
    struct rng r;
    double w[BLOCK_MAX_WEIGHTS];
    unsigned char block[MOST_BYTES];
    (void)state;
    rng_seed(&r, 1);
    for (size_t k = 0; k < COUNT; k++) {
        const struct block_format *f = block_format_named(cases[k].name);
        assert_true(f && block_format_valid(f));
        assert_int_equal(block_bytes(f), cases[k].bytes);
        assert_int_equal(f->weights, cases[k].weights);
        for (int n = 0; n < 50; n++) {
            for (int i = 0; i < cases[k].bytes; i++)
                block[i] = (unsigned char)rng_below(&r, 256);
            block_get(f, block, w);
            for (int i = 0; i < f->weights; i++) {
                double right = cases[k].weight(block, i);
                if (w[i] != right && isfinite(right))
                    fail_msg("%s: weight %d is %g, not %g", cases[k].name, i, w[i], right);
            }
        }
    }
    assert_null(block_format_named("q5_0"));
}

static void test_quantize(void **state)
{
    struct rng r;
    double w[BLOCK_MAX_WEIGHTS], got[BLOCK_MAX_WEIGHTS];
    unsigned char block[MOST_BYTES], again[MOST_BYTES];
    (void)state;
    rng_seed(&r, 2);
    for (size_t k = 0; k < COUNT; k++) {
        const struct block_format *f = block_format_named(cases[k].name);
        for (int n = 0; n < 50; n++) {
            for (int i = 0; i < f->weights; i++)
                w[i] = 2 * rng_real(&r) - 1;
            memset(block, 0xaa, sizeof block);
            memset(again, 0x55, sizeof again);
            block_quantize(f, w, block);
            block_quantize(f, w, again);
            assert_memory_equal(block, again, (size_t)block_bytes(f)); // every bit is written
            block_get(f, block, got);
            for (int i = 0; i < f->weights; i++)
                if (!(fabs(got[i] - w[i]) <= cases[k].keeps))
                    fail_msg("%s: %g becomes %g", cases[k].name, w[i], got[i]);
        }
        memset(w, 0, sizeof w);
        block_quantize(f, w, block);
        block_get(f, block, got);
        for (int i = 0; i < f->weights; i++)
            assert_true(got[i] == 0);
    }
}

// Multiples of 1/32 below 128, so that 4096 products with numbers below 8 have 24 bits.
static void check_exact(const struct block_format *f, struct rng *r)
{
    double w[BLOCK_MAX_WEIGHTS];
    unsigned char block[MOST_BYTES] = {0};
    block_draw(f, r, block);
    block_get(f, block, w);
    for (int i = 0; i < f->weights; i++)
        assert_true(w[i] * 32 == floor(w[i] * 32) && fabs(w[i]) <= 128);
}

static void test_draw(void **state)
{
    struct rng r;
    (void)state;
    rng_seed(&r, 3);
    for (size_t k = 0; k < COUNT; k++)
        for (int n = 0; n < 50; n++)
            check_exact(block_format_named(cases[k].name), &r);
}

static void test_own(void **state)
{
    static const struct block_format own[] = {
        {.weights = 64, .scale = ELEMENT_F32, .has_min = true, .bits = 4, .pairs = true},
        {.weights = 16, .scale = ELEMENT_F16, .has_min = true, .bits = 8},
        {.weights = 6, .scale = ELEMENT_F16, .bits = 4, .zero = 8},
        {.weights = 7, .scale = ELEMENT_F32, .bits = 8, .zero = 128},
    };
    static const int bytes[] = {40, 20, 5, 11};
    struct rng r;
    double w[BLOCK_MAX_WEIGHTS], got[BLOCK_MAX_WEIGHTS];
    unsigned char block[MOST_BYTES] = {0};
    (void)state;
    rng_seed(&r, 4);
    for (size_t k = 0; k < sizeof own / sizeof *own; k++) {
        const struct block_format *f = &own[k];
        assert_true(block_format_valid(f));
        assert_int_equal(block_bytes(f), bytes[k]);
        for (int i = 0; i < f->weights; i++)
            w[i] = 2 * rng_real(&r) - 1;
        block_quantize(f, w, block);
        block_get(f, block, got);
        for (int i = 0; i < f->weights; i++)
            assert_true(fabs(got[i] - w[i]) <= 0.16);
        check_exact(f, &r);
    }
    float one = 1;
    memset(block, 0, sizeof block);
    memcpy(block, &one, sizeof one); // d = 1, m = 0
    block[8] = 0x21;
    block_get(&own[0], block, w); // pairs
    assert_true(w[0] == 1 && w[1] == 2 && w[2] == 0);
    static const struct block_format bad[] = {
        {.weights = 7, .scale = ELEMENT_F16, .bits = 4},
        {.weights = 8, .scale = ELEMENT_I8, .bits = 4},
        {.weights = 8, .scale = ELEMENT_F16, .bits = 5},
        {.weights = 8, .scale = ELEMENT_F16, .bits = 4, .zero = 16},
        {.weights = BLOCK_MAX_WEIGHTS + 1, .scale = ELEMENT_F16, .bits = 8},
        {.kind = BLOCK_Q4_K, .weights = 32},
        {.kind = BLOCK_KINDS, .weights = 256},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_false(block_format_valid(&bad[k]));
}

TEST_GROUP(block)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_quantize),
        cmocka_unit_test(test_draw),
        cmocka_unit_test(test_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
