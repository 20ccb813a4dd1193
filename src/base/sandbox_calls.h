// The system calls of a sandbox (sandbox.h).
#ifndef TILEWALK_BASE_SANDBOX_CALLS_H
#define TILEWALK_BASE_SANDBOX_CALLS_H

#include <stdbool.h>
#include <stddef.h>

// Limits this process, all its threads and what they start to a fixed list of system calls.
// `starts` adds those that start processes and send signals, `keeps_files` those that change files
// other than by writing to them. ioctl is refused the `count` requests of `request`. Returns 0 or
// an errno.
int sandbox_limit_calls(bool starts, bool keeps_files, const unsigned long *request, size_t count);

#endif
