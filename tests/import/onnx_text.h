// Writes ONNX files for tests field by field (onnx.proto numbers them), and imports them.
#ifndef TILEWALK_TESTS_IMPORT_ONNX_TEXT_H
#define TILEWALK_TESTS_IMPORT_ONNX_TEXT_H

#include "base/str.h"
#include "onnx/layers.h"

#include <stddef.h>
#include <stdint.h>

void onnx_put_number(struct str *s, int field, uint64_t value);
void onnx_put_bytes(struct str *s, int field, const void *bytes, size_t length);
void onnx_put_text(struct str *s, int field, const char *text);
void onnx_put_message(struct str *s, int field, struct str *message); // which is finished

// These add a value or a constant to a graph. `sizes` ends with 0; -1 is a dimension that is left
// open under the name "batch".
void onnx_put_value(struct str *graph, int field, const char *name, const int *sizes);
void onnx_put_constant(struct str *graph, const char *name, const int *sizes, const float *data,
                       int count);
// Adds a constant of any type with `bytes` of `data`, which may be 0.
void onnx_put_typed(struct str *graph, const char *name, int type, const struct onnx_shape *shape,
                    const void *data, size_t bytes);
// Adds a node: "Conv", inputs "x w b", one or several outputs "y", and `attributes` such as
// "group=2 pads=1,1,1,1 alpha=0.5 mode=SAME".
void onnx_put_node(struct str *graph, const char *kind, const char *inputs, const char *outputs,
                   const char *attributes);
// Returns the model of the graph, which is finished.
void onnx_put_model(struct str *s, struct str *graph);

// The layers of a model.
struct lowered {
    struct str bytes;
    struct onnx_model model;
    struct onnx_graph graph;
    struct onnx_layers layers;
};

bool lowered_make(struct lowered *m, struct str *graph, struct err *e); // finished in any case
void lowered_finish(struct lowered *m);
const char *lowered_setting(const struct onnx_layer *l, const char *name); // "" where it has none

#endif
