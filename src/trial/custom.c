// An operator that a space file defines: inputs as it says, and the right result by its steps, each
// of them a built-in operator. (A result that a kernel of its own computes needs a device:
// trial/device_reference.h.)
#include "trial/operator_kind.h"

#include "base/mem.h"
#include "space/custom_operation.h"

#include <stdlib.h>

static struct filling filling(const struct operation *o, enum input_set set, int index)
{
    const struct custom_operation *c = custom_of(o);
    (void)set; // what is exact depends on an arithmetic that we do not know
    return (struct filling){.low = c->low[index], .high = c->high[index]};
}

static void compute_step(const struct custom_step *s, void *const *buffer)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    const void *inputs[OPERATION_MAX_TENSORS];
    int output = operation_tensors(&s->operation, tensor) - 1;
    for (int i = 0; i < output; i++)
        inputs[i] = buffer[s->buffer[i]];
    operator_reference(&s->operation, inputs, buffer[s->buffer[output]]);
}

static void reference(const struct operation *o, const void *const *inputs, void *output)
{
    const struct custom_operation *c = custom_of(o);
    void *buffer[CUSTOM_MAX_BUFFERS];
    for (int i = 0; i < c->tensor_count - 1; i++)
        buffer[i] = (void *)(uintptr_t)inputs[i]; // no step writes an input
    buffer[c->tensor_count - 1] = output;
    for (int i = c->tensor_count; i < c->buffer_count; i++)
        buffer[i] = mem_alloc(tensor_bytes(&c->buffer[i]));
    for (int i = 0; i < c->step_count; i++)
        compute_step(&c->step[i], buffer);
    for (int i = c->tensor_count; i < c->buffer_count; i++)
        free(buffer[i]);
}

static struct tolerance tolerance(const struct operation *o, enum input_set set)
{
    const struct custom_operation *c = custom_of(o);
    (void)set;
    return (struct tolerance){c->absolute, c->relative};
}

const struct operator_kind operator_custom = {
    .name = "defined",
    .filling = filling,
    .reference = reference,
    .tolerance = tolerance,
};
