// constant({ ... }): a tensor of numbers that are known, as those of a transform. An element at
// axes is a choice between them.
//
//     local B = constant { { 1, 0 }, { 1, -1 } }
//     ... B(i, k) * A(k, j)
#include "define/bounds.h"
#include "script/check.h"
#include "script/compute.h"

#include <string.h>

enum { MOST_NUMBERS = 64 };

struct constant {
    int rank, count;
    int64_t size[DEFINE_MAX_RANK];
    bool is_real;
    double number[MOST_NUMBERS]; // the last index runs fastest
};

// Adds what the table on the top holds, which stands in `depth` others.
static void fill(lua_State *L, struct constant *c, int depth)
{
    int count = check_list(L, -1, "constant");
    if (depth == DEFINE_MAX_RANK || count == 0)
        luaL_error(L, "constant: 1 to %d numbers, in lists at most %d deep", MOST_NUMBERS,
                   DEFINE_MAX_RANK);
    if (c->size[depth] && c->size[depth] != count)
        luaL_error(L, "constant: lists of %d and %d beside each other", (int)c->size[depth], count);
    c->size[depth] = count;
    luaL_checkstack(L, LUA_MINSTACK, "constant");
    for (int i = 1; i <= count; i++) {
        lua_geti(L, -1, i);
        bool is_list = lua_istable(L, -1);
        if (c->rank && is_list != (depth + 1 < c->rank))
            luaL_error(L, "constant: lists and numbers beside each other");
        if (is_list) {
            fill(L, c, depth + 1);
        } else {
            if (c->count == MOST_NUMBERS)
                luaL_error(L, "constant: more than %d numbers", MOST_NUMBERS);
            c->rank = depth + 1;
            c->is_real = c->is_real || !lua_isinteger(L, -1);
            c->number[c->count++] = check_real(L, -1, "constant");
        }
        lua_pop(L, 1);
    }
}

static int declare_constant(lua_State *L) // constant({ { 1, 0 }, { 0, 1 } })
{
    check_type(L, 1, "constant", LUA_TTABLE);
    struct constant *c = lua_newuserdatauv(L, sizeof *c, 0);
    *c = (struct constant){.rank = 0};
    luaL_setmetatable(L, COMPUTE_CONSTANT);
    lua_pushvalue(L, 1);
    fill(L, c, 0);
    lua_pop(L, 1);
    return 1;
}

// The element whose first indices stand at the number `first`, in the order of all.
static int choose(struct definition *d, const struct constant *c, const int *index, int depth,
                  int first)
{
    if (depth == c->rank)
        return definition_number(d, c->number[first], c->is_real);
    int at = index[depth], place = first * (int)c->size[depth];
    if (at < 0 || d->node[at].op == NODE_NUMBER)
        return at < 0 ? at : choose(d, c, index, depth + 1, place + (int)d->node[at].number);
    int last = (int)c->size[depth] - 1, node = choose(d, c, index, depth + 1, place + last);
    for (int i = last - 1; i >= 0; i--) {
        int is_there = definition_op(d, NODE_EQUAL, at, definition_number(d, i, false), -1);
        node = definition_op(d, NODE_SELECT, is_there, choose(d, c, index, depth + 1, place + i),
                             node);
    }
    return node;
}

static int read_constant(lua_State *L) // B(i, j)
{
    const struct constant *c = luaL_checkudata(L, 1, COMPUTE_CONSTANT);
    struct defining *f = compute_running(L, "what is read of a constant");
    struct define_stage open = {.space = f->axes};
    int index[DEFINE_MAX_RANK], count = lua_gettop(L) - 1;
    memcpy(open.extent, f->extent, sizeof open.extent);
    if (count != c->rank)
        return luaL_error(L, "a constant has %d indices, not %d", c->rank, count);
    for (int i = 0; i < count; i++) {
        const char *what = lua_pushfstring(L, "index %d of a constant", i + 1);
        index[i] = compute_node(L, i + 2, what);
        if (index[i] < 0)
            return compute_push(L, index[i]);
        if (f->d.node[index[i]].is_real)
            luaL_error(L, "%s is not whole ('//' divides without a rest)", what);
        struct range r = bounds_range(&f->d, &open, index[i], NULL);
        if (r.low < 0 || r.high >= (double)c->size[i])
            luaL_error(L, "%s is %f to %f, not 0 to %d", what, r.low, r.high, (int)c->size[i] - 1);
        lua_pop(L, 1);
    }
    guard_charge(L, (uint64_t)c->count * 64);
    return compute_push(L, choose(&f->d, c, index, 0, 0));
}

void compute_constant_open(lua_State *L)
{
    luaL_newmetatable(L, COMPUTE_CONSTANT);
    lua_pushcfunction(L, read_constant);
    lua_setfield(L, -2, "__call");
    lua_pop(L, 1);
    lua_pushcfunction(L, declare_constant);
    lua_setfield(L, -2, "constant");
}
