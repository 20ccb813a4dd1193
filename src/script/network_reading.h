// A network while its file is run. Of this folder only.
#ifndef TILEWALK_SCRIPT_NETWORK_READING_H
#define TILEWALK_SCRIPT_NETWORK_READING_H

#include "script/guard.h"
#include "script/network.h"

struct network_facts { // of a task
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int count;       // the last is the output
    const char *key; // its preset and all settings: two tasks that have it in common are one
};

struct network_reading {
    struct network *out;
    struct script *script;                   // its arena is the network's in the end
    char *folder;                            // of the file
    struct network_facts *facts;             // of each task
    struct tensor *input;                    // of the network
    struct place *layer_place, *input_place; // where they are declared
    int facts_capacity, layer_places, input_places, inputs;
    int names, tasks, values; // Lua tables: is it taken; text -> index of task; value -> layer
};

// The index of the task of the layer whose fields are in the table at 1; a new one where no layer
// before it says the same, and none comes to the same either.
int network_read_task(lua_State *L, struct network_reading *r, const char *name);

#endif
