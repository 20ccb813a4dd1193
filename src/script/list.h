// Lists: operations that belong together, such as the layers of a network, each with the preset
// that tunes it.
//
//     about "ResNet-50, batch 1: its convolutions"
//     item { label = "conv1", preset = "conv-direct", uses = 1, set = { in_channels = 3, ... } }
//
// A list is a Lua file under the guard of space files; `about` and `item` are all that it can do.
// `set` is what --set would say, `uses` how often the operation is run in one pass.
#ifndef TILEWALK_SCRIPT_LIST_H
#define TILEWALK_SCRIPT_LIST_H

#include "script/script.h"

#define LIST_MAX_ITEMS 1000

struct list_item {
    const char *label, *preset; // the label is unique
    int64_t uses;
    struct setting *set;
    int set_count;
};

struct list {
    const char *name, *about; // the file's name, one line
    int count;
    struct list_item *item;
    // ours
    int capacity;
    struct arena arena;
};

// Fails for a file without items too. To be finished in any case.
bool list_read(const char *path, struct list *out, struct err *e);
void list_finish(struct list *l);

// Like script_find and script_presets, for the shipped presets/lists/NAME.lua.
char *list_find(const char *name, struct err *e);
char **list_names(int *count);

#endif
