// The operators of ONNX that tilewalk has, a row each. Internal to this folder.
#ifndef TILEWALK_ONNX_OPERATORS_H
#define TILEWALK_ONNX_OPERATORS_H

#include "onnx/graph.h"

struct lowering;

struct onnx_operator {
    const char *name;
    // Sets the shapes of its outputs; all inputs that are there have one.
    enum onnx_verdict (*infer)(const struct onnx_at *n);
    // Returns the constant of its first output where all inputs are constant; a NULL member or
    // result: it is not folded.
    struct onnx_tensor *(*fold)(const struct onnx_at *n);
    // Adds its layers, or none.
    enum onnx_verdict (*lower)(struct lowering *l, const struct onnx_at *n);
};

const struct onnx_operator *onnx_operator_find(const char *name);
// Returns the first attribute whose type is not the one that belongs to its name; NULL: none.
const char *onnx_mistyped(const struct onnx_node *n);
// Returns the tensor of a Constant node; NULL: it has no numbers.
const struct onnx_tensor *onnx_constant_of(const struct onnx_node *n);

// The window of a convolution or a pool, for height and width.
struct onnx_window {
    int64_t kernel[2], stride[2], dilation[2], before[2], after[2], out[2];
};
// `image` is batch, channels, height and width.
enum onnx_verdict onnx_window_of(const struct onnx_at *n, const struct onnx_shape *image,
                                 const int64_t *kernel, struct onnx_window *out);

// Numbers that are an attribute of a node or, in later versions, a constant input.
struct onnx_list {
    int count;
    int64_t value[ONNX_MAX_RANK];
    bool is_there;
};
enum onnx_verdict onnx_list_of(const struct onnx_at *n, const char *attribute, int input,
                               struct onnx_list *out);
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
bool onnx_same_shape(const struct onnx_shape *a, const struct onnx_shape *b);

// The elements that a Slice reads: every `step`-th of each axis, beginning with `first`.
struct onnx_range {
    int64_t first[ONNX_MAX_RANK], step[ONNX_MAX_RANK];
};
enum onnx_verdict onnx_slice_of(const struct onnx_at *n, struct onnx_range *range,
                                struct onnx_shape *out);
enum onnx_verdict onnx_split_of(const struct onnx_at *n, int64_t *axis, int64_t *sizes);
bool onnx_permutation(const struct onnx_at *n, int rank, int *out);

// Leaves the function with the verdict of `call` unless that is fine.
#define TRY(call)                                                                                  \
    do {                                                                                           \
        enum onnx_verdict verdict = (call);                                                        \
        if (verdict != ONNX_FINE)                                                                  \
            return verdict;                                                                        \
    } while (0)

#define ONNX_INFER(name) enum onnx_verdict infer_##name(const struct onnx_at *n);
#define ONNX_FOLD(name)  struct onnx_tensor *fold_##name(const struct onnx_at *n);
#define ONNX_LOWER(name)                                                                           \
    enum onnx_verdict lower_##name(struct lowering *l, const struct onnx_at *n);

// clang-format off
#define ONNX_INFERRED(X) \
    X(same) X(binary) X(sum) X(conv) X(pool) X(global_pool) X(gemm) X(matmul) X(batch_norm) \
    X(reshape) X(flatten) X(squeeze) X(unsqueeze) X(transpose) X(concat) X(slice) X(split) X(gather) \
    X(expand) X(cast) X(constant) X(constant_of_shape) X(shape) X(size) X(reduce_mean) X(dropout)
#define ONNX_FOLDED(X) \
    X(same) X(arithmetic) X(unary) X(constant) X(constant_of_shape) X(shape) X(size) X(transpose) \
    X(concat) X(slice) X(gather) X(expand)
#define ONNX_LOWERED(X) \
    X(conv) X(pool) X(global_pool) X(gemm) X(matmul) X(batch_norm) X(activation) X(apply) X(add) \
    X(arithmetic) X(sum) X(softmax) X(lrn) X(transpose) X(concat) X(slice) X(split) X(gather) X(expand) \
    X(reduce_mean) X(none) X(no) X(cast)
// clang-format on

ONNX_INFERRED(ONNX_INFER)
ONNX_FOLDED(ONNX_FOLD)
ONNX_LOWERED(ONNX_LOWER)

#endif
