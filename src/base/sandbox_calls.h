// The system calls of a sandbox (sandbox.h).
#ifndef TILEWALK_BASE_SANDBOX_CALLS_H
#define TILEWALK_BASE_SANDBOX_CALLS_H

#include <stdbool.h>
#include <stddef.h>

// Leaves this process, all its threads and what they start those of the list, and where `starts` is
// set those that start processes, change files and send signals. Of ioctl's requests all but these.
// 0, or an errno.
int sandbox_limit_calls(bool starts, const unsigned long *request, size_t count);

#endif
