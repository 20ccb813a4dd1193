// The helper process that starts others for the workbench. So the workbench, which evaluates space
// files, can be in a sandbox (base/sandbox.h) in which it can start nothing but itself.
//
//     spawner_begin(program, config, e);     early: a fork, before the sandbox is entered
//     spawner_spawn(&child, argv, e);        as os_spawn, but outside of the sandbox
//     spawner_signal(child.pid, SIGTERM);    the sandbox would refuse kill
//     spawner_reap(&child, &status);         as os_reap
//     spawner_end();
//
// It waits for requests on a socket, answers each, and reports the ends of its children. It does
// what the workbench's keys can ask for and no more: commands of this program, the user's editor on
// a file, a new file for a screen. A command without its own sandbox is refused, unless this
// process was started so. It ends when this process does, in any way, and with it all children that
// have not been let go; signals of the terminal do not reach it.
//
// One a process: where it was not begun (tests), commands are children of the process itself. One
// thread.
#ifndef TILEWALK_UI_SPAWNER_H
#define TILEWALK_UI_SPAWNER_H

#include "base/os.h"
#include "config.h"

// `program`, `config`, the environment and the current folder count as they are now.
bool spawner_begin(const char *program, const struct ui_config *config, struct err *e);
void spawner_end(void);

// argv[0] is the program of spawner_begin.
bool spawner_spawn(struct child *c, const char *const *argv, struct err *e);
// Starts the editor at `line` (0: anywhere) on this terminal. Returns its pid; -1: it did not
// start.
pid_t spawner_edit(const char *path, int line);
// Signals a process that was started here. False: it is gone, or the spawner is.
bool spawner_signal(pid_t pid, int signal_number);
bool spawner_reap(struct child *c, int *status);
void spawner_kill(struct child *c); // as os_kill
// Stops the process group, as ctrl-z does, until it is continued.
void spawner_stop_group(void);
// Creates tilewalk-screen-N.txt in the current folder, with the first N that is free; -1: none.
int spawner_new_screen_file(int *n);

// The user's editor, on the terminal.

// Returns the command of the user's editor: that of workbench.conf, else $VISUAL, $EDITOR, vi. It
// may be several words ("code --wait").
const char *editor_of(const struct ui_config *c);
// Opens `path` at `line` (0: anywhere; also when the editor fails with +LINE, which not all
// support) and waits for its end; `meanwhile` is called some times a second. False: it failed.
bool editor_run(const char *path, int line, void (*meanwhile)(void *context), void *context);
// Replaces the calling process by the editor.
_Noreturn void editor_become(const struct ui_config *c, const char *path, int line);

#endif
