// The tasks, weights and plan of a network.
#include "base/file.h"
#include "base/mem.h"
#include "script/check.h"
#include "script/network_reading.h"
#include "script/readonly.h"
#include "script/state.h"

#include <stdlib.h>
#include <string.h>

// --- plan ---

// The values of the plan are inputs, then results of layers, then weights.
void network_make_plan(const struct network_reading *r)
{
    struct network *n = r->out;
    for (int i = 0; i < n->input_count; i++) {
        int value = plan_add_value(&n->plan, n->input[i].name, PLAN_INPUT, &r->input[i]);
        n->plan.value[value].from = n->input[i].from;
    }
    for (int i = 0; i < n->layer_count; i++) {
        const struct network_facts *f = &r->facts[n->layer[i].task];
        const struct network_tensor *made = &n->layer[i].output;
        bool is_output = false;
        for (int k = 0; k < n->output_count; k++)
            is_output = is_output || n->output[k] == i;
        int value = plan_add_value(&n->plan, made->name, is_output ? PLAN_OUTPUT : PLAN_MADE,
                                   &f->tensor[f->count - 1]);
        n->plan.value[value].from = made->from;
        n->plan.value[value].relative = made->relative;
        n->plan.value[value].absolute = made->absolute;
    }
    for (int i = 0; i < n->layer_count; i++) {
        const struct network_layer *l = &n->layer[i];
        const struct network_facts *f = &r->facts[l->task];
        int value[OPERATION_MAX_TENSORS];
        for (int k = 0; k < f->count - 1; k++) {
            const char *tensor = f->tensor[k].name;
            value[k] = -1;
            for (int j = 0; j < l->input_count && value[k] < 0; j++)
                if (strcmp(l->input[j].tensor, tensor) == 0) {
                    int from = l->input[j].layer;
                    value[k] = from < 0 ? -1 - from : n->input_count + from;
                }
            if (value[k] >= 0)
                continue;
            char *name = mem_printf("%s.%s", l->output.name, tensor);
            value[k] = plan_add_value(&n->plan, name, PLAN_WEIGHT, &f->tensor[k]);
            for (int j = 0; j < l->weights_count; j++)
                if (strcmp(l->weights[j].tensor, tensor) == 0)
                    n->plan.value[value[k]].from = &l->weights[j].from;
            free(name);
        }
        value[f->count - 1] = n->input_count + i;
        plan_add_step(&n->plan, l->output.name, l->task, value, f->count);
    }
    plan_place(&n->plan);
}

// --- tensors of layers ---

const struct tensor *network_find_tensor(lua_State *L, const struct network_reading *r,
                                         const struct network_layer *layer, const char *field,
                                         const char *name)
{
    const struct network_facts *f = &r->facts[layer->task];
    luaL_Buffer all;
    for (int i = 0; i < f->count - 1; i++)
        if (strcmp(f->tensor[i].name, name) == 0)
            return &f->tensor[i];
    luaL_buffinit(L, &all);
    for (int i = 0; i < f->count - 1; i++) {
        luaL_addstring(&all, i ? ", " : "");
        luaL_addstring(&all, f->tensor[i].name);
    }
    luaL_pushresult(&all);
    luaL_error(L, "layer '%s': %s: %s reads no '%s' (it reads %s)", layer->output.name, field,
               r->out->task[layer->task].kind, name, lua_tostring(L, -1));
    return NULL;
}

bool network_flows_in(const struct network_layer *l, const char *tensor)
{
    for (int i = 0; i < l->input_count; i++)
        if (strcmp(l->input[i].tensor, tensor) == 0)
            return true;
    return false;
}

// --- weights and inputs from files: "fc.npy", { "a.safetensors", "fc.weight" } ---

#define EXPECTED_TOLERANCE 1e-5 // like operator.define
#define OPEN_STEPS         1000 // of looking for a file

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

// Returns the file, whose header is read once; NULL: `e` is filled.
static struct weights_file *open_file(struct network_reading *r, const char *name, struct err *e)
{
    bool is_npy = ends_with(name, ".npy");
    if (!is_npy && !ends_with(name, ".safetensors")) {
        err_set(e, "a file of weights is a .npy or a .safetensors");
        return NULL;
    }
    if (!texts_is_contained(name)) {
        err_set(e, "a file is named relative to the network's folder, without '..'");
        return NULL;
    }
    char *path = path_join(r->folder, name);
    struct weights_file *f = NULL;
    for (int i = 0; i < r->file_count && !f; i++)
        f = strcmp(r->file[i]->path, path) == 0 ? r->file[i] : NULL;
    if (!f) {
        f = weights_open(path, r->folder, is_npy ? WEIGHTS_NPY : WEIGHTS_SAFETENSORS, e);
        if (f) {
            MEM_GROW(r->file, r->file_count, r->file_capacity);
            r->file[r->file_count++] = f;
        }
    }
    free(path);
    return f;
}

// Takes the tensor for `to` that the value at the top of the stack names, "fc.npy" or
// { "model.safetensors", "fc.weight", round = true }.
static void read_weights(lua_State *L, struct network_reading *r, const char *what,
                         const struct tensor *to, struct weights *out)
{
    static const char *const fields[] = {"round", NULL};
    struct weights_choice choice = {.name = NULL};
    struct err e;
    const char *name;
    if (lua_type(L, -1) == LUA_TSTRING) {
        name = check_string(L, -1, what);
    } else {
        int table = lua_gettop(L), list = table + 1;
        check_parts(L, table, what);
        check_fields(L, -1, what, fields);
        if (lua_getfield(L, -1, "round") != LUA_TNIL)
            check_type(L, table + 3, lua_pushfstring(L, "%s: round", what), LUA_TBOOLEAN);
        lua_settop(L, table + 3);
        choice.rounds = lua_toboolean(L, -1);
        int length = (int)lua_rawlen(L, list);
        if (length < 1 || length > 2)
            luaL_error(L, "%s: expected \"FILE.npy\" or { \"FILE.safetensors\", \"NAME\" }", what);
        lua_rawgeti(L, list, 1);
        name = check_string(L, -1, what);
        lua_rawgeti(L, list, 2);
        if (length == 2)
            choice.name = check_string(L, -1, what);
    }
    int known = r->file_count;
    struct weights_file *f = open_file(r, name, &e);
    guard_charge(L, OPEN_STEPS);
    if (f && r->file_count > known) {
        guard_charge(L, f->header_bytes);
        guard_keep(L, f->header_bytes + (size_t)f->count * sizeof *f->tensor);
    }
    if (!f || !weights_take(f, &choice, to, &r->script->arena, out, &e))
        luaL_error(L, "%s: %s: %s", what, name, e.text);
    guard_keep(L, strlen(out->path) + strlen(out->folder) + strlen(out->name) + 3);
}

void network_read_weights(lua_State *L, struct network_reading *r, struct network_layer *layer)
{
    lua_settop(L, 1);
    if (lua_getfield(L, 1, "weights") == LUA_TNIL)
        return;
    const char *what = lua_pushfstring(L, "layer '%s': weights", layer->output.name);
    check_type(L, 2, what, LUA_TTABLE);
    int count = order_push_keys(L, 2);
    if (count == 0)
        return;
    layer->weights = arena_zero(&r->script->arena, OPERATION_MAX_TENSORS, sizeof *layer->weights);
    guard_keep(L, OPERATION_MAX_TENSORS * sizeof *layer->weights);
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, 4, i);
        const char *name = check_identifier(L, -1, what);
        const struct tensor *to = network_find_tensor(L, r, layer, "weights", name);
        if (network_flows_in(layer, to->name))
            luaL_error(L, "%s: %s is given by from, too", what, name);
        const char *which = lua_pushfstring(L, "%s: %s", what, name);
        lua_getfield(L, 2, name);
        struct network_weights *w = &layer->weights[layer->weights_count++];
        w->tensor = to->name;
        read_weights(L, r, which, to, &w->from);
        layer->read_bytes += (double)tensor_bytes(to);
        lua_settop(L, 4);
    }
}

const struct weights *network_read_file(lua_State *L, struct network_reading *r, int fields,
                                        const char *role, const char *name, const struct tensor *to)
{
    struct tensor named = *to;
    named.name = lua_pushfstring(L, "the %s", role);
    const char *what = lua_pushfstring(L, "%s '%s': file", role, name);
    if (lua_getfield(L, fields, "file") == LUA_TNIL)
        return NULL;
    guard_keep(L, sizeof(struct weights));
    struct weights *from = arena_zero(&r->script->arena, 1, sizeof *from);
    read_weights(L, r, what, &named, from);
    return from;
}

static double read_tolerance(lua_State *L, const char *field)
{
    const char *what = lua_pushfstring(L, "output: %s", field);
    bool is_told = lua_getfield(L, 2, field) != LUA_TNIL;
    if (is_told)
        check_type(L, lua_gettop(L), what, LUA_TNUMBER);
    double value = is_told ? lua_tonumber(L, -1) : EXPECTED_TOLERANCE;
    if (!(value >= 0))
        luaL_error(L, "%s is negative", what);
    return value;
}

void network_read_expected(lua_State *L, struct network_reading *r, struct network_tensor *t,
                           const struct tensor *is)
{
    static const char *const known[] = {"file", "relative", "absolute", NULL};
    if (lua_isnoneornil(L, 2))
        return;
    check_type(L, 2, "output", LUA_TTABLE);
    check_fields(L, 2, "output", known);
    t->relative = read_tolerance(L, "relative");
    t->absolute = read_tolerance(L, "absolute");
    t->from = network_read_file(L, r, 2, "output", t->name, is);
}

// --- tasks ---

#define MOST_TOLD_S 1e12

// Returns the path of a shipped preset, "gemm", or of a file below the network's folder,
// "mine.lua".
static char *find_preset(const struct network_reading *r, const char *name, struct err *e)
{
    size_t length = strlen(name);
    if (r->script->texts.pinned || length < 4 || strcmp(name + length - 4, ".lua") != 0)
        return script_find_shipped(name, e);
    char *path = path_join(r->folder, name), *text = NULL;
    const char *const folders[] = {r->folder, NULL};
    bool is_below =
        *name != '/' && file_read_below(path, folders, TEXTS_MAX_BYTES, &text, &length, e);
    free(text);
    if (is_below)
        return path;
    if (*name == '/')
        err_set(e, "a file is named relative to the network's folder");
    free(path);
    return NULL;
}

// Completes a task that has its preset and settings. All memory belongs to the arena.
static bool evaluate(const struct network_reading *r, struct network_task *t,
                     struct network_facts *f, struct err *e)
{
    char *path = find_preset(r, t->preset, e);
    if (!path)
        return false;
    struct script_options o = {.path = path,
                               .set = t->set,
                               .set_count = t->set_count,
                               .device_type = r->script->device_type,
                               .limits = r->script->limits};
    struct script *s = script_create(&o, e);
    if (s && operation_outputs(script_operation(s)) > 1) {
        err_set(e, "'%s' has several outputs, a layer has one", t->preset);
        script_destroy(s);
        s = NULL;
    }
    if (s) {
        // Sizes that the preset chose become settings: it might choose others on another device.
        struct str key = {0};
        int count, n = 0;
        const struct script_setting *all = script_settings(s, &count);
        struct setting *set = arena_zero(&r->script->arena, (size_t)count + 1, sizeof *set);
        str_add(&key, t->preset);
        for (int i = 0; i < count; i++) {
            str_printf(&key, " %s=%s", all[i].name, all[i].value);
            bool is_given = all[i].is_whole;
            for (int k = 0; k < t->set_count; k++)
                is_given = is_given || strcmp(t->set[k].name, all[i].name) == 0;
            if (is_given)
                set[n++] = (struct setting){arena_strdup(&r->script->arena, all[i].name),
                                            arena_strdup(&r->script->arena, all[i].value)};
        }
        t->set = set;
        t->set_count = n;
        f->key = arena_strdup(&r->script->arena, str_text(&key));
        str_finish(&key);
        const struct operation *operation = script_operation(s);
        struct str title = {0};
        operation_add_text(operation, &title);
        t->title = arena_strdup(&r->script->arena, str_text(&title));
        t->kind = arena_strdup(&r->script->arena, operation->kind->name);
        t->flop = operation_flop(operation);
        t->work = operation_work(operation);
        t->work.unit = arena_strdup(&r->script->arena, t->work.unit);
        f->count = operation_tensors(operation, f->tensor);
        for (int i = 0; i < f->count; i++) {
            uint64_t bytes = tensor_bytes(&f->tensor[i]);
            f->tensor[i].name = arena_strdup(&r->script->arena, f->tensor[i].name);
            t->largest_bytes = bytes > t->largest_bytes ? bytes : t->largest_bytes;
        }
        str_finish(&title);
    }
    if (s && strchr(t->preset, '.'))
        t->preset = arena_strdup(&r->script->arena, path);
    script_destroy(s);
    free(path);
    return s != NULL;
}

// Returns the index for the key on the top of the stack; -1: there is none.
static int find_task(lua_State *L, int tasks)
{
    lua_pushvalue(L, -1);
    bool is_known = lua_rawget(L, tasks) != LUA_TNIL;
    int index = (int)lua_tointeger(L, -1);
    lua_pop(L, 1);
    return is_known ? index : -1;
}

// The task is found by the settings of the layer, else by those that the preset completes.
int network_read_task(lua_State *L, struct network_reading *r, const char *name)
{
    struct network_task t = {.label = name};
    struct network_facts f;
    struct err e;
    lua_settop(L, 1);
    const char *what = lua_pushfstring(L, "layer '%s'", name);
    lua_getfield(L, 1, "preset");
    t.preset = script_keep_text(L, check_string(L, 3, lua_pushfstring(L, "%s: preset", what)));
    lua_getfield(L, 1, "set");
    t.set = check_settings(L, -1, what, &r->script->arena, &t.set_count);
    lua_rawgeti(L, LUA_REGISTRYINDEX, r->tasks);
    int tasks = lua_gettop(L);
    // The key is the layer's preset and settings as text.
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    luaL_addstring(&b, t.preset);
    for (int i = 0; i < t.set_count; i++) {
        luaL_addchar(&b, ' ');
        luaL_addstring(&b, t.set[i].name);
        luaL_addchar(&b, '=');
        luaL_addstring(&b, t.set[i].value);
    }
    luaL_pushresult(&b);
    int known = find_task(L, tasks);
    if (known >= 0)
        return known;
    if (!evaluate(r, &t, &f, &e)) {
        char message[1400];
        const char *text = err_format(&e, message, sizeof message);
        luaL_error(L, "%s: %s: %s", what, t.preset, text + (str_starts(text, "--set ") ? 6 : 0));
    }
    guard_keep(L, sizeof t + sizeof f + 2 * strlen(f.key));
    lua_pushstring(L, f.key);
    int index = find_task(L, tasks);
    if (index < 0) {
        struct network *n = r->out;
        MEM_GROW(n->task, n->task_count, n->task_capacity);
        MEM_GROW(r->facts, n->task_count, r->facts_capacity);
        r->facts[n->task_count] = f;
        n->task[n->task_count] = t;
        index = n->task_count++;
    }
    for (int i = 0; i < 2; i++) { // under both keys, which are popped
        lua_pushinteger(L, index);
        lua_rawset(L, tasks);
    }
    return index;
}

bool network_read_uses(lua_State *L, struct network_reading *r, struct network_layer *layer)
{
    struct network *n = r->out;
    struct network_task *t = &n->task[layer->task];
    layer->uses = 1;
    lua_settop(L, 1);
    bool is_alone = lua_getfield(L, 1, "uses") != LUA_TNIL;
    if (n->layer_count && n->is_list != is_alone)
        luaL_error(L,
                   "layer '%s': uses: a network is a list, whose layers all have uses, or values "
                   "flow between its layers, and none has",
                   layer->output.name);
    const char *what = lua_pushfstring(L, "layer '%s': uses", layer->output.name);
    n->is_list = is_alone;
    if (is_alone) {
        layer->uses = check_whole(L, 2, what, 1, (int64_t)NETWORK_MAX_USES);
        layer->output.uses = 1;
        if (lua_getfield(L, 1, "from") != LUA_TNIL || lua_getfield(L, 1, "weights") != LUA_TNIL)
            luaL_error(L, "%s: it is on its own, without from and weights", what);
    }
    if (lua_getfield(L, 1, "seconds") != LUA_TNIL) {
        what = lua_pushfstring(L, "layer '%s': seconds", layer->output.name);
        double seconds = check_real(L, -2, what);
        if (!is_alone || seconds < 0)
            luaL_error(L, "%s: expected what a use took elsewhere (a layer with uses has it)",
                       what);
        t->told_s += (double)layer->uses * seconds;
        if (t->told_s > MOST_TOLD_S)
            luaL_error(L, "%s: all its uses take more than %f s", what, MOST_TOLD_S);
    }
    t->uses += layer->uses;
    return is_alone;
}
