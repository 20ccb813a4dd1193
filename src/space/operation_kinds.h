// The kinds of operations, one file a family, and what they share. Only operation*.c include it.
#ifndef TILEWALK_SPACE_OPERATION_KINDS_H
#define TILEWALK_SPACE_OPERATION_KINDS_H

#include "space/operation.h"

#define AS_OPERATION(name) extern const struct operation_kind operation_##name;
OPERATIONS(AS_OPERATION)

int64_t *operation_size_at(struct operation *o, const char *name); // to complete it

// Returns the element that the choice `type` names: ELEMENT_F32 for "f32".
enum element operation_element(const struct operation *o);

// Returns the bytes of all its tensors.
struct workload operation_moved(const struct operation *o);

// Returns a tensor of { first, channels, height, width } in the order of the choice `layout`: nchw
// or nhwc.
struct tensor tensor_image(const struct operation *o, const char *name, enum element element,
                           const int64_t size[4]);

#endif
