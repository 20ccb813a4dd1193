// Tensors: elements of a type, and where they lie.
#include "space/operation_kinds.h"

#include "base/times.h"

static const struct {
    const char *name;
    int bytes;
} elements[ELEMENT_COUNT] = {
    [ELEMENT_F32] = {"f32", 4},
    [ELEMENT_F16] = {"f16", 2},
    [ELEMENT_I8] = {"i8", 1},
    [ELEMENT_I32] = {"i32", 4},
};

const char *element_name(enum element e)
{
    return elements[e].name;
}

int element_bytes(enum element e)
{
    return elements[e].bytes;
}

int64_t tensor_count(const struct tensor *t)
{
    int64_t count = 1;
    for (int d = 0; d < t->rank; d++)
        count = times_signed(count, t->size[d]);
    return count;
}

int64_t tensor_extent(const struct tensor *t)
{
    int64_t extent = 1;
    for (int d = 0; d < t->rank; d++) {
        int64_t here = times_signed(t->size[d], t->stride[d]);
        extent = here > extent ? here : extent;
    }
    return extent;
}

uint64_t tensor_bytes(const struct tensor *t)
{
    uint64_t count = (uint64_t)tensor_extent(t), bytes = (uint64_t)elements[t->element].bytes;
    return count > (UINT64_MAX - 3) / bytes ? UINT64_MAX - 3 : (count * bytes + 3) / 4 * 4;
}

int64_t tensor_lines(const struct tensor *t)
{
    return tensor_count(t) / t->size[t->rank - 1];
}

int64_t tensor_line(const struct tensor *t, int64_t line)
{
    int64_t offset = 0;
    for (int d = t->rank - 2; d >= 0; d--) {
        offset += line % t->size[d] * t->stride[d];
        line /= t->size[d];
    }
    return offset;
}

// The dimension with the largest stride below `limit`, -1 for none.
static int next_stride(const struct tensor *t, int64_t limit)
{
    int found = -1;
    for (int d = 0; d < t->rank; d++)
        if (t->stride[d] < limit && (found < 0 || t->stride[d] > t->stride[found]))
            found = d;
    return found;
}

// From the largest stride to the smallest: since elements do not share places, each dimension's
// index is what division leaves. Dimensions of one element may have any stride and say nothing.
bool tensor_has(const struct tensor *t, int64_t offset)
{
    int64_t limit = INT64_MAX;
    for (int d; (d = next_stride(t, limit)) >= 0; limit = t->stride[d]) {
        int64_t size = 1; // of dimensions with equal strides at most one has more than one element
        for (int k = 0; k < t->rank; k++)
            if (t->stride[k] == t->stride[d] && t->size[k] > size)
                size = t->size[k];
        if (size > 1 && offset / t->stride[d] >= size)
            return false;
        if (size > 1)
            offset %= t->stride[d];
    }
    return offset == 0;
}

struct tensor tensor_packed(const char *name, enum element element, int rank, const int64_t *size)
{
    struct tensor t = {.name = name, .element = element, .rank = rank};
    int64_t stride = 1;
    for (int d = rank - 1; d >= 0; d--) {
        t.size[d] = size[d];
        t.stride[d] = stride;
        stride = times_signed(stride, size[d]);
    }
    return t;
}

struct tensor tensor_image(const struct operation *o, const char *name, enum element element,
                           const int64_t size[4])
{
    bool channels_last = operation_chooses(o, "layout", "nhwc");
    const int64_t last[4] = {size[0], size[2], size[3], size[1]};
    return tensor_packed(name, element, 4, channels_last ? last : size);
}
