// kernel of a space file: its template or shader, and what it is given.
#include "script/check.h"
#include "script/state.h"

#include <string.h>

static bool has_field(lua_State *L, const char *field)
{
    bool has = lua_getfield(L, 1, field) != LUA_TNIL;
    lua_pop(L, 1);
    return has;
}

static int constant_value(lua_State *L) // upvalue: what it returns
{
    lua_pushvalue(L, lua_upvalueindex(1));
    return 1;
}

// Keeps a function of the table at 1, or a table as a function that returns it, where that is
// allowed.
static int keep_function(lua_State *L, const char *name, bool may_be_table)
{
    const char *what = lua_pushfstring(L, "kernel: %s", name);
    int type = lua_getfield(L, 1, name);
    if (type == LUA_TNIL)
        return LUA_NOREF;
    if (type == LUA_TTABLE && may_be_table)
        lua_pushcclosure(L, constant_value, 1);
    check_type(L, -1, what, LUA_TFUNCTION);
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

// --- what bindings are ---

// Adds what is on the top: the name of a buffer, or the function of a uniform block.
static void add_resource(lua_State *L, struct stage *stage, const char *what, int set, int binding,
                         int element)
{
    if (stage->resource_count == JOB_MAX_BINDINGS)
        luaL_error(L, "%s: more than %d bindings", what, JOB_MAX_BINDINGS);
    for (int i = 0; i < stage->resource_count; i++)
        if (stage->resource[i].set == set && stage->resource[i].binding == binding &&
            stage->resource[i].element == element)
            luaL_error(L, "%s: binding %d of set %d is given twice", what, binding, set);
    bool is_uniform = lua_isfunction(L, -1);
    const char *name = is_uniform ? NULL : script_keep_text(L, check_identifier(L, -1, what));
    lua_pushvalue(L, -1);
    int function = is_uniform ? luaL_ref(L, LUA_REGISTRYINDEX) : LUA_NOREF;
    lua_settop(L, lua_gettop(L) - !is_uniform);
    stage->resource[stage->resource_count].set = (uint16_t)set;
    stage->resource[stage->resource_count].binding = (uint16_t)binding;
    stage->resource[stage->resource_count].element = (uint16_t)element;
    stage->resource[stage->resource_count].name = name;
    stage->resource[stage->resource_count++].function = function;
}

// Reads the list on the top, whose elements are bindings from 0 on: a list in it is an array.
static void read_set(lua_State *L, struct stage *stage, const char *what, int set)
{
    int list = lua_gettop(L), count = check_list(L, list, what);
    if (count < 1 || count > JOB_MAX_BINDINGS)
        luaL_error(L, "%s: %d buffers, not 1 to %d", what, count, JOB_MAX_BINDINGS);
    for (int i = 0; i < count; i++) {
        bool is_array = lua_geti(L, list, i + 1) == LUA_TTABLE;
        int array = lua_gettop(L), length = is_array ? check_list(L, array, what) : 1;
        if (length < 1)
            luaL_error(L, "%s: an array of no buffers", what);
        for (int k = 0; k < length; k++) {
            if (is_array)
                lua_geti(L, array, k + 1);
            if (is_array && lua_isfunction(L, -1))
                luaL_error(L, "%s: an array has buffers, not uniform blocks", what);
            add_resource(L, stage, what, set, i, k);
            lua_settop(L, array);
        }
        lua_settop(L, list);
    }
}

// Calls `read` for each field of a table with numbers as keys, which is a field of the table at 1.
static void each_number(lua_State *L, struct stage *stage, const char *field,
                        void (*read)(lua_State *L, struct stage *stage, const char *what, int key))
{
    enum { MOST = 4096 };
    const char *what = lua_pushfstring(L, "kernel: %s", field);
    if (lua_getfield(L, 1, field) == LUA_TNIL)
        return;
    check_type(L, -1, what, LUA_TTABLE);
    int table = lua_gettop(L), count = order_push_keys(L, table);
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, table + 1, i);
        int key = (int)check_whole(L, -1, what, 0, MOST);
        lua_geti(L, table, key);
        read(L, stage, what, key);
        lua_settop(L, table + 1);
    }
    lua_settop(L, table - 1);
}

static void read_uniform(lua_State *L, struct stage *stage, const char *what, int binding)
{
    check_type(L, -1, what, LUA_TFUNCTION);
    add_resource(L, stage, what, 0, binding, 0);
}

static void read_resources(lua_State *L, struct stage *stage)
{
    int top = lua_gettop(L), uniforms = 0;
    if (lua_getfield(L, 1, "bindings") != LUA_TNIL)
        read_set(L, stage, "kernel: bindings", 0);
    lua_settop(L, top);
    each_number(L, stage, "sets", read_set);
    each_number(L, stage, "uniform", read_uniform);
    lua_settop(L, top);
    for (int i = 0; i < stage->resource_count; i++)
        uniforms += !stage->resource[i].name;
    if (uniforms > JOB_MAX_UNIFORMS)
        luaL_error(L, "kernel: uniform: more than %d blocks", JOB_MAX_UNIFORMS);
}

// --- names of buffers ---

// Reads a list of names.
static int read_names(lua_State *L, const char *field, const char **out)
{
    const char *what = lua_pushfstring(L, "kernel: %s", field);
    int top = lua_gettop(L);
    if (lua_getfield(L, 1, field) == LUA_TNIL)
        return 0;
    int list = lua_gettop(L), count = check_list(L, list, what);
    if (count > JOB_MAX_BUFFERS)
        luaL_error(L, "%s: more than %d buffers", what, JOB_MAX_BUFFERS);
    for (int i = 0; i < count; i++) {
        lua_geti(L, list, i + 1);
        out[i] = script_keep_text(L, check_identifier(L, -1, what));
    }
    lua_settop(L, top);
    return count;
}

static void add_begin(lua_State *L, struct stage *stage, enum job_begin how, const char *name,
                      const char *from)
{
    for (int i = 0; i < stage->begin_count; i++)
        if (strcmp(stage->begin[i].name, name) == 0)
            luaL_error(L, "kernel: %s is two of inout, zeroed and kept (choose one)", name);
    if (stage->begin_count == JOB_MAX_BUFFERS)
        luaL_error(L, "kernel: inout, zeroed and kept name more than %d buffers", JOB_MAX_BUFFERS);
    stage->begin[stage->begin_count].how = how;
    stage->begin[stage->begin_count].name = name;
    stage->begin[stage->begin_count++].from = from;
}

// Reads inout = { Y = "Y0" }, zeroed = { "H" }, kept = { "counter" }.
static void read_begins(lua_State *L, struct stage *stage)
{
    static const struct {
        const char *field;
        enum job_begin how;
    } lists[] = {{"zeroed", BEGIN_ZERO}, {"kept", BEGIN_KEPT}};
    const char *name[JOB_MAX_BUFFERS], *what = "kernel: inout";
    int top = lua_gettop(L);
    if (lua_getfield(L, 1, "inout") != LUA_TNIL) {
        int table = top + 1;
        check_type(L, table, what, LUA_TTABLE);
        int count = order_push_keys(L, table);
        for (int i = 1; i <= count; i++) {
            lua_rawgeti(L, table + 1, i);
            if (!lua_isinteger(L, -1))
                check_identifier(L, -1, what);
            if (lua_type(L, -1) != LUA_TSTRING)
                luaL_error(L, "%s: it says what each output begins as, { Y = \"Y0\" }", what);
            const char *to = script_keep_text(L, lua_tostring(L, -1));
            lua_getfield(L, table, to);
            add_begin(L, stage, BEGIN_COPY, to, script_keep_text(L, check_identifier(L, -1, what)));
            lua_settop(L, table + 1);
        }
    }
    lua_settop(L, top);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        int count = read_names(L, lists[i].field, name);
        for (int k = 0; k < count; k++)
            add_begin(L, stage, lists[i].how, name[k], NULL);
    }
    lua_settop(L, top);
}

// --- the kernel ---

// Fails for fields that the kind of kernel has not.
static void check_kind(lua_State *L)
{
    bool is_template = has_field(L, "template"), is_spirv = has_field(L, "spirv");
    bool is_shader = has_field(L, "shader");
    if (is_template + is_shader + is_spirv > 1)
        luaL_error(L, "kernel: template, shader and spirv are three ways (choose one)");
    if (is_template + is_shader + is_spirv == 0)
        luaL_error(L, "kernel: the template is missing (template = \"NAME.comp\")");
    if (!is_template && has_field(L, "values"))
        luaL_error(L, "kernel: values are for templates (a shader has define)");
    if (!is_shader &&
        (has_field(L, "include") || has_field(L, "define") || has_field(L, "preamble")))
        luaL_error(L,
                   "kernel: include, define and preamble are for shaders (shader = \"NAME.comp\")");
    if (is_template && has_field(L, "local_size"))
        luaL_error(L, "kernel: local_size is for shaders (a template writes its own)");
    if (!is_spirv && has_field(L, "entry"))
        luaL_error(L, "kernel: entry is for SPIR-V (GLSL has main alone)");
}

// kernel { template | shader | spirv, values, include, define, preamble, spec, push, bindings,
// sets, uniform, image, address, inout, zeroed, kept, groups, local_size, subgroup, once, entry,
// when }
int declare_kernel(lua_State *L)
{
    struct script *s = script_loading(L, "kernel");
    static const char *const known[] = {
        "template", "shader", "spirv",    "values",  "include", "define",     "spec",  "push",
        "bindings", "sets",   "uniform",  "address", "inout",   "zeroed",     "kept",  "groups",
        "subgroup", "when",   "preamble", "once",    "entry",   "local_size", "image", NULL};
    check_fields(L, 1, "kernel", known);
    if (s->stage_count == JOB_MAX_PASSES)
        return luaL_error(L, "more than %d kernels", JOB_MAX_PASSES);
    check_kind(L);
    struct stage *stage = &s->stage[s->stage_count++];
    stage->place = guard_caller(L);
    bool is_template = has_field(L, "template");
    if (!is_template) {
        shader_declare(L, s, stage, has_field(L, "spirv"));
    } else {
        lua_getfield(L, 1, "template");
        const char *name = check_string(L, -1, "kernel: template");
        stage->text = include_find(L, "kernel: template", name, "shaders");
    }
    const struct {
        const char *name;
        int *function;
        bool may_be_table;
    } fields[] = {{"when", &stage->when, false},     {"values", &stage->values, false},
                  {"groups", &stage->groups, true},  {"subgroup", &stage->subgroup, false},
                  {"define", &stage->define, false}, {"spec", &stage->spec, false},
                  {"push", &stage->push, false},     {"local_size", &stage->local_size, true},
                  {"image", &stage->image, true}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        *fields[i].function = keep_function(L, fields[i].name, fields[i].may_be_table);
    lua_getfield(L, 1, "once");
    stage->once = lua_toboolean(L, -1);
    if (stage->once && s->stage_count > 1 && !stage[-1].once)
        return luaL_error(L, "kernel: one that runs once stands before those that do not");
    if (lua_getfield(L, 1, "entry") != LUA_TNIL)
        stage->entry = script_keep_text(L, check_string(L, -1, "kernel: entry"));
    read_resources(L, stage);
    stage->address_count = read_names(L, "address", stage->address);
    read_begins(L, stage);
    if (is_template)
        render_compile(L, stage);
    return 0;
}
