// From the command line to the workbench (ui/ui.h): who gets it, and with what.
//
// It needs a terminal on both ends. `tune` and `resume` open it unless something else was asked for
// (--plain, --json, --detach, --attached), `watch` insists on it, and `tilewalk` alone shows the
// sessions. Everybody else, and every script, gets lines of text.
#ifndef TILEWALK_CLI_WORKBENCH_H
#define TILEWALK_CLI_WORKBENCH_H

#include "cli/command.h"

#define OPTION_LOOKS                                                                               \
    {"charset", OPTION_WORD, "auto|braille|block|ascii", "glyphs of the workbench"},               \
        {"color", OPTION_WORD, "auto|always|never", "colours of the workbench"},                   \
    {                                                                                              \
        "theme", OPTION_WORD, "auto|dark|light", "background that its colours stand out from"      \
    }

// Whether `tune` or `resume` with these arguments is shown in the workbench. Says so in a line on
// stderr when only the type of the terminal stands in the way.
bool workbench_wanted(const struct arguments *a);
// Runs `words` (a tune or resume command line without the program, NULL-terminated) in it; `tune`
// on several devices is a run on each.
int workbench_run(const struct arguments *a, const char *const *words);
// Shows all sessions. False: that cannot be done here.
bool workbench_browse(int *code);

#endif
