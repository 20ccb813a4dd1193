#include "trial/constants.h"

#include "base/rng.h"
#include "space/tensor.h"
#include "trial/operator.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { GAP_BYTE = 0xff, LARGEST_WHOLE = 7, APART = 64 };

static size_t size_of_files(const struct constants *c)
{
    return (size_t)plan_file_offset(c->plan, c->plan->value_count);
}

bool constants_map(struct constants *c, int fd, struct err *e)
{
    size_t size = size_of_files(c);
    if (!size)
        return true;
    void *files = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (files == MAP_FAILED)
        return err_set(e, "cannot map %zu bytes of weights: %s", size, strerror(errno));
    c->files = files;
    return true;
}

void constants_unmap(struct constants *c)
{
    if (c->files)
        munmap((void *)(uintptr_t)c->files, size_of_files(c));
    c->files = NULL;
}

// Spreads a value from the files over the layout of its buffer.
static void spread_file(const struct constants *c, int value, const struct operation *o, int index,
                        unsigned char *out)
{
    const struct plan_value *v = &c->plan->value[value];
    const unsigned char *packed = c->files + plan_file_offset(c->plan, value);
    struct tensor tensor[OPERATION_MAX_TENSORS];
    const struct tensor *t = &tensor[index];
    memset(out, GAP_BYTE, v->bytes);
    if (v->role == PLAN_INPUT) {
        memcpy(out, packed, (size_t)v->count * (size_t)element_bytes(v->element));
        return;
    }
    operation_tensors(o, tensor);
    int64_t bytes = element_bytes(t->element), lines = tensor_lines(t), size = t->size[t->rank - 1],
            step = t->stride[t->rank - 1];
    for (int64_t line = 0; line < lines; line++)
        for (int64_t i = 0, at = tensor_line(t, line); i < size; i++, at += step, packed += bytes)
            memcpy(out + at * bytes, packed, (size_t)bytes);
}

void constants_fill(const struct constants *c, int value, const struct operation *o, int index,
                    void *out)
{
    const struct plan_value *v = &c->plan->value[value];
    uint64_t seed = c->seed + APART * (uint64_t)(value + 1); // operator_fill adds a little to it
    if (v->from)
        spread_file(c, value, o, index, out);
    else if (v->role == PLAN_INPUT) {
        struct rng rng;
        bool is_whole = v->element == ELEMENT_I8 || v->element == ELEMENT_I32;
        int64_t count = (int64_t)v->bytes / element_bytes(v->element);
        rng_seed(&rng, seed);
        for (int64_t i = 0; i < count; i++)
            element_put(out, v->element, i,
                        is_whole ? (double)rng_below(&rng, 2 * LARGEST_WHOLE + 1) - LARGEST_WHOLE
                                 : 2 * rng_real(&rng) - 1);
    } else
        operator_fill_weight(o, seed, index, out);
}
