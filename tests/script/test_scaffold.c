// Scaffolds of space files for shaders with many constants, and with constants that repeat others.
#include "group.h"

#include "base/file.h"
#include "script/scaffold.h"

#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/tilewalk-scaffold-XXXXXX";

static const char head[] = "#version 450\nlayout(local_size_x = 64) in;\n";
static const char tail[] =
    "layout(binding = 0) buffer B { uint b[]; };\nvoid main() { b[0] = C0; }\n";

static void add_constants(struct str *s, int count)
{
    str_add(s, head);
    for (int i = 0; i < count; i++)
        str_printf(s, "layout(constant_id = %d) const uint C%d = %du;\n", i, i, i % 7 + 1);
    str_add(s, tail);
}

static const struct scaffold_use plain = {.shader = "x.comp"};

static bool adopt_for(const struct scaffold_use *use, const char *text, struct str *lua,
                      struct err *e)
{
    struct scaffold o;
    assert_true(file_write(path, text, strlen(text), e));
    if (!scaffold_read(&o, path, NULL, 0, e))
        return false;
    scaffold_add_space(&o, use, lua);
    scaffold_finish(&o);
    return true;
}

static bool adopt(const char *text, struct str *lua, struct err *e)
{
    return adopt_for(&plain, text, lua, e);
}

// Checks that the scaffold for a use has some texts.
static void check_parts(const struct scaffold_use *use, const char *text,
                        const char *const *expected)
{
    struct str lua = {0};
    struct err e;
    assert_true(adopt_for(use, text, &lua, &e));
    for (int i = 0; expected[i]; i++)
        if (!strstr(str_text(&lua), expected[i]))
            fail_msg("no %s in\n%s", expected[i], str_text(&lua));
    str_finish(&lua);
}

static int count_of(const struct str *s, const char *word)
{
    int count = 0;
    for (const char *at = strstr(str_text(s), word); at; at = strstr(at + 1, word))
        count++;
    return count;
}

// Types of buffers are the shader's. An output without an input of its type gets one. The elements
// of an array of uniforms lie 16 bytes apart, and the next member lies behind the last of them.
static void types_and_arrays(void **state)
{
    (void)state;
    static const char text[] =
        "#version 450\n"
        "layout(binding = 0) readonly buffer A { f16vec4 a[]; };\n"
        "layout(binding = 1) writeonly buffer B { uint b[]; };\n"
        "layout(binding = 2) uniform U { uint n; float s[2]; int last; vec2 v; } u;\n"
        "void main() { b[gl_GlobalInvocationID.x] = uint(a[u.n].x * u.s[1]); }\n";
    static const char *const expected[] = {
        "{ \"A\", 4 * N, type = \"f16\" }",
        "output = { \"B\", 4 * N, type = \"u32\" }",
        "{ \"B_0\", 4 * N, type = \"u32\" }",
        "{ \"copy\", \"B_0\", \"B\", rows",
        "      0, { \"f32\", 0, offset = 16 }, { \"f32\", 0, offset = 32 }, { \"i32\", 0, offset = "
        "48 }, "
        "{ \"f32\", 0, 0, offset = 56 }, --",
        NULL,
    };
    check_parts(&plain, text, expected);
}

// Names in capitals that nothing declares are numbers of the host.
static void numbers_of_the_host(void **state)
{
    (void)state;
    static const char text[] =
        "#version 450\n"
        "layout(local_size_x = WG_X, local_size_y = WG_Y) in;\n"
        "layout(binding = 0) buffer A { float a[]; };\n"
        "const uint ROWS = TILE / WG_Y, COLUMNS = 4;\n"
        "float PART(float X, uint I) { return X * float(I); }\n"
        "void main() {\n"
        "  float SUM = 0.0, OTHER[ROWS];\n"
        "  for (uint I = 0; I < max(COLUMNS, TILE); I++) { SUM += PART(a[I], TILE) + OTHER[0]; }\n"
        "  a[gl_GlobalInvocationID.x * STEP] = SUM;\n"
        "}\n";
    static const char *const expected[] = {
        "      WG_X = c.WG_X,\n      WG_Y = 4,\n      TILE = 128,\n      STEP = 128,\n    }\n",
        "param.WG_X = discrete { 8, 16, 32 }", NULL};
    check_parts(&plain, text, expected);
}

// Constants that are named like sizes of the preset's operator take those.
static void constants_that_are_sizes(void **state)
{
    (void)state;
    static const char text[] = "#version 450\n"
                               "layout(constant_id = 0) const uint K = 1;\n"
                               "layout(constant_id = 1) const uint TILE = 8;\n"
                               "layout(local_size_x = 8) in;\n"
                               "layout(binding = 0) buffer C { float c[]; };\n"
                               "void main() { c[K] = TILE; }\n";
    const struct scaffold_use use = {.shader = "x.comp",
                                     .operator_text = "local K = size(\"K\", 64)\n",
                                     .outputs = 1,
                                     .buffer = {"C"}};
    static const char *const expected[] = {"half of it and twice as much\nparam.TILE",
                                           "{ 0, \"K\", K },", "{ 1, \"TILE\", c.TILE },", NULL};
    check_parts(&use, text, expected);
}

// It took time with the third power of their number: hours here.
static void many_constants(void **state)
{
    (void)state;
    struct str text = {0}, lua = {0};
    struct err e;
    add_constants(&text, 12000);
    assert_true(adopt(str_text(&text), &lua, &e));
    assert_int_equal(count_of(&lua, "\nparam.C"), 24);
    assert_int_equal(count_of(&lua, "\", c.C"), 24);
    assert_int_equal(count_of(&lua, "-- {"), 12000 - 24);
    str_finish(&text);
    str_finish(&lua);
}

static void too_many_constants(void **state)
{
    (void)state;
    struct str text = {0}, lua = {0};
    struct err e;
    add_constants(&text, 20000);
    assert_false(adopt(str_text(&text), &lua, &e));
    assert_non_null(strstr(e.text, "more code than adopt reads"));
    str_finish(&text);
}

// Qualifiers stand on both sides of the word, and members of blocks are vectors too.
static void blocks_with_qualifiers(void **state)
{
    (void)state;
    static const char text[] = "#version 450\nlayout(local_size_x = 64) in;\n"
                               "layout(binding = 0) buffer restrict readonly A { float a[]; };\n"
                               "layout(binding = 1) coherent buffer restrict B { float b[]; };\n"
                               "layout(binding = 2) uniform highp restrict P {\n"
                               "    int n; ivec4 size; float x; vec3 v; vec2 w; };\n"
                               "layout(binding = 3, r32f) uniform restrict writeonly image2D c;\n"
                               "void main() { b[0] = a[0]; imageStore(c, ivec2(0), vec4(x)); }\n";
    struct str lua = {0};
    struct err e;
    assert_true(adopt(text, &lua, &e));
    const char *given = "{ \"i32\", 0, 0, 0, 0, offset = 16 }, 0.0, "
                        "{ \"f32\", 0, 0, 0, offset = 48 }, { \"f32\", 0, 0, offset = 64 }, ";
    assert_non_null(strstr(str_text(&lua), given));
    assert_non_null(strstr(str_text(&lua), "inputs = { { \"A\""));
    assert_int_equal(count_of(&lua, "uniform_P"), 2);
    assert_int_equal(count_of(&lua, "r32f"), 1);
    str_finish(&lua);
}

// The first of a number or a name becomes a parameter, and only where no condition leaves it out.
static void constants_that_repeat(void **state)
{
    (void)state;
    static const char text[] = "layout(constant_id = 1) const uint A = 4;\n"
                               "layout(constant_id = 1) const uint B = 4;\n"
                               "layout(constant_id = 2) const uint A = 4;\n"
                               "#if UNKNOWN\n"
                               "layout(constant_id = 3) const uint C = 4;\n"
                               "#endif\n"
                               "layout(constant_id = 3) const int C = 4;\n"
                               "layout(constant_id = 4) const float D = 4.0;\n"
                               "layout(constant_id = 5) const uint E = 0;\n";
    struct str lua = {0};
    struct err e;
    assert_true(adopt(text, &lua, &e));
    assert_int_equal(count_of(&lua, "\nparam."), 3); // with that of the workgroup's size
    assert_non_null(strstr(str_text(&lua), "param.A = discrete { 2, 4, 8 } -- constant 1"));
    assert_non_null(strstr(str_text(&lua), "param.C = discrete { 2, 4, 8 } -- constant 3, int"));
    assert_non_null(strstr(str_text(&lua), "{ 1, \"A\", c.A }"));
    assert_non_null(strstr(str_text(&lua), "{ 3, \"C\", c.C }"));
    str_finish(&lua);
}

static int set_up(void **state)
{
    (void)state;
    return close(mkstemp(path));
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

TEST_GROUP(scaffold)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_and_arrays),         cmocka_unit_test(numbers_of_the_host),
        cmocka_unit_test(constants_that_are_sizes), cmocka_unit_test(many_constants),
        cmocka_unit_test(too_many_constants),       cmocka_unit_test(constants_that_repeat),
        cmocka_unit_test(blocks_with_qualifiers),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
