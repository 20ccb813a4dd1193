// Networks: layers, each with the preset that computes it, and what flows from one to the next.
//
//     network "AlexNet"                      first, so that it is told from a space
//     local batch = size("batch", 1)         settings, as in space files
//     local x = input { name = "image", sizes = { batch, 9216 } }
//     x = layer { name = "dense1", preset = "gemm", set = { N = batch, ... }, from = x }
//     output(x)
//
// A network file is run under the guard of space files and sees no device. Layers whose preset and
// settings are the same are one task. Tensors of an operation that `from` does not name are
// constants: weights, which are filled from the seed, or from the files that `weights` names.
//
//     layer { name = "q", preset = "gemm", set = { ... }, uses = 32, seconds = 63e-6 }
//
// is on its own: a network of such layers is a list, of what occurs so often. Nothing flows, it has
// a sum and no run. `seconds`, which may be left out, is what each took in another program.
// docs/networks.md
#ifndef TILEWALK_SCRIPT_NETWORK_H
#define TILEWALK_SCRIPT_NETWORK_H

#include "network/plan.h"
#include "script/script.h"
#include "weights/weights.h"

#define NETWORK_MAX_LAYERS 4096
#define NETWORK_MAX_USES   1e15 // of a layer

struct network_task {    // what has to be tuned; in the order of their first layers
    const char *label;   // the name of its first layer
    const char *preset;  // the name of one that ships, or a path
    int64_t uses;        // layers, or as often as those of a list occur
    struct setting *set; // what the layer said, and the sizes that it left to the preset
    int set_count;
    const char *kind, *title; // of its operation: "matmul", operation_add_text
    double flop;              // of a run
    double told_s;            // what all its uses took in another program; 0: not known
    uint64_t largest_bytes;   // of its buffers
    struct workload work;     // how its speed is told
};

struct network_input {  // of a layer
    const char *tensor; // of its operation
    int layer;          // whose output it is, an earlier one; or -1-k: the network's input k
};

struct network_weights { // of a layer: a constant that a file holds (weights_read)
    const char *tensor;  // of its operation
    struct weights from;
};

struct network_tensor { // an input of the network, the output of a layer
    const char *name;
    enum element element;
    int64_t count; // of elements
    int uses;      // by layers and as an output
    const struct weights
        *from;                 // of an input: the file that holds its values; NULL: the seed. Of an
                               // output: what it has to be; NULL: not known
    double relative, absolute; // how far off it may be then, as tolerances of operators
};

struct network_layer {
    int task;
    struct network_input *input;
    int input_count;
    struct network_weights *weights;
    int weights_count;
    double weight_bytes;          // of the tensors that no layer and no input gives
    double read_bytes;            // of those that a file does
    struct network_tensor output; // its name is the layer's
    int64_t uses;                 // 1; in a list how often it occurs
};

struct network {
    const char *name, *about; // the file's name, one line
    struct network_task *task;
    struct network_layer *layer; // in an order in which they can run
    struct network_tensor *input;
    int *output; // layers
    struct script_setting *setting;
    struct plan plan; // of its run, with these layers as steps
    int task_count, layer_count, input_count, output_count, setting_count;
    bool is_list; // of layers on their own: the plan is empty
    // ours
    int task_capacity, layer_capacity, input_capacity, output_capacity;
    struct arena arena;
};

// `set`: what --set says. Every task's preset is read once, and what flows into a layer has to be
// what its operation takes. To be finished in any case.
bool network_read(const char *path, const struct setting *set, int set_count, struct network *out,
                  struct err *e);
// The same with presets as a device sees them (`device_type`, `limits`), which the network itself
// does not see; from texts, too.
bool network_load(const struct script_options *o, struct network *out, struct err *e);
void network_finish(struct network *n);

double network_flop(const struct network *n); // of all layers
double network_told(const struct network *n); // seconds elsewhere; 0: not known of each task
double network_weight_bytes(const struct network *n);
// That no task has a buffer that is larger than the device takes (else `e` names the first one),
// and that all that a run needs is no more than `memory_bytes` (0: not known).
bool network_fits(const struct network *n, const struct limits *l, uint64_t memory_bytes,
                  struct err *e);

// Like script_find and script_presets, for the shipped presets/networks/NAME.lua.
char *network_find(const char *name, struct err *e);
char **network_names(int *count);
// Whether a user's word means a network: a file that begins with `network`, or the name of one that
// ships.
bool network_is(const char *name);

#endif
