// Access to the script, and helpers for its Lua state.
#include "script/state.h"

#include <string.h>

struct script *script_of(lua_State *L)
{
    return guard_of(L)->owner;
}

struct script *script_loading(lua_State *L, const char *what)
{
    struct script *s = script_of(L);
    if (!s->is_loading)
        luaL_error(L, "'%s' declares: rules and templates cannot call it", what);
    return s;
}

bool script_hint(lua_State *L, const char *key)
{
    const struct space *space = script_of(L)->space;
    if (!space_find(space, key))
        return library_hint(L, key);
    lua_pushfstring(L, " (the parameter is c.%s)", key);
    return true;
}

const char *script_keep_text(lua_State *L, const char *text)
{
    guard_keep(L, strlen(text) + 1);
    return arena_strdup(&script_of(L)->arena, text);
}

void script_copy_fields(lua_State *L, int from, int to)
{
    from = lua_absindex(L, from);
    to = lua_absindex(L, to);
    for (lua_pushnil(L); lua_next(L, from);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, to);
    }
}

void script_set_text(lua_State *L, const char *name, const char *text)
{
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

void script_set_integer(lua_State *L, const char *name, int64_t value)
{
    lua_pushinteger(L, value);
    lua_setfield(L, -2, name);
}

void script_set_closures(lua_State *L, const struct script_closure *c)
{
    for (; c->name; c++) {
        lua_pushinteger(L, c->number);
        lua_pushstring(L, c->name);
        lua_pushcclosure(L, c->function, 2);
        lua_setfield(L, -2, c->name);
    }
}
