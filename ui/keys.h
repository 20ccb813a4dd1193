// Keys and actions: one table of the actions with their screens, keys and names.
//
// Help, footer, manual page, the `:` prompt and its completion are all made from `actions`. Users
// rebind keys in workbench.conf ("key pause = p F9"); a keymap is the table with that applied.
//
// A key is a code point (control keys: 1 .. 31, 127) or one of the codes below. Its name is what
// users write: "p", "ctrl-d", "F5", "up", "space".
#ifndef TILEWALK_UI_KEYS_H
#define TILEWALK_UI_KEYS_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum key {
    KEY_IS_NONE = 0,
    KEY_IS_TAB = 9,
    KEY_IS_ENTER = 13,
    KEY_IS_ESC = 27,
    KEY_IS_BACKSPACE = 127,
    KEY_IS_UP = 0x110000,
    KEY_IS_DOWN,
    KEY_IS_LEFT,
    KEY_IS_RIGHT,
    KEY_IS_HOME,
    KEY_IS_END,
    KEY_IS_PAGE_UP,
    KEY_IS_PAGE_DOWN,
    KEY_IS_DELETE,
    KEY_IS_BACK_TAB,
    KEY_IS_CLICK,     // of the mouse; where: app_click
    KEY_IS_PASTE,     // pasted text begins
    KEY_IS_PASTE_END, // and ends
    KEY_IS_F1,        // .. F12
    KEY_IS_F12 = KEY_IS_F1 + 11
};

// The screens, in the order of their keys: an identifier, the name of its record (`view_main`) and
// of its action, its keys, and what it shows.
// clang-format off
#define VIEWS(V) \
    V(MAIN, main, "1 F2", "curve, population, trials, detail") \
    V(MAP, map, "2 F3", "the space on two parameters") \
    V(TRIALS, trials, "3 F4", "every trial, sorted and filtered") \
    V(NETWORK, network, "4 F5", "operators and where the time goes") \
    V(SESSIONS, sessions, "5 F6", "all sessions") \
    V(SPACE, space, "6 F7", "parameters, moves, rules, the space file") \
    V(LOG, log, "7 F8", "messages and worker logs") \
    V(KERNEL, kernel, "8", "the kernel of the trial that is selected") \
    V(FLEET, fleet, "9", "the machines that measure for sessions")
#define AS_VIEW_ID(id, name, keys, help) VIEW_##id,
// clang-format on

enum view_id { VIEWS(AS_VIEW_ID) VIEW_COUNT };

enum action {
    ACT_NONE,
    // move
    ACT_UP,
    ACT_DOWN,
    ACT_LEFT,
    ACT_RIGHT,
    ACT_FIRST,
    ACT_LAST,
    ACT_BEST,
    ACT_PAGE_UP,
    ACT_PAGE_DOWN,
    ACT_HALF_UP,
    ACT_HALF_DOWN,
    ACT_OPEN,
    ACT_BACK,
    ACT_NEXT_PANE,
    ACT_PREVIOUS_PANE,
    ACT_FILTER,
    ACT_NEXT_MATCH,
    ACT_PREVIOUS_MATCH,
    // screens
    ACT_VIEW, // + enum view_id
    ACT_VIEW_LAST = ACT_VIEW + VIEW_COUNT - 1,
    // session
    ACT_PAUSE,
    ACT_STOP,
    ACT_BUDGET,
    ACT_MORE_BUDGET,
    ACT_LESS_BUDGET,
    ACT_EXPORT,
    ACT_NEW,
    ACT_DUPLICATE,
    ACT_PIN,
    ACT_WEIGH_MORE,
    ACT_WEIGH_LESS,
    ACT_RESUME,
    ACT_EDIT,
    ACT_USE_NEW,
    // sessions
    ACT_MARK,
    ACT_COMPARE,
    ACT_NOTE,
    ACT_DELETE,
    // how it is shown
    ACT_ZOOM,
    ACT_AXIS,
    ACT_OVERLAY,
    ACT_BAND,
    ACT_COLOUR,
    ACT_ZERO,
    ACT_SORT_NEXT,
    ACT_SORT_PREVIOUS,
    ACT_SORT_INVERT,
    ACT_STATISTIC,
    ACT_AXIS_X,
    ACT_AXIS_Y,
    ACT_NEXT_PAIR,
    ACT_PREVIOUS_PAIR,
    ACT_SLICE,
    ACT_RELOAD,
    ACT_LEVEL,
    ACT_REJECTED,
    ACT_SEARCH,
    ACT_LANGUAGE,
    ACT_DIFFERENCE,
    // program
    ACT_COPY,
    ACT_HELP,
    ACT_COMMAND,
    ACT_FREEZE,
    ACT_MOUSE,
    ACT_SAVE_SCREEN,
    ACT_REDRAW,
    ACT_SUSPEND,
    ACT_LEAVE,
    ACT_QUIT,
    ACT_COUNT
};

enum action_group {
    GROUP_MOVE,
    GROUP_SCREENS,
    GROUP_SESSION,
    GROUP_SHOW,
    GROUP_PROGRAM,
    GROUP_COUNT
};

struct action_info {
    const char *name;  // "more-budget": of the `:` prompt and of workbench.conf
    const char *keys;  // standard ones, names separated by blanks
    const char *label; // of the footer; NULL: not shown there
    const char *help;
    enum action_group group;
    unsigned views; // bit set of 1 << enum view_id
};

extern const struct action_info actions[ACT_COUNT];
extern const char *const action_groups[GROUP_COUNT];
enum action action_find(const char *name); // ACT_NONE when unknown

#define MOST_KEYS 4 // of an action

struct keymap {
    int32_t key[ACT_COUNT][MOST_KEYS]; // KEY_IS_NONE past the last
};

void keymap_init(struct keymap *m); // the standard keys
// Replaces the keys of an action; "none" removes them. False: an unknown action or key (with a
// suggestion), or too many. `*bound` (may be NULL) gets the action.
bool keymap_bind(struct keymap *m, const char *action, const char *keys, enum action *bound,
                 struct err *e);
// False: a key of `a` is also bound to another action in one of the same views.
bool keymap_check(const struct keymap *m, enum action a, struct err *e);
enum action keymap_find(const struct keymap *m, int32_t key, enum view_id view);

int32_t key_parse(const char *name);              // KEY_IS_NONE when unknown
const char *key_label(int32_t key, char out[16]); // "ctrl-d"; returns out
// The names of an action's keys, "p F9"; returns out.
const char *keymap_names(const struct keymap *m, enum action a, char out[64]);

#endif
