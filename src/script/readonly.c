#include "script/readonly.h"

#include "script/order.h"

static const struct readonly_words general = {0};

static const char *push_key_text(lua_State *L, int index)
{
    if (lua_type(L, index) == LUA_TSTRING)
        return lua_tostring(L, index);
    if (lua_isinteger(L, index))
        return lua_pushfstring(L, "%I", lua_tointeger(L, index));
    return luaL_typename(L, index);
}

// The words and the name are upvalues 1 and 2 of the functions below.
static const struct readonly_words *words_of(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(1));
}

static const char *name_of(lua_State *L)
{
    return lua_tostring(L, lua_upvalueindex(2));
}

static int on_unknown(lua_State *L) // (storage, key)
{
    const struct readonly_words *words = words_of(L);
    if (lua_isinteger(L, 2) && lua_rawlen(L, 1) > 0)
        return luaL_error(L, "%s has %I elements: there is none at %I", name_of(L),
                          (lua_Integer)lua_rawlen(L, 1), lua_tointeger(L, 2));
    const char *key = push_key_text(L, 2);
    if (words->unknown)
        lua_pushfstring(L, words->unknown, key);
    else
        lua_pushfstring(L, "%s has no field '%s'", name_of(L), key);
    if (!words->hint || !words->hint(L, key))
        order_push_suggestion(L, 1, key);
    return luaL_error(L, "%s%s", lua_tostring(L, -2), lua_tostring(L, -1));
}

static int on_assign(lua_State *L) // (front, key, value)
{
    const struct readonly_words *words = words_of(L);
    if (words->assign)
        return luaL_error(L, words->assign, push_key_text(L, 2));
    return luaL_error(L, "%s is read-only", name_of(L));
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

void readonly_push_storage(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    int kind = luaL_getmetafield(L, index, "__index"); // pushes nothing when there is none
    if (kind == LUA_TTABLE)
        return;
    if (kind != LUA_TNIL)
        lua_pop(L, 1);
    lua_pushvalue(L, index);
}
