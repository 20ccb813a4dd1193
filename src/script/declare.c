// size, operator, constraint, resources, kernel, scratch.
#include "script/check.h"
#include "script/library.h"
#include "script/readonly.h"
#include "script/state.h"

#include <string.h>

static int keep_function(lua_State *L, int index, const char *what)
{
    check_type(L, index, what, LUA_TFUNCTION);
    lua_pushvalue(L, index);
    return script_keep(L);
}

static const struct override *find_override(const struct script *s, const char *name,
                                            bool from_user)
{
    const struct override *last = NULL;
    for (int i = 0; i < s->override_count; i++) {
        const struct override *o = &s->override[i];
        if (o->from_user != from_user || strcmp(o->name, name) != 0)
            continue;
        if (!from_user)
            return o; // the outermost use() counts
        last = o;     // the last --set counts
    }
    return last;
}

static void check_new_size(lua_State *L, const struct script *s, const char *name)
{
    for (int i = 0; i < s->size_count; i++)
        if (strcmp(s->size[i].name, name) == 0)
            luaL_error(L, "size '%s' is declared twice", name);
    library_push(L);
    bool is_taken = lua_getfield(L, -1, name) != LUA_TNIL || strcmp(name, "c") == 0 ||
                    strcmp(name, "op") == 0 || strcmp(name, "device") == 0;
    if (is_taken)
        luaL_error(L, "size '%s' would hide what templates know by this name", name);
    lua_pop(L, 2);
}

static int declare_size(lua_State *L) // size(name, standard) -> value
{
    struct script *s = script_loading(L, "size");
    lua_settop(L, 2);
    const char *name = check_identifier(L, 1, "size");
    const char *what = lua_pushfstring(L, "size '%s'", name);
    check_new_size(L, s, name);
    const struct override *user = find_override(s, name, true),
                          *use = find_override(s, name, false);
    int64_t standard = use ? use->value : check_whole(L, 2, what, 1, INT32_MAX);
    MEM_GROW(s->size, s->size_count, s->size_capacity);
    struct script_size *size = &s->size[s->size_count++];
    *size = (struct script_size){.name = arena_strdup(&s->arena, name),
                                 .value = user ? user->value : standard,
                                 .standard = standard};
    lua_pushinteger(L, size->value);
    return 1;
}

// Sets the field whose name is on the top of the stack and whose value lies in the table at 1.
static bool set_operator_field(lua_State *L, struct operation *o, struct err *e)
{
    const char *name = lua_tostring(L, -1);
    const char *what = lua_pushfstring(L, "%s: %s", o->kind->name, name);
    lua_getfield(L, 1, name);
    for (int i = 0; o->kind->sizes[i]; i++)
        if (strcmp(o->kind->sizes[i], name) == 0)
            return operation_set_size(o, name, check_whole(L, -1, what, 1, INT32_MAX), e);
    return operation_set_choice(o, name, check_string(L, -1, what), e);
}

static int declare_operator(lua_State *L) // operator.KIND { ... }; upvalue: the kind
{
    struct script *s = script_loading(L, "operator");
    const struct operation_kind *kind = lua_touserdata(L, lua_upvalueindex(1));
    if (s->operation.kind)
        return luaL_error(L, "the operator is declared twice");
    const char *known[OPERATION_MAX_SIZES + OPERATION_MAX_CHOICES + 1] = {NULL};
    int n = 0;
    for (int i = 0; kind->sizes[i]; i++)
        known[n++] = kind->sizes[i];
    for (int i = 0; kind->choices[i].name; i++)
        known[n++] = kind->choices[i].name;
    check_fields(L, 1, kind->name, known);
    struct operation o;
    struct err e;
    operation_init(&o, kind);
    for (int i = 0; i < n; i++) {
        lua_settop(L, 1);
        if (lua_getfield(L, 1, known[i]) == LUA_TNIL)
            continue;
        lua_pushstring(L, known[i]);
        if (!set_operator_field(L, &o, &e))
            return luaL_error(L, "%s", e.text);
    }
    if (!operation_complete(&o, &e))
        return luaL_error(L, "%s", e.text);
    s->operation = o;
    return 0;
}

static void push_operators(lua_State *L)
{
    static const struct readonly_words words = {.unknown = "unknown operator '%s'"};
    lua_newtable(L);
    for (int i = 0; operation_kinds[i]; i++) {
        lua_pushlightuserdata(L, (void *)(uintptr_t)operation_kinds[i]);
        lua_pushcclosure(L, declare_operator, 1);
        lua_setfield(L, -2, operation_kinds[i]->name);
    }
    readonly_wrap(L, "operator", &words);
}

static int declare_constraint(lua_State *L) // constraint(name, function(c) -> boolean)
{
    struct script *s = script_loading(L, "constraint");
    lua_settop(L, 2);
    const char *name = check_string(L, 1, "constraint: name");
    for (int i = 0; i < s->space->constraint_count; i++)
        if (strcmp(s->space->constraint[i].name, name) == 0)
            return luaL_error(L, "constraint '%s' is declared twice", name);
    struct rule *r = arena_zero(&s->arena, 1, sizeof *r);
    *r = (struct rule){
        .script = s,
        .name = arena_strdup(&s->arena, name),
        .place = guard_caller(L),
        .function = keep_function(L, 2, lua_pushfstring(L, "constraint '%s'", name)),
    };
    rule_add_constraint(r);
    return 0;
}

static int declare_rule(lua_State *L, struct script *s, struct rule *r, const char *what)
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

static int declare_kernel(lua_State *L) // kernel { template, values, groups, when }
{
    struct script *s = script_loading(L, "kernel");
    static const char *const known[] = {"template", "values", "groups", "when", NULL};
    check_fields(L, 1, "kernel", known);
    if (s->stage_count == JOB_MAX_PASSES)
        return luaL_error(L, "more than %d kernels", JOB_MAX_PASSES);
    if (lua_getfield(L, 1, "template") == LUA_TNIL)
        return luaL_error(L, "kernel: the template is missing (template = \"NAME.comp\")");
    const char *name = check_string(L, -1, "kernel: template");
    int text = include_find(L, "kernel: template", name, "shaders");
    struct stage *stage = &s->stage[s->stage_count++];
    stage->text = text;
    stage->place = guard_caller(L);
    stage->when = keep_kernel_function(L, "when");
    stage->values = keep_kernel_function(L, "values");
    stage->groups = keep_kernel_function(L, "groups");
    render_compile(L, stage);
    return 0;
}

void declare_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"size", declare_size},           {"constraint", declare_constraint},
        {"resources", declare_resources}, {"scratch", declare_scratch},
        {"kernel", declare_kernel},       {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
    push_operators(L);
    lua_setfield(L, -2, "operator");
}
