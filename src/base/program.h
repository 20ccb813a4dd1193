// Another program, run to its end: within a time, its output bounded.
//
//     struct str said = {0};
//     if (program_run(argv, 60, &said, &status, e)) ...      WIFEXITED(status)
//
// All processes that it starts end with it, and with this process (os_spawn_kept). It reads nothing
// on standard input.
#ifndef TILEWALK_BASE_PROGRAM_H
#define TILEWALK_BASE_PROGRAM_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>

// Runs a program, with a timeout, and adds its output (1 MiB of it) to `log`; `status` is
// waitpid's. False and `e`: it cannot be started, or did not end within so many seconds.
bool program_run(const char *const *argv, int seconds, struct str *log, int *status, struct err *e);

#endif
