// The process that starts others for the workbench, so that the workbench, which evaluates space
// files, can be in a sandbox (base/sandbox.h) that lets it start nothing but itself.
//
//     starter_begin(program, config, e);     early: a fork, before the sandbox is entered
//     starter_spawn(&child, argv, e);        as os_spawn, but outside of the sandbox
//     starter_signal(child.pid, SIGTERM);    which the sandbox would refuse
//     starter_reap(&child, &status);         as os_reap
//     starter_end();
//
// It waits for requests on a socket, answers each, and tells the ends of what it started, whose
// parent it is. It does what the workbench's keys can ask for and no more: commands of this
// program, the user's editor on a file, a new file for a screen. A command that would leave its own
// sandbox out is refused, unless this process was started so. It ends when this process does,
// however that is, and with it ends what has not been let go; the terminal's signals pass it by.
//
// One a process, which is the workbench's: where it was not begun (tests), commands are children of
// the process itself. One thread.
#ifndef TILEWALK_UI_STARTER_H
#define TILEWALK_UI_STARTER_H

#include "base/os.h"
#include "config.h"

// `program`, `config`, the environment and the current folder count as they are now.
bool starter_begin(const char *program, const struct ui_config *config, struct err *e);
void starter_end(void);

// argv[0] is the program of starter_begin.
bool starter_spawn(struct child *c, const char *const *argv, struct err *e);
// The editor, at `line` (0: anywhere), on our terminal: its pid; -1: there is none.
pid_t starter_edit(const char *path, int line);
// To what was started here. False: it is gone, or the starter is.
bool starter_signal(pid_t pid, int signal_number);
bool starter_reap(struct child *c, int *status);
void starter_kill(struct child *c); // as os_kill
// Stops the process group, as ctrl-z does, until it is continued.
void starter_stop_group(void);
// A new tilewalk-screen-N.txt in the current folder, with the first N that is free; -1: none.
int starter_new_screen_file(int *n);

// The user's editor, on the terminal.

// The command that starts the user's editor: that of workbench.conf, else $VISUAL, $EDITOR, vi. It
// may be several words ("code --wait").
const char *editor_of(const struct ui_config *c);
// Opens `path` at `line` (0: anywhere; also when the editor fails with +LINE, which not all know)
// and waits for its end; `meanwhile` is called some times a second. False: it failed.
bool editor_run(const char *path, int line, void (*meanwhile)(void *context), void *context);
// Replaces the calling process, a new one of starter.h's, by the editor.
_Noreturn void editor_become(const struct ui_config *c, const char *path, int line);

#endif
