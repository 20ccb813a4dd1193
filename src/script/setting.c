// The settings of a space file, size, number, choice and folder, with the overrides of --set and
// use().
#include "script/check.h"
#include "script/script.h"
#include "script/state.h"

#include "base/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void setting_add_override(struct script *s, const char *name, const char *text, bool from_user)
{
    MEM_GROW(s->override, s->override_count, s->override_capacity);
    s->override[s->override_count++] = (struct override){.name = arena_strdup(&s->arena, name),
                                                         .text = arena_strdup(&s->arena, text),
                                                         .from_user = from_user};
}

static struct override *find_override(struct script *s, const char *name, bool from_user)
{
    struct override *last = NULL;
    for (int i = 0; i < s->override_count; i++) {
        struct override *o = &s->override[i];
        if (o->from_user != from_user || strcmp(o->name, name) != 0)
            continue;
        if (!from_user)
            return o; // the outermost use() counts
        last = o;     // the last --set counts
    }
    return last;
}

const struct script_setting *script_find_setting(const struct script *s, const char *name)
{
    for (int i = 0; i < s->setting_count; i++)
        if (strcmp(s->setting[i].name, name) == 0)
            return &s->setting[i];
    return NULL;
}

// A new name. `what` is "size", "number", "choice" or "folder". A choice may have the name of a
// function of the library (`type`): templates then see the function, and the choice as a field of
// `op`.
static void check_new(lua_State *L, const struct script *s, const char *what, const char *name)
{
    const struct script_setting *known = script_find_setting(s, name);
    if (known)
        luaL_error(L, "%s '%s' is declared twice",
                   known->values      ? "choice"
                   : known->is_whole  ? "size"
                   : known->is_folder ? "folder"
                                      : "number",
                   name);
    if (s->setting_count == SCRIPT_MAX_SETTINGS)
        luaL_error(L, "more than %d sizes, numbers and choices", SCRIPT_MAX_SETTINGS);
    library_push(L);
    bool is_function = lua_getfield(L, -1, name) != LUA_TNIL && strcmp(what, "choice") != 0;
    bool is_ours = strcmp(name, "c") == 0 || strcmp(name, "op") == 0 || strcmp(name, "device") == 0;
    if (is_function || is_ours)
        luaL_error(L, "%s '%s' would hide what templates know by this name", what, name);
    lua_pop(L, 2);
}

// The values that a setting may have: a size from `least` on, one of the words `values`, or a
// number. `why` (NULL: nothing) says why there are no other words.
struct domain {
    bool is_whole;
    int64_t least;
    const char *const *values;
    const char *why;
};

static bool is_among(const char *const *values, const char *text)
{
    for (; *values; values++)
        if (strcmp(*values, text) == 0)
            return true;
    return false;
}

#define COMPLAINT_MOST 500 // bytes of values

// False: the override has no such value, and gets the error.
static bool fits(struct script *s, const char *name, const struct domain *d, struct override *o)
{
    int64_t whole;
    double number;
    if (d->values     ? is_among(d->values, o->text)
        : d->is_whole ? str_to_int(o->text, d->least, INT32_MAX, &whole)
                      : str_to_real(o->text, &number))
        return true;
    struct str text = {0};
    if (d->is_whole) {
        str_printf(&text, "a size is a whole number from %" PRId64 " to %" PRId32, d->least,
                   INT32_MAX);
    } else if (!d->values) {
        str_add(&text, "a number is written like 0.5, -1 or 1e-3");
    } else {
        str_printf(&text, "%s has", name);
        for (int i = 0; d->values[i] && text.length < COMPLAINT_MOST; i++)
            str_printf(&text, "%s %s", i ? "," : "", d->values[i]);
        str_add(&text, text.length >= COMPLAINT_MOST ? ", ..." : "");
        if (d->why)
            str_printf(&text, " (%s)", d->why);
    }
    o->error = arena_strdup(&s->arena, str_text(&text));
    str_finish(&text);
    return false;
}

// Picks `value` and returns the standard. Where an override does not fit, the standard is used, and
// the error waits in the override.
static const char *pick(struct script *s, const char *name, const char *standard,
                        const struct domain *d, const char **value)
{
    struct override *use = find_override(s, name, false), *user = find_override(s, name, true);
    if (use && fits(s, name, d, use))
        standard = use->text;
    *value = user && fits(s, name, d, user) ? user->text : standard;
    return standard;
}

static void add_setting(lua_State *L, struct script *s, const char *name, const char *standard,
                        const char *value, bool is_whole, const char *const *values)
{
    MEM_GROW(s->setting, s->setting_count, s->setting_capacity);
    s->setting[s->setting_count++] =
        (struct script_setting){.name = script_keep_text(L, name),
                                .value = script_keep_text(L, value),
                                .standard = script_keep_text(L, standard),
                                .values = values,
                                .is_whole = is_whole};
    setting_push(L, &s->setting[s->setting_count - 1]);
}

void setting_push(lua_State *L, const struct script_setting *setting)
{
    if (setting->values)
        lua_pushstring(L, setting->value);
    else if (setting->is_folder)
        lua_pushstring(L, setting->name); // space files do not see its path
    else if (setting->is_whole)
        lua_stringtonumber(L, setting->value);
    else {
        double value = 0;
        str_to_real(setting->value, &value);
        lua_pushnumber(L, value);
    }
}

static int declare_size(lua_State *L) // size(name, standard, least) -> value
{
    struct script *s = script_loading(L, "size");
    lua_settop(L, 3);
    const char *name = check_identifier(L, 1, "size");
    const char *what = lua_pushfstring(L, "size '%s'", name);
    check_new(L, s, "size", name);
    int64_t least = 1;
    if (!lua_isnil(L, 3))
        least = check_whole(L, 3, lua_pushfstring(L, "%s: the least", what), 0, INT32_MAX);
    lua_pushinteger(L, check_whole(L, 2, what, least, INT32_MAX));
    const struct domain domain = {.is_whole = true, .least = least};
    const char *value, *standard = pick(s, name, lua_tostring(L, -1), &domain, &value);
    add_setting(L, s, name, standard, value, true, NULL);
    return 1;
}

// Returns the number as settings are written everywhere: equal values are equal texts.
static const char *number_text(struct script *s, double value)
{
    struct str text = {0};
    str_add_real(&text, value);
    const char *kept = arena_strdup(&s->arena, str_text(&text));
    str_finish(&text);
    return kept;
}

static int declare_number(lua_State *L) // number(name, standard) -> value
{
    struct script *s = script_loading(L, "number");
    double number = 0;
    lua_settop(L, 2);
    const char *name = check_identifier(L, 1, "number");
    const char *what = lua_pushfstring(L, "number '%s'", name);
    check_new(L, s, "number", name);
    const char *standard = number_text(s, check_real(L, 2, what)), *value;
    standard = pick(s, name, standard, &(struct domain){.values = NULL}, &value);
    double chosen = 0;
    str_to_real(standard, &number);
    str_to_real(value, &chosen);
    add_setting(L, s, name, number_text(s, number), number_text(s, chosen), false, NULL);
    return 1;
}

// --- choices ---

static int declare_choice(lua_State *L) // choice(name, values, standard, why) -> value
{
    struct script *s = script_loading(L, "choice");
    lua_settop(L, 4);
    const char *name = check_identifier(L, 1, "choice");
    const char *what = lua_pushfstring(L, "choice '%s'", name);
    check_new(L, s, "choice", name);
    int count = check_list(L, 2, what);
    const char *why = lua_isnil(L, 4) ? NULL : script_keep_text(L, check_string(L, 4, what));
    struct override *user = find_override(s, name, true);
    if (count == 0 && !why)
        luaL_error(L, "%s: the list is empty", what);
    if (count == 0) { // the choice is not there
        if (user)
            user->error = why;
        return 0;
    }
    if (count > PARAM_MAX_VALUES)
        luaL_error(L, "%s: %d values, at most %d are possible", what, count, PARAM_MAX_VALUES);
    guard_keep(L, ((size_t)count + 1) * sizeof(char *));
    const char **values = arena_zero(&s->arena, (size_t)count + 1, sizeof *values);
    lua_createtable(L, 0, count); // the words so far
    int words = lua_gettop(L);
    for (int i = 0; i < count; i++) {
        const char *place = lua_pushfstring(L, "%s: value %d", what, i + 1);
        lua_geti(L, 2, i + 1);
        const char *word = check_string(L, -1, place);
        // It must survive --set and the database, where settings are stored as a flat object.
        for (const char *c = word; *c; c++)
            if ((unsigned char)*c <= ' ' || strchr("\"\\{}:,=\x7f", *c))
                luaL_error(L, "%s: '%s' is not a word", what, word);
        lua_pushvalue(L, -1);
        if (lua_rawget(L, words) != LUA_TNIL)
            luaL_error(L, "%s: '%s' is listed twice", what, word);
        values[i] = script_keep_text(L, word);
        lua_pop(L, 1);
        lua_pushboolean(L, true);
        lua_rawset(L, words);
        lua_settop(L, words);
    }
    lua_pop(L, 1);
    const struct domain domain = {.values = values, .why = why};
    const char *given = lua_isnil(L, 3) ? values[0] : check_string(L, 3, what);
    if (!is_among(values, given))
        luaL_error(L, "%s: the standard '%s' is not among its values", what, given);
    const char *value, *standard = pick(s, name, given, &domain, &value);
    add_setting(L, s, name, standard, value, false, values);
    return 1;
}

// --- folders ---

enum { MOST_PLACES = 8 };

struct folder_rule {
    struct script *script;
    const char *name, *file, *what;
    const char *place[MOST_PLACES]; // below the folder
    int places;
};

// Looks for the file in the folder and in the places below it. Stored texts need no folder.
static bool folder_fits(const struct folder_rule *rule, struct override *o)
{
    struct script *s = rule->script;
    const char *found = s->texts.pinned ? o->text : NULL;
    for (int i = -1; i < rule->places && !found; i++) {
        char *place = i < 0 ? mem_strdup(o->text) : path_join(o->text, rule->place[i]);
        char *file = path_join(place, rule->file);
        char *real = file_exists(file) ? realpath(place, NULL) : NULL;
        if (real)
            found = arena_strdup(&s->arena, real);
        free(real);
        free(file);
        free(place);
    }
    if (found)
        o->text = found;
    else
        o->error = arena_printf(&s->arena, "there is no %s in it (%s is what it takes)", rule->file,
                                rule->what);
    return found != NULL;
}

// Declares a folder of the user's. Only --set can name it; without --set, a folder of that name
// beside the space file is used. folder(name, { file = , below = { places }, what = }) -> name
static int declare_folder(lua_State *L)
{
    struct script *s = script_loading(L, "folder");
    lua_settop(L, 2);
    struct folder_rule rule = {.script = s, .name = check_identifier(L, 1, "folder")};
    check_new(L, s, "folder", rule.name);
    static const char *const known[] = {"file", "below", "what", NULL};
    check_fields(L, 2, "folder", known);
    lua_getfield(L, 2, "file");
    rule.file = script_keep_text(L, check_string(L, -1, "folder: file"));
    lua_getfield(L, 2, "what");
    rule.what = script_keep_text(L, check_string(L, -1, "folder: what"));
    lua_getfield(L, 2, "below");
    int list = lua_gettop(L);
    rule.places = lua_isnil(L, list) ? 0 : check_list(L, list, "folder: below");
    if (rule.places > MOST_PLACES)
        luaL_error(L, "folder: below: more than %d places", MOST_PLACES);
    for (int i = 0; i < rule.places; i++) {
        lua_geti(L, list, i + 1);
        rule.place[i] = script_keep_text(L, check_string(L, -1, "folder: below"));
    }
    struct override *user = find_override(s, rule.name, true);
    bool is_named = user && folder_fits(&rule, user);
    if (s->texts.named_count == TEXTS_MAX_NAMED)
        return luaL_error(L, "more than %d folders", TEXTS_MAX_NAMED);
    add_setting(L, s, rule.name, "", is_named ? user->text : "", false, NULL);
    struct script_setting *added = &s->setting[s->setting_count - 1];
    added->is_folder = true;
    if (is_named)
        s->texts.named[s->texts.named_count++] = (struct texts_named){added->name, added->value};
    struct err e;
    const char *file = lua_pushfstring(L, "%s/%s", rule.name, rule.file);
    int text = texts_read(&s->texts, &(struct texts_request){.name = file}, &e);
    if (text == TEXTS_UNREADABLE)
        return luaL_error(L, "%s", e.text);
    if (text < 0 && !(user && user->error))
        return luaL_error(L, "%s is not here: --set %s=DIR says where (%s)", file, rule.name,
                          rule.what);
    lua_pushstring(L, rule.name);
    return 1;
}

void setting_open(lua_State *L)
{
    static const luaL_Reg functions[] = {{"size", declare_size},
                                         {"number", declare_number},
                                         {"choice", declare_choice},
                                         {"folder", declare_folder},
                                         {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}

// --- checks of --set ---

static const char *name_at(const void *context, size_t i)
{
    const struct script *s = context;
    return s->setting[i].name;
}

bool setting_check(const struct script *s, bool is_loaded, struct err *e)
{
    for (int i = 0; i < s->override_count; i++) {
        const struct override *o = &s->override[i];
        if (o->from_user && o->error)
            return err_usage(e, "--set %s=%s: %s", o->name, o->text, o->error);
        if (o->from_user && is_loaded && !script_find_setting(s, o->name)) {
            const char *near = str_suggest(o->name, (size_t)s->setting_count, name_at, s);
            if (near)
                return err_usage(e, "--set %s=%s: unknown size (did you mean '%s'?)", o->name,
                                 o->text, near);
            struct str all = {0};
            for (int j = 0; j < s->setting_count; j++)
                str_printf(&all, "%s%s", j ? ", " : "", s->setting[j].name);
            err_usage(e, "--set %s=%s: unknown size (%s has %s)", o->name, o->text,
                      s->texts.item[0].name, s->setting_count ? str_text(&all) : "none");
            str_finish(&all);
            return false;
        }
    }
    return is_loaded;
}
