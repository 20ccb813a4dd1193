// Foreign shaders: used as they are, with macros, files that they include, specialization
// constants, push constants, several views of a binding, passes with scratch memory between; errors
// name the file, the line and the remedy.
#include "group.h"
#include "sessions.h"

#include "base/file.h"

#include <string.h>

// Sums each row of A in `parts` parts, as other projects write such kernels.
static const char partial_glsl[] =
    "// somebody's\n"
    "#version 450\n"
    "#ifdef HALF\n"
    "#include \"half.glsl\"\n"
    "#endif\n"
    "layout(local_size_x_id = 0, local_size_y = 1, local_size_z = 1) in;\n"
    "layout(constant_id = 1) const uint WIDTH = 7;\n"
    "layout(constant_id = 2) const bool TWICE = false;\n"
    "layout(constant_id = 3) const float SCALE = 0.0;\n"
    "layout(binding = 0) readonly buffer A { FLOAT a[]; };\n"
    "layout(binding = 0) readonly buffer A_VEC2 { vec2 a2[]; };\n"
    "layout(binding = 4) buffer D { FLOAT d[]; };\n"
    "layout(push_constant) uniform P { uint rows; uint columns; float bias; uint parts; } p;\n"
    "#include \"common/sum.glsl\"\n"
    "shared float partial[WIDTH * gl_WorkGroupSize.x];\n"
    "void main() {\n"
    "    for (uint i = 0; i < WIDTH; i++)\n"
    "        partial[gl_LocalInvocationID.x * WIDTH + i] = 0.0;\n"
    "    const uint row = gl_GlobalInvocationID.x, part = gl_WorkGroupID.y;\n"
    "    const uint length = p.columns / p.parts;\n"
    "    if (row < p.rows)\n"
    "        d[part * p.rows + row] = (row_sum(row, part * length, length) +\n"
    "            partial[gl_LocalInvocationID.x * WIDTH]) * SCALE + p.bias;\n"
    "    WRITE\n"
    "}\n";

static const char sum_glsl[] = "#include \"common/nothing.glsl\"\n"
                               "float row_sum(uint row, uint first, uint length) {\n"
                               "    float sum = 0.0;\n"
                               "    for (uint i = 0; i < length; i++) {\n"
                               "        const uint at = row * p.columns + first + i;\n"
                               "        sum += TWICE ? a2[at / 2][at % 2] : a[at];\n"
                               "    }\n"
                               "    BROKEN\n"
                               "    return sum;\n"
                               "}\n";

static const char reduce_glsl[] = "#version 450\n"
                                  "layout(local_size_x = 32) in;\n"
                                  "layout(binding = 0) readonly buffer S { float s[]; };\n"
                                  "layout(binding = 1) writeonly buffer D { float d[]; };\n"
                                  "layout(push_constant) uniform P { uint rows; uint parts; } p;\n"
                                  "void main() {\n"
                                  "    const uint row = gl_GlobalInvocationID.x;\n"
                                  "    float sum = 0.0;\n"
                                  "    for (uint i = 0; row < p.rows && i < p.parts; i++)\n"
                                  "        sum += s[i * p.rows + row];\n"
                                  "    if (row < p.rows)\n"
                                  "        d[row] = sum;\n"
                                  "}\n";

static const char space_lua[] =
    "local rows, columns = size('rows', 48), size('columns', 64)\n"
    "operator.define { name = 'row_sums', flop = rows * columns,\n"
    "  inputs = { { 'A', rows, columns }, { 'ONES', columns, fill = { 1, 1 } } },\n"
    "  output = { 'SUMS', rows },\n"
    "  reference = { { 'matmul', 'A', 'ONES', 'P', N = rows, M = 1, K = columns },\n"
    "    { 'copy', 'P', 'SUMS', rows = rows, columns = 1 } } }\n"
    "param.block = discrete { 8, 16, 32 }\n"
    "param.parts = discrete { 1, 2, 4 }\n"
    "param.width = discrete { 1, 3 }\n"
    "param.twice = categorical { 'no', 'yes' }\n"
    "scratch(function(c) return 4 * rows * c.parts end)\n"
    "kernel { shader = 'partial.comp', include = { 'more' },\n"
    "  define = function(c) return { FLOAT = 'float', WRITE = '', BROKEN = '', ABSENT = false } "
    "end,\n"
    "  spec = function(c) return { [0] = c.block, [1] = c.width, [2] = c.twice == 'yes',\n"
    "    [3] = 1 } end,\n"
    "  push = function(c) return { rows, columns, 0.0, { 'u32', c.parts } } end,\n"
    "  bindings = { 'A', 'A', 'A', 'A', 'scratch' },\n"
    "  groups = function(c) return { (rows + c.block - 1) // c.block, c.parts } end }\n"
    "kernel { shader = 'reduce.comp',\n"
    "  push = function(c) return { rows, c.parts } end,\n"
    "  bindings = { 'scratch', 'SUMS' },\n"
    "  groups = function(c) return { (rows + 31) // 32 } end }\n";

static void write_shaders(struct box *b)
{
    struct err e;
    assert_true(file_make_folders(box_path(b, "more/common/common"), &e));
    box_write(b, "partial.comp", partial_glsl);
    box_write(b, "reduce.comp", reduce_glsl);
    box_write(b, "more/common/sum.glsl", sum_glsl);
    box_write(b, "more/common/common/nothing.glsl", "// nothing\n");
}

// Returns the space file with its first `from` replaced.
static const char *space_with(struct box *b, const char *from, const char *to)
{
    const char *at = strstr(space_lua, from);
    assert_non_null(at);
    return box_write(b, "space.lua",
                     arena_printf(&b->arena, "%.*s%s%s", (int)(at - space_lua), space_lua, to,
                                  at + strlen(from)));
}

static void all_right(void **state)
{
    struct box *b = *state;
    write_shaders(b);
    struct result r = RUN(b, "tune", space_with(b, "", ""), "--strategy", "random", "--trials", "3",
                          "--seed", "1");
    assert_ok(&r);
    assert_contains(r.out, "trials  3  ok 3 ");
}

static void texts(void **state)
{
    struct box *b = *state;
    write_shaders(b);
    const char *file = space_with(b, "", "");
    struct result r = RUN(b, "check", file, "--glsl", "--device", "none");
    assert_ok(&r);
    assert_contains(r.out, "constants 0=");
    assert_contains(r.out, " 0 0 0 0 3\n");
    assert_contains(r.out, "row_sum(uint row");
    static const char *const gone[] = {"FLOAT", "BROKEN", "#if", "#define", "#line", "somebody's"};
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        assert_null(strstr(r.out, gone[i]));
    // A session is resumed and shown from the stored texts.
    r = RUN(b, "tune", file, "--trials", "1", "--seed", "1");
    assert_ok(&r);
    box_write(b, "more/common/sum.glsl", "#error gone\n");
    r = RUN(b, "show", "1", "--trial", "1", "--spirv");
    assert_ok(&r);
    assert_contains(r.out, "; constants 0=");
    assert_null(strstr(r.out, "OpSpecConstant"));
    r = RUN(b, "export", "1", "--out", box_path(b, "out"), "--name", "sums");
    assert_ok(&r);
    cJSON *all = json_of(b, box_read(b, box_path(b, "out/sums.json")));
    cJSON *pass = cJSON_GetArrayItem(member(all, "passes"), 1);
    assert_int_equal(cJSON_GetArrayItem(member(pass, "push_constants"), 0)->valuedouble, 48);
    assert_contains(box_read(b, box_path(b, "out/sums.h")), "sums_push_2");
}

// The second pass that was exported, constants, bindings and all, in place of its shader.
static void takes_spirv(void **state)
{
    struct box *b = *state;
    static const char own[] = "bindings = { 'scratch', 'SUMS' },";
    write_shaders(b);
    struct result r = RUN(b, "tune", space_with(b, "", ""), "--trials", "1", "--seed", "1");
    assert_ok(&r);
    r = RUN(b, "export", "1", "--out", box_path(b, "out"), "--name", "sums");
    assert_ok(&r);
    const char *file = space_with(b, "shader = 'reduce.comp'", "spirv = 'out/sums.pass2.spv'");
    char *lua = box_read(b, file), *at = strstr(lua, own);
    assert_non_null(at);
    memset(at, ' ', strlen(own));
    box_write(b, "space.lua", lua);
    r = RUN(b, "tune", file, "--trials", "1", "--seed", "2");
    assert_ok(&r);
    assert_contains(r.out, "trials  1  ok 1 ");
}

// A module of another compiler, whose entry point has another name, which exports keep.
static void entry_of_another_name(void **state)
{
    struct box *b = *state;
    static const char own[] = "bindings = { 'scratch', 'SUMS' },", main_words[] = "main\0\0\0";
    static const char *const names[] = {"CSMain", "a\"\\b"};
    write_shaders(b);
    struct result r = RUN(b, "tune", space_with(b, "", ""), "--trials", "1", "--seed", "1");
    assert_ok(&r);
    r = RUN(b, "export", "1", "--out", box_path(b, "out"), "--name", "sums");
    assert_ok(&r);
    const char *file = space_with(b, "shader = 'reduce.comp'", "spirv = 'out/sums.pass2.spv'");
    char *lua = box_read(b, file), *at = strstr(lua, own), *bytes;
    assert_non_null(at);
    memset(at, ' ', strlen(own));
    box_write(b, "space.lua", lua);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct err e;
        size_t length, found = 0;
        const char *before = i ? names[i - 1] : main_words, *session = i ? "3" : "2";
        assert_true(file_read(box_path(b, "out/sums.pass2.spv"), &bytes, &length, &e));
        while (found + 8 < length && strcmp(bytes + found, before) != 0)
            found += 4;
        assert_true(found + 8 < length);
        strncpy(bytes + found, names[i], 8);
        assert_true(file_write(box_path(b, "out/sums.pass2.spv"), bytes, length, &e));
        free(bytes);
        r = RUN(b, "tune", file, "--trials", "1", "--seed", "2");
        assert_ok(&r);
        assert_contains(r.out, "trials  1  ok 1 ");
        r = RUN(b, "export", session, "--out", box_path(b, "again"), "--name", "sums", "--force");
        assert_ok(&r);
        cJSON *all = json_of(b, box_read(b, box_path(b, "again/sums.json")));
        assert_string_equal(text_of(cJSON_GetArrayItem(member(all, "passes"), 0), "entry"), "main");
        assert_string_equal(text_of(cJSON_GetArrayItem(member(all, "passes"), 1), "entry"),
                            names[i]);
        assert_contains(box_read(b, box_path(b, "again/sums.h")),
                        i ? "sizeof sums_spirv_2, \"a\\\"\\\\b\","
                          : "sizeof sums_spirv_2, \"CSMain\",");
    }
}

// Shared blocks need SPIR-V 1.4, and an extension.
static void needs_newer_spirv(void **state)
{
    struct box *b = *state;
    write_shaders(b);
    const char *file = space_with(b, "", "");
    char *reduce = arena_printf(&b->arena, "%s%s",
                                "#version 450\n#extension GL_EXT_shared_memory_block : require\n"
                                "shared T { float t[32]; };\n",
                                strchr(reduce_glsl, '\n') + 1);
    reduce = arena_printf(&b->arena, "%.*s    t[gl_LocalInvocationIndex] = sum;\n%s",
                          (int)(strstr(reduce, "    if (row") - reduce), reduce,
                          strstr(reduce, "    if (row"));
    box_write(b, "reduce.comp", reduce);
    struct result r = RUN(b, "check", file, "--device", "none");
    assert_ok(&r);
    r = RUN(b, "tune", file, "--trials", "1", "--seed", "1");
    if (!strstr(r.out, "trials  1  ok 1 "))
        assert_contains(r.out,
                        "no configuration is possible: what the compiled shader needs (needs ");
}

// A limit that only the compiled shader shows is named where it leaves nothing.
static void names_the_need(void **state)
{
    struct box *b = *state;
    box_write(b, "large.comp",
              "#version 450\nlayout(local_size_x = 65536) in;\n"
              "layout(binding = 0) readonly buffer A { float a[]; };\n"
              "layout(binding = 1) writeonly buffer B { float b[]; };\n"
              "void main() { b[gl_LocalInvocationIndex] = a[gl_LocalInvocationIndex]; }\n");
    const char *file =
        box_write(b, "large.lua",
                  "operator.define { name = 'copied', flop = 64, inputs = { { 'A', 65536 } },\n"
                  "  output = { 'B', 65536 },\n"
                  "  reference = { { 'copy', 'A', 'B', rows = 1, columns = 65536 } } }\n"
                  "param.x = discrete { 1, 2 }\n"
                  "resources(function(c) return { invocations = { 1 } } end)\n"
                  "kernel { shader = 'large.comp', groups = { 1 } }\n");
    struct result r = RUN(b, "tune", file, "--trials", "1");
    assert_int_equal(r.code, 3);
    assert_contains(r.out, "(invocations 65536 > ");
}

struct complaint {
    const char *from, *to; // in the space file
    const char *told, *also;
};

static void complaints(void **state)
{
    struct box *b = *state;
    static const struct complaint list[] = {
        {"'more'", "'less'", "/partial.comp:14: #include \"common/sum.glsl\": it is in no folder",
         "include = {"},
        {"ABSENT", "HALF = true, ABSENT", "/partial.comp:4: #error \"half.glsl\" is in no folder",
         ""},
        {"BROKEN = ''", "BROKEN = 'x = 1;'", "/more/common/sum.glsl:8: 'x' : undeclared", ""},
        {"[3] = 1 }", "[3] = 1, [9] = 2 }",
         "/partial.comp: there is no specialization constant 9 (it has 0, 1, 2, 3)", ""},
        {"[3] = 1 }", "[3] = true }", "specialization constant 3 is a float, not true or false",
         "(spec = has to give a number)"},
        {"rows, columns, 0.0, {", "rows, columns, {", "have 16 bytes, 12 are given", "push ="},
        {"columns, 0.0,", "columns, 0,",
         "/partial.comp: its push constant 'bias' at byte 8 is f32, field 3 of push gives a whole",
         "(write { \"f32\", value })"},
        {"columns, 0.0,", "columns / 1, 0.0,",
         "'columns' at byte 4 is u32, field 2 of push gives f32", "space.lua:12: "},
        {"{ 'u32', c.parts }", "{ 'u32', c.parts, name = 'part' }",
         "at byte 12 is 'parts', field 4 of push means 'part'", "space.lua:12: "},
        {"{ 'u32', c.parts }", "{ 'u32', c.parts, offset = 8 }",
         "field 4 overlaps another one at byte 8", "space.lua:"},
    };
    write_shaders(b);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        struct result r =
            RUN(b, "check", space_with(b, list[i].from, list[i].to), "--device", "none");
        assert_refused(&r, 1, list[i].told, list[i].also);
    }
}

static void writes_an_input(void **state)
{
    struct box *b = *state;
    write_shaders(b);
    struct result r =
        RUN(b, "check", space_with(b, "'A', 'scratch' }", "'A', 'A' }"), "--device", "none");
    assert_refused(&r, 1,
                   "/space.lua:12: ", "it writes to buffer 0, which is an input (bindings = says");
}

static void cut_off_spirv(void **state)
{
    struct box *b = *state;
    write_shaders(b);
    const char *file = space_with(b, "shader = 'partial.comp', include = { 'more' },\n  define",
                                  "spirv = 'x.spv', values = nil, --");
    box_write(b, "x.spv", "\x03\x02\x23\x07zz");
    struct result r = RUN(b, "check", file, "--device", "none");
    assert_refused(&r, 1, "/x.spv: SPIR-V that is cut off", "");
    box_write(b, "x.spv", "\x03\x02\x23\x07zzzz");
    r = RUN(b, "check", file, "--device", "none");
    assert_refused(&r, 1, "/x.spv: ", "spirv-val");
}

// --- adopt ---

// adopt writes a space file, which needs only the facts that people know.
static void adopted(void **state)
{
    struct box *b = *state;
    write_shaders(b);
    box_write(b, "more/common/sum.glsl", "#define common\n");
    const char *file = box_path(b, "first.lua"), *shader = box_path(b, "partial.comp");
    struct result r = RUN(b, "adopt", shader, "--include", box_path(b, "more"), "--out", file);
    assert_ok(&r);
    assert_contains(r.out, "first.lua: 3 ");
    assert_contains(r.out, ", 4 push ");
    assert_contains(r.out, ", 3 buffers");
    const char *lua = box_read(b, file);
    assert_contains(lua, "param.WIDTH = discrete { 7, 14 } -- constant 1, uint\n");
    assert_contains(lua, "param.local_size_x = discrete { 32, 64, 128 } -- constant 0\n");
    assert_contains(lua, "  -- { 2, \"TWICE\", false }, -- bool\n");
    assert_contains(lua, "      -- HALF = true,\n");
    assert_contains(lua, "      FLOAT = \"float\",\n");
    assert_contains(lua, "      0, 0, 0.0, 0, -- uint rows uint columns float bias uint parts\n");
    assert_contains(lua, "  include = { \"more\" },\n");
    r = RUN(b, "check", file, "--device", "none"); // it loads; what is missing is told
    assert_refused(&r, 1, "/partial.comp:22: ", "");
    r = RUN(b, "adopt", shader, "--out", file);
    assert_refused(&r, 1, "first.lua: ", "--out");
    r = RUN(b, "adopt", shader, "--out", box_path(b, "more/x.lua"));
    assert_ok(&r);
    assert_contains(r.out, "--set shaders=");
    r = RUN(b, "adopt", shader, "--include", "/usr", "--out", box_path(b, "more/y.lua"));
    assert_refused(&r, 1, "/usr", "--out");
    r = RUN(b, "adopt", box_path(b, "none.comp"));
    assert_refused(&r, 1, "none.comp", "");
}

// --- presets ---

// The same shaders in another folder: the space file names its setting, the user the folder.
static void folder_of_the_user(void **state)
{
    struct box *b = *state;
    struct err e;
    write_shaders(b);
    const char *lua = box_read(b, space_with(b, "'more'", "'theirs/more'"));
    assert_true(file_make_folders(box_path(b, "own"), &e));
    assert_true(file_make_folders(box_path(b, "checkout"), &e));
    assert_int_equal(rename(box_path(b, "more"), box_path(b, "checkout/more")), 0);
    assert_int_equal(rename(box_path(b, "partial.comp"), box_path(b, "checkout/partial.comp")), 0);
    assert_int_equal(rename(box_path(b, "reduce.comp"), box_path(b, "own/reduce.comp")), 0);
    const char *cut = strstr(lua, "shader = '") + strlen("shader = '");
    const char *file =
        box_write(b, "own/space.lua",
                  arena_printf(&b->arena,
                               "folder('theirs', { file = 'partial.comp', below = { 'checkout' },\n"
                               "  what = 'a checkout' })\n%.*stheirs/%s",
                               (int)(cut - lua), lua, cut));
    struct result r = RUN(b, "check", file, "--device", "none");
    assert_refused(&r, 1, "/space.lua:1: theirs/partial.comp", "--set theirs=DIR");
    r = RUN(b, "check", file, "--device", "none", "--set", "theirs=/nowhere");
    assert_refused(&r, 2, "--set theirs=/nowhere", "partial.comp");
    const char *set = arena_printf(&b->arena, "theirs=%s", box_path(b, "."));
    r = RUN(b, "tune", file, "--trials", "1", "--seed", "1", "--set", set);
    assert_ok(&r);
    assert_contains(r.out, "trials  1  ok 1 ");
    remove(box_path(b, "checkout/partial.comp")); // sessions keep what they read
    r = RUN(b, "resume", "1", "--trials", "2");
    assert_ok(&r);
    assert_contains(r.out, "trials  2  ok 2 ");
}

TEST_GROUP(foreign)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(all_right),         FLOW_TEST(texts),
        FLOW_TEST(takes_spirv),       FLOW_TEST(entry_of_another_name),
        FLOW_TEST(needs_newer_spirv), FLOW_TEST(complaints),
        FLOW_TEST(writes_an_input),   FLOW_TEST(cut_off_spirv),
        FLOW_TEST(adopted),           FLOW_TEST(folder_of_the_user),
        FLOW_TEST(names_the_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
