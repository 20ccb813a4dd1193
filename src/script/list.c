#include "script/list.h"

#include "base/file.h"
#include "base/mem.h"
#include "script/check.h"
#include "script/library.h"
#include "script/readonly.h"
#include "script/state.h"

#include <stdlib.h>
#include <string.h>

struct reading {
    struct list *list;
    struct texts texts;
    struct guard guard;
};

static struct list *list_of(lua_State *L)
{
    struct reading *r = guard_of(L)->owner;
    return r->list;
}

static const char *keep_text(lua_State *L, struct list *l, const char *text)
{
    guard_keep(L, strlen(text) + 1);
    return arena_strdup(&l->arena, text);
}

static int declare_about(lua_State *L) // about(text)
{
    struct list *l = list_of(L);
    l->about = keep_text(L, l, check_string(L, 1, "about"));
    return 0;
}

static const char *read_text(lua_State *L, struct list *l, const char *field, const char *what)
{
    lua_getfield(L, 1, field);
    return keep_text(L, l, check_string(L, -1, what));
}

static int declare_item(lua_State *L) // item { label = , preset = , uses = , set = { } }
{
    static const char *const known[] = {"label", "preset", "uses", "set", NULL};
    struct list *l = list_of(L);
    struct list_item item = {.uses = 1};
    check_fields(L, 1, "item", known);
    item.label = read_text(L, l, "label", "item: label");
    item.preset = read_text(L, l, "preset", "item: preset");
    if (lua_getfield(L, 1, "uses") != LUA_TNIL)
        item.uses = check_whole(L, -1, "item: uses", 1, INT32_MAX);
    lua_getfield(L, 1, "set");
    item.set = check_settings(L, -1, "item", &l->arena, &item.set_count);
    for (int i = 0; i < l->count; i++)
        if (strcmp(l->item[i].label, item.label) == 0)
            luaL_error(L, "item '%s' is declared twice", item.label);
    if (l->count == LIST_MAX_ITEMS)
        luaL_error(L, "more than %d items", LIST_MAX_ITEMS);
    MEM_GROW(l->item, l->count, l->capacity);
    l->item[l->count++] = item;
    return 0;
}

static int visit_list(lua_State *L)
{
    static const luaL_Reg functions[] = {{"about", declare_about}, {"item", declare_item}, {0}};
    static const struct readonly_words words = {
        .unknown = "unknown name '%s'",
        .assign = "'%s' is not a local variable (write 'local')",
        .hint = library_hint,
    };
    struct reading *r = lua_touserdata(L, 1);
    lua_newtable(L);
    library_push(L);
    script_copy_fields(L, -1, -2);
    lua_pop(L, 1);
    luaL_setfuncs(L, functions, 0);
    readonly_wrap(L, "the environment", &words);
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    const char *text = r->texts.item[0].text;
    guard_load_text(L, 0, text, strlen(text));
    lua_call(L, 0, 0);
    r->guard.place = (struct place){0, 0};
    if (r->list->count == 0)
        luaL_error(L, "the list is empty (item { label = , preset = })");
    return 0;
}

bool list_read(const char *path, struct list *out, struct err *e)
{
    struct reading r = {.list = out};
    struct script_options o = {.path = path};
    *out = (struct list){.about = ""};
    arena_init(&out->arena);
    char *name = path_stem(path);
    out->name = arena_strdup(&out->arena, name);
    free(name);
    bool ok = texts_open(&r.texts, &o, e);
    if (ok) {
        guard_create(&r.guard, &r.texts, library_open, &r);
        ok = guard_run(&r.guard, GUARD_LOAD, (struct place){0, 0}, visit_list, &r, e);
        guard_destroy(&r.guard);
    }
    texts_finish(&r.texts);
    return ok;
}

void list_finish(struct list *l)
{
    free(l->item);
    arena_finish(&l->arena);
    *l = (struct list){0};
}
