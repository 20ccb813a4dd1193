// Every error that a user can meet in a space file or template: where it is, and that
// docs/guide/spaces.md shows it. Its words are recorded in messages.txt.
#include "errors.h"
#include "group.h"

#include "base/mem.h"
#include "base/str.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define SHADER(more)                                                                               \
    OPERATOR PARAM "kernel { shader = 't.comp', groups = function() return { 1 } end" more " }"
#define ALL OPERATOR PARAM KERNEL

static const struct error_case cases[] = {
    // Names
    {"local x = sise('N', 8)", NULL, "a.lua:1"},
    {"x = 1", NULL, "a.lua:1"},
    {"io.open('x')", NULL, "a.lua:1"},
    {"\nlocal x = math.flor(1)", NULL, "a.lua:2"},
    {"math.floor = nil", NULL, "a.lua:1"},
    {"local x = ('x'):find('x')", NULL, "a.lua:1"},
    {"local x = device.shared_byte", NULL, "a.lua:1"},
    {"local x = device.group_size[4]", NULL, "a.lua:1"},
    {"device.type = 'cpu'", NULL, "a.lua:1"},
    {"local x = = 1", NULL, "a.lua:1"},
    {"error('tiles do not fit')", NULL, "a.lua:1"},
    {"error({})", NULL, "a.lua:1"},
    {"for k in pairs({[{}] = 1}) do end", NULL, "a.lua:1"},

    // Sizes
    {"size('2N', 8)", NULL, "a.lua:1"},
    {"size(8)", NULL, "a.lua:1"},
    {"size('N')", NULL, "a.lua:1"},
    {"size('N', 0)", NULL, "a.lua:1"},
    {"size('N', 2^31)", NULL, "a.lua:1"},
    {"size('N', 1.5)", NULL, "a.lua:1"},
    {"size('N', 8) size('N', 8)", NULL, "a.lua:1"},
    {"size('op', 8)", NULL, "a.lua:1"},

    // Operator
    {"operator.matmull { }", NULL, "a.lua:1"},
    {"choice('a', { 'x' }) choice('a', { 'x' })", NULL, "a.lua:1"},
    {"number('a', 1) number('a', 2)", NULL, "a.lua:1"},
    {"number('a', 'x')", NULL, "a.lua:1"},
    {"choice('a', {})", NULL, "a.lua:1"},
    {"choice('a', { 'x y' })", NULL, "a.lua:1"},
    {"choice('a', { 'x', 'x' })", NULL, "a.lua:1"},
    {"choice('a', { 'x' }, 'z')", NULL, "a.lua:1"},
    {"operator.matmul { N = 8, M = 8, K = 8, row_a = 7 }", NULL, "a.lua:1"},
    {"operator.matmul { N = 8, M = 8, K = 8, accumulate = 'f16' }", NULL, "a.lua:1"},
    {"operator.matmul { N = 8, M = 8, K = 8, activation = 'clamp', low = 7 }", NULL, "a.lua:1"},
    {"operator.matmul { N = 8, M = 8, K = 8, type = 'i8', scale = 2 }", NULL, "a.lua:1"},
    {"operator.matmul { N = 8, M = 8, K = 8, scale = 'x' }", NULL, "a.lua:1"},
    {"operator.batch_matmul { batch = 2, N = 8, M = 8, K = 8, batch_c = 63 }", NULL, "a.lua:1"},
    {"operator.conv2d { batch = 1, in_channels = 2, height = 4, width = 4, out_channels = 2, "
     "kernel_h = 5, kernel_w = 1 }",
     NULL, "a.lua:1"},
    {"operator.conv2d { batch = 1, in_channels = 2, height = 4, width = 4, out_channels = 3, "
     "kernel_h = 1, kernel_w = 1, groups = 2 }",
     NULL, "a.lua:1"},
    {"operator.max_pool { batch = 1, channels = 1, height = 4, width = 4, window = 2, "
     "padding = 2 }",
     NULL, "a.lua:1"},
    {"local op = operator.matmul { N = 8, M = 8, K = 8 } local t = op.tipe", NULL, "a.lua:1"},
    {"local op = operator.matmul { N = 8, M = 8, K = 8 } local b = op.bindings.bias", NULL,
     "a.lua:1"},
    {"operator.matmul { N = 8, M = 8 }", NULL, "a.lua:1"},
    {"operator.matmul { N = 8, M = 8, K = 8, tipe = 'f32' }", NULL, "a.lua:1"},
    {"operator.matmul { N = 8, M = 8, K = 8, type = 'f23' }", NULL, "a.lua:1"},
    {"operator.matmul { N = 8, M = 8, K = 8, layout = 'rows' }", NULL, "a.lua:1"},
    {"operator.matmul { N = 'x' }", NULL, "a.lua:1"},
    {"operator.matmul { 8, 8, 8 }", NULL, "a.lua:1"},
    {OPERATOR OPERATOR, NULL, "a.lua:1"},

    // Parameters
    {"param.p = factors(1024, 0)", NULL, "a.lua:1"},
    {"param.p = factors(0, 2)", NULL, "a.lua:1"},
    {"param.p = factors(2^31, 2)", NULL, "a.lua:1"},
    {"param.p = factors(8, 17)", NULL, "a.lua:1"},
    {"for i = 1, 33 do param['p' .. i] = discrete { 1 } end", NULL, "a.lua:1"},
    {"for i = 1, 4 do param['p' .. i] = factors(8, 15) end", NULL, "a.lua:1"},
    {"local t = {} for i = 1, 65537 do t[i] = i end param.p = discrete(t)", NULL, "a.lua:1"},
    {"local t = {} for i = 1, 4097 do t[i] = i end\n"
     "param.p = custom { values = t, neighbours = function() return { } end }",
     NULL, "a.lua:2"},
    {"local t = {} for i = 1, 17 do t[i] = 'x' .. i end param.p = permutation(t)", NULL, "a.lua:1"},
    {"param.p = factors('8', 2)", NULL, "a.lua:1"},
    {"param.p = 8", NULL, "a.lua:1"},
    {PARAM "\n" PARAM, NULL, "a.lua:2"},
    {PARAM "local x = param.p", NULL, "a.lua:1"},
    {"param['a b'] = factors(8, 2)", NULL, "a.lua:1"},
    {"param.p = discrete { }", NULL, "a.lua:1"},
    {"param.p = discrete { 1, 'x' }", NULL, "a.lua:1"},
    {"param.p = discrete { 1, 2, 1 }", NULL, "a.lua:1"},
    {"param.p = discrete { 1, 1/0 }", NULL, "a.lua:1"},
    {"param.p = discrete { 1, nil, 3 }", NULL, "a.lua:1"},
    {"param.p = discrete { n = 1 }", NULL, "a.lua:1"},
    {"param.p = discrete(8)", NULL, "a.lua:1"},
    {"param.p = categorical { 'a', 'b', 'a' }", NULL, "a.lua:1"},
    {"param.p = categorical { true }", NULL, "a.lua:1"},
    {"param.p = categorical { '' }", NULL, "a.lua:1"},
    {"param.p = custom { value = { 1 } }", NULL, "a.lua:1"},
    {"param.p = custom { values = { 1 } }", NULL, "a.lua:1"},
    {"param.p = custom { values = { 'rows', 'columns' },\n"
     "  neighbours = function(v) return { 'colums' } end }",
     NULL, "a.lua:2"},
    {"param.p = custom { values = { 'a' }, neighbours = function(v) return { true } end }", NULL,
     "a.lua:1"},
    {"param.p = custom { values = { 'a' }, neighbours = function(v) end }", NULL, "a.lua:1"},
    {"param.p = custom { values = { 'a', 'b' }, neighbours = function(v) return { 'a' } end }",
     NULL, "a.lua:1"},
    {"param.p = custom { values = { 1, 2 },\n"
     "  neighbours = function(v) return v == 1 and { 2 } or { } end }",
     NULL, "a.lua:2"},

    // Exports
    {"export('x')", NULL, "a.lua:1"},
    {"export('a b', function() end)", NULL, "a.lua:1"},
    {"local function f() end export('x', f) export('x', f)", NULL, "a.lua:1"},
    {"for i = 1, 17 do export('x' .. i, function() end) end", NULL, "a.lua:1"},

    // Baselines
    {"baseline(1)", NULL, "a.lua:1"},
    {ALL "baseline { ['a b'] = { } }", NULL, "a.lua:1"},
    {ALL "baseline { x = 1 }", NULL, "a.lua:1"},
    {ALL "baseline { x = { q = 1 } }", NULL, "a.lua:1"},
    {ALL "baseline { x = { } }", NULL, "a.lua:1"},
    {ALL "baseline { x = { p = 8 } }", NULL, "a.lua:1"},
    {ALL "baseline { x = { p = { 8 } } }", NULL, "a.lua:1"},
    {ALL "baseline { x = { p = { 8, 'a' } } }", NULL, "a.lua:1"},
    {ALL "local x = { p = { 4, 2 } } baseline { x = x } baseline { x = x }", NULL, "a.lua:1"},
    {ALL "for i = 1, 9 do baseline { ['x' .. i] = { p = { 4, 2 } } } end", NULL, "a.lua:1"},
    {ALL "baseline { x = { p = { 4, 2 } } } param.q = discrete { 1 }", NULL, "a.lua"},

    // Rules
    {"derived(1)", NULL, "a.lua:1"},
    {ALL "\nlocal f = derived(function(c)\n return c.q end)"
         "constraint('x', function(c) return f(c) end)",
     NULL, "a.lua:3"},
    {"constraint('x')", NULL, "a.lua:1"},
    {"constraint(function() end)", NULL, "a.lua:1"},
    {"local function f() end constraint('x', f) constraint('x', f)", NULL, "a.lua:1"},
    {"local function f() end resources(f) resources(f)", NULL, "a.lua:1"},
    {ALL "\nconstraint('x', function(c) return 1 end)", NULL, "a.lua:2"},
    {ALL "\nconstraint('x', function(c) end)", NULL, "a.lua:2"},
    {ALL "\nconstraint('x',\n function(c) return c.q end)", NULL, "a.lua:3"},
    {ALL "constraint('x', function(c) return c.p[3] == 1 end)", NULL, "a.lua:1"},
    {ALL "constraint('x', function(c) return p[1] == 1 end)", NULL, "a.lua:1"},
    {ALL "constraint('x', function(c) c.p = 1 end)", NULL, "a.lua:1"},
    {ALL "constraint('x', function(c) c.p[1] = 1 end)", NULL, "a.lua:1"},
    {ALL "constraint('x', function(c) size('N', 1) end)", NULL, "a.lua:1"},
    {ALL "resources(function(c) return 1 end)", NULL, "a.lua:1"},
    {ALL "resources(function(c) return { shared_byte = 1 } end)", NULL, "a.lua:1"},
    {ALL "resources(function(c) return { shared_bytes = 12.5 } end)", NULL, "a.lua:1"},
    {ALL "resources(function(c) return { shared_bytes = -1 } end)", NULL, "a.lua:1"},
    {ALL "resources(function(c) return { groups = { 1, 2, 3, 4 } } end)", NULL, "a.lua:1"},
    {ALL "resources(function(c) return { invocations = 8 } end)", NULL, "a.lua:1"},

    // Kernels
    {OPERATOR PARAM "kernel { }", NULL, "a.lua:1"},
    {OPERATOR PARAM "kernel { templat = 't.comp' }", NULL, "a.lua:1"},
    {OPERATOR PARAM "kernel { template = 'u.comp' }", NULL, "a.lua:1"},
    {OPERATOR PARAM "kernel { template = '../t.comp' }", NULL, "a.lua:1"},
    {OPERATOR PARAM "for i = 1, 65 do " KERNEL " end", NULL, "a.lua:1"},
    {OPERATOR PARAM "kernel { template = 't.comp' }", NULL, "a.lua:1"},
    {OPERATOR PARAM "kernel { template = 't.comp', groups = function() return { 0 } end }", NULL,
     "a.lua:1"},
    {OPERATOR PARAM "kernel { template = 't.comp', values = function() return 1 end }", NULL,
     "a.lua:1"},
    {OPERATOR PARAM "kernel { template = 't.comp', values = function() return { c = 1 } end }",
     NULL, "a.lua:1"},
    {OPERATOR PARAM "kernel { template = 't.comp', when = function() return 1 end }", NULL,
     "a.lua:1"},
    {OPERATOR PARAM "kernel { template = 't.comp', groups = function() return { 1 } end, subgroup "
                    "= function() return 12 end }",
     NULL, "a.lua:1"},
    {OPERATOR PARAM "kernel { template = 't.comp', groups = function() return { 1 } end, subgroup "
                    "= function() return 0 end }",
     NULL, "a.lua:1"},
    {OPERATOR PARAM
     "kernel { template = 't.comp', groups = function() return { 1 } end, subgroup = 32 }",
     NULL, "a.lua:1"},
    {OPERATOR PARAM "kernel { template = 't.comp', when = function() return false end }", NULL,
     "a.lua:1"},
    {ALL "scratch(function() return 0.5 end)", NULL, "a.lua:1"},
    {PARAM KERNEL, NULL, "a.lua"},
    {OPERATOR KERNEL, NULL, "a.lua"},
    {OPERATOR PARAM, NULL, "a.lua"},

    // Shaders that others wrote
    {OPERATOR PARAM "kernel { template = 't.comp', spirv = 't.comp' }", NULL, "a.lua:1"},
    {SHADER(", values = error"), NULL, "a.lua:1"},
    {OPERATOR PARAM "kernel { template = 't.comp', include = {} }", NULL, "a.lua:1"},
    {OPERATOR PARAM "kernel { shader = 'x.comp' }", NULL, "a.lua:1"},
    {SHADER(""), "; SPIR-V in words\n07230203", "a.lua:1"},
    {OPERATOR PARAM "kernel { spirv = 't.comp' }", NULL, "a.lua:1"},
    {SHADER(", include = { '../x' }"), NULL, "a.lua:1"},
    {SHADER(""), "x\n#  include \"a.glsl\"\n", "t.comp:2"},
    {SHADER(", define = function() return { ['1a'] = 1 } end"), NULL, "a.lua:1"},
    {SHADER(", define = function() return { A = {} } end"), NULL, "a.lua:1"},
    {SHADER(", spec = function() return { 'x' } end"), NULL, "a.lua:1"},
    {SHADER(", push = function() return { { 'f99', 1 } } end"), NULL, "a.lua:1"},
    {SHADER(", push = function() return { 1, { 'u8', 1, offset = 0 } } end"), NULL, "a.lua:1"},
    {SHADER(", push = function() return { { 'f64', 1, offset = 250 } } end"), NULL, "a.lua:1"},
    {SHADER(", bindings = { 'Q' }"), NULL, "a.lua:1"},

    // Templates
    {ALL, "x\n  ${c.p", "t.comp:2"},
    {ALL, "x\n${ }", "t.comp:2"},
    {ALL, "x\n${c.p[1]\n}", "t.comp:2"},
    {ALL, "x\n${nil} ${1}", "t.comp:2"},
    {ALL, "x\n${c.p}", "t.comp:2"},
    {ALL, "x\n\n${1 +}", "t.comp:3"},
    {ALL, "${1, 2}", "t.comp:1"},
    {ALL, "${1), (2}", "t.comp:1"},
    {ALL, "${0/0}", "t.comp:1"},
    {ALL, "${1/0}", "t.comp:1"},
    {ALL, "${'a\\0b'}", "t.comp:1"},
    {ALL, "% for i = 1, 5 do\n${('x'):rep(1e6)}\n% end", "t.comp:2"},
    {ALL, "x\n${tile}", "t.comp:2"},
    {ALL, "x\n${p[1]}", "t.comp:2"},
    {ALL, "x\n${op.n}", "t.comp:2"},
    {ALL, "x\n% y = 1", "t.comp:2"},
    {ALL, "% for i = 1, 2 do\nx\n", "t.comp:3"},
    {ALL, "x\n% end\n", "t.comp:2"},
    {ALL, "% if false then\nx\n% end\n", "t.comp"},
    {ALL, "x\n% error('no such tile')\n", "t.comp:2"},
    {ALL, "x\n% local y = ${1}\n", "t.comp:2"},

    // Guards
    {"while true do end", NULL, "a.lua:1"},
    {ALL "constraint('x', function(c) while true do end end)", NULL, "a.lua:1"},
    {ALL, "x\n% while true do\n% end", "t.comp:2"},
    {"local t = {} for i = 1, 1e9 do t[i] = i end", NULL, "a.lua:1"},
    {"local function f() return f() + 1 end\nf()", NULL, "a.lua:1"},
    {"local s = ('x'):rep(1e9)", NULL, "a.lua:1"},
    {"local s = string.format('%p', {})", NULL, "a.lua:1"},
    {"local function f(a, b, c, d)\nlocal x = f(1, 2, 3, 4, f(1, 2, 3, 4, f(5, 6, 7, 8)))\nreturn "
     "x end\n"
     "f()",
     NULL, "a.lua:2"},
    {"\033Lua", NULL, "a.lua"},
};

static void each_error_reads_as_promised(void **state)
{
    (void)state;
    errors_check("errors", cases, sizeof cases / sizeof *cases);
}

static void settings_are_checked(void **state)
{
    (void)state;
    static const struct setting wrong[] = {
        {"NN", "8"},         {"batch", "8"},
        {"type", "f64"},     {"s", "1,5"},
        {"s", "inf"},        {"N", ""},
        {"N", "0"},          {"N", "-1"},
        {"N", "x"},          {"N", "8x"},
        {"N", " 8"},         {"N", "1.5"},
        {"N", "2147483648"}, {"N", "99999999999999999999"},
        {"none", "x"},
    };
    struct source files[] = {
        {"a.lua", "size('N', 8) size('K', 4) choice('type', { 'f32', 'f16' }) number('s', 1) "
                  "choice('none', {}, nil, 'only with K') " ALL},
        {"t.comp", "x"},
        {NULL, NULL}};
    struct wording r;
    wording_begin(&r, "script", "settings");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct err e;
        char *blamed = mem_printf("--set %s=%s", wrong[i].name, wrong[i].value);
        assert_null(script_from_with(files, &wrong[i], 1, &e));
        assert_true(e.usage);
        assert_true(errors_add(&r, blamed, e.text, blamed, false));
        free(blamed);
    }
    wording_end(&r);
}

static void files_are_checked(void **state)
{
    (void)state;
    static const struct {
        struct source files[4];
        const char *place;
        bool is_plain_lua; // which the documentation does not show
    } wrong[] = {
        {{{"a.lua", "include 'b.lua'"},
          {"b.lua", "\ninclude 'c.lua'"},
          {"c.lua", "include 'b.lua'"}},
         "c.lua:1",
         false},
        {{{"a.lua", "include 'a.lua'"}}, "a.lua:1", false},
        {{{"a.lua", "include 'b.lua'"}}, "a.lua:1", false},
        {{{"a.lua", "include 'b.lua'"}, {"b.lua", "local x = 1\nlocal y = x.y.z"}},
         "b.lua:2",
         true},
        {{{"a.lua", "\nuse('b.lua', { Q = 4 })"}, {"b.lua", "size('N', 8)"}}, "a.lua:2", false},
        {{{"a.lua", "\nuse('b.lua', { N = 'x' })"}, {"b.lua", "size('N', 8)"}}, "a.lua:2", false},
        {{{"a.lua", "\nuse('b.lua', { a = 'z' })"}, {"b.lua", "choice('a', { 'x', 'y' })"}},
         "a.lua:2",
         false},
        {{{"a.lua", "include 'b.lua'"}, {"b.lua", "\ninclude 'c.lua'"}, {"c.lua", "(("}},
         "c.lua:1",
         true},
    };
    struct wording r;
    wording_begin(&r, "script", "files");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char message[1400];
        struct str name = {0};
        for (const struct source *s = wrong[i].files; s->name; s++)
            str_printf(&name, "%s%s: %s", name.length ? " | " : "", s->name, s->text);
        try_script(wrong[i].files, message, sizeof message);
        assert_true(
            errors_add(&r, str_text(&name), message, wrong[i].place, !wrong[i].is_plain_lua));
        str_finish(&name);
    }
    wording_end(&r);
}

static void counts_are_limited(void **state)
{
    (void)state;
    struct source chain[MAX_SOURCES + 1] = {{NULL, NULL}};
    char name[18][8], text[18][32], message[1400];
    for (int i = 0; i < 18; i++) {
        snprintf(name[i], sizeof name[i], "%d.lua", i);
        snprintf(text[i], sizeof text[i], "include '%d.lua'", i + 1);
        chain[i] = (struct source){name[i], text[i]};
    }
    struct str line = {0};
    for (int i = 0; i < 101; i++)
        str_add(&line, "${1}");
    struct source long_line[] = {{"a.lua", ALL}, {"t.comp", str_text(&line)}, {NULL, NULL}};
    struct wording r;
    wording_begin(&r, "script", "counts");
    try_script(chain, message, sizeof message);
    assert_true(errors_add(&r, "17 files, each in the one before", message, "15.lua:1", true));
    try_script(long_line, message, sizeof message);
    assert_true(errors_add(&r, "101 expressions", message, "t.comp:1", true));
    wording_end(&r);
    str_finish(&line);
}

static void control_characters_are_in_no_word(void **state)
{
    (void)state;
    char lua[60], message[1400];
    for (int c = 1; c < 128; c++) {
        if (c > ' ' && c < 127)
            continue;
        snprintf(lua, sizeof lua, "choice('a', { 'x\\%03d' })", c);
        try_script((struct source[]){{"a.lua", lua}, {NULL, NULL}}, message, sizeof message);
        assert_true(str_starts(message, "a.lua:1: choice 'a': 'x"));
    }
}

TEST_GROUP(errors)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_error_reads_as_promised),
        cmocka_unit_test(settings_are_checked),
        cmocka_unit_test(files_are_checked),
        cmocka_unit_test(counts_are_limited),
        cmocka_unit_test(control_characters_are_in_no_word),
    };
    return cmocka_run_group_tests(tests, errors_setup, errors_teardown);
}
