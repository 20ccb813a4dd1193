// An ONNX graph as layers of a network: the preset of each layer, its settings, weights and inputs.
// Nodes that only give the same elements another shape vanish. A bias, a factor for each channel, a
// shortcut or an activation that follows a sum of products is computed with it.
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

struct onnx_weights {               // the contents of a tensor of a layer's operation
    const char *tensor;             // "W"
    struct onnx_shape shape;        // in the file
    const struct onnx_tensor *from; // NULL: `value`
    const double *value;            // of each element
    const double *factor;           // NULL, or one for each of `factors` channels:
    int64_t factors, inner;         // element i is of channel i / inner % factors
    int64_t part, line, first;      // of lines of `line` elements of `from`, in each `part` from
                                    // `first` on; part 0: all of it
};

struct onnx_flow {      // the source of a tensor of a layer's operation
    const char *tensor; // "X"
    int source;         // a layer, or -1-k: input k
};

enum onnx_stage { ONNX_SUM, ONNX_SHIFTED, ONNX_JOINED, ONNX_ACTIVATED }; // the last step of a sum

struct onnx_layer {
    const char *name, *preset;
    struct onnx_setting setting[ONNX_MAX_SETTINGS];
    struct onnx_flow from[ONNX_MAX_TENSORS];
    struct onnx_weights weights[ONNX_MAX_TENSORS];
    int setting_count, from_count, weights_count;
    struct onnx_shape shape; // of its output
    int type, uses;
    bool is_product; // of the model, not one that computes a mean, a factor or a shift
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
    const struct onnx_value *value; // NULL: only nodes that cannot be computed read it
};

struct onnx_layers {
    struct onnx_layer *layer;
    struct onnx_entry *input;
    struct onnx_exit *output;
    int layer_count, input_count, output_count;
    // internal
    int layer_capacity, input_capacity, output_capacity;
    struct arena arena;
};

// Sets `unsupported` of the steps and outputs of `g` that no layer gives.
void onnx_lower(struct onnx_graph *g, struct onnx_layers *out);
void onnx_layers_finish(struct onnx_layers *l);

double onnx_weight(const struct onnx_weights *w, int64_t index); // returns an element

#endif
