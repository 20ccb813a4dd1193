// Network files: their functions, and networks that were read.
#include "script/network_reading.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "script/check.h"
#include "script/readonly.h"
#include "script/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_STATEMENT "network \"what it is\""

// --- values as Lua sees them; -1-k is input k of the network ---

static struct network_reading *reading_of(lua_State *L)
{
    struct network_reading *r = lua_touserdata(L, lua_upvalueindex(1));
    if (!r->out->about)
        luaL_error(L, "a network file begins with: " FIRST_STATEMENT);
    return r;
}

static const struct tensor *tensor_of(const struct network_reading *r, int value)
{
    if (value < 0)
        return &r->input[-1 - value];
    const struct network_facts *f = &r->facts[r->out->layer[value].task];
    return &f->tensor[f->count - 1];
}

static struct network_tensor *output_of(const struct network_reading *r, int value)
{
    return value < 0 ? &r->out->input[-1 - value] : &r->out->layer[value].output;
}

static int push_value(lua_State *L, struct network_reading *r, int value)
{
    const struct tensor *t = tensor_of(r, value);
    lua_rawgeti(L, LUA_REGISTRYINDEX, r->values);
    lua_newtable(L);
    script_set_text(L, "name", output_of(r, value)->name);
    script_set_text(L, "type", element_name(t->element));
    lua_pushinteger(L, tensor_count(t));
    lua_setfield(L, -2, "count");
    lua_createtable(L, t->rank, 0);
    for (int i = 0; i < t->rank; i++) {
        lua_pushinteger(L, t->size[i]);
        lua_rawseti(L, -2, i + 1);
    }
    readonly_wrap(L, "sizes", NULL);
    lua_setfield(L, -2, "sizes");
    readonly_wrap(L, "a value of the network", NULL);
    lua_pushvalue(L, -1);
    lua_pushinteger(L, value);
    lua_rawset(L, -4);
    return 1;
}

// False: the Lua value at `index` was not returned by input or layer.
static bool find_value(lua_State *L, const struct network_reading *r, int index, int *value)
{
    index = lua_absindex(L, index);
    if (lua_isnoneornil(L, index))
        return false;
    lua_rawgeti(L, LUA_REGISTRYINDEX, r->values);
    lua_pushvalue(L, index);
    bool is_value = lua_rawget(L, -2) != LUA_TNIL;
    *value = (int)lua_tointeger(L, -1);
    lua_pop(L, 2);
    return is_value;
}

static int check_value(lua_State *L, const struct network_reading *r, int index, const char *what)
{
    int value;
    if (!find_value(L, r, index, &value))
        luaL_error(
            L,
            "%s: expected what input or layer has returned, got %s (a value can be used only "
            "after the line that makes it)",
            what, lua_isnoneornil(L, index) ? "nothing" : luaL_typename(L, index));
    return value;
}

// Reads the field `name` at 1, which must be new.
static const char *read_name(lua_State *L, struct network_reading *r, const char *what)
{
    lua_settop(L, 1);
    lua_getfield(L, 1, "name");
    const char *name = check_string(L, 2, lua_pushfstring(L, "%s: name", what));
    lua_rawgeti(L, LUA_REGISTRYINDEX, r->names);
    if (lua_getfield(L, -1, name) != LUA_TNIL)
        luaL_error(L, "%s: the name '%s' is taken already", what, name);
    lua_pushboolean(L, true);
    lua_setfield(L, -3, name);
    lua_settop(L, 1);
    return script_keep_text(L, name);
}

// --- inputs of layers ---

static void add_sizes(struct str *s, const struct tensor *t)
{
    str_printf(s, "%s ", element_name(t->element));
    for (int i = 0; i < t->rank; i++)
        str_printf(s, "%s%" PRId64, i ? "x" : "", t->size[i]);
    str_printf(s, " (%" PRId64 " elements", tensor_count(t));
    if (tensor_extent(t) != tensor_count(t))
        str_printf(s, " in %" PRId64, tensor_extent(t));
    str_add(s, ")");
}

static void add_input(lua_State *L, struct network_reading *r, struct network_layer *layer,
                      const struct tensor *to, int value)
{
    // Tensors are passed on as they lie in memory: sizes may differ, counts and extents may not.
    const struct tensor *from = tensor_of(r, value);
    if ((from->element != to->element || tensor_count(from) != tensor_count(to)) ||
        tensor_extent(from) != tensor_extent(to)) {
        struct str s = {0};
        str_printf(&s, "'%s' gives ", output_of(r, value)->name);
        add_sizes(&s, from);
        str_printf(&s, ", %s takes ", to->name);
        add_sizes(&s, to);
        char text[500];
        snprintf(text, sizeof text, "%s", str_text(&s));
        str_finish(&s);
        luaL_error(L, "layer '%s': %s", layer->output.name, text);
    }
    layer->input[layer->input_count++] = (struct network_input){to->name, value};
    output_of(r, value)->uses++;
}

// Reads the field `from` at 1: a value, or values by the names of tensors.
static void read_inputs(lua_State *L, struct network_reading *r, struct network_layer *layer)
{
    const char *name = layer->output.name;
    int value;
    guard_keep(L, OPERATION_MAX_TENSORS * sizeof *layer->input);
    layer->input = arena_zero(&r->script->arena, OPERATION_MAX_TENSORS, sizeof *layer->input);
    lua_settop(L, 1);
    lua_getfield(L, 1, "from");
    const char *what = lua_pushfstring(L, "layer '%s': from", name);
    if (find_value(L, r, 2, &value) || lua_type(L, 2) != LUA_TTABLE) {
        add_input(L, r, layer, &r->facts[layer->task].tensor[0], check_value(L, r, 2, what));
        return;
    }
    int count = order_push_keys(L, 2);
    if (count == 0)
        luaL_error(L, "%s is empty", what);
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, 4, i);
        const char *tensor = check_identifier(L, -1, what);
        const struct tensor *to = network_find_tensor(L, r, layer, "from", tensor);
        lua_getfield(L, 2, tensor);
        add_input(L, r, layer, to,
                  check_value(L, r, 6, lua_pushfstring(L, "%s: %s", what, tensor)));
        lua_settop(L, 4);
    }
}

// --- functions of network files ---

static int declare_network(lua_State *L) // network(about)
{
    struct network_reading *r = lua_touserdata(L, lua_upvalueindex(1));
    if (r->out->about)
        luaL_error(L, "the network is declared twice");
    r->out->about = script_keep_text(L, check_string(L, 1, "network"));
    return 0;
}

static int network_declare_input(
    lua_State *L) // input { name = , sizes = { }, type = "f32", file = } -> value
{
    static const char *const known[] = {"name", "sizes", "type", "file", NULL};
    struct network_reading *r = reading_of(L);
    struct network *n = r->out;
    struct tensor t = {.name = "", .element = ELEMENT_F32, .stride = {1, 1, 1, 1}};
    check_fields(L, 1, "input", known);
    const char *name = read_name(L, r, "input");
    if (n->input_count == NETWORK_MAX_LAYERS)
        luaL_error(L, "more than %d inputs", NETWORK_MAX_LAYERS);
    if (lua_getfield(L, 1, "type") != LUA_TNIL)
        t.element = check_element(L, -1, "input", NULL);
    lua_getfield(L, 1, "sizes");
    int sizes = lua_gettop(L);
    t.rank = check_list(L, sizes, "input: sizes");
    if (t.rank < 1 || t.rank > TENSOR_MAX_RANK)
        luaL_error(L, "input: sizes: expected 1 to %d numbers, got %d", TENSOR_MAX_RANK, t.rank);
    for (int i = t.rank - 1; i >= 0; i--) {
        lua_geti(L, sizes, i + 1);
        t.size[i] = check_whole(L, -1, "input: sizes", 1, INT32_MAX);
        if (i < t.rank - 1)
            t.stride[i] = times_signed(t.stride[i + 1], t.size[i + 1]);
    }
    t.stride[t.rank - 1] = 1;
    const struct weights *from = network_read_file(L, r, 1, "input", name, &t);
    MEM_GROW(n->input, n->input_count, n->input_capacity);
    MEM_GROW(r->input, n->input_count, r->inputs);
    MEM_GROW(r->input_place, n->input_count, r->input_places);
    r->input[n->input_count] = t;
    r->input_place[n->input_count] = guard_caller(L);
    n->input[n->input_count] = (struct network_tensor){
        .name = name, .element = t.element, .count = tensor_count(&t), .from = from};
    return push_value(L, r, -1 - n->input_count++);
}

// layer { name = , preset = , set = { }, from = , weights = { } } -> value
// layer { name = , preset = , set = { }, uses = , seconds = }
static int declare_layer(lua_State *L)
{
    static const char *const known[] = {"name",    "preset", "set",     "from",
                                        "weights", "uses",   "seconds", NULL};
    struct network_reading *r = reading_of(L);
    struct network *n = r->out;
    struct network_layer layer = {0};
    check_fields(L, 1, "layer", known);
    layer.output.name = read_name(L, r, "layer");
    if (n->layer_count == NETWORK_MAX_LAYERS)
        luaL_error(L, "more than %d layers", NETWORK_MAX_LAYERS);
    layer.task = network_read_task(L, r, layer.output.name);
    bool is_alone = network_read_uses(L, r, &layer);
    const struct network_facts *f = &r->facts[layer.task];
    if (!is_alone) {
        read_inputs(L, r, &layer);
        network_read_weights(L, r, &layer);
        for (int i = 0; i < f->count - 1; i++)
            if (!network_flows_in(&layer, f->tensor[i].name))
                layer.weight_bytes += (double)tensor_bytes(&f->tensor[i]);
    }
    layer.output.element = f->tensor[f->count - 1].element;
    layer.output.count = tensor_count(&f->tensor[f->count - 1]);
    MEM_GROW(n->layer, n->layer_count, n->layer_capacity);
    MEM_GROW(r->layer_place, n->layer_count, r->layer_places);
    r->layer_place[n->layer_count] = guard_caller(L);
    n->layer[n->layer_count++] = layer;
    return is_alone ? 0 : push_value(L, r, n->layer_count - 1);
}

static int network_declare_output(lua_State *L) // output(value, { file =, relative =, absolute = })
{
    struct network_reading *r = reading_of(L);
    struct network *n = r->out;
    int value = check_value(L, r, 1, "output");
    if (value < 0)
        luaL_error(L, "output: '%s' is an input, no layer has made it", n->input[-1 - value].name);
    for (int i = 0; i < n->output_count; i++)
        if (n->output[i] == value)
            luaL_error(L, "output: '%s' is an output already", n->layer[value].output.name);
    network_read_expected(L, r, &n->layer[value].output, tensor_of(r, value));
    MEM_GROW(n->output, n->output_count, n->output_capacity);
    n->output[n->output_count++] = value;
    n->layer[value].output.uses++;
    return 0;
}

// --- networks ---

static int visit_network(lua_State *L)
{
    struct script *s = lua_touserdata(L, 1);
    struct network_reading *r = s->network;
    s->guard.spares_library = true;
    if (!network_begins(s->texts.item[0].text))
        guard_raise(L, (struct place){0, 1}, "a network file begins with: " FIRST_STATEMENT);
    int *const tables[] = {&r->names, &r->tasks, &r->values};
    for (int i = 0; i < 3; i++) {
        lua_newtable(L);
        *tables[i] = luaL_ref(L, LUA_REGISTRYINDEX);
    }
    static const luaL_Reg functions[] = {{"network", declare_network},
                                         {"input", network_declare_input},
                                         {"layer", declare_layer},
                                         {"output", network_declare_output},
                                         {0}};
    static const struct readonly_words words = {
        .unknown = "unknown name '%s'",
        .assign = "'%s' is not a local variable (write 'local')",
        .hint = library_hint,
    };
    lua_newtable(L);
    library_push(L);
    script_copy_fields(L, -1, -2);
    lua_pop(L, 1);
    setting_open(L);
    include_open(L);
    lua_pushnil(L);
    lua_setfield(L, -2, "use"); // of presets
    lua_pushlightuserdata(L, r);
    luaL_setfuncs(L, functions, 1);
    readonly_wrap(L, "the environment", &words);
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    include_run_first(L);
    const struct network *n = r->out;
    if (n->layer_count == 0)
        luaL_error(L,
                   "the network has no layers (layer { name = , preset = , set = { }, from = })");
    if (n->output_count == 0 && !n->is_list)
        luaL_error(L, "the network has no output (output(x))");
    for (int i = -n->input_count; i < n->layer_count; i++) {
        // The inputs, then the layers.
        int value = i < 0 ? -1 - (i + n->input_count) : i;
        const struct network_tensor *t = output_of(r, value);
        if (t->uses)
            continue;
        guard_raise(L, value < 0 ? r->input_place[-1 - value] : r->layer_place[value],
                    lua_pushfstring(L,
                                    "%s '%s' is used by nothing (give it to a layer's from, or to "
                                    "output)",
                                    value < 0 ? "input" : "layer", t->name));
    }
    return 0;
}

bool network_load(const struct script_options *o, struct network *out, struct err *e)
{
    struct script *s = script_begin(o);
    struct network_reading r = {.out = out, .script = s};
    char *name = path_stem(o->texts ? o->texts[0].name : o->path);
    *out = (struct network){.name = arena_strdup(&s->arena, name)};
    r.folder = path_folder(o->texts ? o->texts[0].path : o->path);
    s->network = &r;
    plan_init(&out->plan);
    bool ok = script_load(s, o, visit_network, e);
    if (ok && !out->is_list)
        network_make_plan(&r);
    out->setting = s->setting; // kept of the script, with its arena
    out->setting_count = s->setting_count;
    out->arena = s->arena;
    s->setting = NULL;
    arena_init(&s->arena);
    script_destroy(s);
    free(name);
    free(r.folder);
    free(r.facts);
    free(r.input);
    free(r.layer_place);
    free(r.input_place);
    for (int i = 0; i < r.file_count; i++)
        weights_close(r.file[i]);
    free(r.file);
    return ok;
}

bool network_read(const char *path, const struct setting *set, int set_count, struct network *out,
                  struct err *e)
{
    struct script_options o = {.path = path, .set = set, .set_count = set_count};
    return network_load(&o, out, e);
}

void network_finish(struct network *n)
{
    free(n->task);
    free(n->layer);
    free(n->input);
    free(n->output);
    free(n->setting);
    plan_finish(&n->plan);
    arena_finish(&n->arena);
    *n = (struct network){0};
}

double network_weight_bytes(const struct network *n)
{
    double sum = 0;
    for (int i = 0; i < n->layer_count; i++)
        sum += n->layer[i].weight_bytes;
    return sum;
}

double network_flop(const struct network *n)
{
    double sum = 0;
    for (int i = 0; i < n->task_count; i++)
        sum += (double)n->task[i].uses * n->task[i].flop;
    return sum;
}

double network_told(const struct network *n)
{
    double sum = 0;
    for (int i = 0; i < n->task_count; i++) {
        if (n->task[i].told_s <= 0)
            return 0;
        sum += n->task[i].told_s;
    }
    return sum;
}
