// A program that has the terminal for itself: the user's editor.
#ifndef TILEWALK_UI_PROGRAM_H
#define TILEWALK_UI_PROGRAM_H

#include "base/err.h"

// Starts `argv` (found by PATH, NULL-terminated, never through a shell) with our descriptors and
// waits for its end; Ctrl-C is its own. `meanwhile` (may be NULL) is called some times a second.
// False: it could not be started, was killed, or ended with another exit code than 0.
bool program_run(const char *const *argv, void (*meanwhile)(void *context), void *context,
                 struct err *e);

#endif
