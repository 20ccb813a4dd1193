// Rules as callbacks of the space, and the rendering of candidates: values -> templates -> GLSL.

#include "base/mem.h"
#include "define/program.h"
#include "script/check.h"
#include "script/readonly.h"
#include "script/script.h"
#include "script/state.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- constraints and resources ---

struct judgement {
    const struct rule *rule;
    const struct config *config;
    struct rule_reads *reading; // NULL: nothing is recorded
    bool holds;
    struct resources *resources; // NULL: the rule is a constraint
};

static const char *const resource_names[] = {"invocations",  "groups",     "shared_bytes",
                                             "accumulators", "loop_trips", "statements",
                                             "buffer_bytes", "registers",  NULL};

// Calls a function of the configuration, which returns one value. `r` records what it reads.
static void call_watched(lua_State *L, struct script *s, int function, const struct config *c,
                         struct rule_reads *r)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, function);
    view_push_watched(L, s, c, r);
    lua_call(L, 1, 1);
}

void rule_call(lua_State *L, struct script *s, int function, const struct config *c)
{
    call_watched(L, s, function, c, NULL);
}

// Returns a field of the table on the top; 0 ("not declared") where it is absent.
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

// Returns the subgroup size that the kernel requires; 0: any. Sizes are powers of two (Vulkan spec,
// VUID-...-requiredSubgroupSize-02760).
static uint32_t subgroup_of(lua_State *L, struct script *s, const struct stage *stage,
                            const struct config *c, struct rule_reads *reading)
{
    if (stage->subgroup == LUA_NOREF)
        return 0;
    call_watched(L, s, stage->subgroup, c, reading);
    int64_t size = check_whole(L, -1, "kernel: subgroup", 1, 1 << 16);
    if (size & (size - 1))
        luaL_error(L, "kernel: subgroup is %d, not a power of two", (int)size);
    lua_pop(L, 1);
    return (uint32_t)size;
}

static void get_resources(lua_State *L, struct script *s, const struct config *c,
                          struct rule_reads *reading, struct resources *out)
{
    *out = (struct resources){0};
    call_watched(L, s, s->resources.function, c, reading);
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
        out->subgroup = subgroup_of(L, s, &s->stage[0], c, reading);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
        fields++;
    if (fields > found)
        check_fields(L, -1, "it", resource_names);
    lua_pop(L, 1);
}

static int visit_rule(lua_State *L)
{
    struct judgement *call = lua_touserdata(L, 1);
    struct script *s = call->rule->script;
    if (call->resources) {
        get_resources(L, s, call->config, call->reading, call->resources);
        return 0;
    }
    call_watched(L, s, call->rule->function, call->config, call->reading);
    if (!lua_isboolean(L, -1))
        return luaL_error(L, "returned %s, expected true or false",
                          lua_isnil(L, -1) ? "nothing" : luaL_typename(L, -1));
    call->holds = lua_toboolean(L, -1);
    return 0;
}

static bool judge(struct judgement *call, struct err *e)
{
    const struct guard_visit v = {GUARD_RULE, call->rule->place, visit_rule, call,
                                  call->reading ? &call->reading->steps : NULL};
    return guard_run_visit(&call->rule->script->guard, &v, e);
}

int rule_holds(void *context, const struct config *c, struct err *e)
{
    return rule_holds_reading(context, c, NULL, e);
}

int rule_holds_reading(void *context, const struct config *c, struct rule_reads *reading,
                       struct err *e)
{
    struct judgement call = {.rule = context, .config = c, .reading = reading};
    return judge(&call, e) ? call.holds : -1; // the space says which constraint it was
}

bool rule_find_resources(void *context, const struct config *c, struct resources *out,
                         struct err *e)
{
    return rule_find_resources_reading(context, c, out, NULL, e);
}

bool rule_find_resources_reading(void *context, const struct config *c, struct resources *out,
                                 struct rule_reads *reading, struct err *e)
{
    struct judgement call = {.rule = context, .config = c, .reading = reading, .resources = out};
    return judge(&call, e);
}

// --- rendering ---

#define GLSL_MAX_BYTES   (4 << 20) // of one pass
#define BYTES_PER_STEP   16
#define STEPS_PER_NUMBER 64 // for writing one
#define NUMBER_MAX_BYTES 32

struct render {
    struct script *script;
    const struct config *config;
    struct job job;
    struct stage *stage; // being rendered
    struct str glsl;
    int *map; // the template line of each finished line of `glsl`
    int lines, map_capacity;
};

static void check_room(lua_State *L, const struct render *r, size_t length)
{
    if (r->glsl.length + length > GLSL_MAX_BYTES)
        luaL_error(L, "the template gives more than %d MiB of GLSL", GLSL_MAX_BYTES >> 20);
}

static void add_bytes(lua_State *L, struct render *r, const char *text, size_t length, int line)
{
    check_room(L, r, length);
    guard_charge(L, length / BYTES_PER_STEP);
    str_add_bytes(&r->glsl, text, length);
    for (const char *p = text; (p = memchr(p, '\n', length - (size_t)(p - text))); p++) {
        MEM_GROW(r->map, r->lines, r->map_capacity);
        r->map[r->lines++] = line;
    }
}

// Adds the value of ${expression}, which is at `index`.
static void add_value(lua_State *L, struct render *r, int index, int line,
                      const struct template_piece *expression)
{
    size_t length;
    switch (lua_type(L, index)) {
    case LUA_TNUMBER:
        guard_charge(L, STEPS_PER_NUMBER);
        check_room(L, r, NUMBER_MAX_BYTES);
        if (lua_isinteger(L, index))
            str_printf(&r->glsl, "%" PRId64, (int64_t)lua_tointeger(L, index));
        else {
            // Decimals with a point or an exponent are a float in GLSL.
            double value = lua_tonumber(L, index);
            if (!isfinite(value))
                luaL_error(L, "GLSL has no literal for %f", value);
            size_t before = r->glsl.length;
            str_add_real(&r->glsl, value);
            if (!strpbrk(r->glsl.text + before, ".e"))
                str_add(&r->glsl, ".0");
        }
        return;
    case LUA_TBOOLEAN:
        check_room(L, r, NUMBER_MAX_BYTES);
        str_add(&r->glsl, lua_toboolean(L, index) ? "true" : "false");
        return;
    case LUA_TSTRING: {
        const char *text = lua_tolstring(L, index, &length);
        if (strlen(text) == length) {
            add_bytes(L, r, text, length, line);
            return;
        }
        luaL_error(L, "a value holds a zero byte");
        return;
    }
    default:
        lua_pushlstring(L, expression->text, expression->length);
        luaL_error(L, "${%s} is %s, not a number, string or boolean", lua_tostring(L, -1),
                   lua_isnil(L, index) ? "nil" : luaL_typename(L, index));
    }
}

// _emit_(line, values...): adds a line of text of the template.
static int emit(lua_State *L)
{
    struct render *r = script_of(L)->render;
    const struct glsl_template *t = r ? &r->stage->template : NULL;
    lua_Integer number = luaL_checkinteger(L, 1);
    if (!t || number < 1 || number > t->lines || t->line[number - 1].is_code ||
        lua_gettop(L) != 1 + t->line[number - 1].expressions)
        return luaL_error(L, "an expression is not one value");
    const struct template_line *line = &t->line[number - 1];
    guard_charge(L, (uint64_t)line->count);
    int value = 2;
    for (int i = 0; i < line->count; i++) {
        const struct template_piece *p = &t->piece[line->first + i];
        if (p->is_expression)
            add_value(L, r, value++, (int)number, p);
        else
            add_bytes(L, r, p->text, p->length, (int)number);
    }
    return 0;
}

void render_compile(lua_State *L, struct stage *stage)
{
    const struct script_text *file = &script_of(L)->texts.item[stage->text];
    const struct glsl_template *t = &stage->template;
    struct err e;
    if (!template_parse(&stage->template, file->path, file->text, &e))
        guard_raise(L, (struct place){stage->text, e.line}, e.text);
    for (int i = 0; i < t->lines; i++)
        for (int k = 0; k < t->line[i].count; k++) {
            // Each expression must compile by itself: it cannot close what surrounds it, and an
            // error names it.
            const struct template_piece *p = &t->piece[t->line[i].first + k];
            if (!p->is_expression)
                continue;
            lua_pushlstring(L, p->text, p->length);
            const char *text = lua_tostring(L, -1);
            const char *source = lua_pushfstring(L, "return (%s)", text);
            if (guard_load(L, "=", source, strlen(source)) != LUA_OK) {
                const char *message = strstr(lua_tostring(L, -1), ": "); // after ":1"
                guard_raise(L, (struct place){stage->text, i + 1},
                            lua_pushfstring(L, "${%s}%s", text, message ? message : ""));
            }
            lua_pop(L, 3);
        }
    template_add_lua(t, &stage->lua);
    guard_load_text(L, stage->text, str_text(&stage->lua), stage->lua.length);
    str_finish(&stage->lua);
    stage->function = luaL_ref(L, LUA_REGISTRYINDEX);
}

void render_finish(struct stage *stage)
{
    template_finish(&stage->template);
    str_finish(&stage->lua);
    str_finish(&stage->source);
}

static const struct readonly_words scope_words = {
    .unknown = "unknown name '%s'",
    .assign = "'%s' is not a local variable (write 'local')",
    .hint = script_hint,
};

static void run_template(lua_State *L, struct render *r)
{
    // The names that the template sees.
    lua_newtable(L);
    int scope = lua_gettop(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, r->script->scope);
    script_copy_fields(L, -1, -2);
    lua_pop(L, 1);
    if (!r->config) { // it is for all configurations
        lua_pushnil(L);
        lua_setfield(L, -2, "c");
    } else if (r->stage->values != LUA_NOREF) {
        // The scope also has the fields that the kernel's `values` function returns.
        rule_call(L, r->script, r->stage->values, r->config);
        check_type(L, -1, "kernel: what values returns", LUA_TTABLE);
        int count = order_push_keys(L, -1);
        for (int i = 1; i <= count; i++) {
            lua_rawgeti(L, scope + 2, i);
            const char *name = check_identifier(L, -1, "kernel: values");
            if (lua_getfield(L, scope, name) != LUA_TNIL)
                luaL_error(L, "kernel: values: templates already know the name '%s'", name);
            lua_getfield(L, scope + 1, name);
            lua_setfield(L, scope, name);
            lua_settop(L, scope + 2);
        }
    }
    if (r->config)
        view_push(L, r->script, r->config); // updates `c` of the scope
    lua_settop(L, scope);
    readonly_wrap(L, "the template", &scope_words);
    lua_rawgeti(L, LUA_REGISTRYINDEX, r->stage->function);
    lua_insert(L, -2);
    lua_setupvalue(L, -2, 1); // _ENV
    lua_pushcfunction(L, emit);
    struct place before = r->script->guard.place;
    r->script->guard.place = (struct place){r->stage->text, 0};
    lua_call(L, 1, 0);
    if (strspn(str_text(&r->glsl), " \t\r\n") == r->glsl.length)
        luaL_error(L, "the template gives no text");
    r->script->guard.place = before;
}

// Adds a foreign shader: the macros follow its #version. SPIR-V is added as it is.
static void run_shader(lua_State *L, struct render *r)
{
    const struct stage *stage = r->stage;
    const char *text = r->script->texts.item[stage->text].text;
    if (!stage->source.length) {
        add_bytes(L, r, text, strlen(text), 0);
        return;
    }
    add_bytes(L, r, text, stage->head_bytes, 0);
    for (int i = 0; i < stage->head_lines && i < r->lines; i++)
        r->map[i] = i + 1;
    struct str macros = {0};
    uint64_t size[3];
    given_define(L, r->script, stage, r->config, &r->glsl, &macros);
    bool is_sized = given_size(L, r->script, stage, r->config, size);
    shader_add(L, stage, str_text(&macros), is_sized ? size : NULL, &r->glsl);
    str_finish(&macros);
}

// Moves the finished text into the job's next pass.
static struct pass *finish_pass(struct render *r)
{
    if (r->glsl.text[r->glsl.length - 1] != '\n') {
        str_add_char(&r->glsl, '\n');
        MEM_GROW(r->map, r->lines, r->map_capacity);
        r->map[r->lines++] = r->stage->template.lines;
    }
    struct pass *p = job_add_pass(&r->job);
    *p = (struct pass){
        .glsl = str_take(&r->glsl),
        .template_name = mem_strdup(r->script->texts.item[r->stage->text].path),
        .space_name = mem_strdup(r->script->texts.item[r->stage->place.text].path),
        .space_line = r->stage->place.line,
        .line_map = r->map,
        .line_count = r->lines,
    };
    r->map = NULL;
    r->lines = r->map_capacity = 0;
    return p;
}

static int visit_render(lua_State *L)
{
    struct render *r = lua_touserdata(L, 1);
    const struct operation *o = &r->script->operation;
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int outputs = operation_outputs(o), inputs = operation_tensors(o, tensor) - outputs;
    r->job.roles = (struct job_roles){inputs, outputs};
    for (int i = 0; i < r->script->stage_count; i++) {
        r->stage = &r->script->stage[i];
        r->script->guard.place = r->stage->place;
        bool is_wanted = true;
        if (r->stage->when != LUA_NOREF) {
            rule_call(L, r->script, r->stage->when, r->config);
            check_type(L, -1, "kernel: what when returns", LUA_TBOOLEAN);
            is_wanted = lua_toboolean(L, -1);
            lua_pop(L, 1);
        }
        if (!is_wanted)
            continue;
        if (r->stage->is_shader)
            run_shader(L, r);
        else
            run_template(L, r);
        struct pass *p = finish_pass(r);
        given_fill(L, r->script, r->stage, r->config, p);
        given_begin(L, r->script, r->stage, &r->job);
        // The groups come from the kernel's `groups`, else from the resources.
        uint64_t groups[3] = {0};
        if (r->stage->groups != LUA_NOREF) {
            rule_call(L, r->script, r->stage->groups, r->config);
            check_dimensions(L, -1, "kernel: groups", UINT32_MAX, groups);
            lua_pop(L, 1);
        } else if (r->script->resources.function != LUA_NOREF) {
            struct resources resources;
            get_resources(L, r->script, r->config, NULL, &resources);
            memcpy(groups, resources.groups, sizeof groups);
        }
        for (int j = 0; j < 3; j++) {
            if (groups[j] < 1 || groups[j] > UINT32_MAX)
                luaL_error(L, "kernel: no groups (give them here or in resources)");
            p->groups[j] = (uint32_t)groups[j];
        }
        p->subgroup = subgroup_of(L, r->script, r->stage, r->config, NULL);
        p->once = r->stage->once;
    }
    if (r->job.pass_count == 0)
        return luaL_error(L, "no kernel is left: every 'when' is false");
    const struct rule *scratch = &r->script->scratch;
    if (scratch->function != LUA_NOREF) {
        r->script->guard.place = scratch->place;
        rule_call(L, r->script, scratch->function, r->config);
        uint64_t bytes = (uint64_t)check_whole(L, -1, "scratch: the number of bytes", 0, INT64_MAX);
        r->job.scratch_bytes = (bytes + 3) / 4 * 4; // like every buffer (tensor_bytes)
        given_check_scratch(L, r->script, &r->job);
        lua_pop(L, 1);
    }
    return 0;
}

static int visit_reference(lua_State *L)
{
    struct render *r = lua_touserdata(L, 1);
    run_template(L, r);
    memcpy(finish_pass(r)->groups, r->script->reference_groups, sizeof r->script->reference_groups);
    return 0;
}

static bool render(struct render *r, struct place place, lua_CFunction visit, struct err *e)
{
    r->script->render = r;
    bool done = guard_run(&r->script->guard, GUARD_RENDER, place, visit, r, e);
    r->script->render = NULL;
    str_finish(&r->glsl);
    free(r->map);
    return done;
}

bool script_render(struct script *s, const struct config *c, struct job *job, struct err *e)
{
    struct render r = {.script = s, .config = c};
    *job = r.job;
    if (s->objective)
        return err_set(e, "'%s' has no kernel: another program measures", s->space->name);
    bool done = s->program ? program_job(s->program, c, s->texts.item[0].path, &r.job, e)
                           : render(&r, s->stage[0].place, visit_render, e);
    if (!done)
        job_finish(&r.job);
    r.job.spirv_minor = s->spirv_minor;
    *job = r.job;
    return done;
}

bool render_reference(struct script *s, struct err *e)
{
    struct render r = {.script = s, .stage = &s->reference};
    bool done =
        s->reference.function == LUA_NOREF || render(&r, s->reference.place, visit_reference, e);
    s->reference_job = r.job;
    return done;
}
