// Arithmetic, comparisons and functions of expressions.
#include "script/compute.h"

#include "define/bounds.h"
#include "script/check.h"
#include "script/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct expression {
    int node, serial;
};

struct defining *compute_state(lua_State *L)
{
    struct script *s = script_of(L);
    if (!s->defining)
        s->defining = mem_zero(1, sizeof *s->defining);
    return s->defining;
}

struct defining *compute_running(lua_State *L, const char *what)
{
    struct defining *f = compute_state(L);
    if (!f->name)
        luaL_error(L, "%s stands within compute(...) only", what);
    return f;
}

int compute_push(lua_State *L, int node)
{
    struct defining *f = compute_state(L);
    if (node < 0)
        luaL_error(L, "more than %d parts of expressions", DEFINE_MAX_NODES);
    guard_charge(L, (uint64_t)f->d.node_count / 4); // among which it was looked for
    struct expression *x = lua_newuserdatauv(L, sizeof *x, 0);
    *x = (struct expression){node, f->serial};
    luaL_setmetatable(L, COMPUTE_EXPRESSION);
    return 1;
}

// Of an expression or a number.
int compute_node(lua_State *L, int index, const char *what)
{
    struct defining *f = compute_running(L, "an expression");
    const struct expression *x = luaL_testudata(L, index, COMPUTE_EXPRESSION);
    if (x && x->serial != f->serial)
        luaL_error(L, "%s: an expression of another compute(...)", what);
    if (x)
        return x->node;
    if (lua_type(L, index) != LUA_TNUMBER)
        luaL_error(L, "%s: expected a number or an expression, got %s", what,
                   lua_isnoneornil(L, index)                  ? "nothing"
                   : luaL_testudata(L, index, COMPUTE_TENSOR) ? "a tensor (read it: A(i, j))"
                                                              : luaL_typename(L, index));
    double number = lua_tonumber(L, index);
    if (!isfinite(number) || (lua_isinteger(L, index) && fabs(number) > INT32_MAX))
        luaL_error(L, "%s: %f is no number of 32 bits", what, number);
    return definition_number(&f->d, number, !lua_isinteger(L, index));
}

static bool is_real(lua_State *L, int node)
{
    return node >= 0 && compute_state(L)->d.node[node].is_real;
}

int compute_two(lua_State *L, enum node_op op)
{
    int a = compute_node(L, 1, node_op_name(op)), b = compute_node(L, 2, node_op_name(op));
    return compute_push(L, definition_op(&compute_state(L)->d, op, a, b, -1));
}

static int add(lua_State *L)
{
    return compute_two(L, NODE_ADD);
}

static int subtract(lua_State *L)
{
    return compute_two(L, NODE_SUBTRACT);
}

static int multiply(lua_State *L)
{
    return compute_two(L, NODE_MULTIPLY);
}

static int divide(lua_State *L)
{
    return compute_two(L, NODE_DIVIDE);
}

static int negate(lua_State *L)
{
    struct definition *d = &compute_state(L)->d;
    int a = compute_node(L, 1, "-");
    return compute_push(
        L, definition_op(d, NODE_SUBTRACT, definition_number(d, 0, is_real(L, a)), a, -1));
}

static int on_whole(lua_State *L, enum node_op op)
{
    const char *name = node_op_name(op);
    int a = compute_node(L, 1, name), b = compute_node(L, 2, name);
    const struct definition *d = &compute_state(L)->d;
    if (is_real(L, a) || b < 0 || d->node[b].op != NODE_NUMBER || is_real(L, b) ||
        d->node[b].number < 1)
        luaL_error(L, "%s is for whole numbers, by a positive number", name);
    return compute_push(L, definition_op(&compute_state(L)->d, op, a, b, -1));
}

static int floor_divide(lua_State *L)
{
    return on_whole(L, NODE_FLOOR_DIVIDE);
}

static int modulo(lua_State *L)
{
    return on_whole(L, NODE_MODULO);
}

// The answer of this run to a comparison; what was asked before is answered as before.
static bool answer(lua_State *L, int condition)
{
    struct ways *w = compute_running(L, "a comparison")->ways;
    for (int i = 0; i < w->count; i++)
        if (w->condition[i] == condition)
            return w->answer[i];
    if (w->count == COMPUTE_MOST_CONDITIONS)
        luaL_error(L, "more than %d comparisons", COMPUTE_MOST_CONDITIONS);
    bool given = w->count >= w->fixed || w->answer[w->count];
    w->condition[w->count] = condition;
    w->answer[w->count++] = given;
    return given;
}

// Whether the extents of the axes say it already.
static bool is_settled(const struct defining *f, enum node_op op, int a, int b, bool *holds)
{
    struct define_stage open = {.space = f->axes};
    memcpy(open.extent, f->extent, sizeof open.extent);
    struct range x = bounds_range(&f->d, &open, a, NULL), y = bounds_range(&f->d, &open, b, NULL);
    bool apart = x.high < y.low || x.low > y.high;
    *holds = op == NODE_LESS ? x.high < y.low : op == NODE_AT_MOST ? x.high <= y.low : !apart;
    return op == NODE_LESS      ? *holds || x.low >= y.high
           : op == NODE_AT_MOST ? *holds || x.low > y.high
                                : apart || (x.low == x.high && y.low == y.high && x.low == y.low);
}

static int compare(lua_State *L, enum node_op op)
{
    int a = compute_node(L, 1, node_op_name(op)), b = compute_node(L, 2, node_op_name(op));
    struct definition *d = &compute_state(L)->d;
    int condition = definition_op(d, op, a, b, -1);
    if (condition < 0)
        return compute_push(L, condition);
    bool holds;
    if (is_settled(compute_state(L), op, a, b, &holds)) {
        lua_pushboolean(L, holds);
        return 1;
    }
    lua_pushboolean(L, answer(L, condition));
    return 1;
}

static int less(lua_State *L)
{
    return compare(L, NODE_LESS);
}

static int at_most(lua_State *L)
{
    return compare(L, NODE_AT_MOST);
}

static int equal(lua_State *L)
{
    return compare(L, NODE_EQUAL);
}

// --- functions ---

bool compute_are_numbers(lua_State *L, int count)
{
    for (int i = 1; i <= count; i++)
        if (lua_type(L, i) != LUA_TNUMBER)
            return false;
    return lua_gettop(L) == count;
}

static int on_one(lua_State *L, enum node_op op, double (*function)(double))
{
    if (compute_are_numbers(L, 1)) {
        lua_pushnumber(L, function(lua_tonumber(L, 1)));
        return 1;
    }
    int a = compute_node(L, 1, node_op_name(op));
    return compute_push(L, definition_op(&compute_state(L)->d, op, a, -1, -1));
}

static int call_exp(lua_State *L)
{
    return on_one(L, NODE_EXP, exp);
}

static int call_sqrt(lua_State *L)
{
    return on_one(L, NODE_SQRT, sqrt);
}

static int call_tanh(lua_State *L)
{
    return on_one(L, NODE_TANH, tanh);
}

enum element compute_element(lua_State *L, int index, const char *what)
{
    const char *name = check_string(L, index, what);
    for (int i = 0; i < ELEMENT_COUNT; i++)
        if (strcmp(name, element_name((enum element)i)) == 0)
            return (enum element)i;
    luaL_error(L, "%s: there is no type '%s' (there are f32, f16, i8, i32)", what, name);
    return ELEMENT_F32;
}

static int call_cast(lua_State *L) // cast(x, "f16")
{
    int a = compute_node(L, 1, "cast");
    enum element e = compute_element(L, 2, "cast");
    return compute_push(L, a < 0 ? -1 : definition_cast(&compute_state(L)->d, a, e));
}

// select(condition, a, b); of anything else what `select` of Lua does (upvalue 1).
static int call_select(lua_State *L)
{
    if (lua_type(L, 1) == LUA_TBOOLEAN && lua_gettop(L) == 3) {
        lua_pushvalue(L, lua_toboolean(L, 1) ? 2 : 3);
        return 1;
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

void compute_expression_open(lua_State *L)
{
    static const luaL_Reg methods[] = {
        {"__add", add},    {"__sub", subtract},      {"__mul", multiply}, {"__div", divide},
        {"__unm", negate}, {"__idiv", floor_divide}, {"__mod", modulo},   {"__lt", less},
        {"__le", at_most}, {"__eq", equal},          {NULL, NULL}};
    static const luaL_Reg functions[] = {{"exp", call_exp},   {"sqrt", call_sqrt},
                                         {"tanh", call_tanh}, {"cast", call_cast},
                                         {"equal", equal},    {NULL, NULL}};
    luaL_newmetatable(L, COMPUTE_EXPRESSION);
    luaL_setfuncs(L, methods, 0);
    lua_pop(L, 1);
    luaL_setfuncs(L, functions, 0);
    lua_getfield(L, -1, "select");
    lua_pushcclosure(L, call_select, 1);
    lua_setfield(L, -2, "select");
}
