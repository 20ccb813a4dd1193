// `c`: one read-only table for all calls, updated where a parameter has changed.
#include "script/readonly.h"
#include "script/state.h"

#include <string.h>

const struct readonly_words view_words = {.unknown = "unknown parameter '%s'"};

// Pushes the watched front of a list, whose storage is at `storage` and whose front is on the top.
static void push_watched_list(lua_State *L, struct view *v, const struct param *p, int storage)
{
    int front = lua_gettop(L);
    lua_createtable(L, p->width, 0);
    for (int k = 0; k < p->width; k++) {
        lua_pushinteger(L, p->offset + k);
        lua_rawseti(L, -2, k + 1);
    }
    readonly_push_watch(L, storage, -1, param_slots(p), (struct rule_reads *const *)&v->reading);
    lua_remove(L, -2);
    readonly_watched_front(L, front);
}

void view_build(lua_State *L, struct script *s)
{
    struct view *v = &s->view;
    lua_newtable(L); // for each parameter its slot, or its watched front
    int slots = lua_gettop(L);
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
        if (p->kind != PARAM_FACTORIZATION && p->kind != PARAM_PERMUTATION) {
            lua_pushinteger(L, p->offset);
            lua_setfield(L, slots, p->name);
            continue;
        }
        const char *name = lua_pushfstring(L, "c.%s", p->name);
        lua_createtable(L, p->width, 0);
        int storage = lua_gettop(L);
        lua_pushvalue(L, -1);
        v->param[i].list = luaL_ref(L, LUA_REGISTRYINDEX);
        lua_pushvalue(L, -1);
        readonly_wrap(L, name, NULL);
        push_watched_list(L, v, p, storage);
        lua_setfield(L, slots, p->name);
        lua_setfield(L, slots + 1, p->name);
        lua_settop(L, slots + 1);
    }
    uint64_t all = (UINT64_C(1) << s->space->slots) - 1;
    readonly_push_watch(L, slots + 1, slots, all, (struct rule_reads *const *)&v->reading);
    v->watch = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_pushvalue(L, -1);
    v->storage = luaL_ref(L, LUA_REGISTRYINDEX);
    readonly_wrap(L, "c", &view_words);
    v->front = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_pop(L, 1);
}

// Lets the front read its storage itself, which is fast, or through the function that records it.
static void set_watch(lua_State *L, struct view *v, struct rule_reads *r)
{
    if (!r != !v->reading) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, v->front);
        lua_getmetatable(L, -1);
        lua_rawgeti(L, LUA_REGISTRYINDEX, r ? v->watch : v->storage);
        lua_setfield(L, -2, "__index");
        lua_pop(L, 2);
    }
    v->reading = r;
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
    view_push_watched(L, s, c, NULL);
}

void view_push_watched(lua_State *L, struct script *s, const struct config *c, struct rule_reads *r)
{
    struct view *v = &s->view;
    bool was_current = v->is_current;
    set_watch(L, v, r);
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
