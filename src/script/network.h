// Networks: layers, each with the preset that computes it, and the values that flow between them.
//
//     network "AlexNet"                      first: it distinguishes the file from a space file
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
// is a layer without inputs. A network of such layers is a list of operations and how often they
// occur: it has a total time but cannot be run. `seconds`, which is optional, is the time of one in
// another program. See docs/guide/networks.md.
#ifndef TILEWALK_SCRIPT_NETWORK_H
#define TILEWALK_SCRIPT_NETWORK_H

#include "network/plan.h"
#include "script/script.h"
#include "weights/weights.h"

#define NETWORK_MAX_LAYERS 4096
#define NETWORK_MAX_USES   1e15 // of a layer

struct network_task {    // a problem to tune; in the order of their first layers
    const char *label;   // the name of its first layer
    const char *preset;  // a shipped name or a path
    int64_t uses;        // the number of layers; in a list how often they occur
    struct setting *set; // the settings of the layer, and sizes that the preset chose
    int set_count;
    const char *kind, *title; // of its operation: "matmul", operation_add_text
    double flop;              // of a run
    double told_s;            // the time of all uses in another program; 0: unknown
    uint64_t largest_bytes;   // of its buffers
    struct workload work;     // the unit of its speed
};

struct network_input {  // of a layer
    const char *tensor; // of its operation
    int layer;          // an earlier layer, whose output it is; or -1-k: the network's input k
};

struct network_weights { // a constant of a layer from a file (weights_read)
    const char *tensor;  // of its operation
    struct weights from;
};

struct network_tensor { // an input of the network or the output of a layer
    const char *name;
    enum element element;
    int64_t count; // elements
    int uses;      // by layers and as an output
    // The file with the values of an input (NULL: they come from the seed), or with the expected
    // values of an output (NULL: unknown).
    const struct weights *from;
    double relative, absolute; // tolerances of an expected output
};

struct network_layer {
    int task;
    struct network_input *input;
    int input_count;
    struct network_weights *weights;
    int weights_count;
    double weight_bytes;          // of all weights
    double read_bytes;            // of weights from files
    struct network_tensor output; // its name is the layer's
    int64_t uses;                 // 1; in a list how often it occurs
};

struct network {
    const char *name, *about; // the file's name, one line
    struct network_task *task;
    struct network_layer *layer; // in an order of execution
    struct network_tensor *input;
    int *output; // layers
    struct script_setting *setting;
    struct plan plan; // with the layers as steps
    int task_count, layer_count, input_count, output_count, setting_count;
    bool is_list; // its layers have no inputs: the plan is empty
    // ours
    int task_capacity, layer_capacity, input_capacity, output_capacity;
    struct arena arena;
};

// Reads a network. `set` has the values of --set. Every task's preset is read once, and the inputs
// of each layer are checked. `out` must be finished in any case.
bool network_read(const char *path, const struct setting *set, int set_count, struct network *out,
                  struct err *e);
// The same with the presets for a device (`device_type`, `limits`), which the network itself does
// not see; also from stored texts.
bool network_load(const struct script_options *o, struct network *out, struct err *e);
void network_finish(struct network *n);

double network_flop(const struct network *n); // of all layers
double network_told(const struct network *n); // seconds in another program; 0: unknown
double network_weight_bytes(const struct network *n);
// True: no task has a buffer above the device's limit (else `e` names the first one), and a run
// needs at most `memory_bytes` (0: unknown).
bool network_fits(const struct network *n, const struct limits *l, uint64_t memory_bytes,
                  struct err *e);
bool network_task_fits(const struct network *n, const struct network_task *t,
                       const struct limits *l, struct err *e);

struct network_sizes { // the settings of a network, those that were changed first
    struct setting *set;
    int count, changed;
    const char *text;    // "image=198"
    struct arena *arena; // of all of it: the caller's
};
// Finds sizes with which a network that network_fits refused, with `e`, fits: as many eighths as
// possible of the first size for which that is enough, else of all. Those that `o` sets are kept.
// False: none of the others fits; `out` may then have sizes that change these, too. Either way `e`
// is what network_fits said with the sizes as its hint. `out->arena` is set.
bool network_fit(const struct network *n, const struct script_options *o, const struct limits *l,
                 uint64_t memory_bytes, struct network_sizes *out, struct err *e);

// Like those of presets (script.h), for presets/networks/NAME.lua.
char *network_find(const char *name, struct err *e);
char *network_find_shipped(const char *name, struct err *e);
char **network_names(int *count);
// True: the user's word is a network, a file that begins with `network` or a shipped name.
bool network_is(const char *name);

#endif
