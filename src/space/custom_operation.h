// An operation that a space file defines itself: its buffers, their contents, the right result.
//
//     struct custom_operation *c = custom_create("attention", flop, NULL);
//     custom_add_tensor(c, &tensor, &filling, e);    the inputs in order, then the outputs
//     c->kind.outputs = n;                           where there are several
//     custom_add_step(c, &operation, names, n, e);   the reference: built-in operations in order
//     custom_is_computed(c, e);                      by the steps
//     operation_init(&o, &c->kind);                  from here on an operation like any other
//     custom_destroy(c);                             when no operation uses it any more
//
// Without steps a kernel computes the right result, as a job of its own (script_reference). A step
// reads buffers that are written and writes one that is not: an output, or a new one with a name
// of its own, which has the memory layout of the step's operation and exists only while steps run.
// A buffer of blocks (space/block.h) is one of bytes, which a step converts to numbers.
#ifndef TILEWALK_SPACE_CUSTOM_OPERATION_H
#define TILEWALK_SPACE_CUSTOM_OPERATION_H

#include "base/mem.h"
#include "space/block.h"
#include "space/operation.h"

#define CUSTOM_MAX_STEPS   8
#define CUSTOM_MAX_BUFFERS (OPERATION_MAX_TENSORS + CUSTOM_MAX_STEPS)

struct custom_step {
    struct operation operation; // kind NULL: it converts the first buffer to numbers (f32)
    int count;
    int buffer[OPERATION_MAX_TENSORS]; // the buffers of its tensors, in order; the last is written
};

// The content of an input: numbers from `low` to `high`, real or whole (always whole for integer
// elements; without blocks the element has both bounds). For a buffer of blocks the second set of
// inputs is made by quantising such numbers; in the first one all weights are exact.
struct custom_filling {
    double low, high;
    bool whole;
    struct block_format block; // no weights: it has no blocks
};

struct custom_operation {
    struct operation_kind kind; // the first member; its lists are the caller's
    double flop;
    struct workload work; // determines its speed
    int tensor_count;     // the inputs and the outputs
    int buffer_count;     // and the intermediate results of the steps
    struct tensor buffer[CUSTOM_MAX_BUFFERS];
    struct custom_filling filling[OPERATION_MAX_TENSORS];
    // A result is right if |got - expected| <= absolute + relative * |expected| for each number,
    // and, where nmse is above 0, the sum of all (got - expected)^2 <= nmse * the sum of all
    // expected^2.
    double absolute, relative, nmse;
    bool exact;     // no error at all with the first set of inputs
    int step_count; // 0: a kernel computes the right result, or a definition
    struct custom_step step[CUSTOM_MAX_STEPS];
    const char *definition; // its text, if it computes the right result (define/definition.h)
    struct arena arena;     // names
};

// `work` (NULL: its FLOP) determines its speed.
struct custom_operation *custom_create(const char *name, double flop, const struct workload *work);
void custom_destroy(struct custom_operation *c);

// Returns the definition of a custom operation; NULL for the built-in ones.
const struct custom_operation *custom_of(const struct operation *o);

// Adds a tensor without gaps; copies the name; the strides need not be set. A tensor of blocks has
// the numbers of `t`, in whole blocks for each row.
bool custom_add_tensor(struct custom_operation *c, const struct tensor *t,
                       const struct custom_filling *f, struct err *e);
// Returns a tensor as it was added: with the numbers in its blocks.
struct tensor custom_tensor(const struct custom_operation *c, int index);
// Returns the element of a buffer; ELEMENT_COUNT: none has the name.
enum element custom_element(const struct custom_operation *c, const char *name);
// `names` are the buffers of a complete operation's tensors, in their order.
bool custom_add_step(struct custom_operation *c, const struct operation *o,
                     const char *const *names, int count, struct err *e);
// Adds a step that converts the blocks, or the numbers of another type, of `from` to f32.
bool custom_add_dequantize(struct custom_operation *c, const char *from, const char *to,
                           struct err *e);
int custom_inputs(const struct custom_operation *c);
// Fails unless steps write the outputs.
bool custom_is_computed(const struct custom_operation *c, struct err *e);

#endif
