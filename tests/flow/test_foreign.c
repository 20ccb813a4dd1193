// Shaders that others wrote: taken as they are, with macros, files that they include,
// specialization constants, push constants, several views of a binding, passes with scratch memory
// between; and what is wrong with one is told with file, line and what to do.
#include "sessions.h"

#include "base/file.h"
#include "base/str.h"

#include <stdlib.h>
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

// The space file with its first `from` replaced.
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
    struct result r = RUN(b, "tune", space_with(b, "", ""), "--strategy", "random", "--trials", "4",
                          "--seed", "1");
    assert_ok(&r);
    assert_contains(r.out, "trials  4  ok 4 ");
}

static void texts(void **state)
{
    struct box *b = *state;
    write_shaders(b);
    const char *file = space_with(b, "", "");
    struct result r = RUN(b, "check", file, "--glsl", "--device", "none");
    assert_ok(&r);
    assert_contains(r.out, "constants 0=");
    assert_contains(r.out, "; buffers of bindings 0 0 0 0 3\n");
    assert_contains(r.out, "#version 450\n#define BROKEN \n#define FLOAT float\n");
    assert_contains(r.out, "more/common/sum.glsl\n");
    assert_null(strstr(r.out, "ABSENT"));
    // A session is resumed and shown from what it stored.
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
        {"rows, columns, 0.0, {", "rows, columns, {", "have 16 bytes, 12 are given", "push ="},
        {"'A', 'A', 'scratch' }", "'scratch' }", "it has a binding 4, the kernel names", ""},
    };
    write_shaders(b);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        struct result r =
            RUN(b, "check", space_with(b, list[i].from, list[i].to), "--device", "none");
        assert_refused(&r, 1, list[i].told, list[i].also);
    }
}

// Only where its buffers are known.
static void writes_an_input(void **state)
{
    struct box *b = *state;
    write_shaders(b);
    struct result r = RUN(b, "tune", space_with(b, "'A', 'scratch' }", "'A', 'A' }"), "--trials",
                          "2", "--seed", "1");
    assert_contains(r.out, "it writes to buffer 0, which is an input");
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
    assert_refused(&r, 1, "/x.spv: invalid SPIR-V: ", "spirv-val");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(all_right),       FLOW_TEST(texts),         FLOW_TEST(complaints),
        FLOW_TEST(writes_an_input), FLOW_TEST(cut_off_spirv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
