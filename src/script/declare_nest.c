// nest(function(c, d) ... end): the kernel's loops, buffers and statements as data.
//
// The function is called once, after the rest of the file. `c` has a symbol for each parameter, `d`
// the functions that make loops, buffers, statements and formulas.
//
// A symbol is what the function sees instead of a number: a sum of loops times formulas (an index
// of an access), or without any loop a formula of the configuration. Arithmetic on symbols and
// whole numbers makes symbols. It adds formulas to the nest being declared, and is an error
// afterwards.
#include "script/check.h"
#include "script/guard.h"
#include "script/readonly.h"
#include "script/state.h"
#include "space/nest.h"

#include <math.h>
#include <string.h>

#define NEST_MAX_FORMULAS 8192
#define NEST_MAX_DIVISORS 64    // these formulas take longer than others
#define DIVISOR_STEPS     20000 // of one divisor

struct symbol {
    int formula; // of a symbol without loops; constants of an index are not needed
    int loop;    // the loop that the symbol is, or -1
    int count;
    struct nest_term term[];
};

// Names of metatables: no user value can have them.
#define SYMBOL "a formula"
#define WORD   "a word of the configuration"
#define ORDER  "an order of the configuration"

// Returns the nest that is being declared; raises an error otherwise.
static struct nest *nest_of(lua_State *L)
{
    struct script *s = script_of(L);
    if (!s->is_declaring_nest)
        luaL_error(L, "formulas are made within nest(function(c, d) ... end) only");
    return s->loop_nest;
}

// Returns the formulas to add to. All functions that make formulas call it.
static struct formulas *formulas_of(lua_State *L)
{
    struct formulas *f = &nest_of(L)->formulas;
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

static void push_formula(lua_State *L, int formula)
{
    formulas_of(L); // raises an error where there are too many
    push_symbol(L, 0)->formula = formula;
}

// Returns the formula of a symbol, a whole number or a boolean.
static int check_formula(lua_State *L, int index, const char *what)
{
    const struct symbol *x = luaL_testudata(L, index, SYMBOL);
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
    double number = lua_tonumber(L, index);
    if (number != floor(number) || fabs(number) > 9007199254740992.0)
        luaL_error(L, "%s is %f, not a whole number ('//' divides without a rest)", what, number);
    return formulas_constant(formulas_of(L), number);
}

// Returns the symbol of an index. A number is replaced by its symbol. `index` is absolute.
static const struct symbol *check_index(lua_State *L, int index, const char *what)
{
    const struct symbol *x = luaL_testudata(L, index, SYMBOL);
    if (x)
        return x;
    push_formula(L, check_formula(L, index, what));
    lua_replace(L, index);
    return luaL_testudata(L, index, SYMBOL);
}

// --- arithmetic ---

static const char arithmetic[] = "arithmetic";

static int combine(lua_State *L, enum formula_op op, int a, int b, int c)
{
    push_formula(L, formulas_add(formulas_of(L), op, a, b, c));
    return 1;
}

// Quotient and remainder of formulas. Upvalue 1: the operation.
static int on_formulas(lua_State *L)
{
    enum formula_op op = (enum formula_op)lua_tointeger(L, lua_upvalueindex(1));
    int a = check_formula(L, 1, arithmetic), b = check_formula(L, 2, arithmetic);
    return combine(L, op, a, b, 0);
}

// Adds the terms of `x` to `sum`: times the formula `by`, or subtracted from it, or as they are.
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

// Sum and difference. Upvalue 1: the operation.
static int on_sum(lua_State *L)
{
    enum formula_op op = (enum formula_op)lua_tointeger(L, lua_upvalueindex(1));
    lua_settop(L, 2);
    const struct symbol *a = check_index(L, 1, arithmetic), *b = check_index(L, 2, arithmetic);
    if (a->count + b->count == 0)
        return combine(L, op, a->formula, b->formula, 0);
    struct formulas *f = formulas_of(L);
    struct symbol *sum = push_symbol(L, a->count + b->count);
    sum->count = 0;
    add_terms(f, sum, a, FORMULA_ADD, 0);
    add_terms(f, sum, b, op, formulas_constant(f, 0));
    return 1;
}

static int on_minus(lua_State *L) // upvalue 1: FORMULA_SUBTRACT
{
    lua_settop(L, 1);
    lua_pushinteger(L, 0);
    lua_insert(L, 1);
    return on_sum(L);
}

static int on_multiply(lua_State *L)
{
    lua_settop(L, 2);
    const struct symbol *a = check_index(L, 1, arithmetic), *b = check_index(L, 2, arithmetic);
    if (a->count + b->count == 0)
        return combine(L, FORMULA_MULTIPLY, a->formula, b->formula, 0);
    if (a->count > 0 && b->count > 0)
        return luaL_error(L, "a loop times a loop is no index (loops times formulas, added up)");
    struct symbol *product = push_symbol(L, a->count + b->count);
    product->count = 0;
    add_terms(formulas_of(L), product, a->count ? a : b, FORMULA_MULTIPLY,
              a->count ? b->formula : a->formula);
    return 1;
}

static int on_refused(lua_State *L) // upvalue 1: true for a comparison
{
    return luaL_error(L, lua_tointeger(L, lua_upvalueindex(1))
                             ? "what a configuration is, is not known here (write d.less, d.equal, "
                               "d.is, d.choose)"
                             : "formulas are whole numbers ('//' divides without a rest)");
}

// --- functions ---

// d.min and the like. Upvalues: the operation, the name.
static int call_fold(lua_State *L)
{
    enum formula_op op = (enum formula_op)lua_tointeger(L, lua_upvalueindex(1));
    int count = lua_gettop(L);
    lua_settop(L, count ? count : 1);
    const char *what = lua_pushfstring(L, "d.%s", lua_tostring(L, lua_upvalueindex(2)));
    int value = check_formula(L, 1, what);
    for (int i = 2; i <= count; i++) {
        int next = check_formula(L, i, what);
        value = formulas_add(formulas_of(L), op == FORMULA_NOT ? FORMULA_OR : op, value, next, 0);
    }
    if (op == FORMULA_NOT)
        return combine(L, op, value, 0, 0);
    push_formula(L, value);
    return 1;
}

// d.equal and the like. Upvalues: the operation, the name.
static int call_pair(lua_State *L)
{
    enum formula_op op = (enum formula_op)lua_tointeger(L, lua_upvalueindex(1));
    const struct formulas *f = formulas_of(L);
    int divisors = 0;
    for (int i = 0; i < f->count && op == FORMULA_DIVISOR; i++)
        divisors += f->node[i].op == FORMULA_DIVISOR;
    if (divisors == NEST_MAX_DIVISORS)
        return luaL_error(L, "nest: more than %d times d.divisor", NEST_MAX_DIVISORS);
    guard_charge(L, op == FORMULA_DIVISOR ? DIVISOR_STEPS : 0); // constants are divided at once
    lua_settop(L, 2);
    const char *what = lua_pushfstring(L, "d.%s", lua_tostring(L, lua_upvalueindex(2)));
    int a = check_formula(L, 1, what), b = check_formula(L, 2, what);
    return combine(L, op, a, b, 0);
}

static int call_choose(lua_State *L) // d.choose(condition, a, b)
{
    int condition = check_formula(L, 1, "d.choose");
    int a = check_formula(L, 2, "d.choose"), b = check_formula(L, 3, "d.choose");
    return combine(L, FORMULA_CHOOSE, condition, a, b);
}

// Returns the parameter of the word or order at 1, and the label that the string at `index` is.
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
    push_formula(L, value);
    return 1;
}

static int call_place(lua_State *L) // d.place(order, "item")
{
    int item;
    const struct param *p = find_label(L, ORDER, "d.place", 2, &item);
    int param = (int)(p - script_of(L)->space->param);
    push_formula(L, formulas_place(formulas_of(L), param, item));
    return 1;
}

// --- the configuration ---

static void push_config(lua_State *L) // `c`, each parameter a symbol
{
    const struct space *s = script_of(L)->space;
    lua_newtable(L);
    for (int i = 0; i < s->param_count; i++) {
        struct formulas *f = formulas_of(L);
        if (s->param[i].kind == PARAM_FACTORIZATION) {
            const char *name = lua_pushfstring(L, "c.%s", s->param[i].name);
            lua_createtable(L, s->param[i].width, 0);
            for (int k = 0; k < s->param[i].width; k++) {
                push_formula(L, formulas_slot(f, s->param[i].offset + k));
                lua_rawseti(L, -2, k + 1);
            }
            readonly_wrap(L, name, NULL);
            lua_remove(L, -2);
        } else if (s->param[i].number) {
            push_formula(L, formulas_number(f, i));
        } else {
            const char *kind = s->param[i].kind == PARAM_PERMUTATION ? ORDER : WORD;
            int *name = lua_newuserdatauv(L, sizeof *name, 0);
            *name = i;
            luaL_setmetatable(L, kind);
        }
        lua_setfield(L, -2, s->param[i].name);
    }
    readonly_wrap(L, "c", &view_words);
}

#define BUFFER "a buffer of the nest" // names of metatables
#define ACCESS "an element of a buffer"

// An access as the file made it, with the terms of its dimensions one after the other.
struct indexed {
    int buffer;
    int count[NEST_MAX_DIMS];
    struct nest_term term[];
};

// The arguments { "name", ..., field = } at 1 on the stack: its list and its fields.
enum { LIST = 2, FIELDS };

// Returns the name, and in `what` the words for it in messages.
static const char *read_parts(lua_State *L, const char *kind, bool has_sizes,
                              const char *const *known, const char **what)
{
    struct arena *arena = &nest_of(L)->arena;
    lua_settop(L, 1);
    check_parts(L, 1, kind);
    check_fields(L, FIELDS, kind, known);
    lua_geti(L, LIST, 1);
    const char *name = arena_strdup(arena, check_string(L, -1, kind));
    *what = arena_printf(arena, "%s '%s'", kind, name);
    if (!has_sizes && lua_rawlen(L, LIST) > 1)
        luaL_error(L, "%s: its name is all that comes without a field's name", *what);
    lua_settop(L, FIELDS);
    return name;
}

static int read_formula(lua_State *L, const char *what, const char *field, int standard)
{
    lua_settop(L, FIELDS);
    if (lua_getfield(L, FIELDS, field) == LUA_TNIL)
        return standard;
    return check_formula(L, FIELDS + 1, lua_pushfstring(L, "%s: %s", what, field));
}

// Returns the index of the field's word among the known ones; 0 where it is absent.
static int read_word(lua_State *L, const char *what, const char *field, int count,
                     const char *const *known)
{
    lua_settop(L, FIELDS);
    if (lua_getfield(L, FIELDS, field) == LUA_TNIL)
        return 0;
    const char *word = check_string(L, FIELDS + 1, lua_pushfstring(L, "%s: %s", what, field));
    for (int i = 0; i < count; i++)
        if (strcmp(word, known[i]) == 0)
            return i;
    const char *near = str_suggest_list(word, (size_t)count, known);
    if (near)
        luaL_error(L, "%s has no %s '%s' (did you mean '%s'?)", what, field, word, near);
    return luaL_error(L, "%s has no %s '%s'", what, field, word);
}

// --- loops ---

static int make_loop(lua_State *L) // d.loop { name, kind = , length = , place = }
{
    static const char *const known[] = {"kind", "length", "place", NULL};
    struct nest *n = nest_of(L);
    const char *what, *name = read_parts(L, "loop", false, known, &what);
    for (int i = 0; i < n->loop_count; i++)
        if (strcmp(n->loop[i].name, name) == 0)
            luaL_error(L, "%s is declared twice", what);
    if (n->loop_count == NEST_MAX_LOOPS)
        luaL_error(L, "nest: more than %d loops", NEST_MAX_LOOPS);
    const char *kinds[NEST_LOOP_KINDS]; // the standard, serial, is the first
    for (int i = 0; i < NEST_LOOP_KINDS; i++)
        kinds[i] = nest_loop_kind_name((enum nest_loop_kind)((i + NEST_SERIAL) % NEST_LOOP_KINDS));
    int kind = read_word(L, what, "kind", NEST_LOOP_KINDS, kinds) + NEST_SERIAL;
    if (lua_getfield(L, FIELDS, "length") == LUA_TNIL)
        luaL_error(L, "%s: length is missing", what);
    n->loop[n->loop_count] = (struct nest_loop){
        .name = name,
        .kind = (enum nest_loop_kind)(kind % NEST_LOOP_KINDS),
        .length = read_formula(L, what, "length", -1),
        .place = read_formula(L, what, "place", -1),
    };
    int loop = n->loop_count++;
    struct symbol *x = push_symbol(L, 1);
    x->loop = loop;
    x->term[0] = (struct nest_term){loop, formulas_constant(formulas_of(L), 1)};
    return 1;
}

// --- buffers ---

static int make_buffer(lua_State *L) // d.buffer { name, size, ..., memory = , type = , ... }
{
    static const char *const known[] = {"memory", "type", "copies", "used", NULL};
    struct nest *n = nest_of(L);
    const char *what, *name = read_parts(L, "buffer", true, known, &what);
    for (int i = 0; i < n->buffer_count; i++)
        if (strcmp(n->buffer[i].name, name) == 0)
            luaL_error(L, "%s is declared twice", what);
    if (n->buffer_count == NEST_MAX_BUFFERS)
        luaL_error(L, "nest: more than %d buffers", NEST_MAX_BUFFERS);
    int dims = (int)lua_rawlen(L, LIST) - 1;
    if (dims < 1 || dims > NEST_MAX_DIMS)
        luaL_error(L, "%s has %d sizes, not 1 to %d", what, dims, NEST_MAX_DIMS);
    struct nest_buffer b = {.name = name, .dim_count = dims};
    for (int i = 0; i < dims; i++) {
        lua_geti(L, LIST, i + 2);
        b.dim[i] = check_formula(L, -1, what);
    }
    static const char *const types[] = {ELEMENTS(ELEMENT_NAME)};
    const char *memories[NEST_REGISTERS + 1];
    for (int i = 0; i <= NEST_REGISTERS; i++)
        memories[i] = nest_memory_name((enum nest_memory)i);
    b.memory = (enum nest_memory)read_word(L, what, "memory", NEST_REGISTERS + 1, memories);
    b.bytes = element_bytes((enum element)read_word(L, what, "type", ELEMENT_COUNT, types));
    int one = formulas_constant(&n->formulas, 1);
    b.copies = read_formula(L, what, "copies", one);
    b.used = read_formula(L, what, "used", one);
    n->buffer[n->buffer_count] = b;
    int *index = lua_newuserdatauv(L, sizeof *index, 0);
    *index = n->buffer_count++;
    luaL_setmetatable(L, BUFFER);
    return 1;
}

static int index_buffer(lua_State *L) // buffer { index, ... }
{
    const struct nest *n = nest_of(L);
    int buffer = *(const int *)luaL_checkudata(L, 1, BUFFER), terms = 0;
    const struct nest_buffer *b = &n->buffer[buffer];
    const char *what = lua_pushfstring(L, "buffer '%s'", b->name);
    int given = check_list(L, 2, what), first = lua_gettop(L);
    if (given != b->dim_count)
        luaL_error(L, "%s has %d dimensions, %d indices are given", what, b->dim_count, given);
    for (int i = 1; i <= given; i++) {
        lua_geti(L, 2, i);
        terms += check_index(L, first + i, what)->count;
    }
    struct indexed *x = lua_newuserdatauv(L, sizeof *x + (size_t)terms * sizeof *x->term, 0);
    *x = (struct indexed){.buffer = buffer};
    struct nest_term *next = x->term;
    for (int i = 0; i < given; i++) {
        const struct symbol *index = luaL_testudata(L, first + 1 + i, SYMBOL);
        x->count[i] = index->count;
        memcpy(next, index->term, (size_t)index->count * sizeof *next);
        next += index->count;
    }
    luaL_setmetatable(L, ACCESS);
    return 1;
}

// --- statements ---

static void read_path(lua_State *L, const char *what, struct nest *n, struct nest_statement *s)
{
    enum { list = FIELDS + 1 };
    lua_settop(L, FIELDS);
    lua_getfield(L, FIELDS, "loops");
    what = lua_pushfstring(L, "%s: loops", what);
    int count = check_list(L, list, what);
    if (count > NEST_MAX_PATH)
        luaL_error(L, "%s: more than %d", what, NEST_MAX_PATH);
    int *path = arena_zero(&n->arena, (size_t)count, sizeof *path);
    for (int i = 0; i < count; i++) {
        lua_geti(L, list, i + 1);
        const struct symbol *x = luaL_testudata(L, -1, SYMBOL);
        if (!x || x->loop < 0)
            luaL_error(L, "%s: number %d is not a loop", what, i + 1);
        for (int k = 0; k < i; k++)
            if (path[k] == x->loop)
                luaL_error(L, "%s: '%s' is listed twice", what, n->loop[x->loop].name);
        path[i] = x->loop;
        lua_pop(L, 1);
    }
    s->loop = path;
    s->loop_count = count;
    lua_settop(L, FIELDS);
}

// Returns the access on the top of the stack, which is popped.
static struct nest_access read_access(lua_State *L, const char *what, struct nest *n,
                                      const struct nest_statement *s)
{
    const struct indexed *x = luaL_testudata(L, -1, ACCESS);
    if (!x)
        luaL_error(L, "%s: expected an element of a buffer, buffer { index, ... }, got %s", what,
                   lua_isnoneornil(L, -1) ? "nothing" : luaL_typename(L, -1));
    const struct nest_buffer *b = &n->buffer[x->buffer];
    struct nest_access a = {.buffer = x->buffer};
    const struct nest_term *next = x->term;
    for (int d = 0; d < b->dim_count; d++) {
        struct nest_term *term = arena_zero(&n->arena, (size_t)x->count[d], sizeof *term);
        for (int i = 0; i < x->count[d]; i++) {
            term[i] = *next++;
            int k = 0;
            while (k < s->loop_count && s->loop[k] != term[i].loop)
                k++;
            if (k == s->loop_count)
                luaL_error(L, "%s: the index of '%s' has loop '%s', which it is not in", what,
                           b->name, n->loop[term[i].loop].name);
        }
        a.dim[d].term = term;
        a.dim[d].count = x->count[d];
    }
    lua_pop(L, 1);
    return a;
}

static int make_statement(lua_State *L) // d.statement { name, loops = , stores = , ... }
{
    static const char *const known[] = {"loops",   "stores",  "updates",  "reads",
                                        "when",    "add",     "multiply", "divide",
                                        "compare", "special", "integer",  NULL};
    struct nest *n = nest_of(L);
    const char *what, *name = read_parts(L, "statement", false, known, &what);
    for (int i = 0; i < n->statement_count; i++)
        if (strcmp(n->statement[i].name, name) == 0)
            luaL_error(L, "%s is declared twice", what);
    if (n->statement_count == NEST_MAX_STATEMENTS)
        luaL_error(L, "nest: more than %d statements", NEST_MAX_STATEMENTS);
    int zero = formulas_constant(&n->formulas, 0), one = formulas_constant(&n->formulas, 1);
    struct nest_statement s = {.name = name, .when = read_formula(L, what, "when", one)};
    s.add = read_formula(L, what, "add", zero);
    s.multiply = read_formula(L, what, "multiply", zero);
    s.divide = read_formula(L, what, "divide", zero);
    s.compare = read_formula(L, what, "compare", zero);
    s.special = read_formula(L, what, "special", zero);
    s.integer = read_formula(L, what, "integer", zero);
    read_path(L, what, n, &s);
    struct nest_access *access = arena_zero(&n->arena, NEST_MAX_ACCESSES, sizeof *access);
    bool stores = lua_getfield(L, FIELDS, "stores") != LUA_TNIL;
    bool updates = lua_getfield(L, FIELDS, "updates") != LUA_TNIL;
    if (stores == updates)
        luaL_error(L, "%s: %s", what,
                   stores ? "it either stores or updates" : "stores is missing (or updates)");
    lua_pushvalue(L, stores ? -2 : -1);
    access[0] = read_access(L, what, n, &s);
    access[0].write = true;
    access[0].read = updates;
    s.access = access;
    s.access_count = 1;
    if (lua_getfield(L, FIELDS, "reads") != LUA_TNIL) {
        int list = lua_gettop(L), count = check_list(L, list, what);
        if (count + 1 > NEST_MAX_ACCESSES)
            luaL_error(L, "%s: more than %d reads", what, NEST_MAX_ACCESSES - 1);
        for (int i = 1; i <= count; i++) {
            lua_geti(L, list, i);
            access[i] = read_access(L, what, n, &s);
            access[i].read = true;
        }
        s.access_count = count + 1;
    }
    lua_settop(L, FIELDS);
    n->statement[n->statement_count++] = s;
    return 0;
}

static int set_unroll(lua_State *L) // d.unroll(limit)
{
    nest_of(L)->unroll = check_formula(L, 1, "d.unroll");
    return 0;
}

// --- nest ---

void declare_nest_run(lua_State *L, struct script *s)
{
    if (s->nest.function == LUA_NOREF)
        return;
    s->guard.place = s->nest.place;
    s->loop_nest = nest_create();
    s->is_declaring_nest = true;
    static const struct script_closure events[] = {{"__add", on_sum, FORMULA_ADD},
                                                   {"__sub", on_sum, FORMULA_SUBTRACT},
                                                   {"__unm", on_minus, FORMULA_SUBTRACT},
                                                   {"__mul", on_multiply, 0},
                                                   {"__idiv", on_formulas, FORMULA_DIVIDE},
                                                   {"__mod", on_formulas, FORMULA_MODULO},
                                                   {"__div", on_refused, false},
                                                   {"__eq", on_refused, true},
                                                   {"__lt", on_refused, true},
                                                   {"__le", on_refused, true},
                                                   {NULL, NULL, 0}};
    static const struct script_closure equal[] = {{"__eq", on_refused, true}, {NULL, NULL, 0}};
    luaL_newmetatable(L, SYMBOL);
    script_set_closures(L, events);
    luaL_newmetatable(L, WORD);
    script_set_closures(L, equal);
    luaL_newmetatable(L, ORDER);
    script_set_closures(L, equal);
    lua_pop(L, 3);
    luaL_newmetatable(L, ACCESS);
    luaL_newmetatable(L, BUFFER);
    lua_pushcfunction(L, index_buffer);
    lua_setfield(L, -2, "__call");
    lua_pop(L, 2);
    lua_rawgeti(L, LUA_REGISTRYINDEX, s->nest.function);
    push_config(L);
    static const struct script_closure functions[] = {{"loop", make_loop, 0},
                                                      {"buffer", make_buffer, 0},
                                                      {"statement", make_statement, 0},
                                                      {"unroll", set_unroll, 0},
                                                      {"min", call_fold, FORMULA_MIN},
                                                      {"max", call_fold, FORMULA_MAX},
                                                      {"all", call_fold, FORMULA_AND},
                                                      {"any", call_fold, FORMULA_OR},
                                                      {"none", call_fold, FORMULA_NOT},
                                                      {"ceil_div", call_pair, FORMULA_CEIL_DIVIDE},
                                                      {"divisor", call_pair, FORMULA_DIVISOR},
                                                      {"equal", call_pair, FORMULA_EQUAL},
                                                      {"less", call_pair, FORMULA_LESS},
                                                      {"choose", call_choose, 0},
                                                      {"is", call_is, 0},
                                                      {"place", call_place, 0},
                                                      {NULL, NULL, 0}};
    lua_newtable(L);
    script_set_closures(L, functions);
    readonly_wrap(L, "d", NULL);
    lua_call(L, 2, 0);
    s->is_declaring_nest = false;
    if (s->loop_nest->statement_count == 0)
        guard_raise(L, s->nest.place, "nest: no statement is declared (d.statement { ... })");
    nest_seal(s->loop_nest);
    s->space->nest = s->loop_nest;
}
