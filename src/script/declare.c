// derived, constraint, resources, kernel, scratch.
#include "script/check.h"
#include "script/state.h"

#include <string.h>

static int keep_function(lua_State *L, int index, const char *what)
{
    check_type(L, index, what, LUA_TFUNCTION);
    lua_pushvalue(L, index);
    return script_keep(L);
}

// Upvalues: the function, its last result, and of which state of `c` (view.changes). Any other `c`,
// such as the one of a nest, is not remembered.
static int derived_value(lua_State *L)
{
    const struct view *v = &script_of(L)->view;
    lua_settop(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, v->front);
    bool is_known = lua_rawequal(L, 1, 2);
    if (is_known && lua_tointeger(L, lua_upvalueindex(3)) == v->changes) {
        lua_pushvalue(L, lua_upvalueindex(2));
        return 1;
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    if (is_known) {
        lua_copy(L, -1, lua_upvalueindex(2));
        lua_pushinteger(L, v->changes);
        lua_replace(L, lua_upvalueindex(3));
    }
    return 1;
}

static int declare_derived(lua_State *L) // derived(function(c) -> value) -> function(c) -> value
{
    script_loading(L, "derived");
    check_type(L, 1, "derived", LUA_TFUNCTION);
    lua_settop(L, 1);
    lua_pushnil(L);
    lua_pushinteger(L, -1); // of no state
    lua_pushcclosure(L, derived_value, 3);
    return 1;
}

static int declare_constraint(lua_State *L) // constraint(name, function(c) -> boolean)
{
    struct script *s = script_loading(L, "constraint");
    lua_settop(L, 2);
    const char *name = check_string(L, 1, "constraint: name");
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ')
            return luaL_error(L, "constraint: name: it is one line, without control characters");
    for (int i = 0; i < s->space->constraint_count; i++)
        if (strcmp(s->space->constraint[i].name, name) == 0)
            return luaL_error(L, "constraint '%s' is declared twice", name);
    if (s->space->constraint_count == SCRIPT_MAX_CONSTRAINTS)
        return luaL_error(L, "more than %d constraints", SCRIPT_MAX_CONSTRAINTS);
    struct rule *r = arena_zero(&s->arena, 1, sizeof *r);
    *r = (struct rule){
        .script = s,
        .name = script_keep_text(L, name),
        .place = guard_caller(L),
        .function = keep_function(L, 2, lua_pushfstring(L, "constraint '%s'", name)),
    };
    rule_add_constraint(r);
    return 0;
}

int declare_rule(lua_State *L, struct script *s, struct rule *r, const char *what)
{
    if (r->function != LUA_NOREF)
        return luaL_error(L, "%s is declared twice", what);
    r->script = s;
    r->place = guard_caller(L);
    r->function = keep_function(L, 1, what);
    return 0;
}

static int declare_resources(lua_State *L) // resources(function(c) -> table)
{
    struct script *s = script_loading(L, "resources");
    declare_rule(L, s, &s->resources, "resources");
    rule_set_resources(s);
    return 0;
}

static int declare_scratch(lua_State *L) // scratch(function(c) -> bytes)
{
    struct script *s = script_loading(L, "scratch");
    return declare_rule(L, s, &s->scratch, "scratch");
}

static int keep_kernel_function(lua_State *L, const char *field)
{
    const char *what = lua_pushfstring(L, "kernel: %s", field);
    return lua_getfield(L, 1, field) == LUA_TNIL ? LUA_NOREF : keep_function(L, -1, what);
}

static bool has_field(lua_State *L, const char *field)
{
    bool has = lua_getfield(L, 1, field) != LUA_TNIL;
    lua_pop(L, 1);
    return has;
}

// Whether it is a shader that others wrote; that only fields are there which belong to it.
static bool check_kind(lua_State *L)
{
    bool is_template = has_field(L, "template"), is_shader = has_field(L, "shader"),
         is_spirv = has_field(L, "spirv");
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
    return !is_template;
}

// kernel { template | shader | spirv, values, include, define, preamble, spec, push, bindings,
// groups, subgroup, once, when }
static int declare_kernel(lua_State *L)
{
    struct script *s = script_loading(L, "kernel");
    static const char *const known[] = {"template", "shader", "spirv",    "values",   "include",
                                        "define",   "spec",   "push",     "bindings", "groups",
                                        "subgroup", "when",   "preamble", "once",     NULL};
    check_fields(L, 1, "kernel", known);
    if (s->stage_count == JOB_MAX_PASSES)
        return luaL_error(L, "more than %d kernels", JOB_MAX_PASSES);
    bool is_shader = check_kind(L);
    struct stage *stage = &s->stage[s->stage_count++];
    stage->place = guard_caller(L);
    if (is_shader) {
        shader_declare(L, s, stage, has_field(L, "spirv"));
    } else {
        lua_getfield(L, 1, "template");
        const char *name = check_string(L, -1, "kernel: template");
        stage->text = include_find(L, "kernel: template", name, "shaders");
    }
    stage->when = keep_kernel_function(L, "when");
    stage->values = keep_kernel_function(L, "values");
    stage->groups = keep_kernel_function(L, "groups");
    stage->subgroup = keep_kernel_function(L, "subgroup");
    stage->define = keep_kernel_function(L, "define");
    stage->spec = keep_kernel_function(L, "spec");
    stage->push = keep_kernel_function(L, "push");
    lua_getfield(L, 1, "once");
    stage->once = lua_toboolean(L, -1);
    if (stage->once && s->stage_count > 1 && !stage[-1].once)
        return luaL_error(L, "kernel: one that runs once stands before those that do not");
    given_read_bindings(L, stage);
    if (!is_shader)
        render_compile(L, stage);
    return 0;
}

void declare_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"derived", declare_derived},     {"constraint", declare_constraint},
        {"resources", declare_resources}, {"scratch", declare_scratch},
        {"kernel", declare_kernel},       {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
