// Keys and actions: one table of the actions with their names, keys and screens.
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

// The screens, in the order of their keys: an identifier, the name of the record (`view_main`) and
// of the action, the keys, and the help.
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

// The actions: an identifier, the name in the `:` prompt and in workbench.conf, the standard keys,
// the label in the footer (NULL: not there), the help, the group in the help, and the screens where
// it works. Those that show a screen (ACT_VIEW + enum view_id) follow from VIEWS. Footer and help
// have the order of this list.
// clang-format off
#define ON_ALL    ((1u << VIEW_COUNT) - 1)
#define ON(view)  (1u << VIEW_##view)
#define ON_TABLES (ON(TRIALS) | ON(SESSIONS) | ON(LOG) | ON(NETWORK))
#define ON_TRIAL  (ON(MAIN) | ON(TRIALS) | ON(SPACE) | ON(KERNEL))
#define MOVE_ACTIONS(A) \
    A(UP, "up", "k up", NULL, "row above", MOVE, ON_ALL) \
    A(DOWN, "down", "j down", NULL, "row below", MOVE, ON_ALL) \
    A(LEFT, "left", "h left", NULL, "column or cell to the left", MOVE, ON_ALL) \
    A(RIGHT, "right", "l right", NULL, "column or cell to the right", MOVE, ON_ALL) \
    A(FIRST, "first", "g home", NULL, "first row", MOVE, ON_ALL) \
    A(LAST, "last", "G end", NULL, "last row", MOVE, ON_ALL) \
    A(BEST, "best", "*", NULL, "select the best trial", MOVE, ON_TRIAL) \
    A(PAGE_UP, "page-up", "pgup", NULL, "a page up", MOVE, ON_ALL) \
    A(PAGE_DOWN, "page-down", "pgdn", NULL, "a page down", MOVE, ON_ALL) \
    A(HALF_UP, "half-page-up", "ctrl-u", NULL, "half a page up", MOVE, ON_ALL) \
    A(HALF_DOWN, "half-page-down", "ctrl-d", NULL, "half a page down", MOVE, ON_ALL) \
    A(OPEN, "open", "enter", NULL, "open what is under the cursor", MOVE, ON_ALL) \
    A(BACK, "back", "esc", NULL, "close, or the screen before", MOVE, ON_ALL) \
    A(NEXT_PANE, "next-pane", "tab", "Pane", "next pane", MOVE, ON_ALL) \
    A(PREVIOUS_PANE, "previous-pane", "shift-tab", NULL, "previous pane", MOVE, ON_ALL) \
    A(FILTER, "filter", "/", "Filter", "show only what matches", MOVE, ON_TABLES) \
    A(NEXT_MATCH, "next-match", "n", NULL, "next match", MOVE, ON(TRIALS) | ON(LOG) | ON(KERNEL)) \
    A(PREVIOUS_MATCH, "previous-match", "N", NULL, "previous match", MOVE, ON(TRIALS) | ON(LOG) | ON(KERNEL))
#define OTHER_ACTIONS(A) \
    A(PAUSE, "pause", "p F9", "Pause", "pause, or continue", SESSION, ON_ALL) \
    A(STOP, "stop", "s", NULL, "stop session, keep results (asks first)", SESSION, ON_ALL) \
    A(BUDGET, "budget", "B", NULL, "change how many trials it may spend", SESSION, ON_ALL) \
    A(MORE_BUDGET, "more-budget", "+ =", NULL, "100 trials more", SESSION, ON_ALL & ~ON(NETWORK)) \
    A(LESS_BUDGET, "less-budget", "-", NULL, "100 trials less", SESSION, ON_ALL & ~ON(NETWORK)) \
    A(EXPORT, "export", "x", "Export", "write the best kernels as files", SESSION, ON_ALL) \
    A(NEW, "new", "i", "New", "start a new session", SESSION, ON_ALL) \
    A(DUPLICATE, "duplicate", "d", NULL, "again with another seed or strategy", SESSION, ON_ALL) \
    A(PIN, "pin", "a", "Pin", "let this task get every round, or no longer", SESSION, ON(NETWORK)) \
    A(WEIGH_MORE, "weigh-more", "+ =", "Weight", "let this task count twice as much", SESSION, ON(NETWORK)) \
    A(WEIGH_LESS, "weigh-less", "-", NULL, "let this task count half as much", SESSION, ON(NETWORK)) \
    A(RESUME, "resume", "r", NULL, "continue a session that does not run", SESSION, ON_ALL) \
    A(EDIT, "edit", "e", "Edit", "edit the space file (8: the template)", SESSION, ON_ALL) \
    A(USE_NEW, "use-new", "u", NULL, "a new session with the space file as it is now", SESSION, ON_ALL) \
    A(MARK, "mark", "space", "Mark", "mark for overlay and comparison", SESSION, ON(SESSIONS)) \
    A(COMPARE, "compare", "c", "Compare", "compare the marked sessions", SESSION, ON(SESSIONS)) \
    A(NOTE, "note", "n", "Note", "write a note to the session", SESSION, ON(SESSIONS)) \
    A(DELETE, "delete", "D", "Delete", "move the session to the trash", SESSION, ON(SESSIONS)) \
    A(UNDO, "undo", "U", "Undo", "bring back the session that was deleted last", SESSION, ON(SESSIONS)) \
    A(ZOOM, "zoom", "z", "Zoom", "the whole screen for this pane", SHOW, ON(MAIN)) \
    A(AXIS, "axis", "t", NULL, "x axis: trials, running time, wall clock", SHOW, ON(MAIN)) \
    A(OVERLAY, "overlay", "o", NULL, "marked sessions over the curve", SHOW, ON(MAIN)) \
    A(BAND, "band", "b", NULL, "band: deviation, least to most, off", SHOW, ON(MAIN)) \
    A(COLOUR, "colour", "c", NULL, "colour by value or by rank", SHOW, ON(MAIN) | ON(MAP)) \
    A(ZERO, "zero", "0", NULL, "y axis from zero, or only the best part", SHOW, ON(MAIN)) \
    A(SORT_NEXT, "sort-next", "> .", "Sort", "sort by the next column", SHOW, ON_TABLES & ~ON(LOG)) \
    A(SORT_PREVIOUS, "sort-previous", "< ,", NULL, "sort by the column before", SHOW, ON_TABLES & ~ON(LOG)) \
    A(SORT_INVERT, "sort-invert", "I", NULL, "the other way round", SHOW, ON_TABLES & ~ON(LOG)) \
    A(STATISTIC, "statistic", "v", "Statistic", "best, mean, count", SHOW, ON(MAP)) \
    A(AXIS_X, "axis-x", "X", "Axis", "next parameter across", SHOW, ON(MAP)) \
    A(AXIS_Y, "axis-y", "Y", "Axis", "next parameter down", SHOW, ON(MAP)) \
    A(NEXT_PAIR, "next-pair", "]", "Pair", "next pair by importance", SHOW, ON(MAP)) \
    A(PREVIOUS_PAIR, "previous-pair", "[", NULL, "pair before", SHOW, ON(MAP)) \
    A(SLICE, "slice", "f", "Fix", "fix the other parameters at the best", SHOW, ON(MAP)) \
    A(RELOAD, "reload", "R", "Reload", "read the space file again", SHOW, ON(SPACE)) \
    A(LEVEL, "level", "v", "Level", "lowest level shown", SHOW, ON(LOG)) \
    A(REJECTED, "rejected", "R", NULL, "rejected configurations too, or not", SHOW, ON(TRIALS)) \
    A(SEARCH, "search", "/", "Search", "find a text", MOVE, ON(KERNEL)) \
    A(LANGUAGE, "language", "v", "SPIR-V", "GLSL, or SPIR-V disassembled", SHOW, ON(KERNEL)) \
    A(DIFFERENCE, "difference", "c", "Diff", "against the kernel of the best trial", SHOW, ON(KERNEL)) \
    A(COPY, "copy", "y", NULL, "copy the configuration", PROGRAM, ON_ALL) \
    A(HELP, "help", "? F1", "Help", "this help", PROGRAM, ON_ALL) \
    A(COMMAND, "command", ":", NULL, "an action by its name, or a command line", PROGRAM, ON_ALL) \
    A(FREEZE, "freeze", "Z", NULL, "freeze the display; tuning continues", PROGRAM, ON_ALL) \
    A(MOUSE, "mouse", "m", NULL, "mouse on, or off to select text", PROGRAM, ON_ALL) \
    A(SAVE_SCREEN, "save-screen", "S", NULL, "save the screen as a text file", PROGRAM, ON_ALL) \
    A(REDRAW, "redraw", "ctrl-l", NULL, "draw everything again", PROGRAM, ON_ALL) \
    A(SUSPEND, "suspend", "ctrl-z", NULL, "back to the shell; fg returns", PROGRAM, ON_ALL) \
    A(LEAVE, "leave", "Q", NULL, "quit; runs continue in the background", PROGRAM, ON_ALL) \
    A(QUIT, "quit", "q F10", "Quit", "quit; own runs pause, nothing is lost", PROGRAM, ON_ALL)
#define AS_ACTION_ID(id, name, keys, label, help, group, views) ACT_##id,
// clang-format on

enum action {
    ACT_NONE,
    MOVE_ACTIONS(AS_ACTION_ID) ACT_VIEW,
    ACT_VIEW_LAST = ACT_VIEW + VIEW_COUNT - 1,
    OTHER_ACTIONS(AS_ACTION_ID) ACT_COUNT
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
