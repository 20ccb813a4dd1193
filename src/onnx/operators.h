// The operators of ONNX that tilewalk has, and what their functions share. Internal to this folder.
//
// A row of the table in operators.c has an operator: how many inputs it needs, and its functions.
// `infer` gives the shapes of its outputs, `fold` computes it on constants, `lower` makes layers of
// it. An operator that only moves elements has `move`, from which the other three follow.
#ifndef TILEWALK_ONNX_OPERATORS_H
#define TILEWALK_ONNX_OPERATORS_H

#include "onnx/layers.h"

struct lowering;

// The elements of an input that an output consists of, in its order.
struct onnx_strides {
    struct onnx_shape shape; // of the output
    int64_t stride[ONNX_MAX_RANK], offset;
    const char *more;              // end of the layer's name, where a step takes several layers
    const struct onnx_value *type; // the output
};

enum { ONNX_ALL = -1 }; // all inputs that a node lists, and at least one

struct onnx_operator {
    const char *name;
    int needs; // inputs, the first of a node, that may not be left out
    // Sets the shapes of its outputs. All inputs that it needs are there; those that are have a
    // shape.
    enum onnx_verdict (*infer)(const struct onnx_at *n);
    // Returns the constant of its first output where all inputs are constant; a NULL member or
    // result: it is not folded.
    struct onnx_tensor *(*fold)(const struct onnx_at *n);
    // Adds its layers, or none; NULL: no kernel computes it.
    enum onnx_verdict (*lower)(struct lowering *l, const struct onnx_at *n);
    // Finds the elements of the first input that output `output` consists of; NULL: the operator
    // does more than move elements.
    enum onnx_verdict (*move)(const struct onnx_at *n, int output, struct onnx_strides *out);
};

const struct onnx_operator *onnx_operator_find(const char *name);
// Returns the first attribute whose type is not the one that belongs to its name; NULL: none.
const char *onnx_find_mistyped(const struct onnx_node *n);
// Returns the tensor of a Constant node; NULL: it has no numbers.
const struct onnx_tensor *onnx_constant_of(const struct onnx_node *n);

// The window of a convolution or a pool, for each axis behind the channels.
enum { ONNX_MAX_AXES = 3 };
struct onnx_window {
    int axes;
    int64_t kernel[ONNX_MAX_AXES], stride[ONNX_MAX_AXES], dilation[ONNX_MAX_AXES];
    int64_t before[ONNX_MAX_AXES], after[ONNX_MAX_AXES], out[ONNX_MAX_AXES];
};
// `image` is batch, channels, and up to three sizes.
enum onnx_verdict onnx_window_of(const struct onnx_at *n, const struct onnx_shape *image,
                                 const int64_t *kernel, struct onnx_window *out);
// The same of a transposed convolution, whose `before` and `after` are cut off.
enum onnx_verdict onnx_window_back(const struct onnx_at *n, const struct onnx_shape *image,
                                   const int64_t *kernel, struct onnx_window *out);

// A function of elements: "Exp", of one or two.
struct onnx_function {
    const char *name;
    const char *apply; // what computes it in the preset elementwise; NULL: nothing does
    double (*of)(double x, double z);
};
const struct onnx_function *onnx_function_find(const char *name); // NULL: there is none

// Numbers that are an attribute of a node or, in later versions, a constant input.
struct onnx_list {
    int count;
    int64_t value[ONNX_MAX_RANK];
    bool is_there;
};
enum onnx_verdict onnx_list_of(const struct onnx_at *n, const char *attribute, int input,
                               struct onnx_list *out);
// Reads a shape from a constant input.
enum onnx_verdict onnx_shape_of(const struct onnx_at *n, int input, struct onnx_shape *out);
// Returns an element of a constant as an index or a size, clamped to 32 bits.
int64_t onnx_whole(const struct onnx_tensor *t, int64_t index);
// Replaces a negative axis by the one that it counts from the end. False leaves `axis` as it is:
// there is no such axis.
bool onnx_axis(const struct onnx_shape *s, int64_t *axis);
bool onnx_broadcast(const struct onnx_shape *a, const struct onnx_shape *b, struct onnx_shape *out);
// Returns the index in `from` of the element that is at `index` of `to`, to which it is broadcast.
int64_t onnx_broadcast_index(const struct onnx_shape *from, const struct onnx_shape *to,
                             int64_t index);
// Sets the stride of each axis of a tensor whose elements are stored in order.
void onnx_strides_of(const struct onnx_shape *s, int64_t *out);
void onnx_broadcast_strides(const struct onnx_shape *from, const struct onnx_shape *to,
                            struct onnx_strides *out);
// Finds which axes Shape tells: those from `first` to before `end`.
void onnx_shape_part(const struct onnx_at *n, int *first, int *end);
bool onnx_same_shape(const struct onnx_shape *a, const struct onnx_shape *b);

// Leaves the function with the verdict of `call` unless that is fine.
#define TRY(call)                                                                                  \
    do {                                                                                           \
        enum onnx_verdict verdict = (call);                                                        \
        if (verdict != ONNX_OK)                                                                    \
            return verdict;                                                                        \
    } while (0)

#define ONNX_INFER(name) enum onnx_verdict infer_##name(const struct onnx_at *n);
#define ONNX_FOLD(name)  struct onnx_tensor *fold_##name(const struct onnx_at *n);
#define ONNX_LOWER(name)                                                                           \
    enum onnx_verdict lower_##name(struct lowering *l, const struct onnx_at *n);
#define ONNX_MOVE(name)                                                                            \
    enum onnx_verdict move_##name(const struct onnx_at *n, int output, struct onnx_strides *out);

// clang-format off
#define ONNX_INFERRED(X) \
    X(same) X(broadcast) X(conv) X(conv_transpose) X(pool) X(global_pool) X(gemm) X(matmul) X(batch_norm) \
    X(reshape) X(flatten) X(reduced) X(unsqueeze) X(moved) X(concat) X(gather) X(cast) X(constant) \
    X(constant_of_shape) X(shape) X(dropout) \
    X(open) X(truth) X(where) X(retyped) X(layer_norm) X(recurrent) X(place) X(top) X(one_hot) X(pad) X(tile) \
    X(resize) X(depth_space) X(gather_elements) X(gather_nd) X(range) X(einsum)
#define ONNX_FOLDED(X) \
    X(same) X(elements) X(where) X(cast) X(constant_of_shape) X(shape) X(moved) X(concat) X(gather) X(range)
#define ONNX_LOWERED(X) \
    X(same) X(conv) X(conv_transpose) X(pool) X(global_pool) X(gemm) X(matmul) X(batch_norm) X(layer_norm) \
    X(activation) X(function) X(power) X(add) X(arithmetic) X(extreme) X(softmax) X(lrn) X(moved) X(concat) \
    X(gather) X(reduce)
#define ONNX_MOVED(X) X(transpose) X(slice) X(split) X(expand)
// clang-format on

ONNX_INFERRED(ONNX_INFER)
ONNX_FOLDED(ONNX_FOLD)
ONNX_LOWERED(ONNX_LOWER)
ONNX_MOVED(ONNX_MOVE)

// --- layers while they are made ---

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
// where it is the first to read one. ONNX_UNSUPPORTED: it is constant, or no kernel computes its
// type.
enum onnx_verdict lowering_flow(struct lowering *l, const struct onnx_at *n, int index,
                                int *source);
// Returns whether values of the type are values of the network, which all have the type that is
// chosen for it.
bool lowering_computes(int type);
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
void lowering_count_use(struct lowering *l, int source, int by); // readers of a source: 1, -1
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

// Adds a layer that copies them; `*source` is the input itself where they are all of it in order.
enum onnx_verdict lowering_strided(struct lowering *l, const struct onnx_at *n, int input,
                                   struct onnx_strides *s, int *source);

#endif
