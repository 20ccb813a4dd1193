// Layers while they are made. Internal to this folder.
#ifndef TILEWALK_ONNX_LOWERING_H
#define TILEWALK_ONNX_LOWERING_H

#include "onnx/layers.h"
#include "onnx/operators.h"

enum { LOWERING_MOST_OF_A_STEP = 64 }; // layers that one step may add

struct flow { // where a value comes from
    int source;
    bool is_there;
    bool is_only; // nothing else is made of what the layer gives
};

struct lowering {
    struct onnx_graph *graph;
    struct onnx_layers *out;
    struct flow *flow;   // of each value
    bool has_wrong_size; // the step has set one
    int64_t spread; // elements of constants that were written as large as what they are added to
};

// Finds the layer or network input that gives an input of the step; a new network input is added
// where it is the first to read one. ONNX_LACKING: it is constant, or no kernel computes its type.
enum onnx_verdict lowering_flow(struct lowering *l, const struct onnx_at *n, int index,
                                int *source);
bool lowering_is_constant(const struct onnx_at *n, int index);

// Adds a layer that is named after the step, with `more` where the step takes several layers.
struct onnx_layer *lowering_add(struct lowering *l, const struct onnx_at *n, const char *preset,
                                const char *more, const struct onnx_value *type);
void lowering_set(struct lowering *l, struct onnx_layer *to, const char *name, int64_t value);
void lowering_set_real(struct lowering *l, struct onnx_layer *to, const char *name, double value);
void lowering_set_word(struct lowering *l, struct onnx_layer *to, const char *name,
                       const char *value);
void lowering_read(struct lowering *l, struct onnx_layer *to, const char *tensor, int source);
struct onnx_weights *lowering_weigh(struct onnx_layer *to, const char *tensor,
                                    const struct onnx_tensor *from);
// Returns a name in UTF-8, not long, that no layer has yet and no value but those of `step`.
const char *lowering_name(struct lowering *l, const char *name, int step);
void lowering_uses(struct lowering *l, int source); // counts one more reader
void lowering_split(struct lowering *l); // splits layers whose weights are too many for one buffer

// Makes the last added layer the source of an output.
enum onnx_verdict lowering_give(struct lowering *l, const struct onnx_at *n, int output);
// Makes the source of an input the source of the first output.
enum onnx_verdict lowering_alias(struct lowering *l, const struct onnx_at *n, int input);

// Returns the sum that gives input `index`, if no later stage than `most` has been added to it and
// nothing else reads it; NULL: there is none.
struct onnx_layer *lowering_sum(struct lowering *l, const struct onnx_at *n, int index,
                                enum onnx_stage most);

// Makes an image of a shape, batch x channels x height x width: missing dimensions are 1.
bool lowering_image(const struct onnx_shape *s, int64_t out[4]);

// Numbers that differ by the channel only; each of `channels` channels has `inner` elements.
struct onnx_channels {
    int64_t channels, inner;
    const double *factor, *shift; // NULL: one, zero
};
// Lowers y = x * factor + shift: as part of the sum that gives x, or as a layer of its own.
enum onnx_verdict lowering_affine(struct lowering *l, const struct onnx_at *n, int index,
                                  const struct onnx_channels *c);

// The elements of an input that an output consists of, in its order.
struct onnx_strides {
    struct onnx_shape shape; // of the output
    int64_t stride[ONNX_MAX_RANK], offset;
    const char *more;              // end of the layer's name, where a step takes several layers
    const struct onnx_value *type; // the output
};
void onnx_broadcast_strides(const struct onnx_shape *from, const struct onnx_shape *to,
                            struct onnx_strides *out);
// Adds a layer that copies them; `*source` is the input itself where they are all of it in order.
enum onnx_verdict lowering_strided(struct lowering *l, const struct onnx_at *n, int input,
                                   struct onnx_strides *s, int *source);

#endif
