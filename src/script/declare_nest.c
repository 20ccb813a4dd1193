// nest(function(c, d) ... end): the kernel's loops, buffers and statements as data.
//
// The function is called once, after the rest of the file: `c` has a symbol for each parameter, `d`
// what a nest is made of. See nest_symbol.h.
#include "script/check.h"
#include "script/nest_symbol.h"
#include "script/readonly.h"
#include "script/state.h"

#include <string.h>

#define BUFFER "a buffer of the nest" // names of metatables
#define ACCESS "an element of a buffer"

// An access as the file made it; the terms of its dimensions, one after the other.
struct indexed {
    int buffer;
    int count[NEST_MAX_DIMS];
    struct nest_term term[];
};

// The arguments { "name", ..., field = }: 1 the table, then
enum { LIST = 2, FIELDS };

// The name, and in `what` how messages call it.
static const char *read_parts(lua_State *L, const char *kind, bool has_sizes,
                              const char *const *known, const char **what)
{
    struct arena *arena = &nest_symbol_nest(L)->arena;
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
    return nest_symbol_formula(L, FIELDS + 1, lua_pushfstring(L, "%s: %s", what, field));
}

// The index of the field's word among `count` names; 0, the standard, when it is absent.
static int read_word(lua_State *L, const char *what, const char *field, int count,
                     const char *(*name)(int index))
{
    lua_settop(L, FIELDS);
    if (lua_getfield(L, FIELDS, field) == LUA_TNIL)
        return 0;
    const char *word = check_string(L, FIELDS + 1, lua_pushfstring(L, "%s: %s", what, field));
    const char *known[16];
    for (int i = 0; i < count; i++) {
        known[i] = name(i);
        if (strcmp(word, known[i]) == 0)
            return i;
    }
    const char *near = str_suggest_list(word, (size_t)count, known);
    if (near)
        luaL_error(L, "%s has no %s '%s' (did you mean '%s'?)", what, field, word, near);
    return luaL_error(L, "%s has no %s '%s'", what, field, word);
}

static int constant(lua_State *L, double number)
{
    return formulas_constant(&nest_symbol_nest(L)->formulas, number);
}

// --- loops ---

static const char *kind_name(int i) // serial, the standard, first
{
    return nest_loop_kind_name((enum nest_loop_kind)((i + NEST_SERIAL) % NEST_LOOP_KINDS));
}

static int make_loop(lua_State *L) // d.loop { name, kind = , length = , place = }
{
    static const char *const known[] = {"kind", "length", "place", NULL};
    struct nest *n = nest_symbol_nest(L);
    const char *what, *name = read_parts(L, "loop", false, known, &what);
    for (int i = 0; i < n->loop_count; i++)
        if (strcmp(n->loop[i].name, name) == 0)
            luaL_error(L, "%s is declared twice", what);
    if (n->loop_count == NEST_MAX_LOOPS)
        luaL_error(L, "nest: more than %d loops", NEST_MAX_LOOPS);
    int kind = (read_word(L, what, "kind", NEST_LOOP_KINDS, kind_name) + NEST_SERIAL);
    if (lua_getfield(L, FIELDS, "length") == LUA_TNIL)
        luaL_error(L, "%s: length is missing", what);
    n->loop[n->loop_count] = (struct nest_loop){
        .name = name,
        .kind = (enum nest_loop_kind)(kind % NEST_LOOP_KINDS),
        .length = read_formula(L, what, "length", -1),
        .place = read_formula(L, what, "place", -1),
    };
    nest_symbol_push_loop(L, n->loop_count++);
    return 1;
}

// --- buffers ---

static const char *memory_name(int i)
{
    return nest_memory_name((enum nest_memory)i);
}

static const char *type_name(int i)
{
    return element_name((enum element)i);
}

static int make_buffer(lua_State *L) // d.buffer { name, size, ..., memory = , type = , ... }
{
    static const char *const known[] = {"memory", "type", "copies", "used", NULL};
    struct nest *n = nest_symbol_nest(L);
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
        b.dim[i] = nest_symbol_formula(L, -1, what);
    }
    b.memory = (enum nest_memory)read_word(L, what, "memory", NEST_REGISTERS + 1, memory_name);
    b.bytes = element_bytes((enum element)read_word(L, what, "type", ELEMENT_COUNT, type_name));
    b.copies = read_formula(L, what, "copies", constant(L, 1));
    b.used = read_formula(L, what, "used", constant(L, 1));
    n->buffer[n->buffer_count] = b;
    int *index = lua_newuserdatauv(L, sizeof *index, 0);
    *index = n->buffer_count++;
    luaL_setmetatable(L, BUFFER);
    return 1;
}

static int index_buffer(lua_State *L) // buffer { index, ... }
{
    const struct nest *n = nest_symbol_nest(L);
    int buffer = *(const int *)luaL_checkudata(L, 1, BUFFER), terms = 0;
    const struct nest_buffer *b = &n->buffer[buffer];
    const char *what = lua_pushfstring(L, "buffer '%s'", b->name);
    int given = check_list(L, 2, what), first = lua_gettop(L);
    if (given != b->dim_count)
        luaL_error(L, "%s has %d dimensions, %d indices are given", what, b->dim_count, given);
    for (int i = 1; i <= given; i++) {
        lua_geti(L, 2, i);
        terms += nest_symbol_index(L, first + i, what)->count;
    }
    struct indexed *x = lua_newuserdatauv(L, sizeof *x + (size_t)terms * sizeof *x->term, 0);
    *x = (struct indexed){.buffer = buffer};
    struct nest_term *next = x->term;
    for (int i = 0; i < given; i++) {
        const struct symbol *index = nest_symbol_test(L, first + 1 + i);
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
        const struct symbol *x = nest_symbol_test(L, -1);
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

static void check_on_path(lua_State *L, const char *what, const struct nest *n,
                          const struct nest_statement *s, const struct nest_buffer *b, int loop)
{
    for (int i = 0; i < s->loop_count; i++)
        if (s->loop[i] == loop)
            return;
    luaL_error(L, "%s: the index of '%s' has loop '%s', which it is not in", what, b->name,
               n->loop[loop].name);
}

// The access at the top of the stack, which it pops.
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
            check_on_path(L, what, n, s, b, term[i].loop);
        }
        a.dim[d].term = term;
        a.dim[d].count = x->count[d];
    }
    lua_pop(L, 1);
    return a;
}

static void read_accesses(lua_State *L, const char *what, struct nest *n, struct nest_statement *s)
{
    struct nest_access *access = arena_zero(&n->arena, NEST_MAX_ACCESSES, sizeof *access);
    bool stores = lua_getfield(L, FIELDS, "stores") != LUA_TNIL;
    bool updates = lua_getfield(L, FIELDS, "updates") != LUA_TNIL;
    if (stores == updates)
        luaL_error(L, "%s: %s", what,
                   stores ? "it either stores or updates" : "stores is missing (or updates)");
    lua_pushvalue(L, stores ? -2 : -1);
    access[0] = read_access(L, what, n, s);
    access[0].write = true;
    access[0].read = updates;
    s->access = access;
    s->access_count = 1;
    if (lua_getfield(L, FIELDS, "reads") != LUA_TNIL) {
        int list = lua_gettop(L), count = check_list(L, list, what);
        if (count + 1 > NEST_MAX_ACCESSES)
            luaL_error(L, "%s: more than %d reads", what, NEST_MAX_ACCESSES - 1);
        for (int i = 1; i <= count; i++) {
            lua_geti(L, list, i);
            access[i] = read_access(L, what, n, s);
            access[i].read = true;
        }
        s->access_count = count + 1;
    }
    lua_settop(L, FIELDS);
}

static int make_statement(lua_State *L) // d.statement { name, loops = , stores = , ... }
{
    static const char *const known[] = {"loops",   "stores",  "updates",  "reads",
                                        "when",    "add",     "multiply", "divide",
                                        "compare", "special", "integer",  NULL};
    struct nest *n = nest_symbol_nest(L);
    const char *what, *name = read_parts(L, "statement", false, known, &what);
    for (int i = 0; i < n->statement_count; i++)
        if (strcmp(n->statement[i].name, name) == 0)
            luaL_error(L, "%s is declared twice", what);
    if (n->statement_count == NEST_MAX_STATEMENTS)
        luaL_error(L, "nest: more than %d statements", NEST_MAX_STATEMENTS);
    int zero = constant(L, 0);
    struct nest_statement s = {.name = name, .when = read_formula(L, what, "when", constant(L, 1))};
    s.add = read_formula(L, what, "add", zero);
    s.multiply = read_formula(L, what, "multiply", zero);
    s.divide = read_formula(L, what, "divide", zero);
    s.compare = read_formula(L, what, "compare", zero);
    s.special = read_formula(L, what, "special", zero);
    s.integer = read_formula(L, what, "integer", zero);
    read_path(L, what, n, &s);
    read_accesses(L, what, n, &s);
    n->statement[n->statement_count++] = s;
    return 0;
}

static int set_unroll(lua_State *L) // d.unroll(limit)
{
    nest_symbol_nest(L)->unroll = nest_symbol_formula(L, 1, "d.unroll");
    return 0;
}

// --- nest ---

static void open_kinds(lua_State *L)
{
    nest_symbol_open(L);
    luaL_newmetatable(L, ACCESS);
    luaL_newmetatable(L, BUFFER);
    lua_pushcfunction(L, index_buffer);
    lua_setfield(L, -2, "__call");
    lua_pop(L, 2);
}

static void push_d(lua_State *L)
{
    static const luaL_Reg functions[] = {{"loop", make_loop},
                                         {"buffer", make_buffer},
                                         {"statement", make_statement},
                                         {"unroll", set_unroll},
                                         {NULL, NULL}};
    lua_newtable(L);
    luaL_setfuncs(L, functions, 0);
    nest_symbol_set_functions(L);
    readonly_wrap(L, "d", NULL);
}

void declare_nest_run(lua_State *L, struct script *s)
{
    if (s->nest.function == LUA_NOREF)
        return;
    s->guard.place = s->nest.place;
    s->loop_nest = nest_create();
    s->is_declaring_nest = true;
    open_kinds(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, s->nest.function);
    nest_symbol_push_config(L);
    push_d(L);
    lua_call(L, 2, 0);
    s->is_declaring_nest = false;
    if (s->loop_nest->statement_count == 0)
        guard_raise(L, s->nest.place, "nest: no statement is declared (d.statement { ... })");
    nest_seal(s->loop_nest);
    s->space->nest = s->loop_nest;
}

static int declare_nest(lua_State *L) // nest(function(c, d))
{
    struct script *s = script_loading(L, "nest");
    declare_rule(L, s, &s->nest, "nest");
    return 0;
}

void declare_nest_open(lua_State *L)
{
    lua_pushcfunction(L, declare_nest);
    lua_setfield(L, -2, "nest");
}
