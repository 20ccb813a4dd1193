// fleet drain: a worker of a pool is asked to leave.
#ifndef TILEWALK_CLI_DRAIN_H
#define TILEWALK_CLI_DRAIN_H

#include "cli/command.h"

// Asks, waits until it says that it leaves, and gives the exit status.
int drain_machine(const struct arguments *a, const char *machine);

#endif
