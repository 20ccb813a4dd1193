#include "script/nest_symbol.h"

#include "script/check.h"
#include "script/order.h"
#include "script/readonly.h"
#include "script/state.h"

#include <math.h>
#include <string.h>

// Names of metatables: no user value can have them.
#define SYMBOL "a formula"
#define WORD   "a word of the configuration"
#define ORDER  "an order of the configuration"

struct nest *nest_symbol_nest(lua_State *L)
{
    struct script *s = script_of(L);
    if (!s->is_declaring_nest)
        luaL_error(L, "formulas are made within nest(function(c, d) ... end) only");
    return s->loop_nest;
}

// To add to. Every way that makes formulas comes through here.
static struct formulas *formulas_of(lua_State *L)
{
    struct formulas *f = &nest_symbol_nest(L)->formulas;
    if (f->count > NEST_MAX_FORMULAS)
        luaL_error(L, "nest: more than %d formulas", NEST_MAX_FORMULAS);
    return f;
}

static struct symbol *push_symbol(lua_State *L, int count)
{
    struct symbol *x = lua_newuserdatauv(L, sizeof *x + (size_t)count * sizeof *x->term, 0);
    *x = (struct symbol){.loop = -1, .count = count};
    luaL_setmetatable(L, SYMBOL);
    return x;
}

void nest_symbol_push_formula(lua_State *L, int formula)
{
    formulas_of(L); // refuses one too many
    push_symbol(L, 0)->formula = formula;
}

void nest_symbol_push_loop(lua_State *L, int loop)
{
    struct symbol *x = push_symbol(L, 1);
    x->loop = loop;
    x->term[0] = (struct nest_term){loop, formulas_constant(formulas_of(L), 1)};
}

const struct symbol *nest_symbol_test(lua_State *L, int index)
{
    return luaL_testudata(L, index, SYMBOL);
}

static int constant(lua_State *L, int index, const char *what)
{
    double number = lua_tonumber(L, index);
    if (number != floor(number) || fabs(number) > 9007199254740992.0)
        luaL_error(L, "%s is %f, not a whole number ('//' divides without a rest)", what, number);
    return formulas_constant(formulas_of(L), number);
}

int nest_symbol_formula(lua_State *L, int index, const char *what)
{
    const struct symbol *x = nest_symbol_test(L, index);
    if (x && x->count > 0)
        luaL_error(L, "%s: a loop stands where a formula must (loops are for indices)", what);
    if (x)
        return x->formula;
    if (lua_isboolean(L, index))
        return formulas_constant(formulas_of(L), lua_toboolean(L, index));
    if (luaL_testudata(L, index, WORD))
        luaL_error(L, "%s: a word is no formula (d.is(word, \"...\") is)", what);
    if (lua_type(L, index) != LUA_TNUMBER)
        luaL_error(L, "%s: expected a number or a formula, got %s", what,
                   lua_isnoneornil(L, index) ? "nothing" : luaL_typename(L, index));
    return constant(L, index, what);
}

const struct symbol *nest_symbol_index(lua_State *L, int index, const char *what)
{
    const struct symbol *x = nest_symbol_test(L, index);
    if (x)
        return x;
    nest_symbol_push_formula(L, nest_symbol_formula(L, index, what));
    lua_replace(L, index);
    return nest_symbol_test(L, index);
}

// --- arithmetic ---

static const char arithmetic[] = "arithmetic";

static int combine(lua_State *L, enum formula_op op, int a, int b, int c)
{
    nest_symbol_push_formula(L, formulas_add(formulas_of(L), op, a, b, c));
    return 1;
}

static int on_formulas(lua_State *L, enum formula_op op)
{
    int a = nest_symbol_formula(L, 1, arithmetic), b = nest_symbol_formula(L, 2, arithmetic);
    return combine(L, op, a, b, 0);
}

// Adds the terms of `x`, times a formula or subtracted from 0, to those of `sum`.
static void add_terms(struct formulas *f, struct symbol *sum, const struct symbol *x,
                      enum formula_op op, int by)
{
    for (int i = 0; i < x->count; i++) {
        int coefficient = x->term[i].coefficient, at = 0;
        coefficient = op == FORMULA_MULTIPLY   ? formulas_add(f, op, coefficient, by, 0)
                      : op == FORMULA_SUBTRACT ? formulas_add(f, op, by, coefficient, 0)
                                               : coefficient;
        while (at < sum->count && sum->term[at].loop != x->term[i].loop)
            at++;
        if (at == sum->count)
            sum->term[sum->count++] = (struct nest_term){x->term[i].loop, coefficient};
        else
            sum->term[at].coefficient =
                formulas_add(f, FORMULA_ADD, sum->term[at].coefficient, coefficient, 0);
    }
}

static int on_sum(lua_State *L, enum formula_op op)
{
    lua_settop(L, 2);
    const struct symbol *a = nest_symbol_index(L, 1, arithmetic);
    const struct symbol *b = nest_symbol_index(L, 2, arithmetic);
    if (a->count + b->count == 0)
        return on_formulas(L, op);
    struct formulas *f = formulas_of(L);
    struct symbol *sum = push_symbol(L, a->count + b->count);
    sum->count = 0;
    add_terms(f, sum, a, FORMULA_ADD, 0);
    add_terms(f, sum, b, op, formulas_constant(f, 0));
    return 1;
}

static int on_add(lua_State *L)
{
    return on_sum(L, FORMULA_ADD);
}

static int on_subtract(lua_State *L)
{
    return on_sum(L, FORMULA_SUBTRACT);
}

static int on_minus(lua_State *L)
{
    lua_settop(L, 1);
    lua_pushinteger(L, 0);
    lua_insert(L, 1);
    return on_subtract(L);
}

static int on_multiply(lua_State *L)
{
    lua_settop(L, 2);
    const struct symbol *a = nest_symbol_index(L, 1, arithmetic);
    const struct symbol *b = nest_symbol_index(L, 2, arithmetic);
    if (a->count + b->count == 0)
        return on_formulas(L, FORMULA_MULTIPLY);
    if (a->count > 0 && b->count > 0)
        return luaL_error(L, "a loop times a loop is no index (loops times formulas, added up)");
    struct symbol *product = push_symbol(L, a->count + b->count);
    product->count = 0;
    add_terms(formulas_of(L), product, a->count ? a : b, FORMULA_MULTIPLY,
              a->count ? b->formula : a->formula);
    return 1;
}

static int on_divide(lua_State *L)
{
    return on_formulas(L, FORMULA_DIVIDE);
}

static int on_modulo(lua_State *L)
{
    return on_formulas(L, FORMULA_MODULO);
}

static int on_fraction(lua_State *L)
{
    return luaL_error(L, "formulas are whole numbers ('//' divides without a rest)");
}

static int on_comparison(lua_State *L)
{
    return luaL_error(L, "what a configuration is, is not known here (write d.less, d.equal, "
                         "d.is, d.choose)");
}

// --- functions ---

static int fold(lua_State *L, enum formula_op op, const char *what)
{
    int count = lua_gettop(L);
    int value = nest_symbol_formula(L, 1, what);
    for (int i = 2; i <= count; i++) {
        int next = nest_symbol_formula(L, i, what);
        value = formulas_add(formulas_of(L), op, value, next, 0);
    }
    nest_symbol_push_formula(L, value);
    return 1;
}

static int pair(lua_State *L, enum formula_op op, const char *what)
{
    int a = nest_symbol_formula(L, 1, what), b = nest_symbol_formula(L, 2, what);
    return combine(L, op, a, b, 0);
}

static int call_min(lua_State *L)
{
    return fold(L, FORMULA_MIN, "d.min");
}

static int call_max(lua_State *L)
{
    return fold(L, FORMULA_MAX, "d.max");
}

static int call_all(lua_State *L)
{
    return fold(L, FORMULA_AND, "d.all");
}

static int call_any(lua_State *L)
{
    return fold(L, FORMULA_OR, "d.any");
}

static int call_none(lua_State *L)
{
    fold(L, FORMULA_OR, "d.none");
    return combine(L, FORMULA_NOT, nest_symbol_test(L, -1)->formula, 0, 0);
}

static int call_ceil_div(lua_State *L)
{
    return pair(L, FORMULA_CEIL_DIVIDE, "d.ceil_div");
}

static int call_divisor(lua_State *L)
{
    const struct formulas *f = formulas_of(L);
    int divisors = 0;
    for (int i = 0; i < f->count; i++)
        divisors += f->node[i].op == FORMULA_DIVISOR;
    if (divisors == NEST_MAX_DIVISORS)
        return luaL_error(L, "nest: more than %d times d.divisor", NEST_MAX_DIVISORS);
    guard_charge(L, DIVISOR_STEPS); // constants are divided at once
    return pair(L, FORMULA_DIVISOR, "d.divisor");
}

static int call_equal(lua_State *L)
{
    return pair(L, FORMULA_EQUAL, "d.equal");
}

static int call_less(lua_State *L)
{
    return pair(L, FORMULA_LESS, "d.less");
}

static int call_choose(lua_State *L) // d.choose(condition, a, b)
{
    int condition = nest_symbol_formula(L, 1, "d.choose");
    int a = nest_symbol_formula(L, 2, "d.choose"), b = nest_symbol_formula(L, 3, "d.choose");
    return combine(L, FORMULA_CHOOSE, condition, a, b);
}

// The parameter of the word or order at 1, and among its labels the string at `index`.
static const struct param *find_label(lua_State *L, const char *kind, const char *what, int index,
                                      int *label)
{
    const int *param = luaL_testudata(L, 1, kind);
    if (!param)
        luaL_error(L, "%s: expected %s, got %s", what, kind, luaL_typename(L, 1));
    const struct param *p = &script_of(L)->space->param[*param];
    const char *text = check_string(L, index, what);
    guard_charge(L, (uint64_t)p->count);
    for (*label = 0; *label < p->count; ++*label)
        if (strcmp(p->label[*label], text) == 0)
            return p;
    const char *near = str_suggest_list(text, (size_t)p->count, p->label);
    if (near)
        luaL_error(L, "%s: c.%s is never '%s' (did you mean '%s'?)", what, p->name, text, near);
    luaL_error(L, "%s: c.%s is never '%s'", what, p->name, text);
    return p;
}

static int call_is(lua_State *L) // d.is(word, "one", "or another")
{
    int count = lua_gettop(L), value = formulas_constant(formulas_of(L), 0);
    for (int i = 2; i <= (count > 2 ? count : 2); i++) {
        int label;
        const struct param *p = find_label(L, WORD, "d.is", i, &label);
        struct formulas *f = formulas_of(L);
        int slot = formulas_slot(f, p->offset), wanted = formulas_constant(f, label);
        int equal = formulas_add(f, FORMULA_EQUAL, slot, wanted, 0);
        value = i == 2 ? equal : formulas_add(f, FORMULA_OR, value, equal, 0);
    }
    nest_symbol_push_formula(L, value);
    return 1;
}

static int call_place(lua_State *L) // d.place(order, "item")
{
    int item;
    const struct param *p = find_label(L, ORDER, "d.place", 2, &item);
    int param = (int)(p - script_of(L)->space->param);
    nest_symbol_push_formula(L, formulas_place(formulas_of(L), param, item));
    return 1;
}

void nest_symbol_set_functions(lua_State *L)
{
    static const luaL_Reg functions[] = {{"min", call_min},
                                         {"max", call_max},
                                         {"ceil_div", call_ceil_div},
                                         {"equal", call_equal},
                                         {"divisor", call_divisor},
                                         {"less", call_less},
                                         {"all", call_all},
                                         {"any", call_any},
                                         {"none", call_none},
                                         {"choose", call_choose},
                                         {"is", call_is},
                                         {"place", call_place},
                                         {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}

void nest_symbol_open(lua_State *L)
{
    static const luaL_Reg events[] = {{"__add", on_add},
                                      {"__sub", on_subtract},
                                      {"__unm", on_minus},
                                      {"__mul", on_multiply},
                                      {"__idiv", on_divide},
                                      {"__mod", on_modulo},
                                      {"__div", on_fraction},
                                      {"__eq", on_comparison},
                                      {"__lt", on_comparison},
                                      {"__le", on_comparison},
                                      {NULL, NULL}};
    luaL_newmetatable(L, SYMBOL);
    luaL_setfuncs(L, events, 0);
    lua_pop(L, 1);
    static const char *const others[] = {WORD, ORDER};
    for (int i = 0; i < 2; i++) {
        luaL_newmetatable(L, others[i]);
        lua_pushcfunction(L, on_comparison);
        lua_setfield(L, -2, "__eq");
        lua_pop(L, 1);
    }
}

// --- the configuration ---

static void push_name(lua_State *L, const char *kind, int param)
{
    int *name = lua_newuserdatauv(L, sizeof *name, 0);
    *name = param;
    luaL_setmetatable(L, kind);
}

static void push_param(lua_State *L, struct formulas *f, const struct param *p, int index)
{
    if (p->kind == PARAM_FACTORIZATION) {
        const char *name = lua_pushfstring(L, "c.%s", p->name);
        lua_createtable(L, p->width, 0);
        for (int k = 0; k < p->width; k++) {
            nest_symbol_push_formula(L, formulas_slot(f, p->offset + k));
            lua_rawseti(L, -2, k + 1);
        }
        readonly_wrap(L, name, NULL);
        lua_remove(L, -2);
    } else if (p->number) {
        nest_symbol_push_formula(L, formulas_number(f, index));
    } else {
        push_name(L, p->kind == PARAM_PERMUTATION ? ORDER : WORD, index);
    }
}

void nest_symbol_push_config(lua_State *L)
{
    const struct space *s = script_of(L)->space;
    lua_newtable(L);
    for (int i = 0; i < s->param_count; i++) {
        push_param(L, formulas_of(L), &s->param[i], i);
        lua_setfield(L, -2, s->param[i].name);
    }
    readonly_wrap(L, "c", &view_words);
}
