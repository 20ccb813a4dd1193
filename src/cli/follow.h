// A session that another process runs, as the lines that `tune --plain` prints of one: what the
// database gains is told to a front (front.h) as the engine would tell it.
#ifndef TILEWALK_CLI_FOLLOW_H
#define TILEWALK_CLI_FOLLOW_H

#include "cli/command.h"

// Until nobody runs session `id` any more; of one that nobody runs, how it stands. Changes nothing.
// Returns the exit code, which of a session that has ended is that of its own run.
int follow_run(const struct arguments *a, int64_t id);

#endif
