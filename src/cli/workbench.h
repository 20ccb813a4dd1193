// The workbench on the command line (ui/ui.h): when it opens, and with which options.
//
// It needs a terminal on both ends. `tune` and `resume` open it unless the options exclude it
// (--plain, --json, --detach, --attached), `watch` needs it, and `tilewalk` alone shows the
// sessions in it. Scripts and other readers get lines of text.
#ifndef TILEWALK_CLI_WORKBENCH_H
#define TILEWALK_CLI_WORKBENCH_H

#include "cli/command.h"

// workbench.conf has them for every run; help shows them where the workbench is all there is.
#define OPTION_LOOKS(hidden)                                                                       \
    {"charset", OPTION_WORD, "auto|braille|block|ascii", "characters of the workbench", 0,         \
     0,         hidden},                                                                           \
        {"color", OPTION_WORD, "auto|always|never", "colours of the workbench", 0, 0, hidden},     \
    {                                                                                              \
        "theme", OPTION_WORD, "auto|dark|light", "background of the terminal", 0, 0, hidden        \
    }

// Returns true where `tune` or `resume` with these arguments is shown in the workbench. Prints a
// line on stderr when only the type of the terminal prevents it.
bool workbench_wanted(const struct arguments *a);
// Runs `words` (a tune or resume command line without the program, NULL-terminated) in it. `tune`
// on several devices is one run on each.
int workbench_run(const struct arguments *a, const char *const *words);
// Does the same for a demonstration, which the screen names as one. The terminal has to be able to.
int workbench_demo(const struct arguments *a, const char *const *words);
// Shows all sessions. Returns false where the workbench is not possible.
bool workbench_browse(int *code);

#endif
