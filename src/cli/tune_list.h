// `tune --list NAME`: the operations of a list, one session after the other.
#ifndef TILEWALK_CLI_TUNE_LIST_H
#define TILEWALK_CLI_TUNE_LIST_H

#include "cli/command.h"
#include "script/list.h"

// One of them, while it is tuned. `session` is set once there is one.
struct tune_item {
    const char *list;
    const struct list_item *item;
    const char *earlier; // sessions of those before it, "3,5"
    int64_t session;
};

bool tune_list_wanted(const struct arguments *a);

// Calls `tune` for every item, or for the one that --only names, and sums up for people what was
// found. What fails stops nothing but itself, a signal stops all. The exit code is that of the
// first that was not 0.
int tune_list(const struct arguments *a,
              int (*tune)(const struct arguments *a, struct tune_item *item));

#endif
