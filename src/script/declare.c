// minimize, maximize, baseline, begin, export, derived, constraint, resources, scratch and nest of
// a space file.
#include "script/check.h"
#include "script/readonly.h"
#include "script/script.h"
#include "script/state.h"
#include "space/objective.h"

#include <string.h>

// --- objectives of spaces without a kernel ---

// minimize "NAME" and maximize "NAME". Upvalue 2: which of them.
static int declare_objective(lua_State *L)
{
    const char *word = lua_tostring(L, lua_upvalueindex(2));
    struct script *s = script_loading(L, word);
    const char *name = check_string(L, 1, word);
    if (!objective_is_name(name))
        luaL_error(L, "%s: '%s' is no name (1 to %d letters, digits and signs, no blanks)", word,
                   name, OBJECTIVE_NAME_SIZE - 1);
    if (s->objective)
        luaL_error(L, "%s: '%s' is the objective already: a search has one", word, s->objective);
    s->objective = script_keep_text(L, lua_pushfstring(L, "%s %s", word, name));
    return 0;
}

// --- baselines: configurations that are in use somewhere ---

// Reads the value on the top as a slot. False: the parameter has no such value.
static bool read_slot(lua_State *L, const struct param *p, const char *what, int32_t *out)
{
    if (p->kind == PARAM_FACTORIZATION) {
        *out = (int32_t)check_whole(L, -1, what, 1, INT32_MAX);
        return true;
    }
    double number = p->number ? check_real(L, -1, what) : 0;
    const char *text = p->number ? NULL : check_string(L, -1, what);
    for (*out = 0; *out < p->count; ++*out)
        if (text ? strcmp(p->label[*out], text) == 0 : p->number[*out] == number)
            return true;
    return false;
}

// Reads the value on the top. False: the parameter has no such value.
static bool read_value(lua_State *L, const struct param *p, const char *what, int32_t *slot)
{
    bool known = true;
    if (p->kind != PARAM_FACTORIZATION && p->kind != PARAM_PERMUTATION)
        return read_slot(L, p, what, slot) && param_valid(p, slot);
    int count = check_list(L, -1, what);
    if (count != p->width)
        luaL_error(L, "%s: expected a list of %d, got one of %d", what, p->width, count);
    for (int i = 0; i < count; i++) {
        lua_geti(L, -1, i + 1);
        known &= read_slot(L, p, what, &slot[i]);
        lua_pop(L, 1);
    }
    return known && param_valid(p, slot);
}

// Pushes the value on the top as text, lists as "{ 8, 4, 2 }".
static const char *push_value(lua_State *L)
{
    int at = lua_gettop(L);
    if (!lua_istable(L, at))
        return luaL_tolstring(L, at, NULL);
    lua_pushstring(L, "{ ");
    for (int i = 1; i <= (int)luaL_len(L, at); i++) {
        lua_pushstring(L, i > 1 ? ", " : "");
        lua_geti(L, at, i);
        luaL_tolstring(L, -1, NULL);
        lua_remove(L, -2);
        lua_concat(L, 3);
    }
    lua_pushstring(L, " }");
    lua_concat(L, 2);
    return lua_tostring(L, -1);
}

// Reads the table at `table`, which says every parameter's value and no other's. `what` names it.
static void read_point(lua_State *L, struct space *space, const char *what, int table,
                       struct baseline *b)
{
    const char *names[SPACE_MAX_PARAMS + 1] = {NULL};
    for (int j = 0; j < space->param_count; j++)
        names[j] = space->param[j].name;
    check_fields(L, table, what, names);
    const int top = lua_gettop(L);
    for (int j = 0; j < space->param_count; j++) {
        const struct param *p = &space->param[j];
        const char *of = lua_pushfstring(L, "%s: %s", what, p->name);
        if (lua_getfield(L, table, p->name) == LUA_TNIL)
            luaL_error(L, "%s is missing: it says every parameter's value", of);
        if (!read_value(L, p, of, b->config.slot + p->offset) && !b->misfit)
            b->misfit = arena_printf(&space->arena, "%s has no value %s", p->name, push_value(L));
        lua_settop(L, top);
    }
    if (b->misfit)
        b->config = (struct config){0};
}

static int declare_baseline(lua_State *L) // baseline { NAME = { parameter = value, ... }, ... }
{
    struct script *s = script_loading(L, "baseline");
    check_type(L, 1, "baseline", LUA_TTABLE);
    lua_settop(L, 1);
    int count = order_push_keys(L, 1);
    for (int i = 1; i <= count; i++) {
        lua_geti(L, 2, i);
        const char *name = check_identifier(L, -1, "baseline: its name");
        lua_getfield(L, 1, name);
        struct space *space = s->space;
        for (int j = 0; j < space->baseline_count; j++)
            if (strcmp(space->baseline[j].name, name) == 0)
                luaL_error(L, "baseline '%s' is declared twice", name);
        if (space->baseline_count == SPACE_MAX_BASELINES)
            luaL_error(L, "more than %d baselines", SPACE_MAX_BASELINES);
        struct baseline *b = &space->baseline[space->baseline_count++];
        *b = (struct baseline){.name = arena_strdup(&space->arena, name)};
        const int table = lua_gettop(L);
        read_point(L, space, lua_pushfstring(L, "baseline '%s'", b->name), table, b);
        lua_settop(L, 2);
    }
    s->baseline_params = s->space->param_count;
    return 0;
}

// Says if the table on the top has a value for each parameter and for nothing else. A point to
// begin with that has not is void: somebody has edited a copy of the space.
static bool has_all_values(lua_State *L, const struct space *space)
{
    int table = lua_gettop(L), count = 0;
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1))
        count++;
    bool has = count == space->param_count;
    for (int j = 0; has && j < space->param_count; j++) {
        has = lua_getfield(L, table, space->param[j].name) != LUA_TNIL;
        lua_pop(L, 1);
    }
    return has;
}

static int declare_begin(lua_State *L) // begin("source", { { parameter = value, ... }, ... })
{
    struct script *s = script_loading(L, "begin");
    struct space *space = s->space;
    lua_settop(L, 2);
    const char *source = arena_strdup(&space->arena, check_string(L, 1, "begin: the source"));
    int count = check_list(L, 2, "begin");
    for (int i = 1; i <= count; i++) {
        if (space->beginning_count == SPACE_MAX_BASELINES)
            luaL_error(L, "begin: more than %d points", SPACE_MAX_BASELINES);
        const char *what = lua_pushfstring(L, "begin: point %d", i);
        lua_geti(L, 2, i);
        check_type(L, -1, what, LUA_TTABLE);
        if (has_all_values(L, space)) {
            struct baseline *b = &space->beginning[space->beginning_count++];
            *b = (struct baseline){.name = source};
            read_point(L, space, what, lua_gettop(L), b);
        }
        lua_settop(L, 2);
    }
    s->begin_params = space->param_count;
    return 0;
}

// --- exports: configurations as texts that other programs read ---

static int find(const struct script *s, const char *name) // -1: there is none
{
    int i = s->form_count - 1;
    while (i >= 0 && strcmp(s->form[i].name, name) != 0)
        i--;
    return i;
}

// { files = { "src/a.cpp" }, edit = function(lines, c, found), test = "make check" }
static void read_host(lua_State *L, int table, const char *name, struct rule_host *out)
{
    static const char *const fields[] = {"files", "edit", "test", NULL};
    const char *what = lua_pushfstring(L, "the host of export '%s'", name);
    check_fields(L, table, what, fields);
    lua_getfield(L, table, "files");
    what = lua_pushfstring(L, "the files of export '%s'", name);
    check_type(L, -2, what, LUA_TTABLE);
    lua_Integer count = luaL_len(L, -2);
    if (count < 1 || count > SCRIPT_MAX_HOSTS)
        luaL_error(L, "%s: expected 1 to %d paths", what, SCRIPT_MAX_HOSTS);
    for (int i = 0; i < count; i++) {
        lua_rawgeti(L, -2, i + 1);
        out->file[i] = script_keep_text(L, check_string(L, -1, what));
        if (*out->file[i] == '/' || strstr(out->file[i], ".."))
            luaL_error(L, "%s: '%s' leaves the checkout", what, out->file[i]);
        lua_pop(L, 1);
    }
    if (lua_getfield(L, table, "test") != LUA_TNIL)
        out->test = script_keep_text(L, check_string(L, -1, "the test of a host"));
    lua_getfield(L, table, "edit");
    check_type(L, -2, lua_pushfstring(L, "the edit of export '%s'", name), LUA_TFUNCTION);
    lua_pushvalue(L, -2);
    out->edit = luaL_ref(L, LUA_REGISTRYINDEX);
}

// export(name, function(c, found) -> text, or nil and why not[, host])
static int declare_export(lua_State *L)
{
    struct script *s = script_loading(L, "export");
    lua_settop(L, 3);
    const char *name = check_identifier(L, 1, "export");
    if (find(s, name) >= 0)
        return luaL_error(L, "export '%s' is declared twice", name);
    if (s->form_count == SCRIPT_MAX_FORMS)
        return luaL_error(L, "more than %d exports", SCRIPT_MAX_FORMS);
    check_type(L, 2, lua_pushfstring(L, "export '%s'", name), LUA_TFUNCTION);
    struct rule_host host = {.edit = LUA_NOREF};
    if (!lua_isnil(L, 3))
        read_host(L, 3, name, &host);
    lua_pushvalue(L, 2);
    s->host[s->form_count] = host;
    s->form[s->form_count++] = (struct rule){
        .script = s,
        .name = script_keep_text(L, name),
        .place = guard_caller(L),
        .function = luaL_ref(L, LUA_REGISTRYINDEX),
    };
    return 0;
}

struct form_call {
    const struct rule *rule;
    const struct form_use *use;
    const struct host_text *host; // NULL: the form is printed
    int edit;                     // the function that edits the host's text
    struct str *out;
    bool made;
};

// Pushes the results: { told =, device =, driver =, shapes = { { M = 64 } } }.
static void push_found(lua_State *L, const struct script_found *f)
{
    if (!f) {
        lua_pushnil(L);
        return;
    }
    lua_createtable(L, 0, 4);
    script_set_text(L, "told", f->told);
    script_set_text(L, "device", f->device);
    script_set_text(L, "driver", f->driver);
    lua_createtable(L, f->shapes, 0);
    for (int i = 0; i < f->shapes; i++) {
        lua_createtable(L, 0, f->shape[i].count);
        for (int j = 0; j < f->shape[i].count; j++) {
            int64_t whole;
            if (str_to_int(f->shape[i].set[j].value, INT64_MIN, INT64_MAX, &whole))
                lua_pushinteger(L, whole);
            else
                lua_pushstring(L, f->shape[i].set[j].value);
            lua_setfield(L, -2, f->shape[i].set[j].name);
        }
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "shapes");
}

static void push_lines(lua_State *L, const char *text)
{
    lua_newtable(L);
    for (int i = 1; *text; i++) {
        size_t length = strcspn(text, "\n");
        lua_pushlstring(L, text, length);
        lua_rawseti(L, -2, i);
        text += length + (text[length] == '\n');
    }
}

// Appends a list of lines, which is on the top.
static void take_lines(lua_State *L, struct str *out)
{
    lua_Integer count = luaL_len(L, -1);
    for (lua_Integer i = 1; i <= count; i++) {
        if (lua_rawgeti(L, -1, i) != LUA_TSTRING)
            luaL_error(L, "line %d of what it returns is no string", (int)i);
        str_add(out, lua_tostring(L, -1));
        str_add_char(out, '\n');
        lua_pop(L, 1);
    }
}

static int visit_form(lua_State *L)
{
    struct form_call *call = lua_touserdata(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, call->host ? call->edit : call->rule->function);
    if (call->host)
        push_lines(L, call->host->text);
    view_push(L, call->rule->script, call->use->config);
    push_found(L, call->use->found);
    if (call->host) {
        push_lines(L, call->host->original);
        lua_setfield(L, -2, "original");
    }
    lua_call(L, call->host ? 3 : 2, 2);
    call->made = !lua_isnil(L, -2);
    if (call->made && call->host) {
        check_type(L, -2, "what it returns", LUA_TTABLE);
        lua_pop(L, 1);
        take_lines(L, call->out);
        return 0;
    }
    const char *what = call->made ? "what it returns" : "nil, and why";
    check_type(L, call->made ? -2 : -1, what, LUA_TSTRING);
    size_t length;
    const char *text = lua_tolstring(L, call->made ? -2 : -1, &length);
    if (length == 0 || strlen(text) != length)
        return luaL_error(L, "%s: an empty string or one with a zero byte", what);
    str_add_bytes(call->out, text, length);
    return 0;
}

static enum script_form form_run(struct script *s, int form, struct form_call *call, struct err *e)
{
    call->rule = &s->form[form];
    if (!guard_run(&s->guard, GUARD_RENDER, call->rule->place, visit_form, call, e)) {
        err_prefix(e, "export '%s'", call->rule->name);
        return FORM_FAILED;
    }
    return call->made ? FORM_MADE : FORM_NONE;
}

enum script_form script_export(struct script *s, const struct form_use *use, struct str *out,
                               struct err *e)
{
    int form = find(s, use->form);
    if (form < 0) {
        struct str all = {0};
        for (int i = 0; i < s->form_count; i++)
            str_printf(&all, "%s%s", i ? ", " : "", s->form[i].name);
        err_set(e, "%s exports no '%s' (it has %s)", s->texts.item[0].name, use->form,
                s->form_count ? str_text(&all) : "none");
        str_finish(&all);
        return FORM_FAILED;
    }
    return form_run(s, form, &(struct form_call){.use = use, .out = out}, e);
}

struct script_host script_host(const struct script *s, const char *form)
{
    int i = find(s, form);
    return i < 0 || s->host[i].edit == LUA_NOREF
               ? (struct script_host){0}
               : (struct script_host){s->host[i].file, s->host[i].test};
}

enum script_form script_edit(struct script *s, const struct form_use *use,
                             const struct host_text *h, struct str *out, struct err *e)
{
    int form = find(s, use->form);
    return form_run(
        s, form, &(struct form_call){.use = use, .host = h, .edit = s->host[form].edit, .out = out},
        e);
}

// --- rules and kernels ---

static int keep_function(lua_State *L, int index, const char *what)
{
    check_type(L, index, what, LUA_TFUNCTION);
    lua_pushvalue(L, index);
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

#define READS_UNKNOWN (-1) // a result was made while nothing was recorded

// The upvalues are the function, its last result, the state of `c` that it is for (view.changes),
// and the slots that it read. Results for another `c`, such as that of a nest, are not kept.
static int derived_value(lua_State *L)
{
    const struct view *v = &script_of(L)->view;
    struct rule_reads *r = v->reading;
    uint64_t outside = r ? r->inside : 0;
    lua_settop(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, v->front);
    bool is_known = lua_rawequal(L, 1, 2);
    lua_Integer reads = lua_tointeger(L, lua_upvalueindex(4));
    if (is_known && lua_tointeger(L, lua_upvalueindex(3)) == v->changes &&
        (!r || reads != READS_UNKNOWN)) {
        if (r) {
            r->slots |= (uint64_t)reads;
            r->inside |= (uint64_t)reads;
        }
        lua_pushvalue(L, lua_upvalueindex(2));
        return 1;
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, 1);
    if (r)
        r->inside = 0;
    lua_call(L, 1, 1);
    if (is_known) {
        lua_copy(L, -1, lua_upvalueindex(2));
        lua_pushinteger(L, v->changes);
        lua_replace(L, lua_upvalueindex(3));
        lua_pushinteger(L, r ? (lua_Integer)r->inside : READS_UNKNOWN);
        lua_replace(L, lua_upvalueindex(4));
    }
    if (r)
        r->inside |= outside;
    return 1;
}

static int declare_derived(lua_State *L) // derived(function(c) -> value) -> function(c) -> value
{
    script_loading(L, "derived");
    check_type(L, 1, "derived", LUA_TFUNCTION);
    lua_settop(L, 1);
    lua_pushnil(L);
    lua_pushinteger(L, -1); // no result is kept yet
    lua_pushinteger(L, READS_UNKNOWN);
    lua_pushcclosure(L, derived_value, 4);
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
    space_add_constraint(s->space, &(struct constraint){.name = r->name,
                                                        .file = s->texts.item[r->place.text].path,
                                                        .line = r->place.line,
                                                        .context = r,
                                                        .holds = rule_holds,
                                                        .holds_reading = rule_holds_reading});
    return 0;
}

enum { RESOURCES, SCRATCH, NEST };

// resources(function(c) -> table), scratch(function(c) -> bytes) and nest(function(c, d)).
// Upvalues: which of them, its name.
static int declare_rule(lua_State *L)
{
    const char *name = lua_tostring(L, lua_upvalueindex(2));
    lua_Integer which = lua_tointeger(L, lua_upvalueindex(1));
    struct script *s = script_loading(L, name);
    struct rule *r = which == RESOURCES ? &s->resources : which == SCRATCH ? &s->scratch : &s->nest;
    if (r->function != LUA_NOREF)
        return luaL_error(L, "%s is declared twice", name);
    r->script = s;
    r->place = guard_caller(L);
    r->function = keep_function(L, 1, name);
    if (which == RESOURCES) {
        s->space->resources = rule_find_resources;
        s->space->resources_reading = rule_find_resources_reading;
        s->space->resources_context = r;
    }
    return 0;
}

void declare_open(lua_State *L)
{
    static const luaL_Reg functions[] = {{"baseline", declare_baseline},
                                         {"begin", declare_begin},
                                         {"export", declare_export},
                                         {"derived", declare_derived},
                                         {"constraint", declare_constraint},
                                         {"kernel", declare_kernel},
                                         {NULL, NULL}};
    static const struct script_closure rules[] = {{OBJECTIVE_MINIMIZE, declare_objective, 0},
                                                  {OBJECTIVE_MAXIMIZE, declare_objective, 0},
                                                  {"resources", declare_rule, RESOURCES},
                                                  {"scratch", declare_rule, SCRATCH},
                                                  {"nest", declare_rule, NEST},
                                                  {NULL, NULL, 0}};
    luaL_setfuncs(L, functions, 0);
    script_set_closures(L, rules);
}
