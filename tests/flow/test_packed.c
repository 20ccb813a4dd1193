// Inputs whose packing depends on the configuration: a kernel that packs them once, before the
// others are timed.
#include "group.h"
#include "sessions.h"

#include <string.h>

// C = A B; B lies in scratch in panels of `panel` columns, each row by row.
static const char space[] =
    "local N, M, K = size('N', 32), size('M', 64), size('K', 16)\n"
    "operator.matmul { N = N, M = M, K = K, type = 'f32' }\n"
    "param.panel = discrete { 1, 2, 4, 8, 16 }\n"
    "param.order = categorical { 'up', 'down' }\n"
    "resources(function(c) return { invocations = { 16 }, groups = { M // 16, N } } end)\n"
    "kernel { template = 'pack.comp', once = true, groups = function(c) return { M // 16, K } end "
    "}\n"
    "kernel { template = 'product.comp' }\n"
    "scratch(function(c) return 4 * K * M end)\n";

#define PLACE "(column / ${c.panel}) * ${K * c.panel} + k * ${c.panel} + column % ${c.panel}"

static const char pack[] = "#version 450\n"
                           "layout(local_size_x = 16) in;\n"
                           "layout(std430, binding = 1) readonly buffer B { float b[]; };\n"
                           "layout(std430, binding = 2) writeonly buffer C { float c[]; };\n"
                           "layout(std430, binding = 3) writeonly buffer S { float packed[]; };\n"
                           "void main() {\n"
                           "    uint column = gl_GlobalInvocationID.x, k = gl_WorkGroupID.y;\n"
                           "    packed[" PLACE "] = b[k * ${M} + column];\n"
                           "}\n";

static const char product[] = "#version 450\n"
                              "layout(local_size_x = 16) in;\n"
                              "layout(std430, binding = 0) readonly buffer A { float a[]; };\n"
                              "layout(std430, binding = 2) writeonly buffer C { float c[]; };\n"
                              "layout(std430, binding = 3) readonly buffer S { float packed[]; };\n"
                              "void main() {\n"
                              "    uint column = gl_GlobalInvocationID.x, row = gl_WorkGroupID.y;\n"
                              "    float sum = 0.0;\n"
                              "    for (uint i = 0; i < ${K}; i++) {\n"
                              "        uint k = ${c.order == 'up' and 'i' or K - 1 .. ' - i'};\n"
                              "        sum += a[row * ${K} + k] * packed[" PLACE "];\n"
                              "    }\n"
                              "    c[row * ${M} + column] = sum;\n"
                              "}\n";

static const char *write_space(struct box *b, const char *text, const char *packing)
{
    box_write(b, "pack.comp", packing);
    box_write(b, "product.comp", product);
    return box_write(b, "packed.lua", text);
}

static const char *changed(struct box *b, const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    assert_non_null(at);
    return arena_printf(&b->arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

// Each panel has a packing of its own, which two configurations share: in the search, and in turns
// in the race, where all share one scratch buffer.
static void all_are_right(void **state)
{
    struct box *b = *state;
    struct result r =
        RUN(b, "tune", write_space(b, space, pack), "--strategy", "grid", "--seed", "1");
    assert_ok(&r);
    assert_contains(r.out, "trials  10  ok 10 ");
    const cJSON *shown = json_of(b, RUN(b, "show", "1", "--json").out);
    const cJSON *best = member(member(shown, "session"), "best");
    assert_true(cJSON_IsTrue(member(member(best, "final"), "verified")));
    r = RUN(b, "export", "1", "--out", box_path(b, "out"), "--name", "packed", "--verify",
            "--slower", "1000000");
    assert_ok(&r);
    const cJSON *record = json_of(b, box_read(b, box_path(b, "out/packed.json")));
    const cJSON *first = cJSON_GetArrayItem(member(record, "passes"), 0);
    assert_true(cJSON_IsTrue(member(first, "once")));
    assert_null(cJSON_GetObjectItem(cJSON_GetArrayItem(member(record, "passes"), 1), "once"));
    r = RUN(b, "check", box_path(b, "packed.lua"), "--glsl", "--device", "none");
    assert_ok(&r);
    assert_contains(r.out, "// pass 1: groups 4 16 1, ");
}

// Work that nobody times is refused.
static void nothing_is_hidden(void **state)
{
    struct box *b = *state;
    const char *file =
        write_space(b, space, changed(b, pack, "    packed[", "    c[0] = 1.0; packed["));
    struct result r = RUN(b, "tune", file, "--trials", "1", "--seed", "1");
    assert_true(r.code != 0);
    assert_contains(arena_printf(&b->arena, "%s%s", r.out, r.err),
                    "it writes to the output, and is not timed");
    write_space(
        b, changed(b, space, "template = 'product.comp'", "template = 'product.comp', once = true"),
        pack);
    r = RUN(b, "tune", file, "--trials", "1", "--seed", "1");
    assert_true(r.code != 0);
    assert_contains(arena_printf(&b->arena, "%s%s", r.out, r.err),
                    "it writes to the output, and is not timed");
    const char *late = changed(b, space, ", once = true", "");
    write_space(
        b, changed(b, late, "template = 'product.comp'", "template = 'product.comp', once = true"),
        pack);
    r = RUN(b, "check", file, "--device", "none");
    assert_refused(&r, 1, "kernel: one that runs once stands before those that do not",
                   "packed.lua:7");
}

TEST_GROUP(packed)
{
    const struct CMUnitTest tests[] = {FLOW_TEST(all_are_right), FLOW_TEST(nothing_is_hidden)};
    return has_device() ? cmocka_run_group_tests(tests, NULL, NULL) : EXIT_SKIPPED;
}
