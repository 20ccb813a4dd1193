// Expressions of compute(...): constants, arithmetic, comparisons, reductions, and the stages they
// make.
#include "script/compute.h"

#include "define/bounds.h"
#include "script/check.h"
#include "script/state.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- constants ---
//
// constant({ ... }) declares a tensor of known numbers, like those of a transform. An element at
// axes is a choice between them.
//
//     local B = constant { { 1, 0 }, { 1, -1 } }
//     ... B(i, k) * A(k, j)

enum { MOST_NUMBERS = 64 };

struct constant {
    int rank, count;
    int64_t size[DEFINE_MAX_RANK];
    bool is_real;
    double number[MOST_NUMBERS]; // the last index runs fastest
};

// Adds the numbers of the list on the top, which stands in `depth` other lists.
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

// Returns the element at the indices from `depth` on, among the numbers from block `first` on.
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

// --- arithmetic ---

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
    guard_charge(L, (uint64_t)f->d.node_count / 4); // the search among them
    struct expression *x = lua_newuserdatauv(L, sizeof *x, 0);
    *x = (struct expression){node, f->serial};
    luaL_setmetatable(L, COMPUTE_EXPRESSION);
    return 1;
}

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

// Functions of two values. Upvalue 1: the operation.
static int arithmetic(lua_State *L)
{
    enum node_op op = (enum node_op)lua_tointeger(L, lua_upvalueindex(1));
    struct definition *d = &compute_state(L)->d;
    const char *name = node_kinds[op].name;
    int a = compute_node(L, 1, name), b = compute_node(L, 2, name);
    bool is_whole = op == NODE_FLOOR_DIVIDE || op == NODE_MODULO;
    if (is_whole && ((a >= 0 && d->node[a].is_real) || b < 0 || d->node[b].op != NODE_NUMBER ||
                     d->node[b].is_real || d->node[b].number < 1))
        luaL_error(L, "%s is for whole numbers, by a positive number", name);
    return compute_push(L, definition_op(d, op, a, b, -1));
}

static int negate(lua_State *L)
{
    struct definition *d = &compute_state(L)->d;
    int a = compute_node(L, 1, "-");
    int zero = definition_number(d, 0, a >= 0 && d->node[a].is_real);
    return compute_push(L, definition_op(d, NODE_SUBTRACT, zero, a, -1));
}

// Returns the answer of this run to a comparison. A comparison has the same answer each time.
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

// Comparisons. Upvalue 1: the operation. Where the extents of the axes do not decide one, the run
// answers it.
static int compare(lua_State *L)
{
    enum node_op op = (enum node_op)lua_tointeger(L, lua_upvalueindex(1));
    int a = compute_node(L, 1, node_kinds[op].name), b = compute_node(L, 2, node_kinds[op].name);
    struct defining *f = compute_state(L);
    int condition = definition_op(&f->d, op, a, b, -1);
    if (condition < 0)
        return compute_push(L, condition);
    struct define_stage open = {.space = f->axes};
    memcpy(open.extent, f->extent, sizeof open.extent);
    struct range x = bounds_range(&f->d, &open, a, NULL), y = bounds_range(&f->d, &open, b, NULL);
    bool apart = x.high < y.low || x.low > y.high;
    bool holds = op == NODE_LESS ? x.high < y.low : op == NODE_AT_MOST ? x.high <= y.low : !apart;
    bool is_decided = op == NODE_LESS ? holds || x.low >= y.high
                      : op == NODE_AT_MOST
                          ? holds || x.low > y.high
                          : apart || (x.low == x.high && y.low == y.high && x.low == y.low);
    lua_pushboolean(L, is_decided ? holds : answer(L, condition));
    return 1;
}

// --- functions ---

// True: the stack holds `count` values, all of them numbers.
static bool are_numbers(lua_State *L, int count)
{
    for (int i = 1; i <= count; i++)
        if (lua_type(L, i) != LUA_TNUMBER)
            return false;
    return lua_gettop(L) == count;
}

// Functions of one value. Upvalue 1: the operation.
static int call_function(lua_State *L)
{
    enum node_op op = (enum node_op)lua_tointeger(L, lua_upvalueindex(1));
    if (are_numbers(L, 1)) {
        double x = lua_tonumber(L, 1);
        lua_pushnumber(L, op == NODE_EXP ? exp(x) : op == NODE_SQRT ? sqrt(x) : tanh(x));
        return 1;
    }
    int a = compute_node(L, 1, node_kinds[op].name);
    return compute_push(L, definition_op(&compute_state(L)->d, op, a, -1, -1));
}

static int call_cast(lua_State *L) // cast(x, "f16")
{
    int a = compute_node(L, 1, "cast");
    enum element e = check_element(L, 2, "cast", define_computes);
    return compute_push(L, a < 0 ? -1 : definition_cast(&compute_state(L)->d, a, e));
}

// select(condition, a, b). With other arguments it is the `select` of Lua (upvalue 1).
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

// --- functions of axes ---

enum { MOST_WAYS = 256 };

// Returns the expression of all runs of the function that begin with the fixed answers.
static int explore(lua_State *L, struct defining *f, int function, int first, int count)
{
    struct ways *w = f->ways, taken;
    if (++w->runs > MOST_WAYS)
        luaL_error(L, "comparisons make more than %d ways through the function", MOST_WAYS);
    luaL_checkstack(L, LUA_MINSTACK, "comparisons");
    int fixed = w->fixed;
    w->count = 0;
    lua_pushvalue(L, function);
    for (int i = 0; i < count; i++)
        compute_push(L, definition_axis(&f->d, first + i));
    lua_call(L, count, 1);
    int node = compute_node(L, -1, "what the function returns");
    lua_pop(L, 1);
    taken = *w;
    for (int i = taken.count - 1; i >= fixed; i--) {
        memcpy(w->answer, taken.answer, sizeof w->answer);
        w->answer[i] = false;
        w->fixed = i + 1;
        int other = explore(L, f, function, first, count);
        node = definition_op(&f->d, NODE_SELECT, taken.condition[i], node, other);
    }
    return node;
}

int compute_expression(lua_State *L, struct defining *f, int function, int first, int count)
{
    struct ways w = {.outer = f->ways};
    f->ways = &w;
    int node = explore(L, f, function, first, count);
    f->ways = w.outer;
    if (node < 0)
        compute_push(L, node);
    return node;
}

// --- stages ---

// Raises the error of an index that can leave its tensor, at its place in the file.
static void refuse_read(lua_State *L, const struct defining *f, const struct define_stage *s,
                        const struct bad_read *m)
{
    struct str text = {0};
    const struct node *n = m->read < 0 ? NULL : &f->d.node[m->read];
    if (!n) {
        luaL_error(L, "%s: too many conditions around what is read", f->name);
        return;
    }
    const struct define_tensor *t = &f->d.tensor[n->tensor];
    str_printf(&text, "%s: index %d of %s ", f->name, m->dimension + 1, t->name);
    if (m->is_certain)
        str_printf(&text, "is %.0f, not 0 to %" PRId64, m->index, t->size[m->dimension] - 1);
    else
        str_printf(&text, "cannot be shown to lie within 0 to %" PRId64, t->size[m->dimension] - 1);
    bool first = true;
    for (int i = 0; m->is_certain && i < s->space + s->reduce; i++)
        if (definition_depends(&f->d, f->d.index[n->index + m->dimension], i)) {
            str_printf(&text, "%s%s = %" PRId64, first ? " (at " : ", ", s->axis[i], m->at[i]);
            first = false;
        }
    str_add(&text, first ? "" : ")");
    lua_pushstring(L, str_text(&text));
    str_finish(&text);
    guard_raise(L, f->place[m->read], lua_tostring(L, -1));
}

int compute_add_stage(lua_State *L, struct defining *f, const char *name, const bool *keep,
                      const struct define_stage *what)
{
    int reduce = what->reduce, body = what->body;
    struct define_stage open = {.space = f->axes - reduce, .reduce = reduce, .body = body}, s;
    const struct node *n = &f->d.node[body];
    struct define_tensor t = {.name = name, .rank = 1};
    t.element = n->op == NODE_CAST ? n->element : n->is_real ? ELEMENT_F32 : ELEMENT_I32;
    int axis[DEFINE_MAX_AXES];
    memcpy(open.extent, f->extent, sizeof open.extent);
    memcpy(open.axis, f->axis, sizeof open.axis);
    struct bad_read m;
    guard_charge(L, (uint64_t)f->d.node_count * 16);
    if (!bounds_check(&f->d, &open, &m))
        refuse_read(L, f, &open, &m);
    s = (struct define_stage){.reduction = what->reduction, .reduce = reduce};
    t.size[0] = 1;
    for (int i = 0; i < f->axes; i++) {
        axis[i] = -1;
        if (i < open.space && !keep[i])
            continue;
        int place = s.space + (i < open.space ? 0 : i - open.space);
        s.extent[place] = f->extent[i];
        s.axis[place] = f->axis[i];
        axis[i] = definition_axis(&f->d, place);
        if (i < open.space)
            t.size[s.space++] = f->extent[i];
    }
    if (s.space > DEFINE_MAX_RANK)
        luaL_error(L, "%s: more than %d axes", f->name, DEFINE_MAX_RANK);
    t.rank = s.space ? s.space : 1;
    if (f->d.stage_count == DEFINE_MAX_STAGES)
        luaL_error(L, "more than %d stages", DEFINE_MAX_STAGES);
    s.body = definition_substitute(&f->d, body, axis, NULL);
    if (s.body < 0)
        compute_push(L, s.body);
    int read[DEFINE_MAX_NODES], count = definition_list(&f->d, s.body, NODES_READS, read);
    for (int i = 0; i < count; i++)
        f->read[f->d.node[read[i]].tensor] = true;
    s.tensor = definition_add_tensor(&f->d, &t);
    definition_add_stage(&f->d, &s);
    return s.tensor;
}

// sum({ { "k", K } }, function(k) ... end): an expression that reads the stage it makes.
static int reduce(lua_State *L, enum reduction kind)
{
    const char *what = reduction_names[kind];
    struct defining *f = compute_running(L, what);
    char name[2 * COMPUTE_MOST_NAME + 20];
    bool keep[DEFINE_MAX_AXES] = {false};
    int index[DEFINE_MAX_RANK], rank = 0, outer = f->axes;
    check_type(L, 2, what, LUA_TFUNCTION);
    lua_settop(L, 2);
    int count = check_list(L, 1, what);
    if (count < 1 || count > DEFINE_MAX_REDUCE || f->axes + count > DEFINE_MAX_AXES)
        luaL_error(L, "%s: %d axes, not 1 to %d of at most %d that are open", what, count,
                   DEFINE_MAX_REDUCE, DEFINE_MAX_AXES);
    for (int i = 1; i <= count; i++) {
        lua_geti(L, 1, i);
        if (check_list(L, -1, what) != 2)
            luaL_error(L, "%s: an axis is { \"name\", length }", what);
        lua_geti(L, -1, 1);
        const char *axis = check_identifier(L, -1, what);
        if (strlen(axis) > COMPUTE_MOST_NAME)
            luaL_error(L, "%s: the name of an axis has at most %d letters", what,
                       COMPUTE_MOST_NAME);
        f->axis[f->axes] = arena_strdup(&f->d.arena, axis);
        lua_geti(L, -2, 2);
        f->extent[f->axes++] = check_whole(L, -1, what, 1, INT32_MAX);
        lua_pop(L, 3);
    }
    int body = compute_expression(L, f, 2, outer, count);
    for (int i = 0; i < outer; i++)
        keep[i] = definition_depends(&f->d, body, i);
    snprintf(name, sizeof name, "%s_%s%d", f->name, what, ++f->reductions);
    const struct define_stage made = {.reduction = kind, .reduce = count, .body = body};
    int tensor = compute_add_stage(L, f, name, keep, &made);
    // Each run of the function makes its reductions anew. A stage that equals an earlier one of
    // this compute(...) is removed.
    struct definition *d = &f->d;
    const struct define_stage *b = &d->stage[d->stage_count - 1];
    size_t bytes = (size_t)(b->space + b->reduce) * sizeof *b->extent;
    for (int i = f->first_stage; i < d->stage_count - 1; i++) {
        const struct define_stage *a = &d->stage[i];
        if (a->reduction != b->reduction || a->space != b->space || a->reduce != b->reduce ||
            a->body != b->body || memcmp(a->extent, b->extent, bytes) != 0 ||
            d->tensor[a->tensor].element != d->tensor[b->tensor].element)
            continue;
        tensor = a->tensor;
        d->stage_count--;
        d->tensor_count--;
        break;
    }
    f->axes = outer;
    for (int i = 0; i < outer; i++)
        if (keep[i])
            index[rank++] = definition_axis(&f->d, i);
    if (rank == 0)
        index[rank++] = definition_number(&f->d, 0, false);
    return compute_push(L, definition_read(&f->d, tensor, index, rank));
}

static int call_reduction(lua_State *L) // upvalue 1: the reduction
{
    return reduce(L, (enum reduction)lua_tointeger(L, lua_upvalueindex(1)));
}

// max({ axes }, function) or max(a, b). Upvalue 1: the operation.
static int call_either(lua_State *L)
{
    bool is_max = lua_tointeger(L, lua_upvalueindex(1)) == NODE_MAX;
    if (lua_type(L, 1) == LUA_TTABLE)
        return reduce(L, is_max ? REDUCE_MAX : REDUCE_MIN);
    if (!are_numbers(L, 2))
        return arithmetic(L);
    lua_pushvalue(L, lua_compare(L, 1, 2, LUA_OPLT) == is_max ? 2 : 1);
    return 1;
}

void compute_open(lua_State *L)
{
    static const struct script_closure methods[] = {{"__add", arithmetic, NODE_ADD},
                                                    {"__sub", arithmetic, NODE_SUBTRACT},
                                                    {"__mul", arithmetic, NODE_MULTIPLY},
                                                    {"__div", arithmetic, NODE_DIVIDE},
                                                    {"__unm", negate, 0},
                                                    {"__idiv", arithmetic, NODE_FLOOR_DIVIDE},
                                                    {"__lt", compare, NODE_LESS},
                                                    {"__mod", arithmetic, NODE_MODULO},
                                                    {"__le", compare, NODE_AT_MOST},
                                                    {"__eq", compare, NODE_EQUAL},
                                                    {NULL, NULL, 0}};
    static const struct script_closure functions[] = {{"exp", call_function, NODE_EXP},
                                                      {"sqrt", call_function, NODE_SQRT},
                                                      {"tanh", call_function, NODE_TANH},
                                                      {"cast", call_cast, 0},
                                                      {"equal", compare, NODE_EQUAL},
                                                      {"sum", call_reduction, REDUCE_SUM},
                                                      {"max", call_either, NODE_MAX},
                                                      {"product", call_reduction, REDUCE_PRODUCT},
                                                      {"min", call_either, NODE_MIN},
                                                      {"constant", declare_constant, 0},
                                                      {NULL, NULL, 0}};
    luaL_newmetatable(L, COMPUTE_EXPRESSION);
    script_set_closures(L, methods);
    luaL_newmetatable(L, COMPUTE_CONSTANT);
    lua_pushcfunction(L, read_constant);
    lua_setfield(L, -2, "__call");
    lua_pop(L, 2);
    script_set_closures(L, functions);
    lua_getfield(L, -1, "select");
    lua_pushcclosure(L, call_select, 1);
    lua_setfield(L, -2, "select");
}
