#include "script/check.h"

#include "base/str.h"
#include "script/readonly.h"
#include "script/script.h"

#include <math.h>
#include <string.h>

void check_type(lua_State *L, int index, const char *what, int type)
{
    if (lua_type(L, index) != type)
        luaL_error(L, "%s: expected a %s, got %s", what, lua_typename(L, type),
                   lua_isnoneornil(L, index) ? "nothing" : luaL_typename(L, index));
}

void check_done(lua_State *L, bool done, const struct err *e)
{
    if (!done)
        luaL_error(L, "%s", e->text);
}

const char *check_string(lua_State *L, int index, const char *what)
{
    check_type(L, index, what, LUA_TSTRING);
    size_t length;
    const char *text = lua_tolstring(L, index, &length);
    if (length == 0 || strlen(text) != length)
        luaL_error(L, "%s: an empty string or one with a zero byte", what);
    if (length > CHECK_MAX_TEXT)
        luaL_error(L, "%s: longer than %d bytes", what, CHECK_MAX_TEXT);
    return text;
}

const char *check_identifier(lua_State *L, int index, const char *what)
{
    const char *name = check_string(L, index, what);
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    if (strspn(name, letters) != strlen(name) || (*name >= '0' && *name <= '9'))
        luaL_error(L, "%s: '%s' is not a name (letters, digits and _)", what, name);
    return name;
}

enum element check_element(lua_State *L, int index, const char *what,
                           bool (*allows)(enum element e))
{
    const char *word = check_string(L, index, what), *names[ELEMENT_COUNT];
    int count = 0;
    for (int e = 0; e < ELEMENT_COUNT; e++) {
        if (allows && !allows((enum element)e))
            continue;
        names[count++] = element_name((enum element)e);
        if (strcmp(word, names[count - 1]) == 0)
            return (enum element)e;
    }
    const char *near = str_suggest_list(word, count, names);
    if (near)
        luaL_error(L, "%s has no type '%s' (did you mean '%s'?)", what, word, near);
    luaL_Buffer list;
    luaL_buffinit(L, &list);
    for (int i = 0; i < count; i++) {
        luaL_addstring(&list, i ? ", " : "");
        luaL_addstring(&list, names[i]);
    }
    luaL_pushresult(&list);
    luaL_error(L, "%s has no type '%s' (there are %s)", what, word, lua_tostring(L, -1));
    return ELEMENT_COUNT;
}

void check_fields(lua_State *L, int index, const char *what, const char *const *known)
{
    check_type(L, index, what, LUA_TTABLE);
    int count = order_push_keys(L, index);
    for (int i = 1; i <= count; i++) {
        if (lua_rawgeti(L, -1, i) != LUA_TSTRING)
            luaL_error(L, "%s: expected fields by name, got a list", what);
        const char *name = lua_tostring(L, -1);
        int k = 0;
        while (known[k] && strcmp(name, known[k]) != 0)
            k++;
        if (!known[k]) {
            lua_newtable(L);
            for (k = 0; known[k]; k++) {
                lua_pushstring(L, known[k]);
                lua_rawseti(L, -2, k + 1);
            }
            order_push_suggestion_in(L, -1, name);
            luaL_error(L, "%s has no field '%s'%s", what, name, lua_tostring(L, -1));
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

double check_real(lua_State *L, int index, const char *what)
{
    check_type(L, index, what, LUA_TNUMBER);
    double value = lua_tonumber(L, index);
    if (!isfinite(value))
        luaL_error(L, "%s is not a finite number", what);
    return value;
}

int64_t check_whole(lua_State *L, int index, const char *what, int64_t low, int64_t high)
{
    check_type(L, index, what, LUA_TNUMBER);
    int is_whole;
    lua_Integer value = lua_tointegerx(L, index, &is_whole);
    if (!is_whole)
        luaL_error(L, "%s is %f, not a whole number ('//' divides without a rest)", what,
                   lua_tonumber(L, index));
    if (value < low || value > high)
        luaL_error(L, "%s is %I, not within %I..%I", what, value, (lua_Integer)low,
                   (lua_Integer)high);
    return value;
}

int check_list(lua_State *L, int index, const char *what)
{
    check_type(L, index, what, LUA_TTABLE);
    readonly_push_storage(L, index);
    lua_Integer length = (lua_Integer)lua_rawlen(L, -1), count = 0;
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
        if (!lua_isinteger(L, -2) || lua_tointeger(L, -2) < 1 || lua_tointeger(L, -2) > length)
            luaL_error(L, "%s: expected a list { a, b, ... }", what);
        else
            count++;
    if (count != length)
        luaL_error(L, "%s: the list has holes", what);
    guard_charge(L, (uint64_t)count * 4);
    lua_pop(L, 1);
    return (int)length;
}

void check_parts(lua_State *L, int index, const char *what)
{
    check_type(L, index, what, LUA_TTABLE);
    lua_newtable(L);
    lua_newtable(L);
    for (lua_pushnil(L); lua_next(L, index);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, lua_isinteger(L, -2) ? -5 : -4);
    }
    check_list(L, -2, what);
}

struct setting *check_settings(lua_State *L, int index, const char *what, struct arena *a,
                               int *count)
{
    *count = 0;
    if (lua_isnoneornil(L, index))
        return NULL;
    int table = lua_absindex(L, index), keys = lua_gettop(L) + 1;
    check_type(L, table, lua_pushfstring(L, "%s: set", what), LUA_TTABLE);
    lua_pop(L, 1);
    int length = order_push_keys(L, table);
    guard_keep(L, ((size_t)length + 1) * sizeof(struct setting));
    struct setting *set = arena_zero(a, (size_t)length + 1, sizeof *set);
    for (int i = 0; i < length; i++) {
        lua_rawgeti(L, keys, i + 1);
        const char *place = lua_pushfstring(L, "%s: the name of a size", what);
        set[i].name = arena_strdup(a, check_identifier(L, -2, place));
        guard_keep(L, strlen(set[i].name) + 1);
        place = lua_pushfstring(L, "%s: %s", what, set[i].name);
        lua_getfield(L, table, set[i].name);
        // Numbers and words are written like --set values.
        struct str text = {0};
        if (lua_type(L, -1) == LUA_TSTRING)
            str_add(&text, check_string(L, -1, place));
        else
            str_add_real(&text, check_real(L, -1, place));
        set[i].value = arena_strdup(a, str_text(&text));
        str_finish(&text);
        guard_keep(L, strlen(set[i].value) + 1);
        lua_settop(L, keys);
    }
    lua_pop(L, 1);
    *count = length;
    return set;
}

void check_dimensions(lua_State *L, int index, const char *what, int64_t high, uint64_t out[3])
{
    index = lua_absindex(L, index);
    int length = check_list(L, index, what);
    if (length < 1 || length > 3)
        luaL_error(L, "%s: expected 1 to 3 numbers, got %d", what, length);
    for (int i = 0; i < 3; i++) {
        out[i] = 1;
        if (i >= length)
            continue;
        lua_geti(L, index, i + 1);
        out[i] = (uint64_t)check_whole(L, -1, what, 1, high);
        lua_pop(L, 1);
    }
}
