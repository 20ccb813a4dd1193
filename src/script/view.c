// `c`: one read-only table for all calls, updated where a parameter has changed.
#include "script/readonly.h"
#include "script/state.h"

#include <string.h>

const struct readonly_words view_words = {.unknown = "unknown parameter '%s'"};

// Keeps the values by index + 1; LUA_NOREF for a factorization, whose slots are its values.
static int keep_values(lua_State *L, const struct param *p)
{
    if (p->kind == PARAM_FACTORIZATION)
        return LUA_NOREF;
    lua_createtable(L, p->count, 0);
    for (int i = 0; i < p->count; i++) {
        if (p->number) {
            double number = p->number[i];
            lua_Integer whole;
            if (lua_numbertointeger(number, &whole) && (double)whole == number)
                lua_pushinteger(L, whole);
            else
                lua_pushnumber(L, number);
        } else
            lua_pushstring(L, p->label[i]);
        lua_rawseti(L, -2, i + 1);
    }
    return script_keep(L);
}

void view_build(lua_State *L, struct script *s)
{
    struct view *v = &s->view;
    lua_newtable(L);
    for (int i = 0; i < s->space->param_count; i++) {
        const struct param *p = &s->space->param[i];
        v->param[i].values = keep_values(L, p);
        v->param[i].list = LUA_NOREF;
        if (p->kind != PARAM_FACTORIZATION && p->kind != PARAM_PERMUTATION)
            continue;
        const char *name = lua_pushfstring(L, "c.%s", p->name);
        lua_createtable(L, p->width, 0);
        lua_pushvalue(L, -1);
        v->param[i].list = script_keep(L);
        readonly_wrap(L, name, NULL);
        lua_setfield(L, -3, p->name);
        lua_pop(L, 1);
    }
    lua_pushvalue(L, -1);
    v->storage = script_keep(L);
    readonly_wrap(L, "c", &view_words);
    v->front = script_keep(L);
}

static void push_slot(lua_State *L, int values, int32_t slot)
{
    if (values == LUA_NOREF) {
        lua_pushinteger(L, slot);
        return;
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, values);
    lua_rawgeti(L, -1, slot + 1);
    lua_remove(L, -2);
}

// Updates parameter `i` in the storage of `c`, which is at `storage`.
static void update(lua_State *L, const struct view *v, int i, const struct param *p,
                   const int32_t *slot, int storage)
{
    if (v->param[i].list == LUA_NOREF) {
        push_slot(L, v->param[i].values, *slot);
        lua_setfield(L, storage, p->name);
        return;
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, v->param[i].list);
    for (int k = 0; k < p->width; k++) {
        push_slot(L, v->param[i].values, slot[k]);
        lua_rawseti(L, -2, k + 1);
    }
    lua_pop(L, 1);
}

void view_push(lua_State *L, struct script *s, const struct config *c)
{
    struct view *v = &s->view;
    bool was_current = v->is_current;
    v->is_current = false; // should an update fail half-way
    lua_rawgeti(L, LUA_REGISTRYINDEX, v->storage);
    int storage = lua_gettop(L);
    for (int i = 0; i < s->space->param_count; i++) {
        const struct param *p = &s->space->param[i];
        const int32_t *slot = c->slot + p->offset, *shown = v->config.slot + p->offset;
        if (!was_current || memcmp(slot, shown, (size_t)p->width * sizeof *slot) != 0) {
            update(L, v, i, p, slot, storage);
            v->changes++;
        }
    }
    v->config = *c;
    v->is_current = true;
    lua_pop(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, v->front);
}
