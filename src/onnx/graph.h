// The graph of a model: its nodes in order, the shape of each value, and the values that are
// constant.
//
//     struct onnx_graph g;
//     if (onnx_graph_make(&model, set, set_count, &g, e)) ...
//     onnx_graph_finish(&g);                           in any case
//
// Nodes that no output needs are left out. A node that cannot be computed is no error: its
// `unsupported` has the reason, and nodes that need its unknown shape are unsupported, too.
#ifndef TILEWALK_ONNX_GRAPH_H
#define TILEWALK_ONNX_GRAPH_H

#include "base/str.h"
#include "onnx/model.h"

struct onnx_dimension { // a dimension of an input that the model leaves open: "batch", "data.0"
    const char *name;
    int64_t size;
};

struct onnx_value {
    const char *name; // the first member: values are sorted and found by it
    int type;
    bool has_shape;
    struct onnx_shape shape;
    const struct onnx_tensor *constant; // NULL: it depends on inputs
    int producer_step;                  // the step that gives it; -1: an input or a constant
    int uses;                           // by steps that are needed
    bool is_output, is_input;
    const struct onnx_info *info; // its description in the file; NULL: none
    const char *unsupported;      // of an output: why no layer gives it; NULL: a layer does, or the
                                  // reason is that of its node
};

struct onnx_operator;

struct onnx_step { // a node that is needed
    const struct onnx_node *node;
    const struct onnx_operator *kind; // NULL: unknown
    const char *name;                 // its own, or that of its first output
    int *input, *output;              // values; -1: left out
    int read_count;          // of `input`: the node's own, then those that graphs inside of it read
    const char *unsupported; // why it cannot be computed; NULL: it can
};

struct onnx_graph {
    const struct onnx_model *model;
    const struct onnx_dimension *open;
    int open_count;
    struct onnx_value *value;
    struct onnx_step *step;
    int value_count, step_count;
    int64_t folded; // elements of constants that were computed
    struct arena arena;
};

// `open` has to outlive `out`.
bool onnx_graph_make(const struct onnx_model *m, const struct onnx_dimension *open, int open_count,
                     struct onnx_graph *out, struct err *e);
void onnx_graph_finish(struct onnx_graph *g);

int onnx_graph_find(const struct onnx_graph *g, const char *name); // a value; -1: none

// --- a step ---

struct onnx_at {
    struct onnx_graph *graph;
    struct onnx_step *step;
    const struct onnx_node *node;
    struct err *err;
};

enum onnx_verdict { ONNX_OK, ONNX_UNSUPPORTED, ONNX_INVALID };

struct onnx_value *onnx_in(const struct onnx_at *n, int index); // NULL: left out
struct onnx_value *onnx_out(const struct onnx_at *n, int index);
// These set the reason and return ONNX_INVALID and ONNX_UNSUPPORTED.
enum onnx_verdict onnx_invalid(const struct onnx_at *n, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum onnx_verdict onnx_unsupported(const struct onnx_at *n, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// Sets the shape of the first output, and its type to that of the first input.
enum onnx_verdict onnx_set_output(const struct onnx_at *n, const struct onnx_shape *shape);
// Adds "1x3x224x224".
void onnx_shape_add(struct str *s, const struct onnx_shape *shape);

#endif
