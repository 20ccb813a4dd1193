// GLSL to SPIR-V: what is accepted, and where errors point.
#include "group.h"

#include "base/str.h"
#include "kernel/kernel.h"

#include <stddef.h>
#include <string.h>

#define HEAD "#version 450\nlayout(local_size_x = 8) in;\n"

static void assert_error(const char *glsl, int line, const char *text)
{
    struct spirv s;
    struct err e = {.file = "left over"};
    assert_false(kernel_compile(glsl, &s, &e));
    assert_null(s.word);
    assert_int_equal(e.line, line);
    assert_string_equal(e.file, "");
    if (!strstr(e.text, text))
        fail_msg("'%s' lacks '%s'", e.text, text);
    assert_null(strstr(e.text, "ERROR"));
    assert_null(strchr(e.text, '\n'));
}

static void test_module(void **state)
{
    (void)state;
    struct spirv s;
    struct err e;
    static const char nothing[] = HEAD "void main() {}\n";
    assert_true(kernel_compile(nothing, &s, &e));
    assert_true(s.count > 5);
    assert_int_equal(s.word[0], 0x07230203);
    assert_int_equal(s.word[1], 0x00010300); // SPIR-V 1.3
    spirv_finish(&s);
    assert_null(s.word);
    spirv_finish(&s);
}

static void test_same_text_same_words(void **state)
{
    (void)state;
    const char *glsl =
        HEAD "shared float t[8];\nvoid main() { t[gl_LocalInvocationID.x] = 1.0; }\n";
    struct spirv a, b;
    assert_true(kernel_compile(glsl, &a, NULL));
    assert_true(kernel_compile(glsl, &b, NULL));
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.word, b.word, a.count * sizeof *a.word);
    spirv_finish(&a);
    spirv_finish(&b);
}

// Shared blocks need SPIR-V 1.4, nothing here needs more.
static void test_newer_target(void **state)
{
    (void)state;
    static const char *const texts[] = {
        HEAD "shared float t[8];\nvoid main() { t[0] = 1.0; }\n",
        "#version 450\n#extension GL_EXT_shared_memory_block : require\n"
        "layout(local_size_x = 8) in;\nshared S { float t[8]; };\nvoid main() { t[0] = 1.0; }\n"};
    for (uint32_t i = 0; i < 2; i++) {
        struct spirv s;
        struct kernel_facts f;
        struct err e;
        if (!kernel_compile(texts[i], &s, &e) || !kernel_inspect(&s, &f, &e))
            fail_msg("%s", e.text);
        assert_int_equal(f.spirv_minor, 3 + i);
        assert_int_equal(s.word[1], 0x10300 + 0x100 * i);
        assert_int_equal(f.shared_bytes, 32);
        spirv_finish(&s);
    }
}

static void test_errors_have_lines(void **state)
{
    (void)state;
    static const struct {
        const char *glsl;
        int line;
        const char *named;
    } wrong[] = {
        {HEAD "void main()\n{\n    int a = b;\n}\n", 5, "'b' : undeclared identifier"},
        {HEAD "void main() { int a = 1 }\n", 3, "syntax error"},
        {HEAD "\n#error oops\nvoid main() {}\n", 4, "oops"},
        {HEAD "float f() { return 1.0; }\n", 0, "entry point"},
        {"", 0, ""},
        {"#version 450\nlayout(local_size_x = 0) in;\nvoid main() {}\n", 2, "local_size_x"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_error(wrong[i].glsl, wrong[i].line, wrong[i].named);
}

// A warning that comes before the first error is not the message.
static void test_warning_before_error(void **state)
{
    (void)state;
    static const char extension[] =
        "#version 450\n#extension GL_FOO_bar : warn\nlayout(local_size_x = 8) in;\n"
        "void main() { x = 1; }\n";
    assert_error(extension, 4, "'x'");
}

// Limits are judged by kernel_check, for the device, not by the parser.
static void test_large_group_compiles(void **state)
{
    (void)state;
    struct spirv s;
    struct kernel_facts f;
    struct err e;
    static const char large[] =
        "#version 450\nlayout(local_size_x = 2048, local_size_z = 512) in;\n"
        "shared float t[1000000];\n"
        "void main() { t[gl_LocalInvocationIndex] = 1.0; }\n";
    assert_true(kernel_compile(large, &s, &e));
    assert_true(kernel_inspect(&s, &f, &e));
    assert_int_equal(f.local_size[0], 2048);
    assert_int_equal(f.local_size[2], 512);
    assert_int_equal(f.shared_bytes, 4000000);
    spirv_finish(&s);
}

static void test_extensions(void **state)
{
    (void)state;
    struct spirv s;
    struct err e;
    const char *glsl =
        "#version 450\n"
        "#extension GL_EXT_control_flow_attributes : require\n"
        "#extension GL_EXT_shader_16bit_storage : require\n"
        "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n"
        "#extension GL_KHR_shader_subgroup_arithmetic : require\n"
        "layout(local_size_x = 8) in;\n"
        "layout(std430, binding = 0) buffer A { float16_t a[]; };\n"
        "void main() { float s = 0; [[unroll]] for (int i = 0; i < 4; i++) s += float(a[i]);\n"
        "a[0] = float16_t(subgroupAdd(s)); }\n";
    if (!kernel_compile(glsl, &s, &e))
        fail_msg("%s", e.text);
    spirv_finish(&s);
}

static void test_bytes_are_a_fact(void **state)
{
    (void)state;
    struct spirv s;
    struct kernel_facts f;
    struct err e;
    const char *glsl = "#version 450\n"
                       "#extension GL_EXT_shader_8bit_storage : require\n"
                       "layout(local_size_x = 8) in;\n"
                       "layout(std430, binding = 0) buffer A { int8_t a[]; };\n"
                       "void main() { a[1] = a[0]; }\n";
    assert_true(kernel_compile(glsl, &s, &e));
    assert_true(kernel_inspect(&s, &f, &e));
    assert_true(f.uses_i8_storage && !f.uses_i8 && !f.uses_f16 && !f.uses_f16_storage);
    spirv_finish(&s);
}

static int setup(void **state)
{
    (void)state;
    kernel_setup();
    return 0;
}

TEST_GROUP(compile)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_module),
        cmocka_unit_test(test_same_text_same_words),
        cmocka_unit_test(test_newer_target),
        cmocka_unit_test(test_errors_have_lines),
        cmocka_unit_test(test_warning_before_error),
        cmocka_unit_test(test_large_group_compiles),
        cmocka_unit_test(test_extensions),
        cmocka_unit_test(test_bytes_are_a_fact),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
