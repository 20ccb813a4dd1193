#include "script/network_reading.h"

#include "base/file.h"
#include "base/mem.h"
#include "script/check.h"
#include "script/state.h"

#include <stdlib.h>
#include <string.h>

#define MOST_TOLD_S 1e12

// "gemm" ships, "mine.lua" lies below the network's own folder. Heap; NULL and a message.
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

static bool is_given(const struct network_task *t, const char *name)
{
    for (int i = 0; i < t->set_count; i++)
        if (strcmp(t->set[i].name, name) == 0)
            return true;
    return false;
}

// What a preset makes of a task's settings. Sizes that were left to it are given from here on: it
// might choose others on another device.
static void settle(struct arena *a, const struct script *s, struct network_task *t,
                   struct network_facts *f)
{
    struct str key = {0};
    int count, n = 0;
    const struct script_setting *all = script_settings(s, &count);
    struct setting *set = arena_zero(a, (size_t)count + 1, sizeof *set);
    str_add(&key, t->preset);
    for (int i = 0; i < count; i++) {
        str_printf(&key, " %s=%s", all[i].name, all[i].value);
        if (all[i].is_whole || is_given(t, all[i].name))
            set[n++] =
                (struct setting){arena_strdup(a, all[i].name), arena_strdup(a, all[i].value)};
    }
    t->set = set;
    t->set_count = n;
    f->key = arena_strdup(a, str_text(&key));
    str_finish(&key);
}

static void describe(struct arena *a, const struct operation *o, struct network_task *t,
                     struct network_facts *f)
{
    struct str title = {0};
    operation_add_text(o, &title);
    t->title = arena_strdup(a, str_text(&title));
    t->kind = arena_strdup(a, o->kind->name);
    t->flop = operation_flop(o);
    t->work = operation_work(o);
    t->work.unit = arena_strdup(a, t->work.unit);
    f->count = operation_tensors(o, f->tensor);
    for (int i = 0; i < f->count; i++) {
        uint64_t bytes = tensor_bytes(&f->tensor[i]);
        f->tensor[i].name = arena_strdup(a, f->tensor[i].name);
        t->largest_bytes = bytes > t->largest_bytes ? bytes : t->largest_bytes;
    }
    str_finish(&title);
}

// Completes a task of which preset and settings are there. All memory is the arena's.
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
    if (s) {
        settle(&r->script->arena, s, t, f);
        describe(&r->script->arena, script_operation(s), t, f);
    }
    if (s && strchr(t->preset, '.'))
        t->preset = arena_strdup(&r->script->arena, path);
    script_destroy(s);
    free(path);
    return s != NULL;
}

// Pushes what a layer says as a text.
static void push_words(lua_State *L, const struct network_task *t)
{
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    luaL_addstring(&b, t->preset);
    for (int i = 0; i < t->set_count; i++) {
        luaL_addchar(&b, ' ');
        luaL_addstring(&b, t->set[i].name);
        luaL_addchar(&b, '=');
        luaL_addstring(&b, t->set[i].value);
    }
    luaL_pushresult(&b);
}

static int add_task(struct network_reading *r, const struct network_task *t,
                    const struct network_facts *f)
{
    struct network *n = r->out;
    MEM_GROW(n->task, n->task_count, n->task_capacity);
    MEM_GROW(r->facts, n->task_count, r->facts_capacity);
    r->facts[n->task_count] = *f;
    n->task[n->task_count] = *t;
    return n->task_count++;
}

// The index at the key on the top of the stack, -1 when there is none.
static int find_task(lua_State *L, int tasks)
{
    lua_pushvalue(L, -1);
    bool is_known = lua_rawget(L, tasks) != LUA_TNIL;
    int index = (int)lua_tointeger(L, -1);
    lua_pop(L, 1);
    return is_known ? index : -1;
}

static void keep_task(lua_State *L, int tasks, int index) // pops the key
{
    lua_pushinteger(L, index);
    lua_rawset(L, tasks);
}

// The task of the layer at 1: by what it says, else by what the preset makes of that.
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
    push_words(L, &t);
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
    if (index < 0)
        index = add_task(r, &t, &f);
    keep_task(L, tasks, index);
    keep_task(L, tasks, index);
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
