// Attacks: texts that try to reach out, run for ever, eat the memory, or tell one run from another.
// The words that they end in are recorded in messages.txt.
#include "base/mem.h"
#include "group.h"
#include "help.h"
#include "wording.h"

#include <stddef.h>
#include <string.h>

enum ending { MAY_SUCCEED, FAILS, STEPS, SECONDS, MEMORY, LENGTH, ABSENT, READ_ONLY };

// Words that distinguish the kinds of endings in their messages.
static const char *const ending_words[] = {
    [FAILS] = "",
    [STEPS] = "too many steps",
    [SECONDS] = "too slow",
    [MEMORY] = "not enough memory",
    [LENGTH] = "exceed",
    [ABSENT] = "not available",
    [READ_ONLY] = "read-only",
};

// Each is tried as a space file, in a rule and in a template, and has to end like this. All that
// fails says the same in the three, and as a space file what messages.txt records.
static const struct attack {
    const char *lua;
    enum ending ending;
} attacks[] = {
    // Running for ever
    {"while true do end", STEPS},
    {"::top:: goto top", STEPS},
    {"local function f() return f() end f()", STEPS},
    {"repeat local x = {} until false", STEPS},
    {"for i = 1, math.huge do end", STEPS},
    {"local s = 'x' while true do s = s .. s end", MAY_SUCCEED},
    {"local s = ('x'):rep(1e6) while true do local t = s .. 'y' end", STEPS},
    {"while true do local s = ('x'):rep(1000) end", STEPS},
    {"('').rep('', 1e18)", LENGTH},
    {"local t = {} for i = 0, 62 do t[1 << i] = 1 end table.insert(t, 1, 2)", MAY_SUCCEED},
    {"local t = {} for i = 0, 62 do t[1 << i] = 1 end table.remove(t, 1)", MAY_SUCCEED},
    {"local t = {} for i = 1, 1e5 do t[i] = i end while true do table.insert(t, 1, 0) end", STEPS},
    {"local t = {} for i = 1, 1e5 do t[i] = i end while true do table.concat(t) end", STEPS},
    {"local t = {} for i = 1, 1e4 do t[i] = i end while true do table.sort(t) end", STEPS},
    {"local t = {} for i = 1, 1e4 do t[i] = i end while true do for _ in pairs(t) do break end end",
     STEPS},
    {"local t = {} for i = 1, 100 do t[i] = i % 3 end table.sort(t, function() return true end)",
     FAILS},
    {"local t = {} for i = 1, 100 do t[i] = i end table.sort(t, function() while true do end end)",
     STEPS},
    {"local s = ('x'):rep(1e6) local t = {} for i = 1, 1e5 do t[i] = s end table.sort(t)", STEPS},
    {"local s = ('x'):rep(1e6) while true do local t = s:upper():reverse():sub(2) end", STEPS},
    {"while true do local x = string.format('%99.99f', 1e308) end", STEPS},
    {"local n = ('9'):rep(1e6) while true do local x = tonumber(n) end", STEPS},
    {"local a, b = ('x'):rep(15e6), ('x'):rep(14e6) .. ('x'):rep(1e6) for i = 1, 9 do "
     "local c = a == b end",
     MAY_SUCCEED},

    // Eating memory
    {"local t = {} while true do t[#t + 1] = ('x'):rep(1e6) .. #t end", MAY_SUCCEED},
    {"local s = ('x'):rep(1e9)", LENGTH},
    {"local s = ('x'):rep(1e6, ('y'):rep(1e6))", LENGTH},
    {"local s = ('x'):rep(math.maxinteger)", LENGTH},
    {"table.unpack({}, 1, 1e8)", FAILS},
    {"table.unpack({}, math.mininteger, math.maxinteger)", FAILS},
    {"local t = {table.unpack({}, 1, 1e5)} string.char(table.unpack({}, 1, 100))", FAILS},
    {"string.byte(('x'):rep(1e7), 1, -1)", FAILS},
    {"table.concat({}, ',', 1, 1e15)", FAILS},
    {"string.format('%9999d', 1)", FAILS},
    {"local f = ('%99d'):rep(1e5) string.format(f, 1)", FAILS},
    {"local t = {} for i = 1, 300 do t = {t} end for i = 1, 1e7 do t = {t} end", MAY_SUCCEED},
    {"local function f() return f() + 1 end f()", MAY_SUCCEED},
    {"local t = setmetatable", ABSENT},

    // Reaching out
    {"load('return 1')", ABSENT},
    {"loadstring('return 1')", ABSENT},
    {"dofile('/etc/passwd')", ABSENT},
    {"require('os')", ABSENT},
    {"package.loadlib('x', 'y')", ABSENT},
    {"io.open('/etc/passwd')", ABSENT},
    {"os.execute('true')", ABSENT},
    {"debug.getregistry()", ABSENT},
    {"coroutine.wrap(function() while true do end end)()", ABSENT},
    {"pcall(function() while true do end end)", ABSENT},
    {"xpcall(error, error)", ABSENT},
    {"collectgarbage('stop')", ABSENT},
    {"next({})", ABSENT},
    {"rawset(math, 'pi', 3)", ABSENT},
    {"rawget(math, 'pi')", ABSENT},
    {"print('x')", ABSENT},
    {"getmetatable('').__index.rep = nil", ABSENT},
    {"local x = utf8.char(1)", ABSENT},
    {"_G.x = 1", ABSENT},
    {"_ENV.x = 1", FAILS},
    {"local e = _ENV e.math = {}", FAILS},
    {"local _ENV = {} x = 1 error('done')", FAILS},
    {"for k, v in pairs(_ENV) do if k == 'load' or k == 'io' then error('leak') end end",
     MAY_SUCCEED},
    {"math.floor = function() end", READ_ONLY},
    {"string.rep = nil", READ_ONLY},
    {"table.insert(math, 1)", READ_ONLY},
    {"table.sort(string)", MAY_SUCCEED},
    {"local s = 'x' s.y = 1", FAILS},
    {"('x'):find('a-')", ABSENT},
    {"('x'):match('(.-)%1')", ABSENT},
    {"('x'):gsub('.', '%0%0')", ABSENT},
    {"('x'):gmatch('.')()", ABSENT},
    {"('x'):pack(1)", ABSENT},
    {"string.pack('!16i16', 1)", ABSENT},
    {"('x'):dump()", ABSENT},
    {"string.dump(function() end)", ABSENT},
    {"math.random()", ABSENT},
    {"local t <close> = {}", FAILS},
    {"error(('x'):rep(1e6))", FAILS},

    // Addresses, which differ from run to run
    {"error(tostring({}) .. tostring(print == nil))", ABSENT},
    {"error(tostring({}) .. tostring(tostring) .. tostring('x'))", FAILS},
    {"error(string.format('%s %s', {}, tostring))", FAILS},
    {"error(('%-10.3s|'):format({}))", FAILS},
    {"string.format('%p', 'x')", FAILS},
    {"string.format('%-20p', 'x')", FAILS},
    {"string.format('%%p %+p', 'x')", FAILS},
    {"error(string.format('%5.1f%%', 2))", FAILS},
    {"local x = {} .. ''", FAILS},
    {"local x = {} < {}", FAILS},
};

static const struct attack messages[] = {
    {"local s = ('x'):rep(-1) assert(s == '') error('done')", FAILS},
    {"error({code = 1})", FAILS},
    {"error(nil)", FAILS},
    {"error(function() end)", FAILS},
    {"error(42)", FAILS},
    {"error('#7:99: forged')", FAILS},
    {"error('#0:99999999999999999999: forged', 0)", FAILS},
    {"error('%s%n%d', 0)", FAILS},
    {"error()", FAILS},
    {"assert(false)", FAILS},
    {"assert(nil, {})", FAILS},
};

static const struct {
    const struct attack *attack;
    size_t count;
} tables[] = {{attacks, sizeof attacks / sizeof *attacks},
              {messages, sizeof messages / sizeof *messages}};

static bool ended_in(enum ending ending, const char *message)
{
    return ending == MAY_SUCCEED || (message[0] && strstr(message, ending_words[ending]));
}

static void ends_in(const struct attack *a, const struct source *files, char *message, size_t size)
{
    try_script(files, message, size);
    if (!ended_in(a->ending, message))
        fail_msg("%s: %s\n   gives: %s\nexpected: %s", files[0].name, a->lua, message,
                 ending_words[a->ending]);
    if (strstr(message, "leak") || strstr(message, "0x") || strchr(message, '\n'))
        fail_msg("%s: %s\nleaks: %s", files[0].name, a->lua, message);
}

static void ends_in_file(const struct attack *a, char *message, size_t size)
{
    char *lua = mem_printf(OPERATOR PARAM KERNEL "; %s", a->lua);
    struct source files[] = {
        {"a.lua", lua}, {"t.comp", "x"}, {"t.lua", "size('N', 1)"}, {NULL, NULL}};
    ends_in(a, files, message, size);
    free(lua);
}

// A rule has a fiftieth of the steps: where a limit stops an attack, it may be another one. Returns
// whether it is that of the attack.
static bool ends_in_rule(const struct attack *a, char *message, size_t size)
{
    char *lua = mem_printf(
        OPERATOR PARAM KERNEL "constraint('x', function(c) do %s end return true end)", a->lua);
    struct source files[] = {{"a.lua", lua}, {"t.comp", "x"}, {NULL, NULL}};
    try_script(files, message, size);
    bool is_of_steps = ended_in(STEPS, message);
    if (!is_of_steps)
        ends_in(a, files, message, size);
    free(lua);
    return !is_of_steps;
}

static void ends_in_template(const struct attack *a, char *message, size_t size)
{
    char *glsl = mem_printf("x\n%% do\n%% %s\n%% end\n", a->lua);
    struct source files[] = {{"a.lua", OPERATOR PARAM KERNEL}, {"t.comp", glsl}, {NULL, NULL}};
    ends_in(a, files, message, size);
    free(glsl);
}

static void attack_and_record(const char *part, const struct attack *list, size_t count)
{
    char message[1400];
    struct wording r;
    wording_begin(&r, "script", part);
    for (size_t i = 0; i < count; i++) {
        ends_in_file(&list[i], message, sizeof message);
        if (list[i].ending != MAY_SUCCEED)
            wording_add(&r, list[i].lua, message);
        bool is_here = str_starts(message, "a.lua:1: ") || str_starts(message, "a.lua: ");
        if (list[i].ending != MAY_SUCCEED && !is_here)
            fail_msg("%s\nis said to be elsewhere: %s", list[i].lua, message);
    }
    wording_end(&r);
}

static void attacks_in_space_files(void **state)
{
    (void)state;
    attack_and_record("attacks", attacks, sizeof attacks / sizeof *attacks);
    attack_and_record("attacks by messages", messages, sizeof messages / sizeof *messages);
}

// An attack that fails at once fails in the same words everywhere.
static void compare_with_file(const struct attack *a, const char *message)
{
    char in_file[1400];
    if (a->ending == MAY_SUCCEED || a->ending == STEPS || a->ending == MEMORY)
        return;
    ends_in_file(a, in_file, sizeof in_file);
    const char *words = strstr(in_file, ": ") + 2;
    size_t length = strlen(words) > 800 ? 800 : strlen(words); // what is too long is cut
    char *begin = mem_printf("%.*s", (int)length, words);
    if (!strstr(message, begin))
        fail_msg("%s\n   gives: %s\nexpected: %s", a->lua, message, begin);
    free(begin);
}

static void attacks_in_rules(void **state)
{
    char message[1400];
    (void)state;
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; i < tables[t].count; i++)
            if (ends_in_rule(&tables[t].attack[i], message, sizeof message))
                compare_with_file(&tables[t].attack[i], message);
}

static void attacks_in_templates(void **state)
{
    char message[1400];
    (void)state;
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; i < tables[t].count; i++) {
            if (i >= 5 && tables[t].attack[i].ending == STEPS)
                continue; // to save time: the steps are those of a space file
            ends_in_template(&tables[t].attack[i], message, sizeof message);
            compare_with_file(&tables[t].attack[i], message);
        }
}

// C searches, copies and keeps the declarations of a space file: this is bounded or charged.
// Without that each case would take minutes or gigabytes.
static const struct attack declarations[] = {
    {"local t = {} for i = 1, 400000 do t[i] = 'w' .. i end choice('Q', t)", FAILS},
    {"local t = {} for i = 1, 65536 do t[i] = 'w' .. i end for i = 1, 300 do choice('Q' .. i, t) "
     "end",
     MEMORY},
    {"for i = 1, 1e6 do size('N' .. i, 1) end", FAILS},
    {"for i = 1, 1e6 do constraint('c' .. i, function() return true end) end", FAILS},
    {"constraint(('x'):rep(1e6), function() return true end)", FAILS},
    {"local t = {} for i = 1, 3e5 do t['n' .. i] = 1 end use('t.lua', t)", FAILS},
    {"for i = 1, 1e6 do use('t.lua', { N = 1 }) end", FAILS},
    {"for i = 1, 1e6 do include('t.lua') end", STEPS},
    {"local t = {} for i = 1, 20000 do t[i] = ('x'):rep(900) .. i end "
     "for i = 1, 31 do param['q' .. i] = categorical(t) end",
     MEMORY},
    {"local t = {} for i = 1, 4096 do t[i] = i end "
     "for i = 1, 31 do param['q' .. i] = custom { values = t, neighbours = function() return t end "
     "}"
     "end",
     STEPS},
    {"local t = {} for i = 1, 4096 do t[i] = i end "
     "for i = 1, 400 do local q = i < 31 and i or 'x' param['q' .. q] = custom { values = t, "
     "neighbours = function() return {} end } end",
     STEPS},
    {"local t, name = {}, ('abcdefghij'):rep(6) for i = 1, 1e5 do t[name .. i] = 1 end "
     "kernel(t)",
     FAILS},
    {"local k = {} for i = 1, 60 do k[('x'):rep(1e6) .. i] = 1 end "
     "while true do for _ in pairs(k) do break end end",
     STEPS},
    {"local t = {} for i = 2, 1e5 do t[i] = '' end while true do table.concat(t, '', 2, 1e5) end",
     STEPS},
    {"nest(function(c, d) for i = 1, 1e6 do local x = d.min(c.p[1] + i, c.p[2] + i) end end)",
     FAILS},
    {"nest(function(c, d) local l = d.loop { 'l', length = 2 } local x = l "
     "while true do x = x * c.p[1] + x end end)",
     FAILS},
    {"nest(function(c, d) for i = 1, 1e6 do d.divisor(9007199254740881 - i, 1e9) end end)", STEPS},
    {"nest(function(c, d) for i = 1, 1e6 do d.divisor(c.p[1] + i, 1e9) end end)", FAILS},
};

static void attacks_by_declaring(void **state)
{
    (void)state;
    attack_and_record("attacks by declaring", declarations,
                      sizeof declarations / sizeof *declarations);
}

TEST_GROUP(attacks)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attacks_in_space_files),
        cmocka_unit_test(attacks_in_rules),
        cmocka_unit_test(attacks_in_templates),
        cmocka_unit_test(attacks_by_declaring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
