// Attacks: texts that try to reach out, run for ever, eat the memory, or tell one run from another.
#include "base/mem.h"
#include "group.h"
#include "help.h"
#include "script/library.h"
#include "script/state.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

// Each is tried as a space file, in a rule and in a template, and has to end in an error that
// contains `expected`.
static const struct attack {
    const char *lua;
    const char *expected; // NULL: it must do no harm, and may succeed
} attacks[] = {
    // Running for ever
    {"while true do end", "too many steps"},
    {"::top:: goto top", "too many steps"},
    {"local function f() return f() end f()", "too many steps"},
    {"repeat local x = {} until false", "too many steps"},
    {"for i = 1, math.huge do end", "too many steps"},
    {"local s = 'x' while true do s = s .. s end", NULL},
    {"local s = ('x'):rep(1e6) while true do local t = s .. 'y' end", "too many steps"},
    {"while true do local s = ('x'):rep(1000) end", "too many steps"},
    {"('').rep('', 1e18)", "exceed"},
    {"local t = {} for i = 0, 62 do t[1 << i] = 1 end table.insert(t, 1, 2)", NULL},
    {"local t = {} for i = 0, 62 do t[1 << i] = 1 end table.remove(t, 1)", NULL},
    {"local t = {} for i = 1, 1e5 do t[i] = i end while true do table.insert(t, 1, 0) end",
     "too many steps"},
    {"local t = {} for i = 1, 1e5 do t[i] = i end while true do table.concat(t) end",
     "too many steps"},
    {"local t = {} for i = 1, 1e4 do t[i] = i end while true do table.sort(t) end",
     "too many steps"},
    {"local t = {} for i = 1, 1e4 do t[i] = i end while true do for _ in pairs(t) do break end end",
     "too many steps"},
    {"local t = {} for i = 1, 100 do t[i] = i % 3 end table.sort(t, function() return true end)",
     "invalid order function"},
    {"local t = {} for i = 1, 100 do t[i] = i end table.sort(t, function() while true do end end)",
     "too many steps"},
    {"local s = ('x'):rep(1e6) local t = {} for i = 1, 1e5 do t[i] = s end table.sort(t)",
     "too many steps"},
    {"local s = ('x'):rep(1e6) while true do local t = s:upper():reverse():sub(2) end",
     "too many steps"},
    {"while true do local x = string.format('%99.99f', 1e308) end", "too many steps"},
    {"local n = ('9'):rep(1e6) while true do local x = tonumber(n) end", "too many steps"},
    {"local a, b = ('x'):rep(15e6), ('x'):rep(14e6) .. ('x'):rep(1e6) for i = 1, 9 do "
     "local c = a == b end",
     NULL},

    // Eating memory
    {"local t = {} while true do t[#t + 1] = ('x'):rep(1e6) .. #t end", NULL},
    {"local s = ('x'):rep(1e9)", "exceed"},
    {"local s = ('x'):rep(1e6, ('y'):rep(1e6))", "exceed"},
    {"local s = ('x'):rep(math.maxinteger)", "exceed"},
    {"local s = ('x'):rep(-1) assert(s == '') error('done')", "done"},
    {"table.unpack({}, 1, 1e8)", "too many results"},
    {"table.unpack({}, math.mininteger, math.maxinteger)", "too many results"},
    {"local t = {table.unpack({}, 1, 1e5)} string.char(table.unpack({}, 1, 100))",
     "number expected"},
    {"string.byte(('x'):rep(1e7), 1, -1)", "string slice too long"},
    {"table.concat({}, ',', 1, 1e15)", "at index 1 in table"},
    {"string.format('%9999d', 1)", "invalid conversion"},
    {"local f = ('%99d'):rep(1e5) string.format(f, 1)", "bad argument"},
    {"local t = {} for i = 1, 300 do t = {t} end for i = 1, 1e7 do t = {t} end", NULL},
    {"local function f() return f() + 1 end f()", NULL},
    {"local t = setmetatable", "not available"},

    // Reaching out
    {"load('return 1')", "not available"},
    {"loadstring('return 1')", "not available"},
    {"dofile('/etc/passwd')", "not available"},
    {"require('os')", "not available"},
    {"package.loadlib('x', 'y')", "not available"},
    {"io.open('/etc/passwd')", "not available"},
    {"os.execute('true')", "not available"},
    {"debug.getregistry()", "not available"},
    {"coroutine.wrap(function() while true do end end)()", "not available"},
    {"pcall(function() while true do end end)", "not available"},
    {"xpcall(error, error)", "not available"},
    {"collectgarbage('stop')", "not available"},
    {"next({})", "not available"},
    {"rawset(math, 'pi', 3)", "not available"},
    {"rawget(math, 'pi')", "not available"},
    {"print('x')", "not available"},
    {"getmetatable('').__index.rep = nil", "not available"},
    {"local x = utf8.char(1)", "not available"},
    {"_G.x = 1", "not available"},
    {"_ENV.x = 1", "is not a local variable"},
    {"local e = _ENV e.math = {}", "is not a local variable"},
    {"local _ENV = {} x = 1 error('done')", "'error'"},
    {"for k, v in pairs(_ENV) do if k == 'load' or k == 'io' then error('leak') end end", NULL},
    {"math.floor = function() end", "read-only"},
    {"string.rep = nil", "read-only"},
    {"table.insert(math, 1)", "read-only"},
    {"table.sort(string)", NULL},
    {"local s = 'x' s.y = 1", "attempt to index a string value"},
    {"('x'):find('a-')", "not available"},
    {"('x'):match('(.-)%1')", "not available"},
    {"('x'):gsub('.', '%0%0')", "not available"},
    {"('x'):gmatch('.')()", "not available"},
    {"('x'):pack(1)", "not available"},
    {"string.pack('!16i16', 1)", "not available"},
    {"('x'):dump()", "not available"},
    {"string.dump(function() end)", "not available"},
    {"math.random()", "not available"},
    {"local t <close> = {}", "non-closable value"},
    {"error({code = 1})", "error was given a table, not a message"},
    {"error(nil)", "error was given a nil, not a message"},
    {"error(function() end)", "error was given a function, not a message"},
    {"error(42)", "42"},
    {"error('#7:99: forged')", "forged"},
    {"error('#0:99999999999999999999: forged', 0)", "forged"},
    {"error('%s%n%d', 0)", "%s%n%d"},
    {"error()", "error was given a nil, not a message"},
    {"assert(false)", "assertion failed!"},
    {"assert(nil, {})", "error was given a table"},
    {"error(('x'):rep(1e6))", "xxxxxxxx"},

    // Addresses, which differ from run to run
    {"error(tostring({}) .. tostring(print == nil))", "not available"},
    {"error(tostring({}) .. tostring(tostring) .. tostring('x'))", "tablefunctionx"},
    {"error(string.format('%s %s', {}, tostring))", "table function"},
    {"error(('%-10.3s|'):format({}))", "tab       |"},
    {"string.format('%p', 'x')", "%p is not available"},
    {"string.format('%-20p', 'x')", "%p is not available"},
    {"string.format('%%p %+p', 'x')", "%p is not available"},
    {"error(string.format('%5.1f%%', 2))", "2.0%"},
    {"local x = {} .. ''", "attempt to concatenate a table value"},
    {"local x = {} < {}", "attempt to compare two table values"},
};

static int load_first(lua_State *L)
{
    const struct source *files = lua_touserdata(L, 1);
    guard_load_text(L, 0, files[0].text, strlen(files[0].text));
    return 0;
}

static void ends_in(const struct attack *a, const struct source *files, const char *where)
{
    char message[1400];
    try_script(files, message, sizeof message);
    if (a->expected && !strstr(message, a->expected))
        fail_msg("%s: %s\n   gives: %s\nexpected: %s", where, a->lua, message, a->expected);
    if (strstr(message, "leak") || strstr(message, "0x"))
        fail_msg("%s: %s\nleaks: %s", where, a->lua, message);
}

static void attacks_in_space_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        char *lua = mem_printf(OPERATOR PARAM KERNEL "; %s", attacks[i].lua);
        ends_in(&attacks[i], (struct source[]){{"a.lua", lua}, {"t.comp", "x"}, {NULL, NULL}},
                "space file");
        free(lua);
    }
}

static void attacks_in_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        char *lua = mem_printf(OPERATOR PARAM KERNEL
                               "constraint('x', function(c) do %s end return true end)",
                               attacks[i].lua);
        // A rule has a fiftieth of the steps: where a limit stops an attack, it may be another one.
        char message[1400];
        try_script((struct source[]){{"a.lua", lua}, {"t.comp", "x"}, {NULL, NULL}}, message,
                   sizeof message);
        if (!strstr(message, "too many steps"))
            ends_in(&attacks[i], (struct source[]){{"a.lua", lua}, {"t.comp", "x"}, {NULL, NULL}},
                    "rule");
        free(lua);
    }
}

static void attacks_in_templates(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        if (i >= 5 && str_equal(attacks[i].expected, "too many steps"))
            continue; // to save time: the steps are those of a space file
        char *glsl = mem_printf("x\n%% do\n%% %s\n%% end\n", attacks[i].lua);
        ends_in(&attacks[i],
                (struct source[]){{"a.lua", OPERATOR PARAM KERNEL}, {"t.comp", glsl}, {NULL, NULL}},
                "template");
        free(glsl);
    }
}

// What a space file declares is looked through, copied and kept by C: that is bounded or paid for.
// Each would take minutes or gigabytes.
static const struct attack declarations[] = {
    {"local t = {} for i = 1, 400000 do t[i] = 'w' .. i end choice('Q', t)",
     "choice 'Q': 400000 values, at most 65536 are possible"},
    {"local t = {} for i = 1, 65536 do t[i] = 'w' .. i end for i = 1, 300 do choice('Q' .. i, t) "
     "end",
     "not enough memory"},
    {"for i = 1, 1e6 do size('N' .. i, 1) end", "more than 256 sizes, numbers and choices"},
    {"for i = 1, 1e6 do constraint('c' .. i, function() return true end) end",
     "more than 1000 constraints"},
    {"constraint(('x'):rep(1e6), function() return true end)", "longer than 1000 bytes"},
    {"local t = {} for i = 1, 3e5 do t['n' .. i] = 1 end use('t.lua', t)",
     "more than 4096 values are given to settings"},
    {"for i = 1, 1e6 do use('t.lua', { N = 1 }) end",
     "more than 4096 values are given to settings"},
    {"for i = 1, 1e6 do include('t.lua') end", "too many steps"},
    {"local t = {} for i = 1, 20000 do t[i] = ('x'):rep(900) .. i end "
     "for i = 1, 31 do param['q' .. i] = categorical(t) end",
     "not enough memory"},
    {"local t = {} for i = 1, 4096 do t[i] = i end "
     "for i = 1, 31 do param['q' .. i] = custom { values = t, neighbours = function() return t end "
     "}"
     "end",
     "too many steps"},
    {"local t = {} for i = 1, 4096 do t[i] = i end "
     "for i = 1, 400 do local q = i < 31 and i or 'x' param['q' .. q] = custom { values = t, "
     "neighbours = function() return {} end } end",
     "too many steps"},
    {"local t, name = {}, ('abcdefghij'):rep(6) for i = 1, 1e5 do t[name .. i] = 1 end "
     "kernel(t)",
     "has no field"},
    {"local k = {} for i = 1, 60 do k[('x'):rep(1e6) .. i] = 1 end "
     "while true do for _ in pairs(k) do break end end",
     "too many steps"},
    {"local t = {} for i = 2, 1e5 do t[i] = '' end while true do table.concat(t, '', 2, 1e5) end",
     "too many steps"},
    {"nest(function(c, d) for i = 1, 1e6 do local x = d.min(c.p[1] + i, c.p[2] + i) end end)",
     "more than 8192 formulas"},
    {"nest(function(c, d) local l = d.loop { 'l', length = 2 } local x = l "
     "while true do x = x * c.p[1] + x end end)",
     "more than 8192 formulas"},
    {"nest(function(c, d) for i = 1, 1e6 do d.divisor(9007199254740881 - i, 1e9) end end)",
     "too many steps"},
    {"nest(function(c, d) for i = 1, 1e6 do d.divisor(c.p[1] + i, 1e9) end end)",
     "more than 64 times d.divisor"},
};

static void attacks_by_declaring(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof declarations / sizeof *declarations; i++) {
        char *lua = mem_printf(OPERATOR PARAM KERNEL "; %s", declarations[i].lua);
        ends_in(&declarations[i],
                (struct source[]){
                    {"a.lua", lua}, {"t.comp", "x"}, {"t.lua", "size('N', 1)"}, {NULL, NULL}},
                "declaring");
        free(lua);
    }
}

// Lua's compiler looks through all labels for each new one, and no hook is called meanwhile.
static void compiling_is_paid_for(void **state)
{
    (void)state;
    struct str lua = {0};
    char message[1400];
    for (int i = 0; i < 3000; i++)
        str_printf(&lua, "::l%d:: ", i);
    str_add(&lua, "while true do end");
    struct source files[] = {{"a.lua", str_text(&lua)}, {NULL, NULL}};
    struct texts texts = {.item = &(struct script_text){.name = "a.lua", .path = "a.lua"},
                          .count = 1};
    struct guard g;
    guard_create(&g, &texts, library_open, files);
    struct err e;
    g.cpu_limit_ns = -1; // what is loaded has none left when the clock is looked at
    assert_false(guard_run(&g, GUARD_LOAD, (struct place){0, 0}, load_first, files, &e));
    err_format(&e, message, sizeof message);
    assert_non_null(strstr(message, "too slow: loading a space file"));
    guard_destroy(&g);
    str_finish(&lua);
}

// Numbers are GLSL too: they count as it.
static void numbers_fill_no_memory(void **state)
{
    (void)state;
    char message[1400];
    struct source files[] = {{"a.lua", OPERATOR PARAM KERNEL},
                             {"t.comp", "% for i = 1, 1e9 do\n"
                                        "${1e300}${1e300}${1e300}${1e300}${true}${-1e18 // 1 | 0}\n"
                                        "% end\n"},
                             {NULL, NULL}};
    try_script(files, message, sizeof message);
    assert_non_null(strstr(message, "the template gives more than 4 MiB of GLSL"));
}

// Single instructions on long strings are slow; the clock is looked at more often then.
static void long_strings_are_watched(void **state)
{
    (void)state;
    struct source files[] = {{"a.lua", OPERATOR PARAM KERNEL}, {"t.comp", "x"}, {NULL, NULL}};
    struct err e;
    struct script *s = script_from(files, &e);
    assert_non_null(s);
    int usual = s->guard.hook_interval;
    script_destroy(s);
    files[0].text = "local long = ('x'):rep(1e5) " OPERATOR PARAM KERNEL;
    s = script_from(files, &e);
    assert_non_null(s);
    assert_true(s->guard.hook_interval * 50 < usual);
    script_destroy(s);
}

// Texts that break out of what surrounds an expression of a template, or call what surrounds it.
static void templates_cannot_break_out(void **state)
{
    (void)state;
    static const char *const glsl[] = {
        "${1) _emit_(9}",     "${1} ${2), (3}",
        "% _emit_()",         "% _emit_(0)",
        "% _emit_(1, 2, 3)",  "% _emit_(-1)",
        "% _emit_('x')",      "% _emit_(1e308)",
        "x\n% _emit_(2)",     "x\n% _emit_({})",
        "${'a\\0b'}",         "% _emit_ = nil\nx",
        "% local _emit_\nx",  "% ]]--[[\nx",
        "% --[[\nx",          "${--[[}x",
        "${[[}]]}",           "${\"}",
        "% x = [==[\nx",      "% goto a\n% ::a:: ::a::\nx",
        "% _ENV.x = 1",       "% for i=1,1e9 do\nx\n% end",
        "${('x'):rep(16e6)}", "${('x\\n'):rep(2e6)}\n${('x'):rep(3e6)}",
    };
    for (size_t i = 0; i < sizeof glsl / sizeof *glsl; i++) {
        char message[1400];
        struct source files[] = {
            {"a.lua", OPERATOR PARAM KERNEL}, {"t.comp", glsl[i]}, {NULL, NULL}};
        try_script(files, message, sizeof message);
        if (!message[0])
            fail_msg("%s: no error", glsl[i]);
    }
}

// What a template emits through can be kept, but is dead outside of it.
static void emit_is_useless_outside_of_templates(void **state)
{
    (void)state;
    struct source files[] = {
        {"a.lua",
         "local kept = {} " OPERATOR PARAM "kernel { template = 't.comp', groups = function() "
         "if kept[1] then kept[1](1) end return { 1 } end, "
         "values = function() return { kept = kept } end }"
         "constraint('x', function() if kept[1] then kept[1](1) end return true end)"},
        {"t.comp", "x\n% kept[1] = _emit_\n"},
        {NULL, NULL}};
    struct err e;
    struct script *s = script_from(files, &e);
    assert_non_null(s);
    struct config c;
    struct job job;
    struct verdict v;
    space_point(script_space(s), 0, &c);
    bool rendered = script_render(s, &c, &job, &e);
    if (rendered)
        job_finish(&job);
    assert_false(space_judge(script_space(s), NULL, &c, &v, &e));
    script_destroy(s);
}

// After any failure the script still answers, and memory that a failed visit took is free again.
static void a_script_survives_its_errors(void **state)
{
    (void)state;
    struct source files[] = {{"a.lua", OPERATOR KERNEL
                              "param.p = discrete { 0, 1, 2, 3, 4 }\n"
                              "constraint('x', function(c)\n"
                              "  if c.p == 1 then while true do end end\n"
                              "  if c.p == 2 then local t = {} for i = 1, 1e9 do t[i] = i end end\n"
                              "  if c.p == 3 then error('no') end\n"
                              "  return c.p == 4\n"
                              "end)"},
                             {"t.comp", "x ${c.p}"},
                             {NULL, NULL}};
    struct err e;
    struct script *s = script_from(files, &e);
    assert_non_null(s);
    for (int round = 0; round < 50; round++)
        for (uint64_t i = 0; i < 5; i++) {
            struct config c;
            struct verdict v;
            space_point(script_space(s), i, &c);
            bool judged = space_judge(script_space(s), NULL, &c, &v, &e);
            assert_int_equal(judged, i == 0 || i == 4);
            if (judged)
                assert_int_equal(v.legal, i == 4);
            else
                assert_int_equal(e.line, i == 1 ? 3 : i == 2 ? 4 : 5);
        }
    script_destroy(s);
}

// A rule that hoards what it is given is stopped by the limit of memory, whenever that is.
static void hoarding_rules_are_stopped(void **state)
{
    (void)state;
    struct source files[] = {
        {"a.lua", "local hoard = {} " OPERATOR PARAM KERNEL "constraint('x', function(c) "
                  "hoard[#hoard + 1] = ('x'):rep(1e4):rep(100) .. #hoard return true end)"},
        {"t.comp", "x"},
        {NULL, NULL}};
    struct err e;
    struct script *s = script_from(files, &e);
    assert_non_null(s);
    struct config c;
    struct verdict v;
    space_point(script_space(s), 0, &c);
    int calls = 0;
    while (calls < 1000 && space_judge(script_space(s), NULL, &c, &v, &e))
        calls++;
    assert_in_range(calls, 50, 64);
    assert_non_null(strstr(e.text, "not enough memory"));
    for (int i = 0; i < 10; i++) // and stays stopped without harm
        assert_false(space_judge(script_space(s), NULL, &c, &v, &e));
    struct job job;
    script_render(s, &c, &job, &e);
    job_finish(&job);
    script_destroy(s);
}

// Work that the VM does within one instruction has no steps: CPU time ends it.
static void slow_instructions_are_stopped(void **state)
{
    (void)state;
    struct source files[] = {{"a.lua",
                              OPERATOR PARAM KERNEL "constraint('x', function(c)\n"
                                                    "local function f(...) return f(1, ...) end\n"
                                                    "f() end)"},
                             {"t.comp", "x"},
                             {NULL, NULL}};
    struct err e;
    struct script *s = script_from(files, &e);
    assert_non_null(s);
    struct config c;
    struct verdict v;
    space_point(script_space(s), 0, &c);
    s->guard.cpu_limit_ns = 20000000;
    assert_false(space_judge(script_space(s), NULL, &c, &v, &e));
    assert_int_equal(e.line, 2);
    assert_non_null(strstr(e.text, "too slow: a rule took more than 0 seconds"));
    script_destroy(s);
}

TEST_GROUP(guard)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attacks_in_space_files),
        cmocka_unit_test(attacks_in_rules),
        cmocka_unit_test(attacks_in_templates),
        cmocka_unit_test(attacks_by_declaring),
        cmocka_unit_test(compiling_is_paid_for),
        cmocka_unit_test(numbers_fill_no_memory),
        cmocka_unit_test(long_strings_are_watched),
        cmocka_unit_test(templates_cannot_break_out),
        cmocka_unit_test(emit_is_useless_outside_of_templates),
        cmocka_unit_test(a_script_survives_its_errors),
        cmocka_unit_test(hoarding_rules_are_stopped),
        cmocka_unit_test(slow_instructions_are_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
