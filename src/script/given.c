// The arguments of a kernel for a configuration: macros, specialization constants, push constants
// and the buffers of its bindings.
#include "script/check.h"
#include "script/readonly.h"
#include "script/state.h"

#include "space/tensor.h"

#include <math.h>
#include <string.h>

// Calls a function of the configuration that returns a table. False: there is no function.
static bool call(lua_State *L, struct script *s, int function, const struct config *c,
                 const char *what)
{
    if (function == LUA_NOREF)
        return false;
    rule_call(L, s, function, c);
    check_type(L, -1, what, LUA_TTABLE);
    return true;
}

// --- macros ---

void given_define(lua_State *L, struct script *s, const struct stage *stage, const struct config *c,
                  struct str *out)
{
    if (!call(L, s, stage->define, c, "kernel: what define returns"))
        return;
    int table = lua_gettop(L), count = order_push_keys(L, table);
    for (int i = 1; i <= count; i++) {
        if (lua_rawgeti(L, table + 1, i) != LUA_TSTRING)
            luaL_error(L, "kernel: define: macros are given by name, { NAME = value }");
        const char *name = check_string(L, -1, "kernel: define");
        // NAME or NAME(a, b).
        static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
        static const char more[] =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
        size_t length = strspn(name, more);
        const char *rest = name + length;
        bool is_plain = length && strchr(first, *name) && !*rest;
        bool has_parameters = length && strchr(first, *name) && *rest == '(' &&
                              rest[strcspn(rest, ")\n\\/")] == ')' && !rest[strcspn(rest, ")") + 1];
        if (!is_plain && !has_parameters)
            luaL_error(L, "kernel: define: '%s' is no name of a macro", name);
        lua_getfield(L, table, name);
        guard_charge(L, 64);
        // `true` is 1; `false` leaves the macro undefined.
        bool is_undefined = lua_isboolean(L, -1) && !lua_toboolean(L, -1);
        const char *text = "1";
        if (lua_type(L, -1) == LUA_TNUMBER) {
            check_real(L, -1, name);
            lua_pushvalue(L, -1);
            text = lua_tostring(L, -1);
        } else if (lua_type(L, -1) == LUA_TSTRING) {
            text = lua_tostring(L, -1);
        } else if (!lua_isboolean(L, -1)) {
            luaL_error(L, "kernel: define: %s is a %s", name, luaL_typename(L, -1));
        }
        if (strlen(text) > CHECK_MAX_TEXT || strpbrk(text, "\n\r"))
            luaL_error(L, "kernel: define: %s is no single line of at most %d bytes", name,
                       CHECK_MAX_TEXT);
        if (!is_undefined)
            str_printf(out, "#define %s %s\n", name, text);
        lua_settop(L, table + 1);
    }
    lua_settop(L, table - 1);
}

// --- push constants ---

static const struct push_type {
    const char *name;
    uint8_t bytes;
    enum push_kind kind;
    int64_t low, high;
} push_types[] = {
    {"u32", 4, PUSH_UNSIGNED, 0, UINT32_MAX},
    {"i32", 4, PUSH_SIGNED, INT32_MIN, INT32_MAX},
    {"f32", 4, PUSH_FLOAT, 0, 0},
    {"u64", 8, PUSH_UNSIGNED, 0, INT64_MAX},
    {"i64", 8, PUSH_SIGNED, INT64_MIN, INT64_MAX},
    {"f64", 8, PUSH_FLOAT, 0, 0},
    {"u16", 2, PUSH_UNSIGNED, 0, UINT16_MAX},
    {"i16", 2, PUSH_SIGNED, INT16_MIN, INT16_MAX},
    {"f16", 2, PUSH_FLOAT, 0, 0},
    {"u8", 1, PUSH_UNSIGNED, 0, UINT8_MAX},
    {"i8", 1, PUSH_SIGNED, INT8_MIN, INT8_MAX},
    {NULL, 0, PUSH_WHOLE, 0, 0},
};
// The types of a plain number, true or false.
static const struct push_type plain_whole = {"u32", 4, PUSH_WHOLE, INT32_MIN, UINT32_MAX};
static const struct push_type *const plain_real = &push_types[2];

struct push {
    struct pass *pass;
    bool taken[JOB_MAX_PUSH];
    int field; // from 1
    uint32_t at;
};

// Puts the value on the top, as little-endian bytes.
static void put(lua_State *L, struct push *push, const struct push_type *t)
{
    const char *what = lua_pushfstring(L, "kernel: push: field %d", push->field);
    uint64_t bits = 0;
    double real;
    float single;
    if (lua_isboolean(L, -2)) {
        bits = (uint64_t)lua_toboolean(L, -2);
    } else if (t->kind != PUSH_FLOAT) {
        bits = (uint64_t)check_whole(L, -2, what, t->low, t->high);
    } else {
        real = check_real(L, -2, what);
        single = (float)real;
        if (t->bytes == 8)
            memcpy(&bits, &real, 8);
        else if (t->bytes == 4)
            memcpy(&bits, &single, 4);
        else
            bits = half_from_float(single);
    }
    lua_pop(L, 1);
    push->at = (push->at + t->bytes - 1) / t->bytes * t->bytes;
    if (push->at + t->bytes > JOB_MAX_PUSH)
        luaL_error(L, "kernel: push: field %d ends behind byte %d", push->field, JOB_MAX_PUSH);
    for (uint32_t i = 0; i < t->bytes; i++) {
        if (push->taken[push->at + i])
            luaL_error(L, "kernel: push: field %d overlaps another one at byte %d", push->field,
                       (int)(push->at + i));
        push->taken[push->at + i] = true;
        push->pass->push[push->at + i] = (uint8_t)(bits >> 8 * i);
    }
    // The other values of a field lie behind its first one.
    struct push_field *f = &push->pass->field[push->field - 1];
    if (!f->count)
        f->at = (uint16_t)push->at;
    f->kind = (uint8_t)t->kind;
    f->bytes = t->bytes;
    f->count++;
    push->at += t->bytes;
    uint32_t end = (push->at + 3) / 4 * 4;
    if (end > push->pass->push_bytes)
        push->pass->push_bytes = end;
}

// Puts { "f32", value, ..., offset = bytes, name = "of the member" } on the top.
static void put_typed(lua_State *L, struct push *push)
{
    static const char *const known[] = {"offset", "name", NULL};
    int field = lua_gettop(L), list = field + 1, fields = field + 2;
    const char *what = lua_pushfstring(L, "kernel: push: field %d", push->field);
    lua_insert(L, field++);
    list++, fields++;
    check_parts(L, field, what);
    check_fields(L, fields, what, known);
    if (lua_getfield(L, fields, "name") != LUA_TNIL) {
        const char *name = check_identifier(L, -1, what);
        if (strlen(name) >= JOB_MAX_FIELD_NAME)
            luaL_error(L, "%s: a name of more than %d bytes", what, JOB_MAX_FIELD_NAME - 1);
        memcpy(push->pass->field[push->field - 1].name, name, strlen(name) + 1);
    }
    lua_pop(L, 1);
    if (lua_getfield(L, fields, "offset") != LUA_TNIL)
        push->at = (uint32_t)check_whole(L, -1, what, 0, JOB_MAX_PUSH - 1);
    lua_geti(L, list, 1);
    const struct push_type *t = push_types;
    const char *type = check_string(L, -1, what);
    while (t->name && strcmp(t->name, type) != 0)
        t++;
    if (!t->name)
        luaL_error(L, "%s has no type '%s' (u32, i32, f32, u64, i64, f64, u16, i16, f16, u8, i8)",
                   what, type);
    if (push->at % t->bytes)
        push->at += t->bytes - push->at % t->bytes;
    int count = (int)lua_rawlen(L, list);
    for (int i = 2; i <= count; i++) {
        lua_geti(L, list, i);
        put(L, push, t);
        lua_pop(L, 1);
    }
    lua_settop(L, field);
    lua_remove(L, field - 1);
}

// --- all arguments ---

void given_read_bindings(lua_State *L, struct stage *stage)
{
    const char *what = "kernel: bindings";
    if (lua_getfield(L, 1, "bindings") == LUA_TNIL)
        return;
    int list = lua_gettop(L);
    stage->binding_count = check_list(L, list, what);
    if (stage->binding_count < 1 || stage->binding_count > JOB_MAX_BINDINGS)
        luaL_error(L, "%s: %d buffers, not 1 to %d", what, stage->binding_count, JOB_MAX_BINDINGS);
    for (int i = 0; i < stage->binding_count; i++) {
        lua_geti(L, list, i + 1);
        stage->binding[i] = script_keep_text(L, check_identifier(L, -1, what));
    }
    lua_settop(L, list - 1);
}

void given_fill(lua_State *L, struct script *s, const struct stage *stage, const struct config *c,
                struct pass *p)
{
    if (call(L, s, stage->spec, c, "kernel: what spec returns")) {
        int table = lua_gettop(L), count = order_push_keys(L, table);
        if (count > JOB_MAX_CONSTANTS)
            luaL_error(L, "kernel: spec: more than %d constants", JOB_MAX_CONSTANTS);
        for (int i = 1; i <= count; i++) {
            lua_rawgeti(L, table + 1, i);
            int64_t id = check_whole(L, -1, "kernel: spec: the id of a constant", 0, UINT32_MAX);
            lua_geti(L, table, id);
            bool is_bool = lua_isboolean(L, -1);
            const char *what = lua_pushfstring(L, "kernel: spec: constant %d", (int)id);
            double value = is_bool ? lua_toboolean(L, -2) : check_real(L, -2, what);
            p->constant[p->constant_count++] = (struct spec_constant){(uint32_t)id, is_bool, value};
            lua_settop(L, table + 1);
        }
        lua_settop(L, table - 1);
    }
    if (call(L, s, stage->push, c, "kernel: what push returns")) {
        struct push push = {.pass = p};
        int table = lua_gettop(L), count = check_list(L, table, "kernel: push");
        if (count > JOB_MAX_FIELDS)
            luaL_error(L, "kernel: push: more than %d fields", JOB_MAX_FIELDS);
        p->field_count = count;
        for (push.field = 1; push.field <= count; push.field++) {
            int type = lua_geti(L, table, push.field);
            if (type == LUA_TTABLE)
                put_typed(L, &push);
            else
                put(L, &push,
                    type == LUA_TNUMBER && !lua_isinteger(L, -1) ? plain_real : &plain_whole);
            lua_settop(L, table);
        }
        lua_settop(L, table - 1);
    }
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int tensors = operation_tensors(&s->operation, tensor);
    for (int i = 0; i < stage->binding_count; i++) {
        int buffer = 0;
        while (buffer < tensors && strcmp(stage->binding[i], tensor[buffer].name) != 0)
            buffer++;
        if (buffer == tensors && strcmp(stage->binding[i], "scratch") != 0)
            luaL_error(L, "kernel: bindings: the operator has no buffer '%s'", stage->binding[i]);
        p->binding[i] = (uint8_t)buffer;
    }
    p->binding_count = stage->binding_count;
}
