// An operation that a space file defines itself: its buffers, how they are filled, what is right.
//
//     struct custom_operation *c = custom_create("attention", flop, NULL);
//     custom_add_tensor(c, &tensor, -1, 1, e);       the inputs in order, then the output
//     custom_add_step(c, &operation, names, n, e);   what is right: built-in operations in order
//     custom_is_computed(c, e);                      by the steps
//     operation_init(&o, &c->kind);                  from here on an operation like any other
//     custom_destroy(c);                             when no operation uses it any more
//
// Without steps a kernel computes what is right, which is not known here: it is a job of its own
// (script_reference). A step reads buffers that are written and writes one that is not: the output,
// or a new one by a name of its own, which lies in memory as the step's operation says and is gone
// afterwards.
#ifndef TILEWALK_SPACE_CUSTOM_OPERATION_H
#define TILEWALK_SPACE_CUSTOM_OPERATION_H

#include "base/mem.h"
#include "space/operation.h"

#define CUSTOM_MAX_STEPS   8
#define CUSTOM_MAX_BUFFERS (OPERATION_MAX_TENSORS + CUSTOM_MAX_STEPS)

struct custom_step {
    struct operation operation;
    int buffer[OPERATION_MAX_TENSORS]; // of its tensors, in their order
};

struct custom_operation {
    struct operation_kind kind; // the first member; its lists belong to whoever sets them
    double flop;
    struct workload work; // what it is rated by
    int tensor_count;     // the inputs and the output
    int buffer_count;     // and what the steps keep in between
    struct tensor buffer[CUSTOM_MAX_BUFFERS];
    double low[OPERATION_MAX_TENSORS], high[OPERATION_MAX_TENSORS]; // of the numbers in an input
    double absolute, relative; // right: |got - expected| <= absolute + relative * |expected|
    int step_count;            // 0: a kernel computes what is right
    struct custom_step step[CUSTOM_MAX_STEPS];
    struct arena arena; // names
};

// `work` (NULL: its FLOP) is what it is rated by.
struct custom_operation *custom_create(const char *name, double flop, const struct workload *work);
void custom_destroy(struct custom_operation *c);

// Of an operation that was defined; NULL for the built-in ones.
const struct custom_operation *custom_of(const struct operation *o);

// A tensor without gaps. An input is filled with numbers from `low` to `high`: real ones, or whole
// ones where its elements are.
bool custom_add_tensor(struct custom_operation *c, const struct tensor *t, double low, double high,
                       struct err *e); // copies the name; the strides need not be set
// `names` are the buffers of a complete operation's tensors, in their order.
bool custom_add_step(struct custom_operation *c, const struct operation *o,
                     const char *const *names, int count, struct err *e);
bool custom_is_computed(const struct custom_operation *c,
                        struct err *e); // the steps give the output

#endif
