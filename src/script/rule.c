// Constraints and resources: functions of Lua that the space calls for a configuration.
#include "script/check.h"
#include "script/state.h"

#include <string.h>

struct rule_call {
    const struct rule *rule;
    const struct config *config;
    bool holds;
    struct resources *resources;
};

static const char *const resource_names[] = {"invocations",  "groups",     "shared_bytes",
                                             "accumulators", "loop_trips", "statements",
                                             "buffer_bytes", "registers",  NULL};

// Pushes what the rule returns.
static void call_rule(lua_State *L, const struct rule *r, const struct config *c)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, r->function);
    view_push(L, r->script, c);
    lua_call(L, 1, 1);
}

static int visit_constraint(lua_State *L)
{
    struct rule_call *call = lua_touserdata(L, 1);
    call_rule(L, call->rule, call->config);
    if (!lua_isboolean(L, -1))
        return luaL_error(L, "returned %s, expected true or false",
                          lua_isnil(L, -1) ? "nothing" : luaL_typename(L, -1));
    call->holds = lua_toboolean(L, -1);
    return 0;
}

static int constraint_holds(void *context, const struct config *c, struct err *e)
{
    struct rule *r = context;
    struct rule_call call = {.rule = r, .config = c};
    bool judged = guard_run(&r->script->guard, GUARD_RULE, r->place, visit_constraint, &call, e);
    return judged ? call.holds : -1; // the space says which constraint it was
}

void rule_add_constraint(struct rule *r)
{
    space_add_constraint(r->script->space,
                         &(struct constraint){.name = r->name,
                                              .file = r->script->texts.item[r->place.text].path,
                                              .line = r->place.line,
                                              .context = r,
                                              .holds = constraint_holds});
}

// A field of the table on the top; 0, which is "not declared", when it is absent.
static uint64_t read_whole(lua_State *L, const char *name, int *found)
{
    uint64_t value = 0;
    if (lua_getfield(L, -1, name) != LUA_TNIL) {
        value = (uint64_t)check_whole(L, -1, name, 0, INT64_MAX);
        ++*found;
    }
    lua_pop(L, 1);
    return value;
}

static void read_dimensions(lua_State *L, const char *name, uint64_t out[3], int *found)
{
    if (lua_getfield(L, -1, name) != LUA_TNIL) {
        check_dimensions(L, -1, name, INT64_MAX, out);
        ++*found;
    }
    lua_pop(L, 1);
}

void rule_get_resources(lua_State *L, struct script *s, const struct config *c,
                        struct resources *out)
{
    *out = (struct resources){0};
    call_rule(L, &s->resources, c);
    if (!lua_istable(L, -1))
        luaL_error(L, "returned %s, expected a table",
                   lua_isnil(L, -1) ? "nothing" : luaL_typename(L, -1));
    int found = 0, fields = 0;
    read_dimensions(L, "invocations", out->group_size, &found);
    read_dimensions(L, "groups", out->groups, &found);
    out->shared_bytes = read_whole(L, "shared_bytes", &found);
    out->accumulators = read_whole(L, "accumulators", &found);
    out->loop_trips = read_whole(L, "loop_trips", &found);
    out->statements = read_whole(L, "statements", &found);
    out->buffer_bytes = read_whole(L, "buffer_bytes", &found);
    out->registers = read_whole(L, "registers", &found);
    if (out->registers && s->stage_count)
        out->subgroup = stage_subgroup(L, s, &s->stage[0], c);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
        fields++;
    if (fields > found)
        check_fields(L, -1, "it", resource_names);
    lua_pop(L, 1);
}

static int visit_resources(lua_State *L)
{
    struct rule_call *call = lua_touserdata(L, 1);
    rule_get_resources(L, call->rule->script, call->config, call->resources);
    return 0;
}

static bool get_resources(void *context, const struct config *c, struct resources *out,
                          struct err *e)
{
    struct rule *r = context;
    struct rule_call call = {.rule = r, .config = c, .resources = out};
    return guard_run(&r->script->guard, GUARD_RULE, r->place, visit_resources, &call, e);
}

void rule_set_resources(struct script *s)
{
    s->space->resources = get_resources;
    s->space->resources_context = &s->resources;
}
