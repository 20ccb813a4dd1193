#include "script/guard.h"

#include "base/mem.h"
#include "base/os.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_LIMIT   ((size_t)GUARD_MEMORY_MIB << 20)
#define BYTES_PER_STEP 16
#define LOAD_STEPS     4    // for a byte that is compiled
#define LOAD_PIECE     4096 // bytes that are compiled between two checks of the clock
#define HOOK_INTERVAL  1000
#define SECOND_NS      1000000000

// An instruction that compares, converts or joins a long string takes as long as thousands of
// others. As soon as there is a long string, the hook runs more often.
#define LONG_STRING      (64 << 10)
#define LONG_STRING_HOOK 10
#define TOO_MUCH_MEMORY                                                                            \
    "not enough memory: the limit is %d MiB (endless recursion, a table without end?)"

static const struct {
    int64_t steps;
    int seconds; // CPU time; less for a rule, which is asked many times
    const char *steps_text, *task;
} allowance[] = {
    [GUARD_LOAD] = {50000000, 10, "50 million", "loading a space file"},
    [GUARD_RULE] = {1000000, 2, "1 million", "a rule"},
    [GUARD_RENDER] = {50000000, 10, "50 million", "rendering a candidate"},
};

struct guard *guard_of(lua_State *L)
{
    return *(struct guard **)lua_getextraspace(L);
}

// "#3" -> 3; -1 for other chunks (only C functions have none).
static int text_of(const lua_Debug *at)
{
    return at->short_src[0] == '#' ? atoi(at->short_src + 1) : -1;
}

static bool is_blamed(const struct guard *g, int text)
{
    if (text < 0 || text >= g->texts->count)
        return false;
    return !g->spares_library || strncmp(g->texts->item[text].name, "lua/", 4) != 0;
}

struct place guard_caller(lua_State *L)
{
    struct guard *g = guard_of(L);
    lua_Debug at;
    for (int level = 0; lua_getstack(L, level, &at); level++) {
        lua_getinfo(L, "Sl", &at);
        if (at.currentline > 0 && is_blamed(g, text_of(&at)))
            return (struct place){text_of(&at), at.currentline};
    }
    return g->place;
}

static void on_count(lua_State *L, lua_Debug *at);

static void set_hook(struct guard *g, int interval)
{
    g->hook_interval = interval;
    lua_sethook(g->lua, on_count, LUA_MASKCOUNT, interval);
}

static void *allocate(void *context, void *old, size_t old_size, size_t new_size)
{
    struct guard *g = context;
    bool is_string = !old && old_size == LUA_TSTRING; // Lua passes the kind of a new object there
    if (!old)
        old_size = 0;
    if (is_string && new_size > LONG_STRING && g->hook_interval > LONG_STRING_HOOK)
        set_hook(g, LONG_STRING_HOOK);
    if (new_size == 0) {
        g->bytes -= old_size;
        free(old);
        return NULL;
    }
    if (new_size > old_size) {
        if (new_size - old_size > MEMORY_LIMIT - g->bytes) {
            g->caught = guard_caller(g->lua); // no message handler runs for this error
            return NULL;
        }
        g->steps_left -= (int64_t)(new_size / BYTES_PER_STEP);
    }
    g->bytes = g->bytes - old_size + new_size;
    return mem_resize(old, new_size, 1);
}

// Pushes a message when the visit has used up its steps or its time; else returns false.
static bool push_excess(lua_State *L)
{
    struct guard *g = guard_of(L);
    if (g->steps_left < 0) {
        lua_pushfstring(L, "too many steps: the limit is %s in %s (an endless loop?)",
                        allowance[g->task].steps_text, allowance[g->task].task);
        return true;
    }
    g->steps_at_look = g->steps_left;
    int64_t now = os_thread_cpu_ns();
    int64_t limit_ns =
        g->cpu_limit_ns ? g->cpu_limit_ns : allowance[g->task].seconds * (int64_t)SECOND_NS;
    if (!g->cpu_deadline)
        g->cpu_deadline = now + limit_ns;
    if (now <= g->cpu_deadline)
        return false;
    lua_pushfstring(L, "too slow: %s took more than %d seconds", allowance[g->task].task,
                    (int)(limit_ns / SECOND_NS));
    return true;
}

static void on_count(lua_State *L, lua_Debug *at)
{
    struct guard *g = guard_of(L);
    g->steps_left -= g->hook_interval;
    lua_getinfo(L, "Sl", at); // luaL_where would name the caller: a hook is not a call
    if (push_excess(L))
        guard_raise(L, (struct place){text_of(at), at->currentline}, lua_tostring(L, -1));
}

void guard_charge(lua_State *L, uint64_t steps)
{
    struct guard *g = guard_of(L);
    g->steps_left -= steps < INT64_MAX / 2 ? (int64_t)steps : INT64_MAX / 2;
    bool is_due = g->steps_left < 0 || g->steps_at_look - g->steps_left >= HOOK_INTERVAL;
    if (is_due && push_excess(L))
        luaL_error(L, "%s", lua_tostring(L, -1));
}

void guard_keep(lua_State *L, size_t bytes)
{
    struct guard *g = guard_of(L);
    if (bytes > MEMORY_LIMIT - g->bytes)
        luaL_error(L, TOO_MUCH_MEMORY, GUARD_MEMORY_MIB);
    g->bytes += bytes;
    guard_charge(L, bytes / BYTES_PER_STEP);
}

int guard_raise(lua_State *L, struct place place, const char *message)
{
    lua_pushfstring(L, "#%d:%d: %s", place.text, place.line, message);
    return lua_error(L);
}

// The message handler runs where the error was raised, while the stack still shows where that is.
static int on_error(lua_State *L)
{
    guard_of(L)->caught = guard_caller(L);
    if (lua_type(L, 1) == LUA_TNUMBER)
        lua_tostring(L, 1);
    else if (lua_type(L, 1) != LUA_TSTRING)
        lua_pushfstring(L, "error was given a %s, not a message", luaL_typename(L, 1));
    return 1;
}

bool guard_run(struct guard *g, enum guard_task task, struct place place, lua_CFunction visit,
               void *context, struct err *e)
{
    return guard_run_visit(g, &(struct guard_visit){task, place, visit, context, NULL}, e);
}

bool guard_run_visit(struct guard *g, const struct guard_visit *v, struct err *e)
{
    lua_State *L = g->lua;
    pthread_mutex_lock(&g->turn);
    if (v->steps)
        set_hook(g, g->hook_interval); // counts from here
    g->task = v->task;
    g->steps_left = g->steps_at_look = allowance[v->task].steps;
    g->cpu_deadline = 0;
    g->place = g->caught = v->place;
    assert(lua_gettop(L) == 0);
    lua_pushcfunction(L, on_error);
    lua_pushcfunction(L, v->function);
    lua_pushlightuserdata(L, v->context);
    int status = lua_pcall(L, 1, 0, 1);
    if (status != LUA_OK) {
        const char *message =
            lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "unknown error";
        struct place p = g->caught;
        int skip = 0, text, line;
        if (sscanf(message, "#%d:%d: %n", &text, &line, &skip) != 2 || text < 0 ||
            text >= g->texts->count)
            skip = 0;
        else if (is_blamed(g, text))
            p = (struct place){text, line};
        if (status == LUA_ERRMEM)
            err_at(e, g->texts->item[p.text].path, p.line, TOO_MUCH_MEMORY, GUARD_MEMORY_MIB);
        else
            err_at(e, g->texts->item[p.text].path, p.line, "%s%s", message + skip,
                   strstr(message, "attempt to call a nil value (upvalue") ||
                           strstr(message, "attempt to call a nil value (global")
                       ? ": it is declared further down, or not at all"
                       : "");
    }
    if (v->steps)
        *v->steps += (uint64_t)(allowance[v->task].steps - g->steps_left);
    lua_settop(L, 0);
    pthread_mutex_unlock(&g->turn);
    return status == LUA_OK;
}

struct reading {
    const char *next;
    size_t left;
};

static const char *read_piece(lua_State *L, void *context, size_t *length)
{
    struct reading *r = context;
    const char *piece = r->next;
    *length = r->left < LOAD_PIECE ? r->left : LOAD_PIECE;
    r->next += *length;
    r->left -= *length;
    guard_charge(L, *length * LOAD_STEPS);
    return piece;
}

int guard_load(lua_State *L, const char *name, const char *source, size_t length)
{
    struct reading r = {source, length};
    return lua_load(L, read_piece, &r, name, "t");
}

void guard_load_text(lua_State *L, int text, const char *source, size_t length)
{
    char name[32];
    snprintf(name, sizeof name, "=#%d", text);
    if (guard_load(L, name, source, length) != LUA_OK)
        lua_error(L);
}

void guard_create(struct guard *g, const struct texts *texts, lua_CFunction open, void *owner)
{
    *g = (struct guard){.texts = texts, .owner = owner, .steps_left = INT64_MAX};
    pthread_mutex_init(&g->turn, NULL);
    g->lua = lua_newstate(allocate, g);
    assert(g->lua);
    *(struct guard **)lua_getextraspace(g->lua) = g;
    struct err e;
    bool opened = guard_run(g, GUARD_LOAD, (struct place){0, 0}, open, NULL, &e);
    assert(opened);
    (void)opened;
    set_hook(g, HOOK_INTERVAL);
}

void guard_destroy(struct guard *g)
{
    if (!g->lua)
        return;
    lua_close(g->lua);
    pthread_mutex_destroy(&g->turn);
    g->lua = NULL;
}
