// export(name, function(c, found) ... end): a configuration as a text that another program reads.
#include "script/check.h"
#include "script/script.h"
#include "script/state.h"

#include <string.h>

static const struct rule *find(const struct script *s, const char *name)
{
    for (int i = 0; i < s->form_count; i++)
        if (strcmp(s->form[i].name, name) == 0)
            return &s->form[i];
    return NULL;
}

static int declare_export(
    lua_State *L) // export(name, function(c, found) -> text, or nil and why not)
{
    struct script *s = script_loading(L, "export");
    lua_settop(L, 2);
    const char *name = check_identifier(L, 1, "export");
    if (find(s, name))
        return luaL_error(L, "export '%s' is declared twice", name);
    if (s->form_count == SCRIPT_MAX_FORMS)
        return luaL_error(L, "more than %d exports", SCRIPT_MAX_FORMS);
    check_type(L, 2, lua_pushfstring(L, "export '%s'", name), LUA_TFUNCTION);
    lua_pushvalue(L, 2);
    s->form[s->form_count++] = (struct rule){
        .script = s,
        .name = script_keep_text(L, name),
        .place = guard_caller(L),
        .function = script_keep(L),
    };
    return 0;
}

void form_open(lua_State *L)
{
    lua_pushcfunction(L, declare_export);
    lua_setfield(L, -2, "export");
}

struct form_call {
    const struct rule *rule;
    const struct config *config;
    const struct script_found *found;
    struct str *out;
    bool made;
};

// { M = 64, N = 256 }
static void push_shape(lua_State *L, const struct script_shape *shape)
{
    lua_createtable(L, 0, shape->count);
    for (int i = 0; i < shape->count; i++) {
        int64_t whole;
        if (str_to_int(shape->set[i].value, INT64_MIN, INT64_MAX, &whole))
            lua_pushinteger(L, whole);
        else
            lua_pushstring(L, shape->set[i].value);
        lua_setfield(L, -2, shape->set[i].name);
    }
}

static void push_found(lua_State *L, const struct script_found *f)
{
    if (!f) {
        lua_pushnil(L);
        return;
    }
    lua_createtable(L, 0, 2);
    lua_pushstring(L, f->told);
    lua_setfield(L, -2, "told");
    lua_createtable(L, f->shapes, 0);
    for (int i = 0; i < f->shapes; i++) {
        push_shape(L, &f->shape[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "shapes");
}

static int visit_form(lua_State *L)
{
    struct form_call *call = lua_touserdata(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, call->rule->function);
    view_push(L, call->rule->script, call->config);
    push_found(L, call->found);
    lua_call(L, 2, 2);
    call->made = !lua_isnil(L, -2);
    const char *what = call->made ? "what it returns" : "nil, and why";
    check_type(L, call->made ? -2 : -1, what, LUA_TSTRING);
    size_t length;
    const char *text = lua_tolstring(L, call->made ? -2 : -1, &length);
    if (length == 0 || strlen(text) != length)
        return luaL_error(L, "%s: an empty string or one with a zero byte", what);
    str_add_bytes(call->out, text, length);
    return 0;
}

static bool unknown(const struct script *s, const char *name, struct err *e)
{
    struct str all = {0};
    for (int i = 0; i < s->form_count; i++)
        str_printf(&all, "%s%s", i ? ", " : "", s->form[i].name);
    err_set(e, "%s exports no '%s' (it has %s)", s->texts.item[0].name, name,
            s->form_count ? str_text(&all) : "none");
    str_finish(&all);
    return false;
}

enum script_form script_export(struct script *s, const char *name, const struct config *c,
                               const struct script_found *found, struct str *out, struct err *e)
{
    struct form_call call = {.rule = find(s, name), .config = c, .found = found, .out = out};
    if (!call.rule) {
        unknown(s, name, e);
        return FORM_FAILED;
    }
    if (!guard_run(&s->guard, GUARD_RENDER, call.rule->place, visit_form, &call, e)) {
        err_prefix(e, "export '%s'", name);
        return FORM_FAILED;
    }
    return call.made ? FORM_MADE : FORM_NONE;
}
