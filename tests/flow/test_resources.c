// What shaders of others are given: how buffers begin, uniform blocks, descriptor sets, addresses,
// several outputs, many passes, other sizes and macros. Each of these is right on a device, and
// what a person may get wrong is refused in one line that leaves nothing behind.
#include "group.h"
#include "sessions.h"

#include "base/file.h"
#include "base/str.h"

#include <string.h>
#include <sys/stat.h>

struct kind {
    const char *name, *lua, *glsl;
    int trials; // that are right
};

#define OPERATOR(name, rest) "operator.define { name = '" name "', flop = 256, " rest " }\n"
#define ONE_IN               "inputs = { { 'In', 256 } }, "
#define COPY                 "reference = { { 'copy', 'In', 'Out', rows = 256, columns = 1 } }"
#define BLOCKS               "param.block = discrete { 32, 64 }\n"
#define SPEC                 "spec = function(c) return { [0] = c.block } end, "
#define GROUPS               "groups = function(c) return { 256 // c.block } end }\n"
#define HEAD                 "#version 450\nlayout(local_size_x_id = 0) in;\n"
#define MAIN                 "void main() { uint i = gl_GlobalInvocationID.x; "

static const struct kind kinds[] = {
    {"inout",
     OPERATOR("axpy",
              "inputs = { { 'X', 256 }, { 'Y0', 256 } }, output = { 'Y', 256 }, reference = "
              "{ { 'elementwise', 'X', 'Y0', 'Y', count = 256, apply = 'add' } }") BLOCKS
     "kernel { shader = 'x.comp', bindings = { 'X', 'Y' }, inout = { Y = 'Y0' }, " SPEC GROUPS,
     HEAD "layout(binding = 0) readonly buffer A { float x[]; };\n"
          "layout(binding = 1) buffer B { float y[]; };\n" MAIN "y[i] = x[i] + y[i]; }\n",
     2},
    {"zeroed",
     OPERATOR("histogram", "inputs = { { 'In', 256, type = 'i32', fill = { 0, 7 } } }, output = { "
                           "'H', 8, type = 'i32' }, reference = { template = 'ref.comp', groups = "
                           "{ 1 } }") BLOCKS
     "kernel { shader = 'x.comp', zeroed = { 'H' }, " SPEC GROUPS,
     HEAD "layout(binding = 0) readonly buffer A { int x[]; };\n"
          "layout(binding = 1) buffer B { int h[]; };\n" MAIN "atomicAdd(h[x[i]], 1); }\n",
     2},
    {"kept", // the last workgroup leaves the counter as the next run needs it
     OPERATOR("sum",
              "inputs = { { 'In', 256, type = 'i32', fill = { 0, 7 } } }, outputs = { { 'Sum', "
              "1, type = 'i32' }, { 'Count', 1, type = 'i32' } }, reference = { template = "
              "'ref.comp', groups = { 1 } }") BLOCKS
     "kernel { shader = 'x.comp', zeroed = { 'Sum' }, kept = { 'Count' }, " SPEC GROUPS,
     HEAD "layout(binding = 0) readonly buffer A { int x[]; };\n"
          "layout(binding = 1) buffer B { int sum; };\nlayout(binding = 2) buffer C { int count; "
          "};\n" MAIN "atomicAdd(sum, x[i]); if (atomicAdd(count, 1) == 255) atomicExchange(count, "
          "0); }\n",
     2},
    {"outputs",
     OPERATOR("two",
              ONE_IN "outputs = { { 'Out', 256 }, { 'Where', 256, type = 'i32' } }, reference "
                     "= { template = 'ref.comp', groups = { 1 } }") BLOCKS
     "kernel { shader = 'x.comp', " SPEC GROUPS,
     HEAD "layout(binding = 0) readonly buffer A { float x[]; };\n"
          "layout(binding = 1) writeonly buffer B { float y[]; };\n"
          "layout(binding = 2) writeonly buffer C { int w[]; };\n" MAIN
          "y[i] = 2.0 * x[i]; w[i] = int(i); }\n",
     2},
    {"uniform",
     OPERATOR("copies", ONE_IN "output = { 'Out', 256 }, " COPY) BLOCKS
     "kernel { shader = 'x.comp', bindings = { 'Out', 'In' }, uniform = { [2] = "
     "function(c) return { 256, { 'f32', 1.0, offset = 16, name = 'factor' } } end }, " SPEC GROUPS,
     HEAD
     "layout(binding = 0) writeonly buffer A { float y[]; };\n"
     "layout(binding = 1) readonly buffer B { float x[]; };\n"
     "layout(std140, binding = 2) uniform Sizes { uint count; layout(offset = 16) float factor; "
     "};\n" MAIN "if (i < count) y[i] = factor * x[i]; }\n",
     2},
    {"sets",
     OPERATOR("copies", ONE_IN "output = { 'Out', 256 }, " COPY) BLOCKS
     "kernel { shader = 'x.comp', bindings = { 'Out' }, sets = { [2] = { function(c) "
     "return { 256 } end, 'In' } }, " SPEC GROUPS,
     HEAD "layout(set = 0, binding = 0) writeonly buffer A { float y[]; };\n"
          "layout(set = 2, binding = 1) readonly buffer B { float x[]; };\n"
          "layout(set = 2, binding = 0) uniform C { uint count; };\n" MAIN
          "if (i < count) y[i] = x[i]; }\n",
     2},
    {"address",
     OPERATOR("copies", ONE_IN "output = { 'Out', 256 }, " COPY) BLOCKS
     "kernel { shader = 'x.comp', address = { 'In', 'Out' }, push = function(c) return { "
     "256 } end, " SPEC GROUPS,
     "#version 450\n#extension GL_EXT_buffer_reference : require\nlayout(local_size_x_id = 0) in;\n"
     "layout(buffer_reference, std430) readonly buffer Source { float x[]; };\n"
     "layout(buffer_reference, std430) writeonly buffer Target { float y[]; };\n"
     "layout(push_constant) uniform P { Source source; Target target; uint count; } p;\n" MAIN
     "if (i < p.count) p.target.y[i] = p.source.x[i]; }\n",
     2},
    {"macros", // the file's own are replaced, and its size
     OPERATOR("copies", ONE_IN "output = { 'Out', 256 }, " COPY) BLOCKS
     "kernel { shader = 'x.comp', define = function(c) return { COUNT = 256, GONE = false } "
     "end, local_size = function(c) return { c.block, 1 } end, " GROUPS,
     "#version 450\n#define COUNT \\\n  17\n#define GONE 1\nlayout(local_size_x = 512) in;\n"
     "#ifdef GONE\n#error it is there\n#endif\n"
     "layout(binding = 0) readonly buffer A { float x[]; };\n"
     "layout(binding = 1) writeonly buffer B { float y[]; };\n" MAIN
     "if (i < COUNT) y[i] = x[i]; }\n",
     2},
};

static const char reference[] =
    "#version 450\nlayout(local_size_x = 1) in;\n"
    "layout(binding = 0) readonly buffer A { %s x[]; };\n%s\nvoid main() {\n%s }\n";

// Writes the files of a kind; returns the space file.
static const char *write_kind(struct box *b, const struct kind *k)
{
    static const char out[] = "layout(binding = 1) writeonly buffer B { int h[]; };";
    static const char two[] = "layout(binding = 1) writeonly buffer B { float y[]; };\n"
                              "layout(binding = 2) writeonly buffer C { int w[]; };";
    static const char counts[] = "layout(binding = 1) writeonly buffer B { int sum; };\n"
                                 "layout(binding = 2) writeonly buffer C { int count; };";
    bool is_two = str_equal(k->name, "outputs"), is_sum = str_equal(k->name, "kept");
    box_write(b, "ref.comp",
              arena_printf(&b->arena, reference, is_two ? "float" : "int",
                           is_two   ? two
                           : is_sum ? counts
                                    : out,
                           is_two ? "for (int i = 0; i < 256; i++) { y[i] = 2.0 * x[i]; w[i] = i; }"
                           : is_sum ? "int s = 0; for (int i = 0; i < 256; i++) s += x[i];\n"
                                      "sum = s; count = 0;"
                                    : "int n[8] = int[8](0, 0, 0, 0, 0, 0, 0, 0);\n"
                                      "for (int i = 0; i < 256; i++) n[x[i]]++;\n"
                                      "for (int i = 0; i < 8; i++) h[i] = n[i];"));
    box_write(b, "x.comp", k->glsl);
    return box_write(b, "x.lua", k->lua);
}

static const struct kind *kind_named(const char *name)
{
    const struct kind *k = kinds;
    while (!str_equal(k->name, name))
        k++;
    return k;
}

static bool has_addresses(struct box *b)
{
    struct kind address = *kind_named("address");
    struct result r = RUN(b, "tune", write_kind(b, &address), "--trials", "1");
    return !strstr(r.err, "addresses of buffers");
}

static void all_kinds_are_right(void **state)
{
    struct box *b = *state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct kind *k = &kinds[i];
        if (str_equal(k->name, "address") && !has_addresses(b))
            continue;
        struct result r = RUN(b, "tune", write_kind(b, k), "--trials", "2", "--seed", "1");
        if (r.code || !strstr(r.out, "trials  2  ok 2 "))
            fail_msg("%s: %s%s", k->name, r.out, r.err);
    }
}

// A kernel that reads what it should write first is told so, for each way to say how it begins.
static void reading_first_is_told(void **state)
{
    struct box *b = *state;
    static const char *const cases[][3] = {{"inout", "inout = { Y = 'Y0' }, ", "reads Y"},
                                           {"zeroed", "zeroed = { 'H' }, ", "reads H"}};
    for (int i = 0; i < 2; i++) {
        struct kind k = *kind_named(cases[i][0]);
        const char *at = strstr(k.lua, cases[i][1]);
        assert_non_null(at);
        k.lua =
            arena_printf(&b->arena, "%.*s%s", (int)(at - k.lua), k.lua, at + strlen(cases[i][1]));
        struct result r = RUN(b, "tune", write_kind(b, &k), "--trials", "1");
        assert_int_equal(r.code, 3);
        assert_contains(r.out, cases[i][2]);
    }
}

// A counter that is not left as the next run needs it is found, although the first run is right.
static void a_kept_buffer_is_run_twice(void **state)
{
    struct box *b = *state;
    struct kind k = *kind_named("kept");
    k.glsl =
        "#version 450\nlayout(local_size_x_id = 0) in;\n"
        "layout(binding = 0) readonly buffer A { int x[]; };\n"
        "layout(binding = 1) buffer B { int sum; };\nlayout(binding = 2) buffer C { int count; };\n"
        "void main() { uint i = gl_GlobalInvocationID.x; atomicAdd(sum, x[i]);\n"
        "int n = atomicAdd(count, 1); if (n == 255) atomicExchange(count, 0);\n"
        "if (n == 255) atomicAdd(count, sum == 0 ? 1 : 0); if (n > 255) atomicAdd(sum, 1); }\n";
    struct result r = RUN(b, "tune", write_kind(b, &k), "--trials", "1");
    assert_ok(&r);
    char *wrong = arena_strdup(&b->arena, k.glsl), *at = strstr(wrong, "sum == 0");
    assert_non_null(at);
    memcpy(at, "sum != 0", strlen("sum != 0"));
    k.glsl = wrong;
    r = RUN(b, "tune", write_kind(b, &k), "--trials", "1");
    assert_int_equal(r.code, 3);
}

// --- what a person may get wrong ---

struct mistake {
    const char *kind, *from, *to; // in the space file; else in the shader
    const char *told;
};

static const struct mistake mistakes[] = {
    {"inout", "Y = 'Y0'", "Y = 'Z'", "no buffer 'Z'"},
    {"inout", "Y = 'Y0'", "Z = 'Y0'", "no buffer 'Z'"},
    {"inout", "Y = 'Y0'", "Y0 = 'X'", "an input"},
    {"inout", "Y = 'Y0'", "Y = 'Y'", "no input"},
    {"inout", "Y = 'Y0'", "'Y'", "begins as"},
    {"inout", "inout = { Y = 'Y0' }", "inout = 'Y'", "a table"},
    {"inout", "inout = { Y = 'Y0' }", "inout = { Y = 'Y0' }, zeroed = { 'Y' }", "choose one"},
    {"inout", "'Y0', 256 }", "'Y0', 255 }", "Y0"},
    {"inout", "bindings = { 'X', 'Y' }", "bindings = { 'X', 'Y0' }", "an input"},
    {"inout", "bindings = { 'X', 'Y' }", "bindings = { 'X' }", "'B'"},
    {"zeroed", "zeroed = { 'H' }", "zeroed = { 'In' }", "an input"},
    {"zeroed", "zeroed = { 'H' }", "zeroed = { 'G' }", "no buffer"},
    {"zeroed", "zeroed = { 'H' }", "zeroed = 'H'", "a table"},
    {"zeroed", "zeroed = { 'H' }", "zeroed = { H = true }", "a list"},
    {"zeroed", "zeroed = { 'H' }", "zeroed = { 7 }", "a string"},
    {"zeroed", "zeroed = { 'H' }", "zero = { 'H' }", "'zero'"},
    {"zeroed", "zeroed = { 'H' }", "zeroed = { 'H', 'H' }", "choose one"},
    {"outputs", "outputs = { { 'Out', 256 }, ", "outputs = { { 'In', 256 }, ", "twice"},
    {"outputs", "outputs = { { 'Out', 256 }, ", "output = { 'O', 1 }, outputs = { { 'Out', 256 }, ",
     "choose one"},
    {"outputs", "{ { 'Out', 256 }, { 'Where', 256, type = 'i32' } }", "{ }", "be one"},
    {"outputs", "{ { 'Out', 256 }, { 'Where', 256, type = 'i32' } }", "{ 'Out', 256 }", "a table"},
    {"outputs", "type = 'i32'", "type = 'i31'", "'i31'"},
    {"outputs", "type = 'i32'", "fill = { 0, 1 }", "'fill'"},
    {"outputs", "reference = { template = 'ref.comp', groups = { 1 } }",
     "reference = { { 'copy', 'In', 'Out', rows = 256, columns = 1 } }", "Where"},
    {"outputs", "'x.comp', ", "'x.comp', bindings = { 'In', 'Out' }, ", "'C'"},
    {"outputs", "'x.comp', ", "'x.comp', bindings = { 'Out', 'In', 'Where' }, ", "an input"},
    {"outputs", "'x.comp', ", "'x.comp', bindings = { 'In', 'Out', 'Whera' }, ", "'Whera'"},
    {"uniform", "uniform = { [2]", "uniform = { [3]", "'Sizes'"},
    {"uniform", "[2] = function(c) return { 256, ", "[1] = function(c) return { 256, ",
     "given twice"},
    {"uniform", "return { 256, ", "return { 256.0, ", "'count'"},
    {"uniform", "return { 256, ", "return { 256, 1, ", "byte 4"},
    {"uniform", "{ 256, { 'f32', 1.0, offset = 16, name = 'factor' } }", "{ 256 }", "'factor'"},
    {"uniform", "offset = 16", "offset = 20", "byte 20"},
    {"uniform", "offset = 16", "offset = 4096", "4096"},
    {"uniform", "name = 'factor'", "name = 'count'", "'factor'"},
    {"uniform", "{ 'f32', 1.0,", "{ 'f33', 1.0,", "'f33'"},
    {"uniform",
     "uniform = { [2] = function(c) return { 256, { 'f32', 1.0, offset = 16, name = "
     "'factor' } } end }, ",
     "", "'Sizes'"},
    {"uniform", "uniform = { [2] =", "uniform = { two =", "a number"},
    {"sets", "sets = { [2]", "sets = { [1]", "set 2"},
    {"sets", "function(c) return { 256 } end, 'In'", "'In', function(c) return { 256 } end",
     "whose content"},
    {"sets", "end, 'In' }", "end, 'Inn' }", "'Inn'"},
    {"sets", "end, 'In' }", "end }", "'B'"},
    {"sets", "bindings = { 'Out' }, ", "", "'A'"},
    {"sets", "sets = { [2] = {", "sets = { [2] = 7, [3] = {", "a table"},
    {"sets", "sets = { [2]", "sets = { [-1]", "-1"},
    {"sets", "{ [2] = {", "{ [2] = {}, [3] = {", "0 buffers"},
    {"sets", "return { 256 } end, ", "return { true, 1 } end, ", "byte 4"},
    {"sets", "return { 256 } end, ", "return 256 end, ", "a table"},
    {"address", "address = { 'In', 'Out' }", "address = { 'In' }", "address"},
    {"address", "address = { 'In', 'Out' }", "address = { 'Out', 'In' }", "an input"},
    {"address", "address = { 'In', 'Out' }", "address = { 'In', 'Oui' }", "'Oui'"},
    {"address", "address = { 'In', 'Out' }, ", "", "an address"},
    {"address", "address = { 'In', 'Out' }", "address = { 'In', 'Out', 'In' }", "byte 24"},
    {"address", "address = { 'In', 'Out' }", "address = 'In'", "a table"},
    {"address", "return { 256 } end", "return { { 'u64', 0 }, { 'u64', 0 }, 256 } end", "'count'"},
    {"address", "return { 256 } end", "return { { 'u32', 256, offset = 0 } } end", "overlaps"},
    {"address", "return { 256 } end", "return { 256.5 } end", "'count'"},
    {"address", "return { 256 } end", "return { } end", "'count'"},
    {"macros", "COUNT = 256", "['2COUNT'] = 256", "'2COUNT'"},
    {"macros", "GONE = false", "GONE = true", "#error"},
    {"macros", "{ c.block, 1 }", "{ c.block, 1, 1, 1 }", "got 4"},
    {"macros", "{ c.block, 1 }", "{ 0 }", "is 0"},
    {"macros", "{ c.block, 1 }", "'64'", "a table"},
    {"macros", "shader = 'x.comp', ", "shader = 'x.comp', entry = 'main', ", "for SPIR-V"},
    {"macros", "shader = 'x.comp', define = function(c) return { COUNT = 256, GONE = false } end, ",
     "template = 'x.comp', ", "for shaders"},
};

// Replaces in the space file, else in the shader.
static struct kind with_mistake(struct box *b, const struct mistake *m)
{
    struct kind k = *kind_named(m->kind);
    const char **in = strstr(k.lua, m->from) ? &k.lua : &k.glsl, *at = strstr(*in, m->from);
    assert_non_null(at);
    *in = arena_printf(&b->arena, "%.*s%s%s", (int)(at - *in), *in, m->to, at + strlen(m->from));
    return k;
}

static void mistakes_are_told(void **state)
{
    struct box *b = *state;
    bool addresses = has_addresses(b);
    struct str wrong = {0};
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const struct mistake *m = &mistakes[i];
        if (str_equal(m->kind, "address") && !addresses)
            continue;
        struct kind k = with_mistake(b, m);
        // An input that is written is known when the operator's buffers are.
        bool needs_device = str_equal(m->told, "an input");
        const char *file = write_kind(b, &k);
        struct result r = needs_device ? RUN(b, "tune", file, "--trials", "1")
                                       : RUN(b, "check", file, "--device", "none");
        const char *said = r.code == 1 ? r.err : r.out;
        bool is_one_line = r.code != 1 || strchr(r.err, '\n') == strrchr(r.err, '\n');
        if (r.code == 0 || !is_one_line || !strstr(said, m->told) || strstr(said, "malformed"))
            str_printf(&wrong, "%s, '%s' for '%s': exit %d, %s", m->kind, m->to, m->from, r.code,
                       said);
    }
    if (wrong.length)
        fail_msg("%s", str_text(&wrong));
}

// adopt proposes all of it: what it writes renders and compiles as it is.
static void adopt_proposes_them(void **state)
{
    struct box *b = *state;
    static const char *const words[][2] = {{"inout", "inout = { B"},
                                           {"zeroed", "zeroed = { "},
                                           {"outputs", "outputs = { { \"B\", N }"},
                                           {"uniform", "\"A\", \"B\", uniform_Sizes }"},
                                           {"sets", "sets = { [2] = { uniform_C, \"B\" } }"},
                                           {"address", "address = { \"Source\", \"Target\" }"},
                                           {"macros", "local_size = function(c)"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        write_kind(b, kind_named(words[i][0]));
        const char *file = box_path(b, arena_printf(&b->arena, "%s.lua", words[i][0]));
        struct result r = RUN(b, "adopt", box_path(b, "x.comp"), "--out", file);
        assert_ok(&r);
        char *lua = box_read(b, file);
        assert_contains(lua, words[i][1]);
        assert_in_range(count_parts(lua, "TODO"), 2, 3);
        if (str_equal(words[i][0], "macros"))
            continue; // its host removes a macro
        r = RUN(b, "check", file, "--device", "none");
        assert_ok(&r);
    }
}

// The space file may lie elsewhere; a preset's operator takes the place of the first TODO.
static void adopt_writes_anywhere(void **state)
{
    struct box *b = *state;
    struct err e;
    const char *here = box_path(b, "theirs"), *file = box_path(b, "mine/x.lua");
    write_kind(b, kind_named("uniform"));
    assert_true(file_make_folders(here, &e) && file_make_folders(box_path(b, "mine"), &e));
    box_write(b, "theirs/x.comp", box_read(b, box_path(b, "x.comp")));
    assert_int_equal(chmod(here, 0500), 0);
    struct result r =
        RUN(b, "adopt", box_path(b, "theirs/x.comp"), "--like", "copy", "--out", file);
    chmod(here, 0700);
    assert_ok(&r);
    assert_contains(r.out, "--set shaders=");
    char *lua = box_read(b, file);
    assert_contains(lua, "operator.copy {");
    assert_contains(lua, "TODO");
    assert_null(strstr(lua, "it computes"));
    const char *theirs = arena_printf(&b->arena, "shaders=%s", here);
    r = RUN(b, "check", file, "--device", "none", "--set", theirs);
    assert_ok(&r);
    r = RUN(b, "check", file, "--device", "none");
    assert_refused(&r, 1, "x.comp", "--set");
}

// Sixty-four passes are one candidate, of which few have a module of their own.
static void many_passes(void **state)
{
    struct box *b = *state;
    static const char lua[] = OPERATOR(
        "copies", ONE_IN
        "output = { 'Out', 256 }, " COPY) "param.block = discrete { 64 }\nscratch(function(c) "
                                          "return 1024 end)\n"
                                          "for i = 1, %d do kernel { shader = 'x.comp', bindings = "
                                          "i == 1 and { 'In', 'scratch' } or\n"
                                          "  i == %d and { 'scratch', 'Out' } or { 'scratch', "
                                          "'scratch' }, push = function(c) return "
                                          "{ 1.0 * i } end, groups = { 4 } } end\n";
    static const char glsl[] =
        "#version 450\nlayout(local_size_x = 64) in;\n"
        "layout(push_constant) uniform P { float pass; };\n"
        "layout(binding = 0) buffer A { float x[]; };\n"
        "layout(binding = 1) buffer B { float y[]; };\n" MAIN "y[i] = pass > 0.0 ? x[i] : 0.0; }\n";
    for (int i = 0; i < 2; i++) {
        const int count = i ? 65 : 64;
        box_write(b, "x.comp", glsl);
        const char *file = box_write(b, "x.lua", arena_printf(&b->arena, lua, count, count));
        struct result r = RUN(b, "tune", file, "--trials", "1");
        if (i)
            assert_refused(&r, 1, "64 kernels", NULL);
        else
            assert_ok(&r);
    }
}

TEST_GROUP(resources)
{
    const struct CMUnitTest tests[] = {
        FLOW_TEST(all_kinds_are_right),
        FLOW_TEST(reading_first_is_told),
        FLOW_TEST(a_kept_buffer_is_run_twice),
        FLOW_TEST(mistakes_are_told),
        FLOW_TEST(many_passes),
        FLOW_TEST(adopt_proposes_them),
        FLOW_TEST(adopt_writes_anywhere),
    };
    if (!has_device())
        return EXIT_SKIPPED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
