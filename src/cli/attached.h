// Running as the child of a workbench: `tune --attached`, `resume --attached`, started by os_spawn.
//
//     attached_check(e);     descriptor 3 is a socket; nothing that is closed ends us from now on
//     attached_begin(id);    in front_run, when TERM pauses: "session ID\n" on descriptor 3
//
// The parent's death comes as TERM, which pauses the session with everything saved. The parent lets
// go with USR1: then its death is nothing to us, and "detached\n" on descriptor 3 says so. What is
// said goes to stderr; stdout stays empty. Descriptor 3 stays open until the end.
#ifndef TILEWALK_CLI_ATTACHED_H
#define TILEWALK_CLI_ATTACHED_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

bool attached_check(struct err *e); // an error of usage
void attached_begin(int64_t session);

#endif
