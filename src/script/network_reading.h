// A network while its file is run; for network.c and network_task.c.
#ifndef TILEWALK_SCRIPT_NETWORK_READING_H
#define TILEWALK_SCRIPT_NETWORK_READING_H

#include "script/guard.h"
#include "script/network.h"

struct network_facts { // of a task
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int count;       // the last is the output
    const char *key; // the preset and all settings: tasks with the same key are one task
};

struct network_reading {
    struct network *out;
    struct script *script;                   // its arena becomes the network's
    char *folder;                            // of the file, or of its stored text
    struct network_facts *facts;             // of each task
    struct tensor *input;                    // of the network
    struct place *layer_place, *input_place; // where they are declared
    int facts_capacity, layer_places, input_places, inputs;
    struct weights_file **file;
    int file_count, file_capacity;
    int names, tasks, values; // Lua tables: names in use; key -> task; value -> layer
};

// Returns the task of the layer at 1: an earlier one with the same key, or a new one.
int network_read_task(lua_State *L, struct network_reading *r, const char *name);

// Reads and counts the fields `uses` and `seconds` of the layer at 1, whose task is known. True: it
// is a layer of a list, without inputs.
bool network_read_uses(lua_State *L, struct network_reading *r, struct network_layer *layer);

// Returns the tensor `name` that a layer reads; `field` names it in errors.
const struct tensor *network_find_tensor(lua_State *L, const struct network_reading *r,
                                         const struct network_layer *layer, const char *field,
                                         const char *name);
bool network_flows_in(const struct network_layer *l, const char *tensor);

// Reads the field `weights` of the layer at 1, after its inputs.
void network_read_weights(lua_State *L, struct network_reading *r, struct network_layer *layer);
// Reads the field `file` of the table at `fields`: the values of `to`, which is the `role`
// ("input", "output") `name`. NULL: there is none.
const struct weights *network_read_file(lua_State *L, struct network_reading *r, int fields,
                                        const char *role, const char *name,
                                        const struct tensor *to);
// Reads the table at 2 of an output: the file with its expected values, and the tolerances.
void network_read_expected(lua_State *L, struct network_reading *r, struct network_tensor *t,
                           const struct tensor *is);

void network_make_plan(const struct network_reading *r); // after all layers

#endif
