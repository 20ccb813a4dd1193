// An ONNX graph as layers of a network: which preset computes what, with which settings, weights
// and inputs. Nodes that only name the same elements otherwise vanish; what follows a sum of
// products (a bias, a factor for each channel, a shortcut, an activation) is computed with it.
//
//     struct onnx_layers l;
//     onnx_lower(&graph, &l);
//     onnx_layers_finish(&l);
//
// Everything it points to is the graph's, the model's, or its own.
#ifndef TILEWALK_ONNX_LAYERS_H
#define TILEWALK_ONNX_LAYERS_H

#include "onnx/graph.h"

#define ONNX_MAX_SETTINGS 20
#define ONNX_MAX_TENSORS  5 // that a layer reads

struct onnx_setting {
    const char *name, *text; // as Lua reads it: "3", "0.01", "\"relu\""
};

struct onnx_weights {               // what a tensor of a layer's operation is filled from
    const char *tensor;             // "W"
    struct onnx_shape shape;        // in the file
    const struct onnx_tensor *from; // NULL: `value`
    const double *value;            // of each element
    const double *factor;           // NULL, or one for each of `factors` channels:
    int64_t factors, inner;         // element i is of channel i / inner % factors
    int64_t part, line, first;      // of lines of `line` elements of `from`, in each `part` from
                                    // `first` on; part 0: all of it
};

struct onnx_flow {      // what a tensor of a layer's operation is given by
    const char *tensor; // "X"
    int source;         // a layer, or -1-k: input k
};

enum onnx_stage { ONNX_SUM, ONNX_SHIFTED, ONNX_JOINED, ONNX_ACTIVATED }; // what is done to it last

struct onnx_layer {
    const char *name, *preset;
    struct onnx_setting setting[ONNX_MAX_SETTINGS];
    struct onnx_flow from[ONNX_MAX_TENSORS];
    struct onnx_weights weights[ONNX_MAX_TENSORS];
    int setting_count, from_count, weights_count;
    struct onnx_shape shape; // of what it gives
    int type, uses;
    // of sums of products
    bool is_sum;
    enum onnx_stage stage;
    int64_t channels, inner; // of an element: index / inner % channels
    int factored;            // the weights that a factor goes into; -1: none can
    double *bias;            // NULL, or one for each channel
};

struct onnx_entry { // an input of the network
    const struct onnx_value *value;
    const char *name;
    int uses;
};

struct onnx_exit { // an output of the network
    int layer;
    const struct onnx_value *value; // NULL: one that only what is lacking reads
};

struct onnx_layers {
    struct onnx_layer *layer;
    struct onnx_entry *input;
    struct onnx_exit *output;
    int layer_count, input_count, output_count;
    // ours
    int layer_capacity, input_capacity, output_capacity;
    struct arena arena;
};

// `g`: its steps and outputs learn here why they are lacking.
void onnx_lower(struct onnx_graph *g, struct onnx_layers *out);
void onnx_layers_finish(struct onnx_layers *l);

double onnx_weight(const struct onnx_weights *w, int64_t index); // an element

#endif
