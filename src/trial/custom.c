// The operator of a space file: its inputs as declared there, and the right result by its steps,
// each of them a built-in operator. (Where a reference kernel computes the result, context.c runs
// it.)
#include "trial/operator_kind.h"

#include "base/mem.h"
#include "define/evaluate.h"
#include "space/custom_operation.h"
#include "space/tensor.h"

#include <stdlib.h>

static struct filling custom_filling(const struct operation *o, enum input_set set, int index)
{
    const struct custom_operation *c = custom_of(o);
    const struct custom_filling *f = &c->filling[index];
    if (c->definition && c->exact && set == INPUT_EXACT)
        return (struct filling){.largest = DEFINE_LARGEST, .density = 1};
    // The arithmetic of the kernels is not known here, and so not which other inputs would be
    // exact.
    return (struct filling){.low = f->low, .high = f->high, .whole = f->whole};
}

static bool custom_fill(const struct operation *o, enum input_set set, struct rng *r, int index,
                        void *out)
{
    const struct custom_operation *c = custom_of(o);
    const struct custom_filling *f = &c->filling[index];
    const struct filling by = {.low = f->low, .high = f->high};
    if (!f->block.weights)
        return false;
    fill_blocks(&f->block, tensor_count(&c->buffer[index]) / block_bytes(&f->block),
                set == INPUT_EXACT ? NULL : &by, r, out);
    return true;
}

static void dequantize(const struct custom_operation *c, int index, const void *from, float *to)
{
    const struct block_format *f = &c->filling[index].block;
    double weight[BLOCK_MAX_WEIGHTS];
    int64_t count = tensor_count(&c->buffer[index]);
    if (!f->weights) {
        for (int64_t i = 0; i < count; i++)
            to[i] = (float)element_get(from, c->buffer[index].element, i);
        return;
    }
    int64_t bytes = block_bytes(f), blocks = count / bytes;
    for (int64_t b = 0; b < blocks; b++) {
        block_get(f, (const unsigned char *)from + b * bytes, weight);
        for (int i = 0; i < f->weights; i++)
            *to++ = (float)weight[i];
    }
}

static void custom_reference(const struct operation *o, const void *const *inputs, void *output)
{
    const struct custom_operation *c = custom_of(o);
    void *buffer[CUSTOM_MAX_BUFFERS];
    if (c->definition) {
        struct definition d = {.stage_count = 0};
        if (definition_read_text(&d, c->definition,
                                 NULL)) // its text was checked where it came from
            definition_evaluate(&d, inputs, output);
        definition_finish(&d);
        return;
    }
    struct operator_layout l = operator_layout(o);
    for (int i = 0; i < l.inputs; i++)
        buffer[i] = (void *)(uintptr_t)inputs[i]; // no step writes an input
    for (int i = l.inputs; i < l.count; i++)
        buffer[i] = (char *)output + operator_output_offset(&l, i);
    for (int i = c->tensor_count; i < c->buffer_count; i++)
        buffer[i] = mem_alloc(tensor_bytes(&c->buffer[i]));
    for (int i = 0; i < c->step_count; i++) {
        const struct custom_step *s = &c->step[i];
        const void *from[OPERATION_MAX_TENSORS];
        for (int k = 0; k < s->count - 1; k++)
            from[k] = buffer[s->buffer[k]];
        if (s->operation.kind)
            operator_reference(&s->operation, from, buffer[s->buffer[s->count - 1]]);
        else
            dequantize(c, s->buffer[0], buffer[s->buffer[0]], buffer[s->buffer[1]]);
    }
    for (int i = c->tensor_count; i < c->buffer_count; i++)
        free(buffer[i]);
}

static struct tolerance custom_tolerance(const struct operation *o, enum input_set set)
{
    const struct custom_operation *c = custom_of(o);
    if (c->exact && set == INPUT_EXACT)
        return (struct tolerance){.nmse = 0};
    return (struct tolerance){c->absolute, c->relative, c->nmse};
}

const struct operator_kind operator_custom = {
    .name = "defined",
    .filling = custom_filling,
    .fill = custom_fill,
    .reference = custom_reference,
    .tolerance = custom_tolerance,
};
