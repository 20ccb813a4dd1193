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

#define ALL      ((1u << VIEW_COUNT) - 1)
#define ON(view) (1u << VIEW_##view)
#define TABLES   (ON(TRIALS) | ON(SESSIONS) | ON(LOG) | ON(NETWORK))
#define ON_TRIAL (ON(MAIN) | ON(TRIALS) | ON(SPACE) | ON(KERNEL))
#define AS_ACTION(id, name, keys, help)                                                            \
    [ACT_VIEW + VIEW_##id] = {#name, keys, NULL, help, GROUP_SCREENS, ALL},

const char *const action_groups[GROUP_COUNT] = {"Move", "Screens", "Session", "What is shown",
                                                "Program"};

// clang-format off
const struct action_info actions[ACT_COUNT] = {
    [ACT_NONE] = {"", "", NULL, "", GROUP_PROGRAM, 0},

    [ACT_UP] = {"up", "k up", NULL, "row above", GROUP_MOVE, ALL},
    [ACT_DOWN] = {"down", "j down", NULL, "row below", GROUP_MOVE, ALL},
    [ACT_LEFT] = {"left", "h left", NULL, "column or cell to the left", GROUP_MOVE, ALL},
    [ACT_RIGHT] = {"right", "l right", NULL, "column or cell to the right", GROUP_MOVE, ALL},
    [ACT_FIRST] = {"first", "g home", NULL, "first row", GROUP_MOVE, ALL},
    [ACT_LAST] = {"last", "G end", NULL, "last row", GROUP_MOVE, ALL},
    [ACT_BEST] = {"best", "*", NULL, "select the best trial", GROUP_MOVE, ON_TRIAL},
    [ACT_PAGE_UP] = {"page-up", "pgup", NULL, "a page up", GROUP_MOVE, ALL},
    [ACT_PAGE_DOWN] = {"page-down", "pgdn", NULL, "a page down", GROUP_MOVE, ALL},
    [ACT_HALF_UP] = {"half-page-up", "ctrl-u", NULL, "half a page up", GROUP_MOVE, ALL},
    [ACT_HALF_DOWN] = {"half-page-down", "ctrl-d", NULL, "half a page down", GROUP_MOVE, ALL},
    [ACT_OPEN] = {"open", "enter", NULL, "open what is under the cursor", GROUP_MOVE, ALL},
    [ACT_BACK] = {"back", "esc", NULL, "close, or the screen before", GROUP_MOVE, ALL},
    [ACT_NEXT_PANE] = {"next-pane", "tab", "Pane", "next pane", GROUP_MOVE, ALL},
    [ACT_PREVIOUS_PANE] = {"previous-pane", "shift-tab", NULL, "previous pane", GROUP_MOVE, ALL},
    [ACT_FILTER] = {"filter", "/", "Filter", "show only what matches", GROUP_MOVE, TABLES},
    [ACT_SEARCH] = {"search", "/", "Search", "find a text", GROUP_MOVE, ON(KERNEL)},
    [ACT_NEXT_MATCH] = {"next-match", "n", NULL, "next match", GROUP_MOVE, ON(TRIALS) | ON(LOG) | ON(KERNEL)},
    [ACT_PREVIOUS_MATCH] = {"previous-match", "N", NULL, "previous match", GROUP_MOVE, ON(TRIALS) | ON(LOG) | ON(KERNEL)},

    VIEWS(AS_ACTION)

    [ACT_PAUSE] = {"pause", "p F9", "Pause", "pause, or continue", GROUP_SESSION, ALL},
    [ACT_STOP] = {"stop", "s", NULL, "stop session, keep results (asks first)", GROUP_SESSION, ALL},
    [ACT_BUDGET] = {"budget", "B", NULL, "change how many trials it may spend", GROUP_SESSION, ALL},
    [ACT_MORE_BUDGET] = {"more-budget", "+ =", NULL, "100 trials more", GROUP_SESSION, ALL & ~ON(NETWORK)},
    [ACT_LESS_BUDGET] = {"less-budget", "-", NULL, "100 trials less", GROUP_SESSION, ALL & ~ON(NETWORK)},
    [ACT_EXPORT] = {"export", "x", "Export", "write the best kernels as files", GROUP_SESSION, ALL},
    [ACT_NEW] = {"new", "i", "New", "start a new session", GROUP_SESSION, ALL},
    [ACT_DUPLICATE] = {"duplicate", "d", NULL, "again with another seed or strategy", GROUP_SESSION, ALL},
    [ACT_PIN] = {"pin", "a", "Pin", "let this task get every round, or no longer", GROUP_SESSION, ON(NETWORK)},
    [ACT_WEIGH_MORE] = {"weigh-more", "+ =", "Weight", "let this task count twice as much", GROUP_SESSION, ON(NETWORK)},
    [ACT_WEIGH_LESS] = {"weigh-less", "-", NULL, "let this task count half as much", GROUP_SESSION, ON(NETWORK)},
    [ACT_RESUME] = {"resume", "r", NULL, "continue a session that does not run", GROUP_SESSION, ALL},
    [ACT_EDIT] = {"edit", "e", "Edit", "edit the space file (8: the template)", GROUP_SESSION, ALL},
    [ACT_USE_NEW] = {"use-new", "u", NULL, "a new session with the space file as it is now", GROUP_SESSION, ALL},

    [ACT_MARK] = {"mark", "space", "Mark", "mark for overlay and comparison", GROUP_SESSION, ON(SESSIONS)},
    [ACT_COMPARE] = {"compare", "c", "Compare", "compare the marked sessions", GROUP_SESSION, ON(SESSIONS)},
    [ACT_NOTE] = {"note", "n", "Note", "write a note to the session", GROUP_SESSION, ON(SESSIONS)},
    [ACT_DELETE] = {"delete", "D", "Delete", "delete session for good (asks first)", GROUP_SESSION, ON(SESSIONS)},

    [ACT_ZOOM] = {"zoom", "z", "Zoom", "the whole screen for this pane", GROUP_SHOW, ON(MAIN)},
    [ACT_AXIS] = {"axis", "t", NULL, "x axis: trials, running time, wall clock", GROUP_SHOW, ON(MAIN)},
    [ACT_OVERLAY] = {"overlay", "o", NULL, "marked sessions over the curve", GROUP_SHOW, ON(MAIN)},
    [ACT_BAND] = {"band", "b", NULL, "band: deviation, least to most, off", GROUP_SHOW, ON(MAIN)},
    [ACT_COLOUR] = {"colour", "c", NULL, "colour by value or by rank", GROUP_SHOW, ON(MAIN) | ON(MAP)},
    [ACT_ZERO] = {"zero", "0", NULL, "y axis from zero, or only the best part", GROUP_SHOW, ON(MAIN)},
    [ACT_SORT_NEXT] = {"sort-next", "> .", "Sort", "sort by the next column", GROUP_SHOW, TABLES & ~ON(LOG)},
    [ACT_SORT_PREVIOUS] = {"sort-previous", "< ,", NULL, "sort by the column before", GROUP_SHOW, TABLES & ~ON(LOG)},
    [ACT_SORT_INVERT] = {"sort-invert", "I", NULL, "the other way round", GROUP_SHOW, TABLES & ~ON(LOG)},
    [ACT_STATISTIC] = {"statistic", "v", "Statistic", "best, mean, count", GROUP_SHOW, ON(MAP)},
    [ACT_AXIS_X] = {"axis-x", "X", "Axis", "next parameter across", GROUP_SHOW, ON(MAP)},
    [ACT_AXIS_Y] = {"axis-y", "Y", "Axis", "next parameter down", GROUP_SHOW, ON(MAP)},
    [ACT_NEXT_PAIR] = {"next-pair", "]", "Pair", "next pair by importance", GROUP_SHOW, ON(MAP)},
    [ACT_PREVIOUS_PAIR] = {"previous-pair", "[", NULL, "pair before", GROUP_SHOW, ON(MAP)},
    [ACT_SLICE] = {"slice", "f", "Fix", "fix the other parameters at the best", GROUP_SHOW, ON(MAP)},
    [ACT_RELOAD] = {"reload", "R", "Reload", "read the space file again", GROUP_SHOW, ON(SPACE)},
    [ACT_LEVEL] = {"level", "v", "Level", "lowest level shown", GROUP_SHOW, ON(LOG)},
    [ACT_LANGUAGE] = {"language", "v", "SPIR-V", "GLSL, or SPIR-V disassembled", GROUP_SHOW, ON(KERNEL)},
    [ACT_DIFFERENCE] = {"difference", "c", "Diff", "against the kernel of the best trial", GROUP_SHOW, ON(KERNEL)},
    [ACT_REJECTED] = {"rejected", "R", NULL, "rejected configurations too, or not", GROUP_SHOW, ON(TRIALS)},

    [ACT_COPY] = {"copy", "y", NULL, "copy the configuration", GROUP_PROGRAM, ALL},
    [ACT_HELP] = {"help", "? F1", "Help", "this help", GROUP_PROGRAM, ALL},
    [ACT_COMMAND] = {"command", ":", NULL, "an action by its name, or a command line", GROUP_PROGRAM, ALL},
    [ACT_FREEZE] = {"freeze", "Z", NULL, "freeze the display; tuning continues", GROUP_PROGRAM, ALL},
    [ACT_MOUSE] = {"mouse", "m", NULL, "mouse on, or off to select text", GROUP_PROGRAM, ALL},
    [ACT_SAVE_SCREEN] = {"save-screen", "S", NULL, "save the screen as a text file", GROUP_PROGRAM, ALL},
    [ACT_REDRAW] = {"redraw", "ctrl-l", NULL, "draw everything again", GROUP_PROGRAM, ALL},
    [ACT_SUSPEND] = {"suspend", "ctrl-z", NULL, "back to the shell; fg returns", GROUP_PROGRAM, ALL},
    [ACT_LEAVE] = {"leave", "Q", NULL, "quit; runs continue in the background", GROUP_PROGRAM, ALL},
    [ACT_QUIT] = {"quit", "q F10", "Quit", "quit; own runs pause, nothing is lost", GROUP_PROGRAM, ALL},
};
// clang-format on

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
