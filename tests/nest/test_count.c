// The counts of shaders whose figures are known.
#include "group.h"
#include "spirv_count.h"

#include <stddef.h>
#include <string.h>

#define HEAD                                                                                       \
    "#version 450\n"                                                                               \
    "#extension GL_EXT_control_flow_attributes : require\n"                                        \
    "layout(local_size_x = 32, local_size_y = 2) in;\n"                                            \
    "layout(std430, binding = 0) buffer X { vec4 x[]; };\n"                                        \
    "layout(std430, binding = 1) buffer Y { float y[]; };\n"                                       \
    "shared vec2 tile[48];\n"
#define MAIN(body) HEAD "void main() {" body "}"

static bool count(const char *glsl, struct spirv_count *n, struct err *e)
{
    struct spirv spirv = {0};
    *n = (struct spirv_count){0};
    if (!kernel_compile(glsl, &spirv, e))
        fail_msg("%s", e->text);
    bool counted = spirv_count(&spirv, 32, n, e);
    spirv_finish(&spirv);
    return counted;
}

static const struct known {
    const char *glsl;
    struct spirv_count n;
} all[] = {
    {MAIN(""), {0}},
    {MAIN("y[0] = x[1].y + 2 * y[3];"),
     {.add = 1, .multiply = 1, .read = {0, 8}, .written = {0, 4}}},
    {MAIN("x[0] = x[1] / x[2] - x[3] * 2.0;"),
     {.add = 4, .multiply = 4, .divide = 4, .read = {0, 48}, .written = {0, 16}}},
    {MAIN("tile[1] = vec2(exp(y[0])); y[1] = max(tile[0].x, 1.0);"),
     {.special = 1, .compare = 1, .read = {4, 4}, .written = {8, 4}}},
    // Loops: iterations, but of those that are to be unrolled or go round once.
    {MAIN("for (int i = 0; i < 5; i++) y[i] = 1.0;"),
     {.trips = 5, .integer = 5, .written = {0, 20}}},
    {MAIN("for (uint i = 0; i < 5; i++) for (uint j = i; j < 5; j++) y[i] += y[j];"),
     {.trips = 5 + 5 + 4 + 3 + 2, .add = 15, .read = {0, 120}, .written = {0, 60}}},
    {MAIN("[[unroll]] for (uint i = 0; i < 5; i++) for (uint j = 0; j < 3; j++) y[i] = 1.0;"),
     {.trips = 15, .written = {0, 60}}},
    // Values computed from the first invocation's index, through variables, vectors and calls.
    {MAIN("uvec3 p = gl_GlobalInvocationID; p.y += 7; uint n = p.y % 4;"
          "if (n == 3 && p.x < 1) y[0] = 1.0; else x[0] = vec4(0);"),
     {.written = {0, 4}}},
    {HEAD "float f(uint n) { if (n < 2) return y[0]; return y[1] * y[2]; }"
          "void main() { y[5] = f(1) + f(min(gl_WorkGroupSize.y, 9)); }",
     {.add = 1, .multiply = 1, .read = {0, 12}, .written = {0, 4}}},
    {MAIN("y[0] = dot(x[0], x[1]);"),
     {.add = 3, .multiply = 4, .read = {0, 32}, .written = {0, 4}}},
    {MAIN("int n = max(int(y[0]), 3) * 2; y[0] = float(n);"),
     {.integer = 2, .read = {0, 4}, .written = {0, 4}}},
};

static void test_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct spirv_count n, expected = all[i].n;
        struct err e;
        if (!count(all[i].glsl, &n, &e))
            fail_msg("%s: %s", all[i].glsl, e.text);
        bool has_tile = strstr(all[i].glsl, "tile[1]");
        expected.shared_bytes = has_tile ? 48 * 8 : n.shared_bytes; // else it may be left out
        memcpy(expected.local_size, (uint32_t[]){32, 2, 1}, sizeof expected.local_size);
        const size_t all_members = offsetof(struct spirv_count, local_size) + sizeof n.local_size;
        if (memcmp(&n, &expected, all_members) != 0)
            fail_msg("%s:\nadd %g multiply %g divide %g compare %g special %g integer %g trips %g "
                     "read %g %g written %g %g shared %g",
                     all[i].glsl, n.add, n.multiply, n.divide, n.compare, n.special, n.integer,
                     n.trips, n.read[0], n.read[1], n.written[0], n.written[1], n.shared_bytes);
    }
}

static void test_unknown(void **state)
{
    (void)state;
    struct spirv_count n;
    struct err e;
    assert_false(count(MAIN("if (y[0] > 1.0) y[1] = 2.0;"), &n, &e));
    assert_string_equal(e.text, "a branch depends on what is not known");
    assert_false(count(MAIN("for (uint i = 0; i < uint(y[0]); i++) y[1] = 2.0;"), &n, &e));
    assert_string_equal(e.text, "a branch depends on what is not known");
    assert_false(count(MAIN("mat2 m = mat2(y[0]); y[1] = (m * vec2(1)).x;"), &n, &e));
    assert_string_equal(e.text, "unknown instruction 145");
}

TEST_GROUP(count)
{
    kernel_setup();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
