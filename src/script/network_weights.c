// What files hold of a network, constants and inputs: "fc.npy", { "a.safetensors", "fc.weight" }.
#include "script/network_reading.h"

#include "base/file.h"
#include "base/mem.h"
#include "script/check.h"
#include "script/order.h"
#include "script/state.h"

#include <stdlib.h>
#include <string.h>

#define EXPECTED_TOLERANCE 1e-5 // as of operators of one's own
#define OPEN_STEPS         1000 // of asking the system for a file

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

// That its header has been read, which is done once.
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

// The file's name and what is taken of it, at the top of the stack: "fc.npy",
// { "model.safetensors", "fc.weight", round = true }.
static const char *read_choice(lua_State *L, const char *what, struct weights_choice *out)
{
    static const char *const known[] = {"round", NULL};
    *out = (struct weights_choice){.name = NULL};
    if (lua_type(L, -1) == LUA_TSTRING)
        return check_string(L, -1, what);
    int table = lua_gettop(L);
    check_parts(L, table, what);
    check_fields(L, -1, what, known);
    if (lua_getfield(L, -1, "round") != LUA_TNIL)
        check_type(L, table + 3, lua_pushfstring(L, "%s: round", what), LUA_TBOOLEAN);
    lua_settop(L, table + 3);
    out->rounds = lua_toboolean(L, -1);
    int list = table + 1, length = (int)lua_rawlen(L, list);
    if (length < 1 || length > 2)
        luaL_error(L, "%s: expected \"FILE.npy\" or { \"FILE.safetensors\", \"NAME\" }", what);
    lua_rawgeti(L, list, 1);
    const char *file = check_string(L, -1, what);
    lua_rawgeti(L, list, 2);
    if (length == 2)
        out->name = check_string(L, -1, what);
    return file;
}

// What the value at the top of the stack says, for `to`.
static void take(lua_State *L, struct network_reading *r, const char *what, const struct tensor *to,
                 struct weights *out)
{
    struct weights_choice choice;
    struct err e;
    const char *name = read_choice(L, what, &choice);
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
        take(L, r, which, to, &w->from);
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
    take(L, r, what, &named, from);
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

void network_close_files(struct network_reading *r)
{
    for (int i = 0; i < r->file_count; i++)
        weights_close(r->file[i]);
    free(r->file);
}
