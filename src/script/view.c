// `c`: one read-only table for all calls, updated where a parameter has changed.
#include "script/readonly.h"
#include "script/state.h"

#include <string.h>

const struct readonly_words view_words = {.unknown = "unknown parameter '%s'"};

void view_build(lua_State *L, struct script *s)
{
    struct view *v = &s->view;
    lua_newtable(L);
    for (int i = 0; i < s->space->param_count; i++) {
        const struct param *p = &s->space->param[i];
        v->param[i].values = v->param[i].list = LUA_NOREF;
        if (p->kind != PARAM_FACTORIZATION) { // the slots of a factorization are its values
            lua_createtable(L, p->count, 0);
            for (int k = 0; k < p->count; k++) {
                lua_Integer whole;
                if (!p->number)
                    lua_pushstring(L, p->label[k]);
                else if (lua_numbertointeger(p->number[k], &whole) && (double)whole == p->number[k])
                    lua_pushinteger(L, whole);
                else
                    lua_pushnumber(L, p->number[k]);
                lua_rawseti(L, -2, k + 1);
            }
            v->param[i].values = luaL_ref(L, LUA_REGISTRYINDEX);
        }
        if (p->kind != PARAM_FACTORIZATION && p->kind != PARAM_PERMUTATION)
            continue;
        const char *name = lua_pushfstring(L, "c.%s", p->name);
        lua_createtable(L, p->width, 0);
        lua_pushvalue(L, -1);
        v->param[i].list = luaL_ref(L, LUA_REGISTRYINDEX);
        readonly_wrap(L, name, NULL);
        lua_setfield(L, -3, p->name);
        lua_pop(L, 1);
    }
    lua_pushvalue(L, -1);
    v->storage = luaL_ref(L, LUA_REGISTRYINDEX);
    readonly_wrap(L, "c", &view_words);
    v->front = luaL_ref(L, LUA_REGISTRYINDEX);
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
        if (was_current && memcmp(slot, shown, (size_t)p->width * sizeof *slot) == 0)
            continue;
        if (v->param[i].list == LUA_NOREF) {
            push_slot(L, v->param[i].values, *slot);
            lua_setfield(L, storage, p->name);
        } else {
            lua_rawgeti(L, LUA_REGISTRYINDEX, v->param[i].list);
            for (int k = 0; k < p->width; k++) {
                push_slot(L, v->param[i].values, slot[k]);
                lua_rawseti(L, -2, k + 1);
            }
            lua_pop(L, 1);
        }
        v->changes++;
    }
    v->config = *c;
    v->is_current = true;
    lua_pop(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, v->front);
}
