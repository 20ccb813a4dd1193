// What can be done in the workbench: the one table.
#include "keys.h"

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

    [ACT_PAUSE] = {"pause", "p F9", "Pause", "pause, or go on", GROUP_SESSION, ALL},
    [ACT_STOP] = {"stop", "s", NULL, "end it, keeping what it found (asks)", GROUP_SESSION, ALL},
    [ACT_BUDGET] = {"budget", "B", NULL, "change how many trials it may spend", GROUP_SESSION, ALL},
    [ACT_MORE_BUDGET] = {"more-budget", "+ =", NULL, "100 trials more", GROUP_SESSION, ALL & ~ON(NETWORK)},
    [ACT_LESS_BUDGET] = {"less-budget", "-", NULL, "100 trials less", GROUP_SESSION, ALL & ~ON(NETWORK)},
    [ACT_EXPORT] = {"export", "x", "Export", "write the best kernels as files", GROUP_SESSION, ALL},
    [ACT_NEW] = {"new", "i", "New", "start a new session", GROUP_SESSION, ALL},
    [ACT_DUPLICATE] = {"duplicate", "d", NULL, "again with another seed or strategy", GROUP_SESSION, ALL},
    [ACT_PIN] = {"pin", "a", "Pin", "let this task get every round, or no longer", GROUP_SESSION, ON(NETWORK)},
    [ACT_WEIGH_MORE] = {"weigh-more", "+ =", "Weight", "let this task count twice as much", GROUP_SESSION, ON(NETWORK)},
    [ACT_WEIGH_LESS] = {"weigh-less", "-", NULL, "let this task count half as much", GROUP_SESSION, ON(NETWORK)},
    [ACT_RESUME] = {"resume", "r", NULL, "run a session that nobody runs", GROUP_SESSION, ALL},
    [ACT_EDIT] = {"edit", "e", "Edit", "edit the space file (8: the template)", GROUP_SESSION, ALL},
    [ACT_USE_NEW] = {"use-new", "u", NULL, "a new session with the space file as it is now", GROUP_SESSION, ALL},

    [ACT_MARK] = {"mark", "space", "Mark", "mark for overlay and comparison", GROUP_SESSION, ON(SESSIONS)},
    [ACT_COMPARE] = {"compare", "c", "Compare", "compare the marked sessions", GROUP_SESSION, ON(SESSIONS)},
    [ACT_NOTE] = {"note", "n", "Note", "write a note to the session", GROUP_SESSION, ON(SESSIONS)},
    [ACT_DELETE] = {"delete", "D", "Delete", "delete the session for good (asks)", GROUP_SESSION, ON(SESSIONS)},

    [ACT_ZOOM] = {"zoom", "z", "Zoom", "the whole screen for this pane", GROUP_SHOW, ON(MAIN)},
    [ACT_AXIS] = {"axis", "t", NULL, "x axis: trials, running time, wall clock", GROUP_SHOW, ON(MAIN)},
    [ACT_OVERLAY] = {"overlay", "o", NULL, "marked sessions over the curve", GROUP_SHOW, ON(MAIN)},
    [ACT_BAND] = {"band", "b", NULL, "band: deviation, least to most, off", GROUP_SHOW, ON(MAIN)},
    [ACT_COLOUR] = {"colour", "c", NULL, "shade by value or by rank", GROUP_SHOW, ON(MAIN) | ON(MAP)},
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
    [ACT_FREEZE] = {"freeze", "Z", NULL, "hold the picture; work goes on", GROUP_PROGRAM, ALL},
    [ACT_MOUSE] = {"mouse", "m", NULL, "mouse on, or off to select text", GROUP_PROGRAM, ALL},
    [ACT_SAVE_SCREEN] = {"save-screen", "S", NULL, "save the screen as a text file", GROUP_PROGRAM, ALL},
    [ACT_REDRAW] = {"redraw", "ctrl-l", NULL, "draw everything again", GROUP_PROGRAM, ALL},
    [ACT_SUSPEND] = {"suspend", "ctrl-z", NULL, "back to the shell; fg returns", GROUP_PROGRAM, ALL},
    [ACT_LEAVE] = {"leave", "Q", NULL, "quit; what runs goes on in background", GROUP_PROGRAM, ALL},
    [ACT_QUIT] = {"quit", "q F10", "Quit", "quit; runs of ours pause, nothing is lost", GROUP_PROGRAM, ALL},
};
// clang-format on
