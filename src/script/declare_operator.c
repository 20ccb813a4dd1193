// operator, and what it gives back: the operator as Lua sees it.
#include "script/check.h"
#include "script/readonly.h"
#include "script/state.h"

#include <string.h>

#define MOST_FIELDS (OPERATION_MAX_SIZES + OPERATION_MAX_CHOICES + OPERATION_MAX_REALS)

// The fields that a space file may give, NULL-terminated.
static void list_fields(const struct operation_kind *kind, const char *known[MOST_FIELDS + 1])
{
    int n = 0;
    for (int i = 0; kind->sizes[i].name; i++)
        known[n++] = kind->sizes[i].name;
    for (int i = 0; kind->choices && kind->choices[i].name; i++)
        known[n++] = kind->choices[i].name;
    for (int i = 0; kind->reals && kind->reals[i].name; i++)
        known[n++] = kind->reals[i].name;
    known[n] = NULL;
}

static const struct operation_size *find_size(const struct operation_kind *kind, const char *name)
{
    for (int i = 0; kind->sizes[i].name; i++)
        if (strcmp(kind->sizes[i].name, name) == 0)
            return &kind->sizes[i];
    return NULL;
}

static bool is_choice(const struct operation_kind *kind, const char *name)
{
    for (int i = 0; kind->choices && kind->choices[i].name; i++)
        if (strcmp(kind->choices[i].name, name) == 0)
            return true;
    return false;
}

// Sets a field to the value on the top of the stack.
static bool set_field(lua_State *L, struct operation *o, const char *name, struct err *e)
{
    const struct operation_size *size = find_size(o->kind, name);
    int value = lua_gettop(L);
    const char *what = lua_pushfstring(L, "%s: %s", o->kind->name, name);
    if (size)
        return operation_set_size(o, name, check_whole(L, value, what, size->least, INT32_MAX), e);
    if (is_choice(o->kind, name))
        return operation_set_choice(o, name, check_string(L, value, what), e);
    check_type(L, value, what, LUA_TNUMBER);
    return operation_set_real(o, name, lua_tonumber(L, value), e);
}

static void set_integer(lua_State *L, const char *name, int64_t value)
{
    lua_pushinteger(L, value);
    lua_setfield(L, -2, name);
}

// The binding of each buffer by its name, and of scratch memory behind them.
static void push_bindings(lua_State *L, const struct operation *o)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int count = operation_tensors(o, tensor);
    lua_newtable(L);
    for (int i = 0; i < count; i++)
        set_integer(L, tensor[i].name, i);
    set_integer(L, "scratch", count);
    readonly_wrap(L, "op.bindings", NULL);
}

static void push_operation(lua_State *L, const struct operation *o)
{
    const struct operation_kind *kind = o->kind;
    lua_newtable(L);
    lua_pushstring(L, kind->name);
    lua_setfield(L, -2, "kind");
    for (int i = 0; kind->sizes[i].name; i++)
        set_integer(L, kind->sizes[i].name, o->size[i]);
    for (int i = 0; kind->derived && kind->derived[i].name; i++)
        set_integer(L, kind->derived[i].name, kind->derived[i].value(o));
    for (int i = 0; kind->choices && kind->choices[i].name; i++) {
        lua_pushstring(L, kind->choices[i].values[o->choice[i]]);
        lua_setfield(L, -2, kind->choices[i].name);
    }
    for (int i = 0; kind->reals && kind->reals[i].name; i++) {
        lua_pushnumber(L, o->real[i]);
        lua_setfield(L, -2, kind->reals[i].name);
    }
    push_bindings(L, o);
    lua_setfield(L, -2, "bindings");
    readonly_wrap(L, "op", NULL);
}

void declare_operator_read(lua_State *L, int fields, const struct operation_kind *kind,
                           struct operation *out)
{
    const char *known[MOST_FIELDS + 1];
    struct err e;
    int top = lua_gettop(L);
    list_fields(kind, known);
    check_fields(L, fields, kind->name, known);
    operation_init(out, kind);
    for (int i = 0; known[i]; i++) {
        if (lua_getfield(L, fields, known[i]) != LUA_TNIL && !set_field(L, out, known[i], &e))
            luaL_error(L, "%s", e.text);
        lua_settop(L, top);
    }
    if (!operation_complete(out, &e))
        luaL_error(L, "%s", e.text);
}

struct script *declare_operator_begin(lua_State *L)
{
    struct script *s = script_loading(L, "operator");
    if (s->operation.kind)
        luaL_error(L, "the operator is declared twice");
    return s;
}

int declare_operator_end(lua_State *L, struct script *s, const struct operation *o)
{
    s->operation = *o;
    push_operation(L, o);
    lua_pushvalue(L, -1);
    s->operation_table = script_keep(L);
    return 1;
}

static int declare_operator(lua_State *L) // operator.KIND { ... } -> op; upvalue: the kind
{
    struct script *s = declare_operator_begin(L);
    struct operation o;
    declare_operator_read(L, 1, lua_touserdata(L, lua_upvalueindex(1)), &o);
    return declare_operator_end(L, s, &o);
}

void declare_operator_open(lua_State *L)
{
    static const struct readonly_words words = {.unknown = "unknown operator '%s'"};
    lua_newtable(L);
    for (int i = 0; operation_kinds[i]; i++) {
        lua_pushlightuserdata(L, (void *)(uintptr_t)operation_kinds[i]);
        lua_pushcclosure(L, declare_operator, 1);
        lua_setfield(L, -2, operation_kinds[i]->name);
    }
    readonly_wrap(L, "operator", &words);
    lua_setfield(L, -2, "operator");
}
