// check --compile: random valid configurations, as far as a driver compiles them.
#ifndef TILEWALK_CLI_CHECK_COMPILE_H
#define TILEWALK_CLI_CHECK_COMPILE_H

#include "cli/command.h"
#include "gpu/gpu.h"
#include "script/script.h"

// Compiles, prints, and returns the exit code: 1 when any is refused. 3, and nothing is printed:
// there is no valid configuration.
int check_compile(struct script *script, const struct gpu_info *device, const struct arguments *a);

#endif
