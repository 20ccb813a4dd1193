// baseline { NAME = { parameter = value, ... }, ... }: configurations that are in use somewhere.
#include "script/check.h"
#include "script/order.h"
#include "script/state.h"

#include <string.h>

static bool find_number(const struct param *p, double number, int32_t *out)
{
    for (*out = 0; *out < p->count && p->number[*out] != number; ++*out)
        continue;
    return *out < p->count;
}

static bool find_label(const struct param *p, const char *text, int32_t *out)
{
    for (*out = 0; *out < p->count && strcmp(p->label[*out], text) != 0; ++*out)
        continue;
    return *out < p->count;
}

// The value on the top as a slot. False: the parameter has none like it.
static bool read_slot(lua_State *L, const struct param *p, const char *what, int32_t *out)
{
    if (p->kind == PARAM_FACTORIZATION) {
        *out = (int32_t)check_whole(L, -1, what, 1, INT32_MAX);
        return true;
    }
    if (p->number)
        return find_number(p, check_real(L, -1, what), out);
    return find_label(p, check_string(L, -1, what), out);
}

// The value on the top. False: the parameter has no such value.
static bool read_value(lua_State *L, const struct param *p, const char *what, int32_t *slot)
{
    bool known = true;
    if (p->kind != PARAM_FACTORIZATION && p->kind != PARAM_PERMUTATION)
        return read_slot(L, p, what, slot) && param_valid(p, slot);
    int count = check_list(L, -1, what);
    if (count != p->width)
        luaL_error(L, "%s: expected a list of %d, got one of %d", what, p->width, count);
    for (int i = 0; i < count; i++) {
        lua_geti(L, -1, i + 1);
        known &= read_slot(L, p, what, &slot[i]);
        lua_pop(L, 1);
    }
    return known && param_valid(p, slot);
}

// "{ 8, 4, 2 }" of the value on the top.
static const char *push_value(lua_State *L)
{
    int at = lua_gettop(L);
    if (!lua_istable(L, at))
        return luaL_tolstring(L, at, NULL);
    lua_pushstring(L, "{ ");
    for (int i = 1; i <= (int)luaL_len(L, at); i++) {
        lua_pushstring(L, i > 1 ? ", " : "");
        lua_geti(L, at, i);
        luaL_tolstring(L, -1, NULL);
        lua_remove(L, -2);
        lua_concat(L, 3);
    }
    lua_pushstring(L, " }");
    lua_concat(L, 2);
    return lua_tostring(L, -1);
}

// Every value of the table on the top.
static void read_values(lua_State *L, struct script *s, struct baseline *b)
{
    const char *names[SPACE_MAX_PARAMS + 1] = {NULL};
    const int table = lua_gettop(L);
    for (int i = 0; i < s->space->param_count; i++)
        names[i] = s->space->param[i].name;
    check_fields(L, table, lua_pushfstring(L, "baseline '%s'", b->name), names);
    for (int i = 0; i < s->space->param_count; i++) {
        const struct param *p = &s->space->param[i];
        const char *what = lua_pushfstring(L, "baseline '%s': %s", b->name, p->name);
        if (lua_getfield(L, table, p->name) == LUA_TNIL)
            luaL_error(L, "%s is missing: it says every parameter's value", what);
        if (!read_value(L, p, what, b->config.slot + p->offset) && !b->misfit)
            b->misfit =
                arena_printf(&s->space->arena, "%s has no value %s", p->name, push_value(L));
        lua_settop(L, table);
    }
}

static void add_baseline(lua_State *L, struct script *s, const char *name)
{
    struct space *space = s->space;
    for (int i = 0; i < space->baseline_count; i++)
        if (strcmp(space->baseline[i].name, name) == 0)
            luaL_error(L, "baseline '%s' is declared twice", name);
    if (space->baseline_count == SPACE_MAX_BASELINES)
        luaL_error(L, "more than %d baselines", SPACE_MAX_BASELINES);
    struct baseline b = {.name = arena_strdup(&space->arena, name)};
    read_values(L, s, &b);
    if (b.misfit)
        b.config = (struct config){0};
    space->baseline[space->baseline_count++] = b;
}

static int declare_baseline(lua_State *L) // baseline { NAME = { parameter = value, ... }, ... }
{
    struct script *s = script_loading(L, "baseline");
    check_type(L, 1, "baseline", LUA_TTABLE);
    lua_settop(L, 1);
    int count = order_push_keys(L, 1);
    for (int i = 1; i <= count; i++) {
        lua_geti(L, 2, i);
        const char *name = check_identifier(L, -1, "baseline: its name");
        lua_getfield(L, 1, name);
        add_baseline(L, s, name);
        lua_settop(L, 2);
    }
    s->baseline_params = s->space->param_count;
    return 0;
}

void baseline_check(lua_State *L, const struct script *s)
{
    if (s->space->baseline_count && s->baseline_params < s->space->param_count)
        luaL_error(L, "parameter '%s' is declared behind a baseline, which says no value for it",
                   s->space->param[s->baseline_params].name);
}

void baseline_open(lua_State *L)
{
    lua_pushcfunction(L, declare_baseline);
    lua_setfield(L, -2, "baseline");
}
