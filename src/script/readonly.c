#include "script/readonly.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct key {
    int type; // LUA_TBOOLEAN < LUA_TNUMBER < LUA_TSTRING
    bool is_integer;
    lua_Integer integer; // also booleans
    lua_Number number;
    const char *string;
    size_t length;
};

static int compare_keys(const void *pa, const void *pb)
{
    const struct key *a = pa, *b = pb;
    if (a->type != b->type)
        return a->type - b->type;
    if (a->type == LUA_TBOOLEAN)
        return (int)(a->integer - b->integer);
    if (a->type == LUA_TNUMBER) {
        if (a->is_integer && b->is_integer)
            return (a->integer > b->integer) - (a->integer < b->integer);
        return (a->number > b->number) - (a->number < b->number);
    }
    int order = memcmp(a->string, b->string, a->length < b->length ? a->length : b->length);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

#define KEYS_STEPS 64 // a table that was large once takes time even when it is empty

int order_push_keys(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    int count = 0;
    uint64_t bytes = 0; // of all keys, each of which is compared several times
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        count++;
        bytes += lua_type(L, -2) == LUA_TSTRING ? lua_rawlen(L, -2) : 0;
    }
    guard_charge(L, KEYS_STEPS + (uint64_t)count * 8 + bytes);
    struct key *key = lua_newuserdatauv(L, (size_t)count * sizeof *key + 1, 0);
    int filled = 0;
    for (lua_pushnil(L); lua_next(L, index);) {
        lua_pop(L, 1);
        struct key k = {.type = lua_type(L, -1)};
        if (k.type == LUA_TBOOLEAN)
            k.integer = lua_toboolean(L, -1);
        else if (k.type == LUA_TNUMBER) {
            k.is_integer = lua_isinteger(L, -1);
            k.integer = k.is_integer ? lua_tointeger(L, -1) : 0;
            k.number = lua_tonumber(L, -1);
        } else if (k.type == LUA_TSTRING)
            k.string = lua_tolstring(L, -1, &k.length);
        else
            luaL_error(L, "a %s as a key has no order", lua_typename(L, k.type));
        key[filled++] = k;
    }
    qsort(key, (size_t)count, sizeof *key, compare_keys);
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; i++) {
        if (key[i].type == LUA_TBOOLEAN)
            lua_pushboolean(L, (int)key[i].integer);
        else if (key[i].type == LUA_TSTRING)
            lua_pushlstring(L, key[i].string, key[i].length);
        else if (key[i].is_integer)
            lua_pushinteger(L, key[i].integer);
        else
            lua_pushnumber(L, key[i].number);
        lua_rawseti(L, -2, i + 1);
    }
    lua_remove(L, -2);
    return count;
}

void order_push_suggestion_in(lua_State *L, int index, const char *name)
{
    index = lua_absindex(L, index);
    int count = (int)lua_rawlen(L, index), strings = 0;
    const char **candidate = lua_newuserdatauv(L, (size_t)count * sizeof *candidate + 1, 0);
    for (int i = 1; i <= count; i++) {
        if (lua_rawgeti(L, index, i) == LUA_TSTRING)
            candidate[strings++] = lua_tostring(L, -1); // stays alive in the array
        lua_pop(L, 1);
    }
    const char *near = NULL;
    for (int i = 0; i < strings && !near; i++)
        if (strcasecmp(candidate[i], name) == 0)
            near = candidate[i];
    if (!near)
        near = str_suggest_list(name, (size_t)strings, candidate);
    if (near)
        lua_pushfstring(L, " (did you mean '%s'?)", near);
    else
        lua_pushliteral(L, "");
    lua_remove(L, -2);
}

static const struct readonly_words general = {0};

static const char *push_key_text(lua_State *L, int index)
{
    if (lua_type(L, index) == LUA_TSTRING)
        return lua_tostring(L, index);
    if (lua_isinteger(L, index))
        return lua_pushfstring(L, "%I", lua_tointeger(L, index));
    return luaL_typename(L, index);
}

// Upvalues 1 and 2 of the functions below are the words and the name.
static int on_unknown(lua_State *L) // (storage, key)
{
    const struct readonly_words *words = lua_touserdata(L, lua_upvalueindex(1));
    const char *name = lua_tostring(L, lua_upvalueindex(2));
    if (lua_isinteger(L, 2) && lua_rawlen(L, 1) > 0)
        return luaL_error(L, "%s has %I elements: there is none at %I", name,
                          (lua_Integer)lua_rawlen(L, 1), lua_tointeger(L, 2));
    const char *key = push_key_text(L, 2);
    if (words->unknown)
        lua_pushfstring(L, words->unknown, key);
    else
        lua_pushfstring(L, "%s has no field '%s'", name, key);
    if (!words->hint || !words->hint(L, key)) {
        order_push_keys(L, 1);
        order_push_suggestion_in(L, -1, key);
        lua_remove(L, -2);
    }
    return luaL_error(L, "%s%s", lua_tostring(L, -2), lua_tostring(L, -1));
}

static int on_assign(lua_State *L) // (front, key, value)
{
    const struct readonly_words *words = lua_touserdata(L, lua_upvalueindex(1));
    if (words->assign)
        return luaL_error(L, words->assign, push_key_text(L, 2));
    return luaL_error(L, "%s is read-only", lua_tostring(L, lua_upvalueindex(2)));
}

static int on_length(lua_State *L)
{
    readonly_push_storage(L, 1);
    lua_pushinteger(L, (lua_Integer)lua_rawlen(L, -1));
    return 1;
}

static void set_closure(lua_State *L, const char *event, lua_CFunction f, const char *name,
                        const struct readonly_words *words)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)words);
    lua_pushstring(L, name);
    lua_pushcclosure(L, f, 2);
    lua_setfield(L, -2, event);
}

void readonly_wrap(lua_State *L, const char *name, const struct readonly_words *words)
{
    int storage = lua_gettop(L);
    words = words ? words : &general;
    lua_createtable(L, 0, 1);
    set_closure(L, "__index", on_unknown, name, words);
    lua_setmetatable(L, storage);

    lua_newtable(L); // the front
    lua_createtable(L, 0, 3);
    lua_pushvalue(L, storage);
    lua_setfield(L, -2, "__index");
    set_closure(L, "__newindex", on_assign, name, words);
    lua_pushcfunction(L, on_length);
    lua_setfield(L, -2, "__len");
    lua_setmetatable(L, -2);
    lua_remove(L, storage);
}

// Upvalues: the storage, the slots of its keys, all slots, and where the reading is. Without a key
// it gives the storage itself.
static int read_watched(lua_State *L) // (front, key)
{
    struct rule_reads *const *reading = lua_touserdata(L, lua_upvalueindex(4));
    bool whole = lua_isnoneornil(L, 2);
    uint64_t slots = 0;
    lua_settop(L, 2);
    if (whole) {
        slots = (uint64_t)lua_tointeger(L, lua_upvalueindex(3));
    } else {
        lua_pushvalue(L, 2);
        int kind = lua_rawget(L, lua_upvalueindex(2));
        if (kind == LUA_TTABLE)
            return 1;
        if (kind == LUA_TNUMBER)
            slots = UINT64_C(1) << lua_tointeger(L, 3);
        lua_settop(L, 2);
    }
    if (*reading) {
        (*reading)->slots |= slots;
        (*reading)->inside |= slots;
    }
    if (whole)
        lua_pushvalue(L, lua_upvalueindex(1));
    else
        lua_gettable(L, lua_upvalueindex(1));
    return 1;
}

void readonly_push_watch(lua_State *L, int storage, int slots, uint64_t all,
                         struct rule_reads *const *reading)
{
    storage = lua_absindex(L, storage);
    slots = lua_absindex(L, slots);
    lua_pushvalue(L, storage);
    lua_pushvalue(L, slots);
    lua_pushinteger(L, (lua_Integer)all);
    lua_pushlightuserdata(L, (void *)(uintptr_t)reading);
    lua_pushcclosure(L, read_watched, 4);
}

static int length_watched(lua_State *L) // upvalue: the storage
{
    lua_pushinteger(L, (lua_Integer)lua_rawlen(L, lua_upvalueindex(1)));
    return 1;
}

void readonly_watched_front(lua_State *L, int front)
{
    lua_getmetatable(L, front);
    int watch = lua_gettop(L) - 1, before = watch + 1;
    lua_newtable(L); // the front
    lua_createtable(L, 0, 3);
    lua_pushvalue(L, watch);
    lua_setfield(L, -2, "__index");
    lua_getfield(L, before, "__newindex");
    lua_setfield(L, -2, "__newindex");
    lua_getfield(L, before, "__index");
    lua_pushcclosure(L, length_watched, 1);
    lua_setfield(L, -2, "__len");
    lua_setmetatable(L, -2);
    lua_replace(L, watch);
    lua_settop(L, watch);
}

void readonly_push_storage(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    int kind = luaL_getmetafield(L, index, "__index"); // pushes nothing when there is none
    if (kind == LUA_TTABLE)
        return;
    if (kind == LUA_TFUNCTION && lua_tocfunction(L, -1) == read_watched) {
        lua_pushvalue(L, index);
        lua_call(L, 1, 1);
        return;
    }
    if (kind != LUA_TNIL)
        lua_pop(L, 1);
    lua_pushvalue(L, index);
}
