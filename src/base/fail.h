// How the program says that it failed, and what it ends with.
#ifndef TILEWALK_BASE_FAIL_H
#define TILEWALK_BASE_FAIL_H

#include "base/err.h"

// Frozen: scripts depend on them.
enum exit_code {
    EXIT_OK = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_NOTHING_VALID = 3,
    EXIT_HUP = 129,
    EXIT_INT = 130,
    EXIT_TERM = 143
};

// Prints `tilewalk: text` on stderr and returns `code`, or EXIT_USAGE for an error of usage.
int fail_with(const struct err *e, int code);

#endif
