// concat and strided: elements are moved, and nothing else happens to them.
#include "space/element.h"
#include "trial/operator_kind.h"

enum { LARGEST = 45 }; // any number does: halves hold these

static struct filling filling(const struct operation *o, enum input_set set, int index)
{
    (void)o;
    (void)index;
    return set == INPUT_EXACT ? (struct filling){.largest = LARGEST, .density = 1}
                              : (struct filling){.low = -1, .high = 1};
}

static struct tolerance tolerance(const struct operation *o, enum input_set set)
{
    (void)o;
    (void)set;
    return (struct tolerance){0, 0};
}

static void concat_reference(const struct operation *o, const void *const *inputs, void *output)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int last = operation_tensors(o, tensor) - 1;
    enum element e = tensor[last].element;
    int64_t at = 0;
    for (int64_t row = 0; row < tensor[last].size[0]; row++)
        for (int part = 0; part < last; part++) {
            int64_t columns = tensor[part].size[1];
            for (int64_t i = 0; i < columns; i++)
                element_put(output, e, at++, element_get(inputs[part], e, row * columns + i));
        }
}

const struct operator_kind operator_concat = {
    .name = "concat", .filling = filling, .reference = concat_reference, .tolerance = tolerance};

static void strided_reference(const struct operation *o, const void *const *inputs, void *output)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    operation_tensors(o, tensor);
    const int64_t *n = tensor[1].size;
    enum element e = tensor[1].element;
    int64_t at = 0, offset = operation_size(o, "offset");
    int64_t s1 = operation_size(o, "s1"), s2 = operation_size(o, "s2"),
            s3 = operation_size(o, "s3"), s4 = operation_size(o, "s4");
    for (int64_t i = 0; i < n[0]; i++)
        for (int64_t j = 0; j < n[1]; j++)
            for (int64_t k = 0; k < n[2]; k++)
                for (int64_t l = 0; l < n[3]; l++)
                    element_put(
                        output, e, at++,
                        element_get(inputs[0], e, offset + i * s1 + j * s2 + k * s3 + l * s4));
}

const struct operator_kind operator_strided = {
    .name = "strided", .filling = filling, .reference = strided_reference, .tolerance = tolerance};
