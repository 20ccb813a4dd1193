#include "keys.h"

#include "ui.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ui_each_action(void (*group)(void *context, const char *name),
                    void (*action)(void *context, const char *keys, const char *name,
                                   const char *help),
                    void *context)
{
    for (int g = 0; g < GROUP_COUNT; g++) {
        group(context, action_groups[g]);
        for (int a = ACT_NONE + 1; a < ACT_COUNT; a++)
            if ((int)actions[a].group == g)
                action(context, actions[a].keys, actions[a].name, actions[a].help);
    }
}

const char *const action_groups[GROUP_COUNT] = {"Move", "Screens", "Session", "What is shown",
                                                "Program"};

#define AS_ACTION(id, name, keys, label, help, group, views)                                       \
    [ACT_##id] = {name, keys, label, help, GROUP_##group, views},
#define AS_VIEW_ACTION(id, name, keys, help)                                                       \
    [ACT_VIEW + VIEW_##id] = {#name, keys, NULL, help, GROUP_SCREENS, ON_ALL},

const struct action_info actions[ACT_COUNT] = {[ACT_NONE] = {"", "", NULL, "", GROUP_PROGRAM, 0},
                                               MOVE_ACTIONS(AS_ACTION) VIEWS(AS_VIEW_ACTION)
                                                   OTHER_ACTIONS(AS_ACTION)};

// --- names of keys ---

static const struct {
    const char *name;
    int32_t key;
} key_names[] = {
    {"tab", KEY_IS_TAB},
    {"enter", KEY_IS_ENTER},
    {"esc", KEY_IS_ESC},
    {"backspace", KEY_IS_BACKSPACE},
    {"up", KEY_IS_UP},
    {"down", KEY_IS_DOWN},
    {"left", KEY_IS_LEFT},
    {"right", KEY_IS_RIGHT},
    {"home", KEY_IS_HOME},
    {"end", KEY_IS_END},
    {"pgup", KEY_IS_PAGE_UP},
    {"pgdn", KEY_IS_PAGE_DOWN},
    {"delete", KEY_IS_DELETE},
    {"shift-tab", KEY_IS_BACK_TAB},
    {"space", ' '},
};
enum { KEY_NAMES = sizeof key_names / sizeof *key_names };

int32_t key_parse(const char *name)
{
    for (int i = 0; i < KEY_NAMES; i++)
        if (str_equal(key_names[i].name, name))
            return key_names[i].key;
    size_t length = strlen(name);
    if (str_starts(name, "ctrl-") && length == 6 && name[5] >= 'a' && name[5] <= 'z')
        return name[5] - 'a' + 1;
    if (length == 1 && name[0] > ' ' && name[0] < 127)
        return name[0];
    int64_t n;
    bool is_one = (name[0] == 'F' || name[0] == 'f') && str_to_int(name + 1, 1, 12, &n);
    return is_one ? KEY_IS_F1 + (int32_t)n - 1 : KEY_IS_NONE;
}

const char *key_label(int32_t key, char out[16])
{
    for (int i = 0; i < KEY_NAMES; i++)
        if (key_names[i].key == key)
            return strcpy(out, key_names[i].name);
    if (key >= KEY_IS_F1 && key <= KEY_IS_F12)
        snprintf(out, 16, "F%d", key - KEY_IS_F1 + 1);
    else if (key > 0 && key < 27)
        snprintf(out, 16, "ctrl-%c", 'a' + key - 1);
    else
        snprintf(out, 16, "%c", key > ' ' && key < 127 ? (int)key : '?');
    return out;
}

// --- actions and their keys ---

enum action action_find(const char *name)
{
    for (int a = ACT_NONE + 1; a < ACT_COUNT; a++)
        if (str_equal(actions[a].name, name))
            return (enum action)a;
    return ACT_NONE;
}

static const char *action_name_at(const void *context, size_t i)
{
    (void)context;
    return actions[i + 1].name;
}

// Reads key names separated by blanks. False: not one, or too many.
static bool parse_keys(const char *keys, int32_t out[MOST_KEYS], struct err *e)
{
    char text[128], *rest;
    int count = 0;
    memset(out, 0, MOST_KEYS * sizeof *out);
    if (str_equal(keys, "none"))
        return true;
    snprintf(text, sizeof text, "%s", keys);
    for (char *word = strtok_r(text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
        int32_t key = key_parse(word);
        if (key == KEY_IS_NONE)
            return err_set(e, "unknown key '%s' (such as p, ctrl-d, F5, up, pgdn, space)", word);
        if (count == MOST_KEYS)
            return err_set(e, "more than %d keys for one action", MOST_KEYS);
        out[count++] = key;
    }
    return count > 0 || err_set(e, "no key is named");
}

void keymap_init(struct keymap *m)
{
    memset(m, 0, sizeof *m);
    for (int a = ACT_NONE + 1; a < ACT_COUNT; a++)
        parse_keys(actions[a].keys, m->key[a], NULL);
}

static bool has_key(const struct keymap *m, enum action a, int32_t key)
{
    for (int i = 0; i < MOST_KEYS; i++)
        if (m->key[a][i] == key)
            return true;
    return false;
}

enum action keymap_find(const struct keymap *m, int32_t key, enum view_id view)
{
    for (int a = ACT_NONE + 1; a < ACT_COUNT && key != KEY_IS_NONE; a++)
        if (actions[a].views & 1u << view && has_key(m, (enum action)a, key))
            return (enum action)a;
    return ACT_NONE;
}

bool keymap_bind(struct keymap *m, const char *action, const char *keys, enum action *bound,
                 struct err *e)
{
    int32_t wanted[MOST_KEYS];
    enum action a = action_find(action);
    if (a == ACT_NONE) {
        const char *near = str_suggest(action, ACT_COUNT - 1, action_name_at, NULL);
        return near ? err_set(e, "unknown action '%s' (did you mean '%s'?)", action, near)
                    : err_set(e, "unknown action '%s' (the manual page lists them)", action);
    }
    if (!parse_keys(keys, wanted, e))
        return false;
    memcpy(m->key[a], wanted, sizeof wanted);
    if (bound)
        *bound = a;
    return true;
}

bool keymap_check(const struct keymap *m, enum action a, struct err *e)
{
    for (int i = 0; i < MOST_KEYS && m->key[a][i]; i++) {
        char name[16];
        for (int b = ACT_NONE + 1; b < ACT_COUNT; b++)
            if (b != (int)a && actions[a].views & actions[b].views &&
                has_key(m, (enum action)b, m->key[a][i]))
                return err_set(e,
                               "key '%s' is that of '%s', too (give that one another key, or none)",
                               key_label(m->key[a][i], name), actions[b].name);
    }
    return true;
}

const char *keymap_names(const struct keymap *m, enum action a, char out[64])
{
    size_t length = 0;
    out[0] = '\0';
    for (int i = 0; i < MOST_KEYS && m->key[a][i]; i++) {
        char name[16];
        int n = snprintf(out + length, 64 - length, "%s%s", i ? " " : "",
                         key_label(m->key[a][i], name));
        length += (size_t)n < 64 - length ? (size_t)n : 63 - length;
    }
    return out;
}
