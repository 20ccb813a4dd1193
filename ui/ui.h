// The workbench: a terminal front end over a database of sessions. Its one public header.
//
// It only reads the database; every change is a tilewalk command line, run as a child process. So
// it shows and steers the sessions of other processes like its own, an error in it cannot harm a
// run, and everything it can do can be scripted.
#ifndef TILEWALK_UI_UI_H
#define TILEWALK_UI_UI_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct ui_options {
    const char *database; // path; need not exist yet
    const char *view;     // name of the first screen; NULL: main with a session, else sessions
    int64_t session;      // to open; 0: none
    // `tune` or `resume` command lines to run and watch: words, NULL-terminated, without the
    // program. The session of the first that has one is opened; if none can start, that is an error
    // before the screen comes up.
    const char *const *const *run;
    int runs;
    bool is_demo;                        // said on the screen: its times are made up
    const char *charset, *color, *theme; // as in workbench.conf; NULL: its value
    // Called once the screen is up, before a session is opened: gives up rights that this process
    // does not need any more. Child processes are not confined by it (spawner.h).
    void (*confine)(const void *context);
    const void *context;
};

// True when a workbench can be shown here. False: `why` is empty where that is obvious (no terminal
// on stdin and stdout, TERM=dumb), else the type of the terminal is unknown, or it has no cursor.
bool ui_is_possible(struct err *why);
// Runs until the user leaves. Returns an exit code: that of `run` when it ended by itself, 128 +
// signal, 0. Errors before the screen is up: prints them and returns 1 or 2.
int ui_run(const struct ui_options *o);
// The table of actions for the manual page: section headings and "keys, help" lines, in order.
void ui_each_action(void (*group)(void *context, const char *name),
                    void (*action)(void *context, const char *keys, const char *name,
                                   const char *help),
                    void *context);

#endif
