// An operator that a space file defines: inputs as it says, and the right result by its steps, each
// of them a built-in operator. (A result that a kernel of its own computes needs a device:
// trial/device_reference.h.)
#include "trial/operator_kind.h"

#include "base/mem.h"
#include "define/evaluate.h"
#include "space/custom_operation.h"
#include "space/tensor.h"

#include <stdlib.h>
#include <string.h>

static struct filling filling(const struct operation *o, enum input_set set, int index)
{
    const struct custom_operation *c = custom_of(o);
    const struct custom_filling *f = &c->filling[index];
    if (c->definition && c->exact && set == INPUT_EXACT)
        return (struct filling){.largest = DEFINE_LARGEST, .density = 1};
    // What is exact otherwise depends on an arithmetic that we do not know.
    return (struct filling){.low = f->low, .high = f->high, .whole = f->whole};
}

static bool fill(const struct operation *o, enum input_set set, struct rng *r, int index, void *out)
{
    const struct custom_operation *c = custom_of(o);
    const struct custom_filling *f = &c->filling[index];
    double weight[BLOCK_MAX_WEIGHTS];
    if (!f->block.weights)
        return false;
    int64_t bytes = block_bytes(&f->block), blocks = tensor_count(&c->buffer[index]) / bytes;
    for (int64_t b = 0; b < blocks; b++) {
        unsigned char *block = (unsigned char *)out + b * bytes;
        memset(block, 0, (size_t)bytes);
        if (set == INPUT_EXACT) {
            block_draw(&f->block, r, block);
            continue;
        }
        for (int i = 0; i < f->block.weights; i++)
            weight[i] = f->low + (f->high - f->low) * rng_real(r);
        block_quantize(&f->block, weight, block);
    }
    return true;
}

static void dequantize(const struct custom_operation *c, int index, const void *from, float *to)
{
    const struct block_format *f = &c->filling[index].block;
    double weight[BLOCK_MAX_WEIGHTS];
    int64_t count = tensor_count(&c->buffer[index]);
    if (!f->weights) {
        for (int64_t i = 0; i < count; i++)
            to[i] = half_to_float(((const uint16_t *)from)[i]);
        return;
    }
    int64_t bytes = block_bytes(f), blocks = count / bytes;
    for (int64_t b = 0; b < blocks; b++) {
        block_get(f, (const unsigned char *)from + b * bytes, weight);
        for (int i = 0; i < f->weights; i++)
            *to++ = (float)weight[i];
    }
}

static void compute_step(const struct custom_operation *c, const struct custom_step *s,
                         void *const *buffer)
{
    const void *inputs[OPERATION_MAX_TENSORS];
    int output = s->count - 1;
    if (!s->operation.kind) {
        dequantize(c, s->buffer[0], buffer[s->buffer[0]], buffer[s->buffer[1]]);
        return;
    }
    for (int i = 0; i < output; i++)
        inputs[i] = buffer[s->buffer[i]];
    operator_reference(&s->operation, inputs, buffer[s->buffer[output]]);
}

// Its text was read once before, where it was sent or written.
static void evaluate(const char *text, const void *const *inputs, void *output)
{
    struct definition d = {.stage_count = 0};
    if (definition_read_text(&d, text, NULL))
        definition_evaluate(&d, inputs, output);
    definition_finish(&d);
}

static void reference(const struct operation *o, const void *const *inputs, void *output)
{
    const struct custom_operation *c = custom_of(o);
    if (c->definition) {
        evaluate(c->definition, inputs, output);
        return;
    }
    void *buffer[CUSTOM_MAX_BUFFERS];
    for (int i = 0; i < c->tensor_count - 1; i++)
        buffer[i] = (void *)(uintptr_t)inputs[i]; // no step writes an input
    buffer[c->tensor_count - 1] = output;
    for (int i = c->tensor_count; i < c->buffer_count; i++)
        buffer[i] = mem_alloc(tensor_bytes(&c->buffer[i]));
    for (int i = 0; i < c->step_count; i++)
        compute_step(c, &c->step[i], buffer);
    for (int i = c->tensor_count; i < c->buffer_count; i++)
        free(buffer[i]);
}

static struct tolerance tolerance(const struct operation *o, enum input_set set)
{
    const struct custom_operation *c = custom_of(o);
    if (c->exact && set == INPUT_EXACT)
        return (struct tolerance){.nmse = 0};
    return (struct tolerance){c->absolute, c->relative, c->nmse};
}

const struct operator_kind operator_custom = {
    .name = "defined",
    .filling = filling,
    .fill = fill,
    .reference = reference,
    .tolerance = tolerance,
};
