// The safe library: the functions that a space file or template can call without declaring them.
//
//     assert error ipairs pairs select tonumber tostring type
//     math    abs ceil exp floor fmod huge log max maxinteger min mininteger modf pi sqrt
//             tointeger type ult
//     string  byte char format len lower rep reverse sub upper, also as methods of strings
//     table   concat insert pack remove sort unpack
//
// Every function that walks over its arguments is charged for them before it starts. pairs sorts
// its keys, tostring and format show no addresses, rep and format are bounded.
#include "script/guard.h"
#include "script/readonly.h"

#include <lualib.h>
#include <string.h>

#define STRING_MAX  (16 << 20) // of a result of rep
#define CONCAT_MOST (4 << 20)  // elements that fit the memory; concat stops at the first nil

// The steps of work in C, about as many as instructions of the VM take the same time.
#define BYTES_PER_STEP       16
#define STEPS_PER_ELEMENT    4
#define STEPS_PER_COMPARISON 16
#define STEPS_PER_CONVERSION 256

static const char library_key; // its address is the registry key of the library

static const char *const base_names[] = {"assert", "error", "select", "tonumber", "type", NULL};
static const char *const math_names[] = {"abs", "ceil", "exp",        "floor", "fmod",       "huge",
                                         "log", "max",  "maxinteger", "min",   "mininteger", "modf",
                                         "pi",  "sqrt", "tointeger",  "type",  "ult",        NULL};
static const char *const string_names[] = {"byte",    "char", "len",   "lower",
                                           "reverse", "sub",  "upper", NULL};
static const char *const table_names[] = {"pack", "unpack", NULL};

static const char *const missing_names[] = {
    "_G",           "collectgarbage", "coroutine",  "debug",    "dofile", "getmetatable", "io",
    "load",         "loadfile",       "loadstring", "next",     "os",     "package",      "pcall",
    "print",        "rawequal",       "rawget",     "rawlen",   "rawset", "require",      "setfenv",
    "setmetatable", "utf8",           "warn",       "xpcall",   "find",   "gmatch",       "gsub",
    "match",        "random",         "pack",       "packsize", "unpack", "dump",         "move",
    "randomseed",   "_VERSION",       NULL};

bool library_hint(lua_State *L, const char *key)
{
    for (int i = 0; missing_names[i]; i++)
        if (strcmp(missing_names[i], key) == 0) {
            lua_pushliteral(L, " (not available in space files and templates)");
            return true;
        }
    return false;
}

static const struct readonly_words function_words = {.hint = library_hint};

// Calls the standard function in upvalue 1. Charges steps for its arguments, for the bytes of
// strings among them, and for its results.
static int charged_call(lua_State *L)
{
    int top = lua_gettop(L);
    guard_charge(L, (uint64_t)top);
    for (int i = 1; i <= top; i++)
        if (lua_type(L, i) == LUA_TSTRING)
            guard_charge(L, lua_rawlen(L, i) / BYTES_PER_STEP);
    int results = lua_tocfunction(L, lua_upvalueindex(1))(L);
    guard_charge(L, (uint64_t)results);
    return results;
}

// The same for a function that walks over the table at 1. It is charged for the length of the
// table, which is how far the function goes; a table with holes has fewer elements.
static int charged_walk(lua_State *L)
{
    uint64_t length = lua_type(L, 1) == LUA_TTABLE ? lua_rawlen(L, 1) : 0;
    guard_charge(L, length < UINT64_MAX / STEPS_PER_ELEMENT ? length * STEPS_PER_ELEMENT : length);
    return charged_call(L);
}

// table.concat(t, gap, first, last) may also walk beyond the length.
static int charged_concat(lua_State *L)
{
    lua_Integer first = luaL_optinteger(L, 3, 1), last = luaL_optinteger(L, 4, 0);
    uint64_t range = last > first ? (uint64_t)last - (uint64_t)first : 0;
    guard_charge(L, range < CONCAT_MOST ? range : CONCAT_MOST);
    return charged_walk(L);
}

// table.insert(t, v) and table.remove(t) work at the end and walk over nothing. Upvalue 2: the
// number of arguments of these calls.
static int charged_shift(lua_State *L)
{
    return lua_gettop(L) > lua_tointeger(L, lua_upvalueindex(2)) ? charged_walk(L)
                                                                 : charged_call(L);
}

static void push_text(lua_State *L, int index)
{
    switch (lua_type(L, index)) {
    case LUA_TNIL:
    case LUA_TBOOLEAN:
    case LUA_TNUMBER:
    case LUA_TSTRING: luaL_tolstring(L, index, NULL); break;
    default: lua_pushstring(L, luaL_typename(L, index)); // luaL_tolstring would show its address
    }
}

static int safe_tostring(lua_State *L)
{
    luaL_checkany(L, 1);
    push_text(L, 1);
    return 1;
}

// string.format without addresses: no %p, and only the types of tables, functions and the like.
static int safe_format(lua_State *L)
{
    size_t length;
    const char *p = luaL_checklstring(L, 1, &length), *end = p + length;
    while ((p = memchr(p, '%', (size_t)(end - p)))) {
        guard_charge(L, STEPS_PER_CONVERSION);
        do
            p++;
        while (*p && strchr("-+ #0123456789.", *p));
        if (*p == 'p')
            return luaL_error(L, "string.format: %%p is not available");
        p += p < end; // behind the conversion
    }
    for (int i = 2; i <= lua_gettop(L); i++)
        if (lua_type(L, i) >= LUA_TTABLE) {
            push_text(L, i);
            lua_replace(L, i);
        }
    return charged_call(L);
}

static int safe_rep(lua_State *L)
{
    size_t length, gap_length;
    const char *text = luaL_checklstring(L, 1, &length);
    lua_Integer n = luaL_checkinteger(L, 2);
    const char *gap = luaL_optlstring(L, 3, "", &gap_length);
    if (n < 0)
        n = 0;
    if (length > STRING_MAX || gap_length > STRING_MAX || n > STRING_MAX ||
        (uint64_t)n * (length + gap_length) > STRING_MAX)
        return luaL_error(L, "string.rep: the result would exceed %d MiB", STRING_MAX >> 20);
    guard_charge(L, (uint64_t)n);
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    for (lua_Integer i = 0; i < n; i++) {
        if (i > 0)
            luaL_addlstring(&b, gap, gap_length);
        luaL_addlstring(&b, text, length);
    }
    luaL_pushresult(&b);
    return 1;
}

static int charged_less(lua_State *L)
{
    guard_charge(L, STEPS_PER_COMPARISON);
    if (lua_type(L, 1) == LUA_TSTRING)
        guard_charge(L, lua_rawlen(L, 1) / BYTES_PER_STEP);
    lua_pushboolean(L, lua_compare(L, 1, 2, LUA_OPLT));
    return 1;
}

static int safe_sort(lua_State *L)
{
    lua_settop(L, 2);
    if (lua_isnil(L, 2)) {
        lua_pushcfunction(L, charged_less);
        lua_replace(L, 2);
    }
    return charged_call(L);
}

static int next_by_keys(lua_State *L) // upvalues: table, its keys, how many are done
{
    lua_Integer done = lua_tointeger(L, lua_upvalueindex(3));
    for (;;) {
        lua_pushinteger(L, ++done);
        lua_replace(L, lua_upvalueindex(3));
        if (lua_rawgeti(L, lua_upvalueindex(2), done) == LUA_TNIL)
            return 1;
        lua_pushvalue(L, -1);
        if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
            return 2;
        lua_pop(L, 2); // removed since
        guard_charge(L, 1);
    }
}

static int sorted_pairs(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    readonly_push_storage(L, 1);
    order_push_keys(L, -1);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, next_by_keys, 3);
    return 1;
}

static int next_by_index(lua_State *L)
{
    lua_Integer i = luaL_checkinteger(L, 2);
    i = (lua_Integer)((lua_Unsigned)i + 1);
    luaL_checktype(L, 1, LUA_TTABLE);
    readonly_push_storage(L, 1); // so that the end of a read-only list is no error
    lua_pushinteger(L, i);
    return lua_rawgeti(L, -2, i) == LUA_TNIL ? 1 : 2;
}

static int list_ipairs(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_pushcfunction(L, next_by_index);
    lua_pushvalue(L, 1);
    lua_pushinteger(L, 0);
    return 3;
}

// Wraps the function of a standard library on the top and sets it in the table `part`. Upvalues:
// the function, and a number.
static void set_wrapped(lua_State *L, int part, const char *name, lua_CFunction wrapper, int number)
{
    lua_pushinteger(L, number);
    lua_pushcclosure(L, wrapper, 2);
    lua_setfield(L, part, name);
}

// Opens a standard library; pushes it, then a table of its safe functions.
static int push_part(lua_State *L, const char *name, lua_CFunction open, const char *const *names)
{
    luaL_requiref(L, name, open, 0);
    lua_newtable(L);
    int part = lua_gettop(L);
    for (int i = 0; names[i]; i++) {
        if (lua_getfield(L, part - 1, names[i]) == LUA_TFUNCTION)
            set_wrapped(L, part, names[i], charged_call, 0);
        else
            lua_setfield(L, part, names[i]);
    }
    return part;
}

// Sets the part on the top, read-only, as a field of the table below it and its library.
static void set_part(lua_State *L, const char *name)
{
    readonly_wrap(L, name, &function_words);
    lua_setfield(L, -3, name);
    lua_pop(L, 1);
}

int library_open(lua_State *L)
{
    int part = push_part(L, LUA_GNAME, luaopen_base, base_names);
    static const luaL_Reg replaced[] = {{"pairs", sorted_pairs},
                                        {"ipairs", list_ipairs},
                                        {"tostring", safe_tostring},
                                        {NULL, NULL}};
    luaL_setfuncs(L, replaced, 0);
    int strings = push_part(L, LUA_STRLIBNAME, luaopen_string, string_names);
    lua_getfield(L, strings - 1, "format");
    set_wrapped(L, strings, "format", safe_format, 0);
    lua_pushcfunction(L, safe_rep);
    lua_setfield(L, strings, "rep");
    set_part(L, LUA_STRLIBNAME);
    lua_getfield(L, -1, LUA_STRLIBNAME);
    // The methods of strings are the functions of `string`, whose front is on the top.
    lua_pushliteral(L, "");
    lua_getmetatable(L, -1);
    readonly_push_storage(L, -3);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 3);
    int tables = push_part(L, LUA_TABLIBNAME, luaopen_table, table_names);
    static const struct {
        const char *name;
        lua_CFunction function;
        int number;
    } wrapped[] = {{"concat", charged_concat, 0},
                   {"insert", charged_shift, 2},
                   {"remove", charged_shift, 1},
                   {"sort", safe_sort, 0}};
    for (size_t i = 0; i < sizeof wrapped / sizeof *wrapped; i++) {
        lua_getfield(L, tables - 1, wrapped[i].name);
        set_wrapped(L, tables, wrapped[i].name, wrapped[i].function, wrapped[i].number);
    }
    set_part(L, LUA_TABLIBNAME);
    push_part(L, LUA_MATHLIBNAME, luaopen_math, math_names);
    set_part(L, LUA_MATHLIBNAME);
    lua_settop(L, part);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &library_key);
    // The library replaces everything that luaL_requiref left where chunks could find it.
    lua_newtable(L);
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    lua_pushnil(L);
    lua_setfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    return 0;
}

void library_push(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &library_key);
}
