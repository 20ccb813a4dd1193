// Modules whose accesses are checked are modules still, checked where that is needed, and damaged
// ones do no harm. tests/trial checks their results on a device.
#include "group.h"

#include "kernel/checked.h"

#include "base/mem.h"
#include "base/rng.h"

#include <stddef.h>
#include <string.h>

#define HEAD                                                                                       \
    "#version 450\nlayout(local_size_x = 4) in;\n"                                                 \
    "layout(std430, binding = 0) readonly buffer A { float first, a[]; };\n"                       \
    "layout(std430, binding = 1) buffer B { float b[64]; };\nshared float s[8];\n"
#define I "gl_LocalInvocationID.x"

static const char everything[] =
    HEAD "float in_function(inout float l[3], uint i) { return l[i] + vec3(i, 1, 2)[i]; }\n"
         "void main() { float l[3] = float[3](1, 2, 3); mat3 m = mat3(1);\n"
         "if (" I " > 2) return;\n s[" I "] = m[" I "][1]; barrier();\n"
         "for (uint i = 0; i < a.length(); i++) b[i] = in_function(l, i) + a[i] + s[7]; }";

static struct spirv compile(const char *glsl)
{
    struct spirv s;
    struct err e;
    if (!kernel_compile(glsl, &s, &e))
        fail_msg("line %d: %s\n%s", e.line, e.text, glsl);
    return s;
}

static struct spirv checked(const struct spirv *s, uint64_t bytes_a, uint64_t bytes_b)
{
    struct spirv out;
    struct err e;
    const uint64_t bytes[] = {bytes_a, bytes_b};
    if (!kernel_check_accesses(s, bytes, 2, false, &out, &e))
        fail_msg("%s", e.text);
    return out;
}

// Returns how many indices are compared in `glsl`, with buffers of so many bytes.
static int comparisons(const char *glsl, uint64_t bytes_a, uint64_t bytes_b)
{
    enum { LESS_UNSIGNED = 176 };
    struct spirv s = compile(glsl), out = checked(&s, bytes_a, bytes_b);
    int count[2] = {0};
    for (int k = 0; k < 2; k++) {
        const struct spirv *one = k ? &out : &s;
        for (size_t at = 5; at < one->count; at += one->word[at] >> 16)
            count[k] += (one->word[at] & 0xffff) == LESS_UNSIGNED;
    }
    spirv_finish(&s);
    spirv_finish(&out);
    return count[1] - count[0];
}

static void accesses_certainly_inside_stay(void **state)
{
    (void)state;
    static const char inside[] = HEAD "void main() { s[7] = a[14]; b[63] = s[0]; }";
    assert_int_equal(comparisons(inside, 64, 256), 0);
    static const char outside[] = HEAD "void main() { s[7] = a[15]; b[63] = s[0]; }";
    assert_int_equal(comparisons(outside, 64, 256), 1);
    static const char declared_too_long[] = HEAD "void main() { b[63] = 1; }";
    assert_int_equal(comparisons(declared_too_long, 64, 252), 1);
    static const char shared[] = HEAD "void main() { s[" I "] = 1; }";
    assert_int_equal(comparisons(shared, 64, 256), 1);
    static const char vector[] = HEAD "void main() { vec2 v[3]; v[" I "][" I "] = 1; }";
    assert_int_equal(comparisons(vector, 64, 256), 2);
}

static void loops_are_rolled_up_when_asked(void **state)
{
    enum { LOOP_MERGE = 246, UNROLL = 1, DONT_UNROLL = 2 };
    (void)state;
    struct spirv s =
        compile("#version 450\n#extension GL_EXT_control_flow_attributes : require\n"
                "layout(local_size_x = 4) in;\nlayout(binding = 0) buffer A { float a[]; };\n"
                "void main() { [[unroll]] for (uint i = 0; i < 4; i++) a[i] = 1; }");
    for (int roll = 0; roll < 2; roll++) {
        const uint64_t bytes[] = {16};
        struct spirv out;
        int loops = 0;
        assert_true(kernel_check_accesses(&s, bytes, 1, roll, &out, NULL));
        for (size_t at = 5; at < out.count; at += out.word[at] >> 16)
            if ((out.word[at] & 0xffff) == LOOP_MERGE) {
                assert_int_equal(out.word[at + 3], roll ? DONT_UNROLL : UNROLL);
                loops++;
            }
        assert_int_equal(loops, 1);
        spirv_finish(&out);
    }
    spirv_finish(&s);
}

static void a_checked_module_has_one_more_buffer(void **state)
{
    (void)state;
    struct spirv s = compile(everything), out = checked(&s, 64, 256);
    struct kernel_facts before, after;
    struct err e;
    assert_true(kernel_inspect(&s, &before, &e));
    if (!kernel_inspect(&out, &after, &e))
        fail_msg("%s", e.text);
    assert_int_equal(before.bindings, 2);
    assert_int_equal(after.bindings, 3);
    assert_true(after.shared_bytes == before.shared_bytes);
    assert_int_equal(after.capability_count, before.capability_count);
    spirv_finish(&s);
    spirv_finish(&out);
}

static void old_modules_are_refused(void **state)
{
    (void)state;
    struct spirv s = compile(everything), out;
    const uint64_t bytes[40] = {64, 256};
    struct err e;
    assert_false(kernel_check_accesses(&s, bytes, 31, true, &out, &e));
    s.word[1] = 0x10200;
    assert_false(kernel_check_accesses(&s, bytes, 2, false, &out, &e));
    assert_non_null(strstr(e.text, "SPIR-V 1.3"));
    spirv_finish(&s);
}

// Whatever passes inspection can be rewritten without reading or writing anything else.
static void damaged_modules_do_no_harm(void **state)
{
    (void)state;
    struct spirv s = compile(everything);
    struct rng r;
    int rewritten = 0;
    rng_seed(&r, 4);
    for (int round = 0; round < 20000; round++) {
        struct spirv copy = {mem_alloc(s.count * sizeof *s.word), s.count}, out;
        struct kernel_facts f;
        struct err e;
        memcpy(copy.word, s.word, s.count * sizeof *s.word);
        for (int flips = 1 + (int)rng_below(&r, 4); flips > 0; flips--)
            copy.word[5 + rng_below(&r, s.count - 5)] =
                rng_below(&r, 2) ? s.word[rng_below(&r, s.count)] : (uint32_t)rng_below(&r, 100);
        if (kernel_inspect(&copy, &f, &e)) {
            out = checked(&copy, 64, 256);
            rewritten++;
            spirv_finish(&out);
        }
        spirv_finish(&copy);
    }
    assert_true(rewritten > 1000);
    spirv_finish(&s);
}

static void words_are_explained(void **state)
{
    (void)state;
    assert_int_equal(kernel_outside_access(0), ACCESS_INSIDE);
    assert_int_equal(kernel_outside_access(1), 0);
    assert_int_equal(kernel_outside_access(UINT32_C(1) << 30 | 4), 2);
    assert_int_equal(kernel_outside_access(UINT32_C(3) << 30), ACCESS_SHARED);
    assert_int_equal(kernel_outside_access(UINT32_C(1) << 31), ACCESS_LOCAL);
}

TEST_GROUP(checked)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_certainly_inside_stay),
        cmocka_unit_test(loops_are_rolled_up_when_asked),
        cmocka_unit_test(a_checked_module_has_one_more_buffer),
        cmocka_unit_test(old_modules_are_refused),
        cmocka_unit_test(damaged_modules_do_no_harm),
        cmocka_unit_test(words_are_explained),
    };
    kernel_setup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
