// ONNX files for tests, written field by field (onnx.proto numbers them).
#ifndef TILEWALK_TESTS_IMPORT_ONNX_TEXT_H
#define TILEWALK_TESTS_IMPORT_ONNX_TEXT_H

#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

void onnx_put_number(struct str *s, int field, uint64_t value);
void onnx_put_bytes(struct str *s, int field, const void *bytes, size_t length);
void onnx_put_text(struct str *s, int field, const char *text);
void onnx_put_message(struct str *s, int field, struct str *message); // which is finished

// Of a graph. `sizes` ends with 0; -1: left open under the name "batch".
void onnx_put_value(struct str *graph, int field, const char *name, const int *sizes);
void onnx_put_constant(struct str *graph, const char *name, const int *sizes, const float *data,
                       int count);
// "Conv" "x w b" -> "y"; `attributes`: "group=2 pads=1,1,1,1".
void onnx_put_node(struct str *graph, const char *kind, const char *inputs, const char *output,
                   const char *attributes);
// The model that the graph, which is finished, makes.
void onnx_put_model(struct str *s, struct str *graph);

#endif
