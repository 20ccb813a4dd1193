// What tilewalk knows of ONNX's operators, a row each. Of this folder.
#ifndef TILEWALK_ONNX_OPERATORS_H
#define TILEWALK_ONNX_OPERATORS_H

#include "onnx/graph.h"

struct lowering;

struct onnx_operator {
    const char *name;
    // Gives its outputs their shapes; all inputs that are there have one.
    enum onnx_verdict (*infer)(const struct onnx_at *n);
    // The constant of its first output, where all inputs are constant; NULL: it is not folded.
    struct onnx_tensor *(*fold)(const struct onnx_at *n);
    // Adds its layers, or none.
    enum onnx_verdict (*lower)(struct lowering *l, const struct onnx_at *n);
};

const struct onnx_operator *onnx_operator_find(const char *name);
// The first attribute that has another type than that of its name; NULL: none.
const char *onnx_mistyped(const struct onnx_node *n);
// What a Constant is; NULL: nothing that has numbers.
const struct onnx_tensor *onnx_constant_of(const struct onnx_node *n);

// What a window of a convolution or a pool does to height and width.
struct onnx_window {
    int64_t kernel[2], stride[2], dilation[2], before[2], after[2], out[2];
};
// `image`: what it goes over, with two sizes behind batch and channels.
enum onnx_verdict onnx_window_of(const struct onnx_at *n, const struct onnx_shape *image,
                                 const int64_t *kernel, struct onnx_window *out);

// Numbers that a node has as an attribute, or, in later versions, as a constant input.
struct onnx_list {
    int count;
    int64_t value[ONNX_MAX_RANK];
    bool is_there;
};
enum onnx_verdict onnx_list_of(const struct onnx_at *n, const char *attribute, int input,
                               struct onnx_list *out);
// An element of a constant as a place or a size: within those of 32 bits, where none is larger.
int64_t onnx_whole(const struct onnx_tensor *t, int64_t index);
// An axis, counted from behind where it is negative; false and `axis` as it was: there is none.
bool onnx_axis(const struct onnx_shape *s, int64_t *axis);
bool onnx_broadcast(const struct onnx_shape *a, const struct onnx_shape *b, struct onnx_shape *out);
// Where the element of `from` lies that is seen at `index` of `to`, which it is broadcast to.
int64_t onnx_broadcast_index(const struct onnx_shape *from, const struct onnx_shape *to,
                             int64_t index);
bool onnx_same_shape(const struct onnx_shape *a, const struct onnx_shape *b);

// What a Slice, a Split's output or a Gather reads: from `first` on every `step`-th, of each axis.
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
    X(same) X(add) X(sub) X(mul) X(div) X(constant) X(constant_of_shape) X(shape) X(size) X(transpose) \
    X(concat) X(slice) X(gather) X(expand) X(cast) X(sqrt) X(neg)
#define ONNX_LOWERED(X) \
    X(conv) X(pool) X(global_pool) X(gemm) X(matmul) X(batch_norm) X(activation) X(apply) X(add) X(sub) \
    X(mul) X(div) X(sum) X(softmax) X(lrn) X(transpose) X(concat) X(slice) X(split) X(gather) X(expand) \
    X(reduce_mean) X(none) X(no) X(cast)
// clang-format on

ONNX_INFERRED(ONNX_INFER)
ONNX_FOLDED(ONNX_FOLD)
ONNX_LOWERED(ONNX_LOWER)

#endif
