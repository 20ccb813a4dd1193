// Specialization constants become constants: against C for what is computed from them, and for what
// a module cannot be given. SPIR-V from texts, damaged ones too.
#include "group.h"
#include "wording.h"

#include "kernel/fit.h"

#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"

#include <stddef.h>
#include <string.h>

static struct spirv compile(const char *glsl)
{
    struct spirv s;
    struct err e;
    if (!kernel_compile(glsl, &s, &e))
        fail_msg("line %d: %s\n%s", e.line, e.text, glsl);
    return s;
}

// Returns a shader whose shared memory has as many floats as `length` names.
static const char *shader(struct arena *a, const char *length)
{
    return arena_printf(
        a,
        "#version 450\nlayout(local_size_x_id = 7) in;\n"
        "layout(constant_id = 0) const int a = 1;\nlayout(constant_id = 1) const int b = 1;\n"
        "layout(constant_id = 2) const uint u = 1;\nlayout(constant_id = 3) const uint v = 1;\n"
        "layout(constant_id = 4) const bool t = false;\n"
        "shared float s[%s];\nvoid main() { s[gl_LocalInvocationID.x] = 0.0; }\n",
        length);
}

static uint64_t shared_bytes(const struct spirv *module, const struct pass *p)
{
    struct spirv s = {mem_alloc(module->count * sizeof *s.word), module->count};
    struct kernel_facts f;
    struct err e;
    memcpy(s.word, module->word, s.count * sizeof *s.word);
    if (!kernel_fit(p, &s, &e) || !kernel_inspect(&s, &f, &e))
        fail_msg("%s", e.text);
    assert_int_equal(f.local_size[0], 5);
    spirv_finish(&s);
    return f.shared_bytes;
}

enum { VALUES = 5 };

static int64_t expected(int which, int32_t a, int32_t b, uint32_t u, uint32_t v, bool t)
{
    switch (which) {
    case 0: return (int32_t)(u * 3 + v - 2);
    case 1: return a / b + 1000;
    case 2: return a % b + 1000;
    case 3: return (int64_t)(u / v + u % v + 1);
    case 4: return (int64_t)((u << 2 | v >> 1) ^ (u & v)) + 1;
    case 5: return (t ? a : b) + 1000;
    case 6: return (a < b && u >= v) || !t ? 3 : 4;
    default: return -a + (a >> 1) + 2000;
    }
}

static void same_as_c(void **state)
{
    (void)state;
    static const char *const lengths[] = {
        "u * 3 + v - 2",
        "a / b + 1000",
        "a - a / b * b + 1000",
        "u / v + u % v + 1",
        "((u << 2 | v >> 1) ^ (u & v)) + 1",
        "(t ? a : b) + 1000",
        "(a < b && u >= v) || !t ? 3 : 4",
        "-a + (a >> 1) + 2000",
    };
    struct rng rng;
    struct arena arena;
    rng_seed(&rng, 1);
    arena_init(&arena);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct spirv module = compile(shader(&arena, lengths[i]));
        for (int n = 0; n < 200; n++) {
            struct pass p = {.constant_count = VALUES + 1};
            int32_t a = (int32_t)rng_below(&rng, 1000) - 500, b = (int32_t)rng_below(&rng, 20) - 9;
            uint32_t u = (uint32_t)rng_below(&rng, 99) + 1, v = (uint32_t)rng_below(&rng, 99) + 1;
            b += b == 0;
            const double value[VALUES + 1] = {a, b, u, v, n % 2, 5};
            for (uint32_t k = 0; k <= VALUES; k++)
                p.constant[k] = (struct spec_constant){k == VALUES ? 7 : k, k == 4, value[k]};
            assert_int_equal(shared_bytes(&module, &p), 4 * expected((int)i, a, b, u, v, n % 2));
        }
        spirv_finish(&module);
    }
    arena_finish(&arena);
}

static void refused(const char *length, struct spec_constant c, const char *why)
{
    struct arena a;
    arena_init(&a);
    struct pass p = {.constant_count = 1, .constant = {c}};
    struct spirv s = compile(shader(&a, length));
    struct err e = {0};
    assert_false(kernel_fit(&p, &s, &e));
    assert_string_equal(e.text, why);
    spirv_finish(&s);
    arena_finish(&a);
}

static void refusals(void **state)
{
    (void)state;
    refused("u", (struct spec_constant){9, false, 1},
            "there is no specialization constant 9 (it has 0, 1, 2, 3, 4, 7)");
    refused("u", (struct spec_constant){2, false, -1},
            "specialization constant 2 is a uint, -1 does not fit (spec = has to give a whole "
            "number in its range)");
    refused("u", (struct spec_constant){0, false, 0.5},
            "specialization constant 0 is an int, 0.5 does not fit (spec = has to give a whole "
            "number in its range)");
    refused("u", (struct spec_constant){0, true, 1},
            "specialization constant 0 is an int, not true or false (spec = has to give a number)");
    refused(
        "u", (struct spec_constant){4, false, 1},
        "specialization constant 4 is a bool, 1 is a number (spec = has to give true or false)");
    refused("8 / u", (struct spec_constant){2, false, 0},
            "it divides by zero with these specialization constants (a constraint can leave "
            "such configurations out)");
}

// What a selection leaves out may divide by zero.
static void leaves_out(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    const struct pass p = {.constant_count = 2, .constant = {{2, false, 0}, {7, false, 5}}};
    struct spirv s = compile(shader(&a, "u == 0 ? 3 : 8 / u + 1"));
    assert_int_equal(shared_bytes(&s, &p), 12);
    spirv_finish(&s);
    arena_finish(&a);
}

static char *text_of(const struct spirv *s)
{
    struct str text = {0};
    str_add(&text, JOB_SPIRV);
    for (size_t i = 0; i < s->count; i++)
        str_printf(&text, "%08x%c", s->word[i], i % 8 == 7 ? '\n' : ' ');
    return str_take(&text);
}

// LocalSizeId of constants becomes LocalSize.
static void fits_the_size(void **state)
{
    (void)state;
    const uint32_t word[] = {
        0x07230203,     0x00010600, 0,  20,         0,         // header
        2u << 16 | 17,  1,                                     // capability
        3u << 16 | 14,  0,          1,                         // memory model
        6u << 16 | 15,  5,          1,  0x616d5343, 0x6e69, 9, // entry point "CSmain"
        6u << 16 | 331, 1,          38, 3,          4,      4, // local size by id
        4u << 16 | 71,  3,          1,  7,                     // 3 is specialization constant 7
        4u << 16 | 21,  2,          32, 0,                     // uint
        4u << 16 | 50,  2,          3,  5,                     // specialization constant, 5
        4u << 16 | 43,  2,          4,  6,                     // constant 6
    };
    const struct pass given = {.constant = {{.id = 7, .value = 12}}, .constant_count = 1};
    for (uint32_t i = 0; i < 2; i++) {
        struct spirv s = {mem_alloc(sizeof word), sizeof word / sizeof *word};
        struct kernel_facts f;
        struct err e;
        memcpy(s.word, word, sizeof word);
        if (!kernel_fit(i ? &given : &(struct pass){0}, &s, &e) || !kernel_inspect(&s, &f, &e))
            fail_msg("%s", e.text);
        assert_int_equal(f.local_size[0], i ? 12 : 5);
        assert_int_equal(f.local_size[1], 6);
        const uint32_t size[] = {6u << 16 | 16, 1, 17, i ? 12 : 5, 6, 6};
        assert_memory_equal(s.word + 16, size, sizeof size);
        assert_string_equal(kernel_entry(&s), "CSmain");
        spirv_finish(&s);
    }
}

static void from_text(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct spirv s = compile(shader(&a, "u")), read;
    struct err e;
    char *text = text_of(&s);
    assert_true(kernel_read_spirv(text, &read, &e));
    assert_int_equal(read.count, s.count);
    assert_memory_equal(read.word, s.word, s.count * sizeof *s.word);
    spirv_finish(&read);
    text[strlen(text) - 3] = 'x';
    assert_false(kernel_read_spirv(text, &read, &e));
    wording_is("kernel", "fit: damaged words", e.text);
    free(text);
    spirv_finish(&s);
    arena_finish(&a);
}

// Whatever stands in a word, there is an end, and no access outside.
static void damaged(void **state)
{
    (void)state;
    struct arena a;
    struct rng rng;
    struct err e;
    const struct pass p = {.constant_count = 1,
                           .constant = {{2, false, 8}},
                           .binding = {{0, 0, 1}, {0, 1, 0}},
                           .binding_count = 2};
    arena_init(&a);
    rng_seed(&rng, 7);
    struct spirv whole = compile(shader(&a, "u * v + a / b"));
    for (int n = 0; n < 4000; n++) {
        size_t count = n % 5 ? whole.count : (size_t)rng_below(&rng, whole.count);
        struct spirv s = {mem_alloc((count + 1) * sizeof *s.word), count};
        memcpy(s.word, whole.word, count * sizeof *s.word);
        for (int k = n % 4; k >= 0 && count; k--)
            s.word[rng_below(&rng, count)] ^= UINT32_C(1) << rng_below(&rng, 32);
        kernel_fit(&p, &s, &e);
        spirv_finish(&s);
    }
    spirv_finish(&whole);
    arena_finish(&a);
}

TEST_GROUP(fit)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_c),     cmocka_unit_test(refusals),  cmocka_unit_test(leaves_out),
        cmocka_unit_test(fits_the_size), cmocka_unit_test(from_text), cmocka_unit_test(damaged),
    };
    kernel_setup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
