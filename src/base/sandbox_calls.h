// The system calls of a sandbox (sandbox.h).
#ifndef TILEWALK_BASE_SANDBOX_CALLS_H
#define TILEWALK_BASE_SANDBOX_CALLS_H

#include <stdbool.h>
#include <stddef.h>

// Leaves this process, all its threads and what they start those of the list, and where `starts` is
// set those that start processes and send signals, where `keeps_files` is those that change files
// other than by writing to them. Of ioctl's requests all but these. 0, or an errno.
int sandbox_limit_calls(bool starts, bool keeps_files, const unsigned long *request, size_t count);

#endif
