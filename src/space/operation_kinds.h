// The kinds of operations, one file a family, and what they share; only operation*.c include this.
#ifndef TILEWALK_SPACE_OPERATION_KINDS_H
#define TILEWALK_SPACE_OPERATION_KINDS_H

#include "space/operation.h"

#define AS_OPERATION(name) extern const struct operation_kind operation_##name;
OPERATIONS(AS_OPERATION)

int64_t *operation_size_at(struct operation *o, const char *name); // to complete it

// "f32" -> ELEMENT_F32, of the choice `type`.
enum element operation_element(const struct operation *o);

// The bytes of all its tensors.
struct workload operation_moved(const struct operation *o);

// A tensor without gaps.
struct tensor tensor_packed(const char *name, enum element element, int rank, const int64_t *size);
// One of { first, channels, height, width }, in the order of the choice `layout`: nchw or nhwc.
struct tensor tensor_image(const struct operation *o, const char *name, enum element element,
                           const int64_t size[4]);

// --- what products of matrices and convolutions share: y = activation(scale * sum + bias +
// residual) ---

#define EPILOGUE_CHOICES                                                                           \
    {"bias", (const char *const[]){"none", "add", NULL}, false},                                   \
        {"residual", (const char *const[]){"none", "add", NULL}, false},                           \
    {                                                                                              \
        "activation", (const char *const[]){"none", "relu", "leaky", "clamp", NULL}, false         \
    }
#define SUM_TYPES                                                                                  \
    {                                                                                              \
        "type", (const char *const[]){"f32", "f16", "i8", NULL}, true                              \
    }
#define SUM_ACCUMULATE                                                                             \
    {                                                                                              \
        "accumulate", (const char *const[]){"f32", "f16", "mixed", NULL}, false                    \
    }

extern const struct operation_real epilogue_reals[]; // scale, slope, low, high

// Refuses types, sums and epilogues that do not go together.
bool epilogue_check(const struct operation *o, struct err *e);
// What a sum of products of `type` is stored as.
enum element epilogue_element(const struct operation *o);
// Adds bias (of `channels` numbers) and residual where they are asked for, and the output. Returns
// the number of tensors.
int epilogue_tensors(const struct operation *o, int count, int64_t channels,
                     const struct tensor *output, struct tensor *out);

#endif
