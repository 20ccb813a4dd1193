// The check that a device can run a module: every limit that it exceeds, a sentence for the first.
#include "group.h"
#include "wording.h"

#include "kernel/fit.h"
#include "kernel/kernel.h"

#include <stddef.h>
#include <string.h>

static void test_check(void **state)
{
    (void)state;
    const struct limits l = {.invocations = 256,
                             .group_size = {256, 256, 64},
                             .group_count = {65535, 65535, 65535},
                             .shared_bytes = 1024};
    const uint32_t one[3] = {1, 1, 1}, many[3] = {1, 65536, 1};
    struct kernel_facts f = {.local_size = {16, 16, 1}, .shared_bytes = 1024};
    char reason[200] = "old";
    assert_int_equal(kernel_check(&f, one, &l, reason, sizeof reason), 0);
    assert_string_equal(reason, "");

    assert_int_equal(kernel_check(&f, many, &l, reason, sizeof reason), 1u << LIMIT_GROUP_COUNT);
    assert_non_null(strstr(reason, "65536"));
    f.shared_bytes++;
    assert_int_equal(kernel_check(&f, one, &l, reason, sizeof reason), 1u << LIMIT_SHARED);
    f.local_size[2] = 2;
    assert_int_equal(kernel_check(&f, one, &l, reason, sizeof reason),
                     1u << LIMIT_SHARED | 1u << LIMIT_INVOCATIONS);
    f = (struct kernel_facts){.local_size = {1, 1, 1}, .uses_f16_storage = true};
    assert_int_equal(kernel_check(&f, one, &l, reason, sizeof reason), KERNEL_NEEDS_F16);
    assert_non_null(strstr(reason, "16-bit"));
    f = (struct kernel_facts){.local_size = {1, 1, 1}, .uses_i8 = true};
    assert_int_equal(kernel_check(&f, one, &l, reason, sizeof reason), KERNEL_NEEDS_I8);
    assert_non_null(strstr(reason, "8-bit"));
    struct limits with_i8 = l;
    with_i8.i8 = true;
    assert_int_equal(kernel_check(&f, one, &with_i8, reason, sizeof reason), 0);
    f = (struct kernel_facts){.local_size = {1, 1, 1}, .uses_i8_storage = true};
    assert_int_equal(kernel_check(&f, one, &with_i8, reason, sizeof reason), KERNEL_NEEDS_I8);
    with_i8.types = 1u << ELEMENT_U8;
    assert_int_equal(kernel_check(&f, one, &with_i8, reason, sizeof reason), 0);
    f = (struct kernel_facts){.local_size = {1, 1, 1}, .uses_dot = true};
    assert_int_equal(kernel_check(&f, one, &l, reason, sizeof reason), KERNEL_NEEDS_FEATURE);
    assert_non_null(strstr(reason, "dot products"));
    with_i8.dot = true;
    assert_int_equal(kernel_check(&f, one, &with_i8, reason, sizeof reason), 0);
}

static void test_check_version(void **state)
{
    (void)state;
    const uint32_t one[3] = {1, 1, 1};
    struct limits l = {.invocations = 1, .group_size = {1, 1, 1}, .group_count = {1, 1, 1}};
    const struct kernel_facts f = {.local_size = {1, 1, 1}, .spirv_minor = 5};
    char reason[200];
    for (l.spirv_minor = 3; l.spirv_minor < 7; l.spirv_minor++)
        assert_int_equal(kernel_check(&f, one, &l, reason, sizeof reason),
                         l.spirv_minor < 5 ? KERNEL_NEEDS_VERSION : 0);
    l.spirv_minor = 4;
    kernel_check(&f, one, &l, reason, sizeof reason);
    wording_is("kernel", "check: version", reason);
    l.unknown = 1u << LIMITS_spirv_minor; // a session of an older program
    assert_int_equal(kernel_check(&f, one, &l, reason, sizeof reason), 0);
    assert_true(kernel_check_version(&f, 0, reason, sizeof reason));
}

// The facts of a shader with a double, as the reader finds them.
static void test_check_double(void **state)
{
    (void)state;
    const uint32_t one[3] = {1, 1, 1};
    struct spirv s;
    struct kernel_facts f;
    struct err e;
    char reason[200];
    kernel_setup();
    static const char halves[] = "#version 450\nlayout(local_size_x = 1) in;\n"
                                 "layout(std430, binding = 0) buffer A { float a[]; };\n"
                                 "void main() { a[0] = float(double(a[1]) / 3.0LF); }\n";
    assert_true(kernel_compile(halves, &s, &e) && kernel_inspect(&s, &f, &e));
    assert_int_equal(f.capability_count, 2);
    assert_int_equal(kernel_check(&f, one, &limits_vulkan_minimum, reason, sizeof reason),
                     KERNEL_NEEDS_FEATURE);
    spirv_finish(&s);
}

// Two images and a texel buffer that are stored to, one that is sampled with its own sampler and
// another; `b` is an array whose index is computed.
static void check_counts(const struct kernel_facts *f)
{
    const uint32_t one[3] = {1, 1, 1};
    struct limits l = limits_vulkan_minimum, few;
    char reason[200];
    assert_true(kernel_check_counts(f, 4, &l, reason, sizeof reason)); // 0: any number
    l.buffers = 4, l.storage_images = 3, l.sampled_images = 1, l.samplers = 2;
    assert_true(kernel_check_counts(f, 4, &l, reason, sizeof reason));
    assert_false(kernel_check_counts(f, 5, &l, reason, sizeof reason));
    few = l, few.storage_images = 2;
    assert_false(kernel_check_counts(f, 4, &few, reason, sizeof reason));
    few = l, few.samplers = 1;
    assert_false(kernel_check_counts(f, 4, &few, reason, sizeof reason));
    struct kernel_facts more = *f;
    more.descriptor[0].kind = DESCRIPTOR_SAMPLED_IMAGE;
    more.descriptor[0].count = 2;
    assert_false(kernel_check_counts(&more, 4, &l, reason, sizeof reason));
    l.features = FEATURE_MORE_FORMATS | FEATURE_WRITE_FORMATLESS;
    assert_int_equal(kernel_check(f, one, &l, reason, sizeof reason), KERNEL_NEEDS_FEATURE);
    wording_is("kernel", "check: computed index", reason);
    l.features |= FEATURE_STORED_ARRAYS;
    assert_int_equal(kernel_check(f, one, &l, reason, sizeof reason), 0);
}

// The facts of images, and which formats a device must have for them.
static void test_check_formats(void **state)
{
    (void)state;
    static const char glsl[] =
        "#version 450\nlayout(local_size_x = 1) in;\n"
        "layout(binding = 0) uniform sampler2D a;\n"
        "layout(binding = 1, r16f) uniform image2D b[2];\n"
        "layout(binding = 3, r32f) writeonly uniform imageBuffer c;\n"
        "layout(binding = 2) uniform sampler s;\n"
        "layout(push_constant) uniform P { int i; };\n"
        "void put(writeonly image2D to);\n"
        "vec4 get(sampler2D from) { return texelFetch(from, ivec2(0), 0); }\n"
        "void main() { imageStore(b[1], ivec2(0), imageLoad(b[i], ivec2(0))); put(b[0]);\n"
        "imageStore(c, 0, get(a)); }\n"
        "void put(writeonly image2D to) { imageStore(to, ivec2(0), vec4(0)); }\n";
    struct job_image images[] = {{0, {TEXEL_rgba8, IMAGE_2D, 4, 4, 1}},
                                 {1, {TEXEL_r16f, IMAGE_2D, 4, 4, 1}},
                                 {2, {TEXEL_r16f, IMAGE_2D, 4, 4, 1}},
                                 {3, {TEXEL_r32f, IMAGE_TEXELS, 0, 0, 0}}};
    const struct pass p = {.image = images, .image_count = 4};
    const enum descriptor kinds[] = {DESCRIPTOR_COMBINED, DESCRIPTOR_STORAGE_IMAGE,
                                     DESCRIPTOR_STORAGE_IMAGE, DESCRIPTOR_STORAGE_TEXELS};
    struct limits l = limits_vulkan_minimum;
    struct spirv s;
    struct kernel_facts f;
    struct err e;
    char reason[200];
    kernel_setup();
    if (!kernel_compile(glsl, &s, &e) || !kernel_fit(&p, &s, &e) || !kernel_inspect(&s, &f, &e))
        fail_msg("%s", e.text);
    struct kernel_uses uses = kernel_descriptor_uses(&f, &p);
    assert_int_equal(f.descriptor_count, 4);                  // with the sampler
    assert_int_equal(uses.read, 7);                           // any of `b` by that index
    assert_int_equal(uses.written, 1 << 1 | 1 << 2 | 1 << 3); // one of them by a function
    assert_int_equal(uses.may_write, uses.written);
    assert_true(kernel_check_formats(&f, &p, &l, reason, sizeof reason));
    for (int i = 0; i < 4; i++) {
        enum texel_format format = (enum texel_format)images[i].form.format;
        l.formats = limits_vulkan_minimum.formats & ~descriptor_bit(kinds[i], format);
        assert_false(kernel_check_formats(&f, &p, &l, reason, sizeof reason));
        assert_non_null(strstr(reason, texel_traits[format].name));
    }
    l.unknown = 1u << LIMITS_formats;
    assert_true(kernel_check_formats(&f, &p, &l, reason, sizeof reason));
    check_counts(&f);
    images[2].form.shape = IMAGE_3D;
    spirv_finish(&s);
    assert_true(kernel_compile(glsl, &s, &e));
    assert_false(kernel_fit(&p, &s, &e));
    spirv_finish(&s);
}

static void test_check_features(void **state)
{
    (void)state;
    const uint32_t one[3] = {1, 1, 1};
    struct limits l = limits_vulkan_minimum;
    struct kernel_facts f = {
        .local_size = {1, 1, 1}, .capability = {1, 10, 65}, .capability_count = 3};
    char reason[200];
    assert_int_equal(kernel_check(&f, one, &l, reason, sizeof reason), KERNEL_NEEDS_FEATURE);
    wording_is("kernel", "check: f64", reason);
    l.features = FEATURE_F64;
    assert_int_equal(kernel_check(&f, one, &l, reason, sizeof reason), KERNEL_NEEDS_FEATURE);
    wording_is("kernel", "check: shuffles", reason);
    l.unknown = 1u << LIMITS_features; // of a session of an older program: not judged
    assert_int_equal(kernel_check(&f, one, &l, reason, sizeof reason), 0);
    l.unknown = 0;
    l.features |= FEATURE_SUBGROUP << 4;
    assert_int_equal(kernel_check(&f, one, &l, reason, sizeof reason), 0);
    assert_string_equal(reason, "");
    f.capability[2] = 12; // 64-bit atomics
    assert_int_equal(kernel_check(&f, one, &l, reason, sizeof reason), KERNEL_NEEDS_FEATURE);
    wording_is("kernel", "check: capability 12", reason);
}

// A limit that is not known does not count against a kernel.
static void test_check_unknown(void **state)
{
    (void)state;
    const uint32_t one[3] = {1, 1, 1};
    struct limits l = limits_vulkan_minimum;
    struct kernel_facts f = {.local_size = {1, 1, 1},
                             .uses_f16 = true,
                             .uses_f16_storage = true,
                             .uses_i8 = true,
                             .matrix = MATRIX_KHR};
    char reason[200];
    assert_int_equal(kernel_check(&f, one, &l, reason, sizeof reason),
                     KERNEL_NEEDS_F16 | KERNEL_NEEDS_I8 | KERNEL_NEEDS_MATRIX);
    l.unknown = 1u << LIMITS_f16 | 1u << LIMITS_i8 | 1u << LIMITS_matrix | 1u << LIMITS_types;
    assert_int_equal(kernel_check(&f, one, &l, reason, sizeof reason), 0);
    assert_string_equal(reason, "");
}

static void test_check_matrix(void **state)
{
    (void)state;
    const uint32_t one[3] = {1, 1, 1};
    struct limits l = limits_vulkan_minimum;
    l.subgroup_size = 32;
    struct kernel_facts f = {.local_size = {64, 2, 1}, .matrix = MATRIX_NV};
    char reason[200];
    assert_int_equal(kernel_check(&f, one, &l, reason, sizeof reason), KERNEL_NEEDS_MATRIX);
    assert_non_null(strstr(reason, "matrix units"));
    l.matrix.api = MATRIX_KHR;
    assert_int_equal(kernel_check(&f, one, &l, reason, sizeof reason), KERNEL_NEEDS_MATRIX);
    l.matrix.api = MATRIX_NV;
    assert_int_equal(kernel_check(&f, one, &l, reason, sizeof reason), 0);
    f.local_size[0] = 48;
    assert_int_equal(kernel_check(&f, one, &l, reason, sizeof reason), KERNEL_NEEDS_MATRIX);
    assert_non_null(strstr(reason, "full"));
}

static void check_subgroup(const uint32_t local_size[3], uint32_t asked, const struct limits *l,
                           const char *why)
{
    const uint32_t one[3] = {1, 1, 1};
    struct kernel_facts f = {.subgroup = asked};
    char reason[200];
    memcpy(f.local_size, local_size, sizeof f.local_size);
    assert_int_equal(kernel_check(&f, one, l, reason, sizeof reason),
                     *why ? KERNEL_NEEDS_SUBGROUP : 0);
    assert_string_equal(reason, why);
    assert_int_equal(kernel_subgroup(&f, l), asked);
}

// Sizes within the device's range, workgroups of whole subgroups along all axes together, and not
// too many of them.
static void test_check_subgroups(void **state)
{
    (void)state;
    const uint32_t flat[3] = {64, 1, 1}, square[3] = {8, 8, 1}, odd[3] = {48, 1, 1};
    struct limits l = limits_vulkan_minimum;
    l.subgroup_size = 64, l.subgroup_least = 16, l.subgroup_most = 64, l.group_subgroups = 2;
    check_subgroup(flat, 32, &l, "");
    check_subgroup(square, 64, &l, "");
    check_subgroup(odd, 0, &l, "");
    check_subgroup(odd, 32, &l, "48 invocations do not fill subgroups of 32");
    check_subgroup(flat, 16, &l, "subgroups 4 > 2");
    check_subgroup(flat, 8, &l, "needs subgroups of 8, the device has 16 to 64");
    l.subgroup_least = l.subgroup_most = 0;
    check_subgroup(flat, 64, &l, "needs subgroups of 64, which the device lets no kernel ask for");
    l.unknown = 1u << LIMITS_subgroup_most; // of a session of an older program: not judged
    check_subgroup(odd, 32, &l, "");
}

// Matrix units run with the device's subgroups, or those asked for.
static void test_matrix_subgroups(void **state)
{
    (void)state;
    const uint32_t one[3] = {1, 1, 1};
    struct limits l = limits_vulkan_minimum;
    l.subgroup_size = 64, l.subgroup_least = 32, l.subgroup_most = 64, l.group_subgroups = 16;
    l.matrix.api = MATRIX_KHR;
    struct kernel_facts f = {.local_size = {32, 2, 1}, .matrix = MATRIX_KHR};
    char reason[200];
    assert_int_equal(kernel_subgroup(&f, &l), 64);
    assert_int_equal(kernel_check(&f, one, &l, reason, sizeof reason), KERNEL_NEEDS_MATRIX);
    f.subgroup = 32; // does not change whose multiple Vulkan asks for
    assert_int_equal(kernel_subgroup(&f, &l), 32);
    assert_int_equal(kernel_check(&f, one, &l, reason, sizeof reason), KERNEL_NEEDS_MATRIX);
    f.local_size[0] = 64;
    assert_int_equal(kernel_check(&f, one, &l, reason, sizeof reason), 0);
}

static void test_check_length(void **state)
{
    (void)state;
    const uint32_t one[3] = {1, 1, 1};
    struct kernel_facts f = {.local_size = {1, 1, 1}, .words = KERNEL_MAX_WORDS};
    char reason[200];
    assert_int_equal(kernel_check(&f, one, &limits_vulkan_minimum, reason, sizeof reason), 0);
    f.words++;
    assert_int_equal(kernel_check(&f, one, &limits_vulkan_minimum, reason, sizeof reason),
                     KERNEL_TOO_LONG);
    assert_non_null(strstr(reason, "1048577 words > 1048576"));
}

TEST_GROUP(check)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check),           cmocka_unit_test(test_check_formats),
        cmocka_unit_test(test_check_features),  cmocka_unit_test(test_check_version),
        cmocka_unit_test(test_check_double),    cmocka_unit_test(test_check_matrix),
        cmocka_unit_test(test_check_length),    cmocka_unit_test(test_check_unknown),
        cmocka_unit_test(test_check_subgroups), cmocka_unit_test(test_matrix_subgroups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
