// The facts from the SPIR-V reader, compared with hand counts, with the layouts that glslang itself
// computes, and against damaged modules.
#include "group.h"

#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"
#include "kernel/enumerants.h"
#include "kernel/fit.h"

#include <stddef.h>
#include <string.h>

#define SIZE "layout(local_size_x = 4, local_size_y = 2, local_size_z = 3) in;\n"

static struct spirv compile(const char *glsl)
{
    struct spirv s;
    struct err e;
    if (!kernel_compile(glsl, &s, &e))
        fail_msg("line %d: %s\n%s", e.line, e.text, glsl);
    return s;
}

static struct kernel_facts facts_of(const char *glsl)
{
    struct spirv s = compile(glsl);
    struct kernel_facts f;
    struct err e;
    const struct pass nothing_given = {.glsl = NULL};
    if (!kernel_fit(&nothing_given, &s, &e) || !kernel_inspect(&s, &f, &e))
        fail_msg("%s\n%s", e.text, glsl);
    assert_int_equal(f.words, s.count);
    spirv_finish(&s);
    return f;
}

static void assert_refused(const char *glsl, const char *text)
{
    struct spirv s = compile(glsl);
    struct kernel_facts f;
    struct err e;
    assert_false(kernel_inspect(&s, &f, &e));
    if (!strstr(e.text, text))
        fail_msg("'%s' lacks '%s'", e.text, text);
    spirv_finish(&s);
}

static void assert_size(const struct kernel_facts *f, uint32_t x, uint32_t y, uint32_t z)
{
    assert_int_equal(f->local_size[0], x);
    assert_int_equal(f->local_size[1], y);
    assert_int_equal(f->local_size[2], z);
}

static void test_local_size(void **state)
{
    (void)state;
    struct kernel_facts f = facts_of("#version 450\n" SIZE "void main() {}\n");
    assert_size(&f, 4, 2, 3);
    f = facts_of("#version 450\nlayout(local_size_x = 1) in;\n"
                 "layout(local_size_x_id = 0, local_size_z_id = 2) in;\n" // defaults 1
                 "layout(constant_id = 5) const uint n = 3;\nshared uint t[n * 2 + 1];\n"
                 "void main() { t[gl_WorkGroupSize.x] = 1; }\n");
    assert_size(&f, 1, 1, 1);
    assert_int_equal(f.shared_bytes, 28);
    f = facts_of("#version 450\nlayout(local_size_x = 7) in;\nlayout(local_size_x_id = 0) in;\n"
                 "void main() {}\n");
    assert_size(&f, 7, 1, 1);
}

static void test_shared_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *declaration, *use;
        uint64_t bytes;
    } cases[] = {
        {"", "", 0},
        {"shared float t[16][17];", "t[0][0] = 1;", 16 * 17 * 4},
        {"shared vec4 t[3];", "t[0] = vec4(1);", 48},
        {"shared vec3 t[3];", "t[0] = vec3(1);", 48},
        {"shared vec3 t;", "t = vec3(1);", 12},
        {"shared mat4x3 t;", "t[0] = vec3(1);", 64},
        {"shared float a; shared vec4 t;", "a = 1; t = vec4(1);", 32},
        {"struct S { float x; vec2 y; };\nshared S t[5];", "t[0].x = 1;", 80},
        {"struct S { vec3 x; float y; };\nshared S t[5];", "t[0].x.x = 1;", 80},
        {"struct R { bool b; };\nstruct S { R r[3]; double d; };\nshared S t;", "t.d = 1;", 24},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *glsl = mem_printf("#version 450\n" SIZE "%s\nvoid main() { %s }\n",
                                cases[i].declaration, cases[i].use);
        struct kernel_facts f = facts_of(glsl);
        assert_int_equal(f.shared_bytes, cases[i].bytes);
        free(glsl);
    }
}

static size_t find(const struct spirv *s, SpvOp op)
{
    size_t at = 5;
    while ((s->word[at] & 0xffff) != op)
        at += s->word[at] >> 16;
    return at;
}

// An access chain in the place of a function, and behind it an instruction without a length.
static void test_chain_outside_of_functions(void **state)
{
    (void)state;
    struct spirv s = compile("#version 450\n" SIZE "layout(push_constant) uniform P { float v; };\n"
                             "void main() { if (v > 1) return; }\n");
    struct kernel_facts f;
    struct err e;
    size_t function = find(&s, SpvOpFunction), chain = find(&s, SpvOpAccessChain);
    s.word[find(&s, SpvOpMemberDecorate) + 3] = SpvDecorationCoherent; // no Offset is found
    memcpy(s.word + function, s.word + chain, 5 * sizeof *s.word);
    s.word[function + 5] = 0;
    assert_false(kernel_inspect(&s, &f, &e));
    spirv_finish(&s);
}

static void test_buffers_and_push(void **state)
{
    (void)state;
    struct kernel_facts f =
        facts_of("#version 450\n" SIZE "layout(std430, binding = 3) buffer A { float a[]; };\n"
                 "layout(std430, binding = 1) readonly buffer B { vec4 b[]; };\n"
                 "layout(push_constant) uniform P { uint n; vec3 v; } p;\n"
                 "void main() { a[p.n] = b[0].x + p.v.x; }\n");
    assert_int_equal(f.bindings, 4);
    assert_int_equal(f.push_bytes, 28); // vec3 stands at 16
    f = facts_of("#version 450\n" SIZE "layout(std430, binding = 0) buffer A { float a; };\n"
                 "layout(push_constant, std140) uniform P { float v[4]; } p;\n"
                 "void main() { a = p.v[1]; }\n");
    assert_int_equal(f.push_bytes, 64); // std140 spreads arrays; only ArrayStride shows it
    f = facts_of("#version 450\n" SIZE "layout(std430, binding = 0) buffer A { float a; };\n"
                 "layout(push_constant) uniform P { layout(offset = 96) float v; } p;\n"
                 "void main() { a = p.v; }\n");
    assert_int_equal(f.push_bytes, 100);
    assert_false(f.uses_f16 || f.uses_f16_storage);
}

static void test_f16(void **state)
{
    (void)state;
    const char *head = "#version 450\n#extension GL_EXT_shader_16bit_storage : require\n"
                       "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n" SIZE
                       "layout(std430, binding = 0) buffer A { float16_t a[]; };\n";
    char *storage =
        mem_printf("%svoid main() { float x = float(a[0]) + 1; a[1] = float16_t(x); }\n", head);
    char *both = mem_printf("%svoid main() { a[1] = a[0] * a[2]; }\n", head);
    struct kernel_facts f = facts_of(storage);
    assert_true(f.uses_f16_storage);
    f = facts_of(both);
    assert_true(f.uses_f16 && f.uses_f16_storage);
    free(storage);
    free(both);
}

#define NV_MATRIX                                                                                  \
    "#extension GL_NV_cooperative_matrix : require\n"                                              \
    "#extension GL_KHR_memory_scope_semantics : require\n"

static void test_matrix(void **state)
{
    (void)state;
    static const char nothing[] = "#version 450\n" SIZE "void main() {}\n";
    assert_int_equal(facts_of(nothing).matrix, MATRIX_NONE);
    struct kernel_facts f =
        facts_of("#version 450\n" NV_MATRIX "layout(local_size_x = 32) in;\nshared uvec4 t[64];\n"
                 "void main() {\n"
                 "fcoopmatNV<32, gl_ScopeSubgroup, 16, 8> m[3];\n"
                 "m[2] = fcoopmatNV<32, gl_ScopeSubgroup, 16, 8>(0.0);\n"
                 "coopMatStoreNV(m[2], t, 0, 4, false); }\n");
    assert_int_equal(f.matrix, MATRIX_NV);
    assert_int_equal(f.shared_bytes, 1024);
}

static void test_unbindable(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"#version 450\n" SIZE "layout(binding = 0) uniform U { float u; };\n"
         "layout(std430, binding = 1) buffer A { float a[]; };\nvoid main() { a[0] = u; }\n",
         "uniform block"},
        {"#version 450\n" SIZE "layout(set = 1, binding = 0) buffer A { float a[]; };\n"
         "void main() { a[0] = 1; }\n",
         "set 0"},
        {"#version 450\n" SIZE "layout(binding = 0) buffer A { float a[]; } x[2];\n"
         "void main() { x[1].a[0] = 1; }\n",
         "set 0"},
        {"#version 450\n" SIZE "layout(binding = 0, r32f) uniform image2D i;\n"
         "void main() { imageStore(i, ivec2(0), vec4(1)); }\n",
         "binds"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_refused(wrong[i][0], wrong[i][1]);
}

// A random type, as GLSL. Structs are declared into `out` first.
static char *random_type(struct rng *r, int depth, struct str *out, int *structs)
{
    static const char *const plain[] = {"float", "uint",   "vec2",   "ivec3",  "vec4",   "double",
                                        "dvec3", "mat2x3", "mat4x2", "mat3x4", "dmat2x4"};
    if (depth == 0 || rng_below(r, 3) == 0)
        return mem_strdup(plain[rng_below(r, sizeof plain / sizeof *plain)]);
    int members = 1 + (int)rng_below(r, 4);
    struct str body = {0};
    for (int i = 0; i < members; i++) {
        char *type = random_type(r, depth - 1, out, structs);
        int rank = (int)rng_below(r, 3);
        str_printf(&body, "    %s m%d", type, i);
        for (int a = 0; a < rank; a++)
            str_printf(&body, "[%d]", 1 + (int)rng_below(r, 5));
        str_add(&body, ";\n");
        free(type);
    }
    str_printf(out, "struct S%d {\n%s};\n", *structs, str_text(&body));
    str_finish(&body);
    return mem_printf("S%d", (*structs)++);
}

// Types as Workgroup variables, which SPIR-V leaves without a layout, and the same in std430
// blocks, where glslang writes its own Offset and ArrayStride decorations: two computations that
// must agree.
static void test_layout_agrees_with_glslang(void **state)
{
    (void)state;
    struct rng r;
    rng_seed(&r, 1);
    for (int round = 0; round < 300; round++) {
        struct str types = {0};
        int structs = 0;
        char *type = random_type(&r, 3, &types, &structs);
        int n = 1 + (int)rng_below(&r, 6);
        char *shared = mem_printf("#version 450\n" SIZE "%sstruct W { %s v[%d]; };\nshared W t;\n"
                                  "shared W u;\nvoid main() { t = u; }\n",
                                  str_text(&types), type, n);
        char *block = mem_printf("#version 450\n" SIZE
                                 "%slayout(push_constant, std430) uniform P { %s v[%d]; } p;\n"
                                 "shared %s t;\nvoid main() { t = p.v[0]; }\n",
                                 str_text(&types), type, n, type);
        struct kernel_facts implicit = facts_of(shared), laid_out = facts_of(block);
        assert_true(laid_out.push_bytes > 0);
        if (implicit.shared_bytes != 2 * (uint64_t)laid_out.push_bytes)
            fail_msg("shared %d, std430 %u of\n%s", (int)implicit.shared_bytes, laid_out.push_bytes,
                     block);
        free(type);
        free(shared);
        free(block);
        str_finish(&types);
    }
}

static void test_loops_and_group_count(void **state)
{
    (void)state;
    struct kernel_facts f = facts_of("#version 450\n" SIZE "void main() {}\n");
    assert_false(f.has_loops || f.uses_group_count);
    f = facts_of("#version 450\n" SIZE "layout(binding = 0) buffer A { uint a[]; };\n"
                 "void main() { for (uint i = 0; i < 4; i++) a[i] = gl_WorkGroupID.x; }\n");
    assert_true(f.has_loops && !f.uses_group_count);
    f = facts_of("#version 450\n" SIZE "layout(binding = 0) buffer A { uint a[]; };\n"
                 "void main() { a[0] = gl_NumWorkGroups.x; }\n");
    assert_true(!f.has_loops && f.uses_group_count);
}

static const char fuzz_glsl[] =
    "#version 450\n"
    "#extension GL_EXT_shader_16bit_storage : require\n"
    "layout(local_size_x_id = 0, local_size_y = 4) in;\n"
    "layout(constant_id = 1) const uint n = 3;\n"
    "struct R { vec3 a; mat3 b; };\n"
    "struct S { R r[2]; float f[n]; };\n"
    "layout(push_constant, std430) uniform P { R r[3]; uint k; } p;\n"
    "layout(std430, binding = 0) buffer A { float16_t a[]; };\n"
    "layout(std430, binding = 1) buffer B { R b[]; };\n"
    "shared S s[4];\n"
    "void main() { s[0].f[1] = float(a[p.k]) * gl_WorkGroupSize.x; b[0].a = s[1].r[0].a; }\n";

// The words are copied to a block of exactly their size, so that a sanitizer sees any read past the
// end.
static bool inspect_copy(const uint32_t *word, size_t count)
{
    struct spirv s = {mem_alloc(count * sizeof *word), count};
    memcpy(s.word, word, count * sizeof *word);
    struct kernel_facts f;
    struct err e = {.text = ""};
    bool ok = kernel_inspect(&s, &f, &e);
    assert_int_equal(ok, e.text[0] == '\0');
    if (ok)
        for (int i = 0; i < 3; i++)
            assert_true(f.local_size[i] > 0);
    spirv_finish(&s);
    return ok;
}

// Only a cut between two instructions, after all that is needed, leaves something that can be read.
static void test_truncated(void **state)
{
    (void)state;
    struct spirv s = compile(fuzz_glsl);
    assert_true(inspect_copy(s.word, s.count));
    size_t boundary = 5;
    int whole = 0;
    for (size_t count = 0; count < s.count; count++) {
        bool between = count == boundary;
        if (between)
            boundary += s.word[boundary] >> 16;
        bool ok = inspect_copy(s.word, count);
        assert_true(!ok || between);
        whole += ok;
    }
    assert_true(whole > 0);
    spirv_finish(&s);
}

static uint32_t random_word(struct rng *r, const struct spirv *s)
{
    static const uint32_t special[] = {0, 1, 0xffffffff, 0x80000000, 0xffff0000, 4194304};
    switch (rng_below(r, 4)) {
    case 0: return (uint32_t)rng_next(r);
    case 1: return special[rng_below(r, 6)];
    case 2: return s->word[rng_below(r, s->count)];
    default: return (uint32_t)rng_below(r, 100);
    }
}

static void test_damaged(void **state)
{
    (void)state;
    struct spirv s = compile(fuzz_glsl);
    uint32_t *word = mem_alloc(s.count * sizeof *word);
    struct rng r;
    rng_seed(&r, 2);
    int refused = 0;
    for (int round = 0; round < 20000; round++) {
        memcpy(word, s.word, s.count * sizeof *word);
        int flips = 1 + (int)rng_below(&r, 4);
        for (int i = 0; i < flips; i++)
            word[rng_below(&r, s.count - 5) + 5] = random_word(&r, &s);
        refused += !inspect_copy(word, s.count);
    }
    assert_true(refused > 1000);
    free(word);
    spirv_finish(&s);
}

static void test_random_words(void **state)
{
    (void)state;
    struct rng r;
    rng_seed(&r, 3);
    uint32_t word[64] = {0x07230203, 0x00010300, 0, 40, 0};
    for (int round = 0; round < 20000; round++) {
        for (size_t i = 5; i < 64; i++) // mostly instructions that are read, mostly small operands
            word[i] = rng_below(&r, 2) ? (uint32_t)(rng_below(&r, 7) << 16 | rng_below(&r, 80))
                                       : (uint32_t)rng_below(&r, 45);
        assert_false(inspect_copy(word, 5 + rng_below(&r, 60)));
    }
}

// Arrays of arrays of ... overflow 64 bits: the size saturates instead of wrapping to something
// small.
static void test_sizes_saturate(void **state)
{
    (void)state;
    uint32_t word[] = {
        0x07230203,
        0x00010300,
        0,
        20,
        0, // header
        5u << 16 | 15,
        5,
        1,
        0x6e69616d,
        0, // entry point "main"
        6u << 16 | 16,
        1,
        17,
        8,
        1,
        1, // local size
        4u << 16 | 21,
        2,
        32,
        0, // uint
        4u << 16 | 43,
        2,
        3,
        0xffffffff, // 2^32 - 1
        4u << 16 | 28,
        4,
        2,
        3,
        4u << 16 | 28,
        5,
        4,
        3, // arrays
        4u << 16 | 28,
        6,
        5,
        3,
        4u << 16 | 32,
        7,
        4,
        6, // and a Workgroup pointer
        4u << 16 | 59,
        7,
        8,
        4,
    };
    struct spirv s = {word, sizeof word / sizeof *word};
    struct kernel_facts f;
    struct err e;
    if (!kernel_inspect(&s, &f, &e))
        fail_msg("%s", e.text);
    assert_true(f.shared_bytes == UINT64_MAX);
}

// One compute entry point of any name, with a size.
static void test_entry_point(void **state)
{
    (void)state;
    enum { MODEL = 6, NAME = 8, MODE = 12, SIZE_Z = 15, SECOND = 16 };
    const uint32_t good[] = {
        0x07230203,     0x00010300, 0,  20,         0,    // header
        5u << 16 | 15,  5,          1,  0x6e69616d, 0,    // entry point "main"
        6u << 16 | 16,  1,          17, 8,          2, 1, // local size
        5u << 16 | 999, 5,          1,  0x6e69616d, 0,    // something unknown
    };
    const struct {
        size_t at;
        uint32_t word;
    } bad[] = {
        {MODEL, 4}, {NAME + 1, 0x6e69616d}, {MODE, 18}, {SIZE_Z, 0}, {SECOND, 5u << 16 | 15}};
    const size_t count = sizeof good / sizeof *good;
    uint32_t other[sizeof good / sizeof *good];
    assert_true(inspect_copy(good, count));
    memcpy(other, good, sizeof good);
    memcpy(other + NAME, "CSMain\0", 8);
    assert_true(inspect_copy(other, count));
    assert_string_equal(kernel_entry(&(struct spirv){other, count}), "CSMain");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint32_t word[sizeof good / sizeof *good];
        memcpy(word, good, sizeof good);
        word[bad[i].at] = bad[i].word;
        assert_false(inspect_copy(word, count));
    }
}

// SPIR-V 1.2 LocalSizeId takes precedence over a literal, and reads constants that are declared
// later.
static void test_local_size_id(void **state)
{
    (void)state;
    uint32_t word[] = {
        0x07230203,
        0x00010300,
        0,
        20,
        0,
        5u << 16 | 15,
        5,
        1,
        0x6e69616d,
        0,
        6u << 16 | 331,
        1,
        38,
        3,
        4,
        3, // local size (3, 4, 3) by id
        6u << 16 | 16,
        1,
        17,
        8,
        8,
        8, // literal
        4u << 16 | 21,
        2,
        32,
        0, // uint
        4u << 16 | 50,
        2,
        3,
        5, // specialization constant 5
        4u << 16 | 43,
        2,
        4,
        6, // constant 6
    };
    struct spirv s = {word, sizeof word / sizeof *word};
    struct kernel_facts f;
    struct err e;
    if (!kernel_inspect(&s, &f, &e))
        fail_msg("%s", e.text);
    assert_size(&f, 5, 6, 5);
    word[13] = 9; // an id that is no constant
    assert_false(kernel_inspect(&s, &f, &e));
}

static int setup(void **state)
{
    (void)state;
    kernel_setup();
    return 0;
}

TEST_GROUP(inspect)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_local_size),
        cmocka_unit_test(test_shared_bytes),
        cmocka_unit_test(test_buffers_and_push),
        cmocka_unit_test(test_chain_outside_of_functions),
        cmocka_unit_test(test_f16),
        cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_unbindable),
        cmocka_unit_test(test_layout_agrees_with_glslang),
        cmocka_unit_test(test_loops_and_group_count),
        cmocka_unit_test(test_entry_point),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_random_words),
        cmocka_unit_test(test_sizes_saturate),
        cmocka_unit_test(test_local_size_id),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
