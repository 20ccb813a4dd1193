// The limits of a text that Lua runs: steps, CPU time, memory, GLSL; and access to what is hidden.
// Attacks on all of it are in test_attacks.c.
#include "base/mem.h"
#include "group.h"
#include "help.h"
#include "script/state.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static int load_first(lua_State *L)
{
    const struct source *files = lua_touserdata(L, 1);
    guard_load_text(L, 0, files[0].text, strlen(files[0].text));
    return 0;
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
    assert_true(strstr(message, "too slow"));
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
    assert_true(str_starts(message, "t.comp:2: "));
    assert_non_null(strstr(message, "4 MiB"));
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

// The function that a template emits through can be kept, but fails outside of the template.
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
    assert_true(strstr(e.text, "memory"));
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
    assert_true(strstr(e.text, "too slow"));
    script_destroy(s);
}

TEST_GROUP(guard)
{
    const struct CMUnitTest tests[] = {
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
