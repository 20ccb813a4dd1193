// include and use: space files made of several files.
#include "script/check.h"
#include "script/readonly.h"
#include "script/script.h"
#include "script/state.h"

#include <string.h>

void include_run(lua_State *L, int text)
{
    struct script *s = script_of(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, s->modules);
    if (lua_rawgeti(L, -1, text + 1) == LUA_TNIL) {
        lua_pop(L, 1);
        if (s->nesting == SCRIPT_MAX_NESTING)
            luaL_error(L, "include \"%s\": files include files more than %d deep",
                       s->texts.item[text].name, SCRIPT_MAX_NESTING);
        s->open_text[s->nesting++] = text;
        struct place before = s->guard.place;
        s->guard.place = (struct place){text, 0};
        const char *source = s->texts.item[text].text;
        guard_load_text(L, text, source, strlen(source));
        lua_call(L, 0, 1);
        s->guard.place = before;
        s->nesting--;
        if (lua_isnil(L, -1)) {
            lua_pop(L, 1);
            lua_pushboolean(L, true); // so that it is not run again
        }
        lua_pushvalue(L, -1);
        lua_rawseti(L, -3, text + 1);
    }
    lua_remove(L, -2);
}

void include_run_first(lua_State *L)
{
    struct script *s = script_of(L);
    lua_newtable(L);
    s->modules = luaL_ref(L, LUA_REGISTRYINDEX);
    include_run(L, 0);
    lua_pop(L, 1);
    s->guard.place = (struct place){0, 0};
}

int include_find(lua_State *L, const char *what, const char *name, const char *shipped_folder)
{
    struct script *s = script_of(L);
    struct texts_request request = {name, shipped_folder, s->open_text, s->nesting};
    struct err e;
    int text = texts_read(&s->texts, &request, &e);
    if (text < 0)
        luaL_error(L, "%s \"%s\": %s", what, name, e.text);
    guard_charge(L, LOOK_STEPS);
    return text;
}

static int declare_include(lua_State *L)
{
    script_loading(L, "include");
    const char *name = check_string(L, 1, "include");
    include_run(L, include_find(L, "include", name, "lua"));
    return 1;
}

// use(file, sizes). The outermost use() of a size counts, because overrides are
// searched in order.
static int declare_use(lua_State *L)
{
    struct script *s = script_loading(L, "use");
    const char *file = check_string(L, 1, "use");
    lua_settop(L, 2);
    if (lua_isnil(L, 2)) {
        lua_newtable(L);
        lua_replace(L, 2);
    }
    check_type(L, 2, "use: sizes", LUA_TTABLE);
    int count = order_push_keys(L, 2), first = s->override_count;
    if (count > SCRIPT_MAX_GIVEN - s->override_count)
        luaL_error(L, "use: more than %d values are given to settings", SCRIPT_MAX_GIVEN);
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, 3, i);
        const char *name = check_identifier(L, -1, "use: the name of a setting");
        const char *what = lua_pushfstring(L, "use: '%s'", name);
        if (lua_getfield(L, 2, name) != LUA_TSTRING)
            check_real(L, -1, what);
        setting_add_override(s, name, lua_tostring(L, -1), false);
        lua_settop(L, 3);
    }
    include_run(L, include_find(L, "use", file, "presets"));
    for (int i = 0; i < count; i++) {
        // By now each given setting must be declared and valid.
        if (s->override[first + i].error)
            luaL_error(L, "use: %s=%s: %s", s->override[first + i].name,
                       s->override[first + i].text, s->override[first + i].error);
        if (!script_find_setting(s, s->override[first + i].name)) {
            lua_newtable(L);
            for (int j = 0; j < s->setting_count; j++) {
                lua_pushstring(L, s->setting[j].name);
                lua_rawseti(L, -2, j + 1);
            }
            order_push_suggestion_in(L, -1, s->override[first + i].name);
            luaL_error(L, "use: %s has no size '%s'%s", file, s->override[first + i].name,
                       lua_tostring(L, -1));
        }
    }
    return 0;
}

void include_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"include", declare_include}, {"use", declare_use}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
