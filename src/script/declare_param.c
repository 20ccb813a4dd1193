// param.NAME = factors | permutation | discrete | categorical | custom.
//
// The five functions make a `spec`, an opaque value. Assigning it to a field of `param` declares
// the parameter. This file checks types; the constructors in space/param.h check values.
#include "base/err.h"
#include "script/check.h"
#include "script/readonly.h"
#include "script/state.h"

#include <string.h>

#define SPEC "a parameter's kind" // name of the metatable: no user value can have it

struct spec {
    enum param_kind kind;
    int64_t product, parts; // factorization
    int count;              // the others; user value 1 is the list, 2 the neighbour function
};

static struct spec *push_spec(lua_State *L, enum param_kind kind)
{
    script_loading(L, param_kind_name(kind));
    struct spec *spec = lua_newuserdatauv(L, sizeof *spec, 2);
    *spec = (struct spec){.kind = kind};
    luaL_setmetatable(L, SPEC);
    return spec;
}

static int make_factors(lua_State *L) // factors(product, parts)
{
    int64_t product = check_whole(L, 1, "factors: the product", INT64_MIN, INT64_MAX);
    int64_t parts = check_whole(L, 2, "factors: the parts", INT64_MIN, INT64_MAX);
    if (product < 1)
        return luaL_error(L, "factors(%I, %I): the product must be at least 1", product, parts);
    if (parts < 1)
        return luaL_error(L, "factors(%I, %I): a factorization needs at least one part", product,
                          parts);
    struct spec *spec = push_spec(L, PARAM_FACTORIZATION);
    spec->product = product;
    spec->parts = parts < INT32_MAX ? parts : INT32_MAX;
    return 1;
}

// Pushes a copy of the list of values at `index`, all of type `type` (LUA_TNONE: all strings or all
// numbers).
static int push_values(lua_State *L, int index, const char *what, int type)
{
    index = lua_absindex(L, index);
    int count = check_list(L, index, what);
    if (count == 0)
        luaL_error(L, "%s: the list is empty", what);
    if (count > PARAM_MAX_VALUES)
        luaL_error(L, "%s: %d values, at most %d are possible", what, count, PARAM_MAX_VALUES);
    lua_createtable(L, count, 0);
    int copy = lua_gettop(L);
    for (int i = 1; i <= count; i++) {
        int found = lua_geti(L, index, i);
        if (type == LUA_TNONE)
            type = found == LUA_TNUMBER ? LUA_TNUMBER : LUA_TSTRING;
        const char *which = lua_pushfstring(L, "%s: value %d", what, i);
        check_type(L, copy + 1, which, type);
        if (type == LUA_TSTRING)
            check_string(L, copy + 1, which);
        lua_pop(L, 1);
        lua_rawseti(L, copy, i);
    }
    return count;
}

// permutation, discrete and categorical. Upvalue 1: the kind.
static int make_listed(lua_State *L)
{
    enum param_kind kind = (enum param_kind)lua_tointeger(L, lua_upvalueindex(1));
    int type = kind == PARAM_DISCRETE ? LUA_TNUMBER : LUA_TSTRING;
    int count = push_values(L, 1, param_kind_name(kind), type);
    int values = lua_gettop(L);
    struct spec *spec = push_spec(L, kind);
    spec->count = count;
    lua_pushvalue(L, values);
    lua_setiuservalue(L, -2, 1);
    return 1;
}

static int make_custom(lua_State *L) // custom { values = { ... }, neighbours = function(v) }
{
    static const char *const known[] = {"values", "neighbours", NULL};
    check_fields(L, 1, "custom", known);
    lua_getfield(L, 1, "values");
    int count = push_values(L, -1, "custom: values", LUA_TNONE), values = lua_gettop(L);
    lua_getfield(L, 1, "neighbours");
    check_type(L, values + 1, "custom: neighbours", LUA_TFUNCTION);
    struct spec *spec = push_spec(L, PARAM_CUSTOM);
    spec->count = count;
    lua_pushvalue(L, values);
    lua_setiuservalue(L, -2, 1);
    lua_pushvalue(L, values + 1);
    lua_setiuservalue(L, -2, 2);
    return 1;
}

// Pushes an array for the constructors. It is userdata, which an error cannot leak. `list` was made
// by push_values.
static const char *const *push_labels(lua_State *L, int list, int count)
{
    const char **label = lua_newuserdatauv(L, (size_t)count * sizeof *label, 0);
    size_t bytes = (size_t)count * sizeof *label; // the space keeps them
    for (int i = 0; i < count; i++) {
        lua_rawgeti(L, list, i + 1);
        label[i] = lua_tostring(L, -1); // stays alive in the list
        bytes += lua_rawlen(L, -1) + 1;
        lua_pop(L, 1);
    }
    guard_keep(L, bytes);
    return label;
}

static const double *push_numbers(lua_State *L, int list, int count)
{
    double *number = lua_newuserdatauv(L, (size_t)count * sizeof *number, 0);
    guard_keep(L, (size_t)count * sizeof *number);
    for (int i = 0; i < count; i++) {
        lua_rawgeti(L, list, i + 1);
        number[i] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
    return number;
}

struct graph {
    int count;
    uint8_t bit[]; // count * count bits, row i: the neighbours of value i
};

static bool is_adjacent(void *context, int i, int j)
{
    const struct graph *g = context;
    size_t at = (size_t)i * (size_t)g->count + (size_t)j;
    return g->bit[at / 8] >> (at % 8) & 1;
}

#define STEPS_PER_NEIGHBOUR 8 // looked up here, checked for symmetry and reached later
#define PAIRS_PER_STEP      8

static struct graph *push_graph(lua_State *L, const char *name, int list, int neighbours, int count)
{
    if (count > PARAM_MAX_CUSTOM)
        luaL_error(L, "parameter '%s': %d values, at most %d are possible", name, count,
                   PARAM_MAX_CUSTOM);
    guard_charge(L, (uint64_t)count * (uint64_t)count / PAIRS_PER_STEP);
    size_t bytes = sizeof(struct graph) + ((size_t)count * (size_t)count + 7) / 8;
    lua_createtable(L, 0, count);
    int index = lua_gettop(L);
    for (int i = 0; i < count; i++) {
        lua_rawgeti(L, list, i + 1);
        lua_pushinteger(L, i);
        lua_rawset(L, index);
    }
    struct graph *g = lua_newuserdatauv(L, bytes, 0);
    memset(g, 0, bytes);
    g->count = count;
    for (int i = 0; i < count; i++) {
        // Row i of the graph. The table at `index` has the number of each value.
        int top = lua_gettop(L);
        lua_pushvalue(L, neighbours);
        lua_rawgeti(L, list, i + 1);
        lua_call(L, 1, 1);
        const char *what =
            lua_pushfstring(L, "parameter '%s': what the neighbours function returns", name);
        int degree = check_list(L, top + 1, what);
        guard_keep(L, (size_t)degree * sizeof(int32_t));
        guard_charge(L, (uint64_t)degree * STEPS_PER_NEIGHBOUR);
        for (int k = 1; k <= degree; k++) {
            lua_geti(L, top + 1, k);
            lua_pushvalue(L, -1);
            if (lua_rawget(L, index) == LUA_TNIL) {
                lua_pop(L, 1);
                int found = lua_gettop(L), type = lua_type(L, found);
                lua_rawgeti(L, list, i + 1);
                const char *value = luaL_tolstring(L, -1, NULL);
                if (type != LUA_TSTRING && type != LUA_TNUMBER)
                    luaL_error(L, "parameter '%s': the neighbours of '%s' include a %s", name,
                               value, luaL_typename(L, found));
                const char *unknown = luaL_tolstring(L, found, NULL);
                order_push_suggestion_in(L, list, unknown);
                luaL_error(
                    L,
                    "parameter '%s': the neighbours of '%s' include '%s', which is not a value%s",
                    name, value, unknown, lua_tostring(L, -1));
            }
            size_t at = (size_t)i * (size_t)g->count + (size_t)lua_tointeger(L, -1);
            g->bit[at / 8] |= (uint8_t)(1u << (at % 8));
            lua_pop(L, 2);
        }
        lua_settop(L, top);
    }
    return g;
}

// Builds the parameter of the spec at 3 on the stack.
static bool build(lua_State *L, struct param *p, struct arena *a, const char *name,
                  const struct spec *spec, struct err *e)
{
    lua_getiuservalue(L, 3, 1);
    int list = lua_gettop(L);
    switch (spec->kind) {
    case PARAM_FACTORIZATION:
        return param_factorization(p, a, name, spec->product, (int)spec->parts, e);
    case PARAM_PERMUTATION:
        return param_permutation(p, a, name, spec->count, push_labels(L, list, spec->count), e);
    case PARAM_DISCRETE:
        return param_discrete(p, a, name, spec->count, push_numbers(L, list, spec->count), e);
    case PARAM_CATEGORICAL:
        return param_categorical(p, a, name, spec->count, push_labels(L, list, spec->count), e);
    default: {
        lua_getiuservalue(L, 3, 2);
        struct graph *g = push_graph(L, name, list, lua_gettop(L), spec->count);
        bool is_number = lua_rawgeti(L, list, 1) == LUA_TNUMBER;
        const struct custom_graph values = {
            .count = spec->count,
            .number = is_number ? push_numbers(L, list, spec->count) : NULL,
            .label = is_number ? NULL : push_labels(L, list, spec->count),
            .adjacent = is_adjacent,
            .context = g};
        if (!param_custom(p, a, name, &values, e))
            return false;
        if (!p->connected)
            log_warning(
                "parameter '%s': its neighbours do not lead from every value to every other", name);
        return true;
    }
    }
}

static int declare_param(lua_State *L) // param.NAME = spec
{
    struct script *s = script_loading(L, "param");
    const char *name = check_identifier(L, 2, "param");
    const struct spec *spec = luaL_testudata(L, 3, SPEC);
    if (!spec)
        return luaL_error(
            L,
            "parameter '%s': expected factors(...), permutation { ... }, discrete { ... }, "
            "categorical { ... } or custom { ... }, got %s",
            name, lua_isnil(L, 3) ? "nothing" : luaL_typename(L, 3));
    struct param p;
    struct err e;
    if (!build(L, &p, &s->space->arena, name, spec, &e))
        return luaL_error(L, "%s", e.text);
    p.line = guard_caller(L).line;
    if (!space_add(s->space, &p, &e))
        return luaL_error(L, "%s", e.text);
    return 0;
}

static int read_param(lua_State *L)
{
    return luaL_error(L, "param.%s has no value here (a rule reads it as c.%s)",
                      check_identifier(L, 2, "param"), lua_tostring(L, 2));
}

void declare_param_open(lua_State *L)
{
    static const struct script_closure functions[] = {
        {"factors", make_factors, 0},
        {"permutation", make_listed, PARAM_PERMUTATION},
        {"discrete", make_listed, PARAM_DISCRETE},
        {"categorical", make_listed, PARAM_CATEGORICAL},
        {"custom", make_custom, 0},
        {NULL, NULL, 0}};
    static const luaL_Reg param[] = {
        {"__newindex", declare_param}, {"__index", read_param}, {NULL, NULL}};
    luaL_newmetatable(L, SPEC);
    lua_pop(L, 1);
    script_set_closures(L, functions);
    lua_newtable(L);
    lua_newtable(L);
    luaL_setfuncs(L, param, 0);
    lua_setmetatable(L, -2);
    lua_setfield(L, -2, "param");
}
