// Running in the background: `tune --detach`.
//
//     detach(&code, e);       the parent waits until the child is ready or has failed
//     if (detach_is_parent())
//         return code;
//     ...the child makes its session; its errors still go to the terminal...
//     detach_ready(id);       the child lets the parent go; from now on it writes to the
//                             session's log
//
// detach_ready does nothing in a process that did not detach.
#ifndef TILEWALK_DETACH_H
#define TILEWALK_DETACH_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

bool detach(int *code, struct err *e); // before any thread or driver
bool detach_is_parent(void);
void detach_ready(int64_t session);

#endif
