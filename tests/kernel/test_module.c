// Modules with several entry points, resources in other sets, sizes that a pass replaces.
#include "group.h"

#include "kernel/fit.h"

#include "base/mem.h"
#include "base/str.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

// Two kernels: `small` writes 2 to the buffer of set 3, `large` has shared memory, a uniform block
// and a function of its own. As spirv-as makes it of:
//
//     OpCapability Shader
//     OpMemoryModel Logical GLSL450
//     OpEntryPoint GLCompute %small "small"
//     OpEntryPoint GLCompute %large "large"
//     OpExecutionMode %small LocalSize 4 1 1
//     OpExecutionMode %large LocalSize 64 2 1
//     OpName %used "used"
//     OpName %sizes "sizes"
//     OpName %out "out"
//     OpDecorate %floats ArrayStride 4
//     OpDecorate %block Block
//     OpMemberDecorate %block 0 Offset 0
//     OpDecorate %out DescriptorSet 3
//     OpDecorate %out Binding 5
//     OpDecorate %given Block
//     OpMemberDecorate %given 0 Offset 0
//     OpDecorate %sizes DescriptorSet 0
//     OpDecorate %sizes Binding 1
//     %void = OpTypeVoid
//     %plain = OpTypeFunction %void
//     %float = OpTypeFloat 32
//     %uint = OpTypeInt 32 0
//     %0 = OpConstant %uint 0
//     %2 = OpConstant %float 2
//     %length = OpConstant %uint 100
//     %floats = OpTypeRuntimeArray %float
//     %block = OpTypeStruct %floats
//     %to_block = OpTypePointer StorageBuffer %block
//     %to_float = OpTypePointer StorageBuffer %float
//     %out = OpVariable %to_block StorageBuffer
//     %array = OpTypeArray %float %length
//     %to_array = OpTypePointer Workgroup %array
//     %shared = OpVariable %to_array Workgroup
//     %to_shared = OpTypePointer Workgroup %float
//     %given = OpTypeStruct %float
//     %to_given = OpTypePointer Uniform %given
//     %sizes = OpVariable %to_given Uniform
//     %to_number = OpTypePointer Uniform %float
//     %small = OpFunction %void None %plain
//     %s1 = OpLabel
//     %place = OpAccessChain %to_float %out %0 %0
//     OpStore %place %2
//     OpReturn
//     OpFunctionEnd
//     %used = OpFunction %void None %plain
//     %u1 = OpLabel
//     %there = OpAccessChain %to_shared %shared %0
//     OpStore %there %2
//     OpReturn
//     OpFunctionEnd
//     %large = OpFunction %void None %plain
//     %l1 = OpLabel
//     %nothing = OpFunctionCall %void %used
//     %number = OpAccessChain %to_number %sizes %0
//     %n = OpLoad %float %number
//     OpReturn
//     OpFunctionEnd
static const uint32_t two[] = {
    0x7230203,  0x10300, 0x70000,    0x20,    0,          0x20011, 1,        0x3000e,    0,
    1,          0x5000f, 5,          1,       0x6c616d73, 0x6c,    0x5000f,  5,          2,
    0x6772616c, 0x65,    0x60010,    1,       0x11,       4,       1,        1,          0x60010,
    2,          0x11,    0x40,       2,       1,          0x40005, 3,        0x64657375, 0,
    0x40005,    4,       0x657a6973, 0x73,    0x30005,    5,       0x74756f, 0x40047,    6,
    6,          4,       0x30047,    7,       2,          0x50048, 7,        0,          0x23,
    0,          0x40047, 5,          0x22,    3,          0x40047, 5,        0x21,       5,
    0x30047,    8,       2,          0x50048, 8,          0,       0x23,     0,          0x40047,
    4,          0x22,    0,          0x40047, 4,          0x21,    1,        0x20013,    9,
    0x30021,    0xa,     9,          0x30016, 0xb,        0x20,    0x40015,  0xc,        0x20,
    0,          0x4002b, 0xc,        0xd,     0,          0x4002b, 0xb,      0xe,        0x40000000,
    0x4002b,    0xc,     0xf,        0x64,    0x3001d,    6,       0xb,      0x3001e,    7,
    6,          0x40020, 0x10,       0xc,     7,          0x40020, 0x11,     0xc,        0xb,
    0x4003b,    0x10,    5,          0xc,     0x4001c,    0x12,    0xb,      0xf,        0x40020,
    0x13,       4,       0x12,       0x4003b, 0x13,       0x14,    4,        0x40020,    0x15,
    4,          0xb,     0x3001e,    8,       0xb,        0x40020, 0x16,     2,          8,
    0x4003b,    0x16,    4,          2,       0x40020,    0x17,    2,        0xb,        0x50036,
    9,          1,       0,          0xa,     0x200f8,    0x18,    0x60041,  0x11,       0x19,
    5,          0xd,     0xd,        0x3003e, 0x19,       0xe,     0x100fd,  0x10038,    0x50036,
    9,          3,       0,          0xa,     0x200f8,    0x1a,    0x50041,  0x15,       0x1b,
    0x14,       0xd,     0x3003e,    0x1b,    0xe,        0x100fd, 0x10038,  0x50036,    9,
    2,          0,       0xa,        0x200f8, 0x1c,       0x40039, 9,        0x1d,       3,
    0x50041,    0x17,    0x1e,       4,       0xd,        0x4003d, 0xb,      0x1f,       0x1e,
    0x100fd,    0x10038,
};

static struct spirv copy_of_two(void)
{
    struct spirv s = {mem_alloc(sizeof two), sizeof two / sizeof *two};
    struct err e;
    memcpy(s.word, two, sizeof two);
    if (!kernel_validate(&s, &e))
        fail_msg("%s", e.text);
    return s;
}

static struct job_uniform block_of(uint16_t set, uint16_t binding)
{
    return (struct job_uniform){.set = set, .binding = binding};
}

// Fits the two kernels to a pass; a module that is left is valid.
static struct kernel_facts fit(const struct pass *p, struct spirv *s)
{
    struct kernel_facts f;
    struct err e;
    *s = copy_of_two();
    if (!kernel_fit(p, s, &e) || !kernel_validate(s, &e) || !kernel_inspect(s, &f, &e))
        fail_msg("%s", e.text);
    return f;
}

static void refuse(const struct pass *p, const char *told)
{
    struct spirv s = copy_of_two();
    struct err e;
    assert_false(kernel_fit(p, &s, &e));
    if (!strstr(e.text, told) || strstr(e.text, "malformed"))
        fail_msg("%s", e.text);
    spirv_finish(&s);
}

static void one_of_several_stays(void **state)
{
    (void)state;
    static char small[] = "small", large[] = "large", other[] = "other";
    struct job_uniform sizes = block_of(0, 1);
    struct spirv s;
    struct pass p = {.entry = small, .binding = {{3, 5, 2}}, .binding_count = 1};
    struct kernel_facts f = fit(&p, &s);
    assert_true(f.local_size[0] == 4 && f.shared_bytes == 0 && f.uniforms == 0);
    assert_true(f.bindings == 3 && f.written == 1u << 2 && f.read == 0);
    assert_string_equal(kernel_entry(&s), "small");
    spirv_finish(&s);
    p = (struct pass){.entry = large, .uniform = &sizes, .uniform_count = 1};
    f = fit(&p, &s);
    assert_true(f.local_size[0] == 64 && f.local_size[1] == 2 && f.shared_bytes == 400);
    assert_true(f.uniforms == 1 && f.bindings == 0);
    spirv_finish(&s);
    refuse(&(struct pass){.constant_count = 0}, "small, large");
    refuse(&(struct pass){.entry = other}, "'other'");
}

static void resources_are_named(void **state)
{
    (void)state;
    static char small[] = "small", large[] = "large";
    struct job_uniform elsewhere = block_of(0, 2);
    refuse(&(struct pass){.entry = small}, "'out'");
    refuse(&(struct pass){.entry = small, .binding = {{3, 4, 0}}, .binding_count = 1}, "set 3");
    refuse(&(struct pass){.entry = large}, "'sizes'");
    refuse(&(struct pass){.entry = large, .uniform = &elsewhere, .uniform_count = 1}, "'sizes'");
    refuse(&(struct pass){.entry = small,
                          .binding = {{3, 5, 0}},
                          .binding_count = 1,
                          .uniform = &elsewhere,
                          .uniform_count = 1},
           "no uniform");
}

static void sizes_are_replaced(void **state)
{
    (void)state;
    static const char *const sizes[] = {"local_size_x = 32, local_size_y = 2",
                                        "local_size_x_id = 0, local_size_y = 2"};
    for (int i = 0; i < 2; i++) {
        char glsl[400];
        struct spirv s;
        struct kernel_facts f;
        struct err e;
        snprintf(glsl, sizeof glsl,
                 "#version 450\nlayout(%s) in;\nlayout(binding = 0) buffer A { uint a[]; };\n"
                 "void main() { a[0] = gl_WorkGroupSize.x * 3 + gl_WorkGroupSize.y; }\n",
                 sizes[i]);
        const struct pass p = {.local_size = {48, 1, 1}};
        if (!kernel_compile(glsl, &s, &e) || !kernel_fit(&p, &s, &e) || !kernel_validate(&s, &e) ||
            !kernel_inspect(&s, &f, &e))
            fail_msg("%s", e.text);
        assert_true(f.local_size[0] == 48 && f.local_size[1] == 1 && f.local_size[2] == 1);
        spirv_finish(&s);
    }
}

static struct kernel_facts facts_of(const char *glsl)
{
    struct spirv s;
    struct kernel_facts f;
    struct err e;
    const struct pass p = {.local_size = {0}};
    if (!kernel_compile(glsl, &s, &e) || !kernel_fit(&p, &s, &e) || !kernel_inspect(&s, &f, &e))
        fail_msg("%s", e.text);
    spirv_finish(&s);
    return f;
}

static void addresses_belong_to_members(void **state)
{
    (void)state;
    static const char glsl[] =
        "#version 450\n#extension GL_EXT_buffer_reference : require\nlayout(local_size_x = 4) in;\n"
        "layout(buffer_reference, std430) buffer Floats { float x[]; };\n"
        "layout(push_constant) uniform P { Floats a; Floats b; Floats c; uint n; };\n"
        "void main() { c.x[n] = a.x[n]; b.x[n] += 1.0; }\n";
    struct kernel_facts f = facts_of(glsl);
    assert_int_equal(f.address_written, 1 << 1 | 1 << 2);
    assert_int_equal(f.address_read, 1 << 0 | 1 << 1);
    assert_int_equal(f.push_bytes, 28);
}

// Functions that get addresses and write through them, in a variable, or through another function;
// glslang puts them behind those that call them.
static void functions_write_through_addresses(void **state)
{
    (void)state;
    static const char glsl[] =
        "#version 450\n#extension GL_EXT_buffer_reference : require\nlayout(local_size_x = 4) in;\n"
        "layout(buffer_reference, std430) buffer Floats { float x[]; };\n"
        "layout(push_constant) uniform P { Floats a; Floats b; Floats c; Floats d; uint n; };\n"
        "void outer(Floats to, float v);\nfloat get(Floats from);\n"
        "void main() { Floats mine = d; outer(b, get(a)); mine.x[n] = 2.0; }\n"
        "void inner(Floats to, float v) { to.x[n] = v; }\n"
        "void outer(Floats to, float v) { inner(to, v); }\n"
        "float get(Floats from) { return from.x[n] + c.x[n]; }\n";
    struct kernel_facts f = facts_of(glsl);
    assert_int_equal(f.address_written, 1 << 1 | 1 << 3);
    assert_int_equal(f.address_read, 1 << 0 | 1 << 2);
}

static int set_up(void **state)
{
    (void)state;
    kernel_setup();
    return 0;
}

TEST_GROUP(module)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_several_stays),
        cmocka_unit_test(resources_are_named),
        cmocka_unit_test(sizes_are_replaced),
        cmocka_unit_test(addresses_belong_to_members),
        cmocka_unit_test(functions_write_through_addresses),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
