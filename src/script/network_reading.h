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
    char *folder;                            // of the file, also where its text was stored
    struct network_facts *facts;             // of each task
    struct tensor *input;                    // of the network
    struct place *layer_place, *input_place; // where they are declared
    int facts_capacity, layer_places, input_places, inputs;
    struct weights_file **file;
    int file_count, file_capacity;
    int names, tasks, values; // Lua tables: is it taken; text -> index of task; value -> layer
};

// The index of the task of the layer whose fields are in the table at 1; a new one where no layer
// before it says the same, and none comes to the same either.
int network_read_task(lua_State *L, struct network_reading *r, const char *name);

// The fields `uses` and `seconds` of the layer at 1, whose task is known: counts them. False where
// it is one of a network, not on its own.
bool network_read_uses(lua_State *L, struct network_reading *r, struct network_layer *layer);

// The tensor `name` that a layer reads; `field` has named it.
const struct tensor *network_find_tensor(lua_State *L, const struct network_reading *r,
                                         const struct network_layer *layer, const char *field,
                                         const char *name);
bool network_flows_in(const struct network_layer *l, const char *tensor);

// The field `weights` of the layer at 1, after its inputs.
void network_read_weights(lua_State *L, struct network_reading *r, struct network_layer *layer);
// The field `file` of the table at `fields`, which is about the `role` ("input", "output") `name`,
// whose values `to` are; NULL where there is none.
const struct weights *network_read_file(lua_State *L, struct network_reading *r, int fields,
                                        const char *role, const char *name,
                                        const struct tensor *to);
// The table at 2, of an output: the file that has what it has to be, and how far off it may be.
void network_read_expected(lua_State *L, struct network_reading *r, struct network_tensor *t,
                           const struct tensor *is);
void network_close_files(struct network_reading *r);

void network_make_plan(const struct network_reading *r); // of a network whose layers are all read

#endif
