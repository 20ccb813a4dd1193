// Layers while they are made. Of this folder.
#ifndef TILEWALK_ONNX_LOWERING_H
#define TILEWALK_ONNX_LOWERING_H

#include "onnx/layers.h"
#include "onnx/operators.h"

enum { LOWERING_MOST_OF_A_STEP = 64 }; // layers

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

// What its input is: a value that flows, which it may be the first to read. ONNX_LACKING: it is
// constant, or of a type that nothing is computed in.
enum onnx_verdict lowering_flow(struct lowering *l, const struct onnx_at *n, int index,
                                int *source);
bool lowering_is_constant(const struct onnx_at *n, int index);

// A new layer, named after the step, and `more` where it takes several.
struct onnx_layer *lowering_add(struct lowering *l, const struct onnx_at *n, const char *preset,
                                const char *more, const struct onnx_value *type);
void lowering_set(struct lowering *l, struct onnx_layer *to, const char *name, int64_t value);
void lowering_set_real(struct lowering *l, struct onnx_layer *to, const char *name, double value);
void lowering_set_word(struct lowering *l, struct onnx_layer *to, const char *name,
                       const char *value);
void lowering_read(struct lowering *l, struct onnx_layer *to, const char *tensor, int source);
struct onnx_weights *lowering_weigh(struct onnx_layer *to, const char *tensor,
                                    const struct onnx_tensor *from);
// One that no layer has yet, and no value but those that `step` gives: UTF-8, and not long.
const char *lowering_name(struct lowering *l, const char *name, int step);
void lowering_uses(struct lowering *l, int source); // something more reads it
void lowering_split(struct lowering *l); // layers whose weights are too many for one buffer

// A step's output is what the last layer that was added gives.
enum onnx_verdict lowering_give(struct lowering *l, const struct onnx_at *n, int output);
enum onnx_verdict lowering_alias(struct lowering *l, const struct onnx_at *n, int input);

// The sum that its input `index` is, when something more may still be done to it; NULL: none.
struct onnx_layer *lowering_sum(struct lowering *l, const struct onnx_at *n, int index,
                                enum onnx_stage most);

// An input as an image, batch x channels x height x width: what has fewer dimensions gets ones.
bool lowering_image(const struct onnx_shape *s, int64_t out[4]);

// Numbers that differ by the channel only, of which there are `channels`, of `inner` elements each.
struct onnx_channels {
    int64_t channels, inner;
    const double *factor, *shift; // NULL: one, zero
};
// y = x * factor + shift, into the sum that x is, or as a layer of its own.
enum onnx_verdict lowering_affine(struct lowering *l, const struct onnx_at *n, int index,
                                  const struct onnx_channels *c);

// Which elements of an input are taken, in the order of the output.
struct onnx_strides {
    struct onnx_shape shape; // of the output
    int64_t stride[ONNX_MAX_RANK], offset;
    const char *more;              // the layer's name, where a step takes several
    const struct onnx_value *type; // of what is given
};
void onnx_broadcast_strides(const struct onnx_shape *from, const struct onnx_shape *to,
                            struct onnx_strides *out);
// A layer that takes them, or the input itself where they are all of it, in its order.
enum onnx_verdict lowering_strided(struct lowering *l, const struct onnx_at *n, int input,
                                   struct onnx_strides *s, int *source);

#endif
