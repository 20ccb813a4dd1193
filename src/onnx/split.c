// Products with more weights than every device takes in one buffer, as several.
#include "onnx/lowering.h"

#include <stdlib.h>

// What Vulkan asks of every device (maxStorageBufferRange, "Required Limits").
#define MOST_BYTES ((int64_t)1 << 27)

enum { MOST_PARTS = 4, NO_STEP = -2 }; // parts of a concat

static int64_t element_size(const struct onnx_layer *layer)
{
    return layer->type == ONNX_FLOAT16 ? 2 : 4;
}

static int parts_of(const struct onnx_layer *layer)
{
    if (!str_equal(layer->preset, "gemm") || layer->factored < 0 || layer->from_count != 1)
        return 1;
    int64_t bytes = layer->weights[layer->factored].from->count * element_size(layer);
    int64_t parts = (bytes + MOST_BYTES - 1) / MOST_BYTES;
    return parts > MOST_PARTS || parts > layer->channels ? 1 : (int)parts;
}

// The weights of `count` outputs from `first` on.
static struct onnx_weights some_weights(const struct onnx_layer *whole, int64_t first,
                                        int64_t count)
{
    struct onnx_weights w = whole->weights[whole->factored];
    bool by_rows = w.inner > 1; // a row for each output
    int64_t behind = w.from->count / whole->channels;
    w.line = by_rows ? w.from->count : whole->channels;
    w.part = by_rows ? count * behind : count;
    w.first = by_rows ? first * behind : first;
    w.shape.size[w.shape.rank - (by_rows ? 2 : 1)] = count;
    w.factor = w.factor ? w.factor + first : NULL;
    w.factors = count;
    return w;
}

static void add_part(struct lowering *l, const struct onnx_layer *whole, int number, int64_t first,
                     int64_t count)
{
    struct onnx_layers *out = l->out;
    MEM_GROW(out->layer, out->layer_count, out->layer_capacity);
    struct onnx_layer *part = &out->layer[out->layer_count++];
    *part = *whole;
    part->name =
        lowering_name(l, arena_printf(&out->arena, "%s.part%d", whole->name, number), NO_STEP);
    part->channels = count;
    part->bias = whole->bias ? whole->bias + first : NULL;
    part->weights[part->factored] = some_weights(whole, first, count);
    part->uses = 1;
    lowering_set(l, part, "M", count);
    if (number > 1)
        lowering_uses(l, part->from[0].source);
}

static void split(struct lowering *l, int index, int parts)
{
    struct onnx_layers *out = l->out;
    static const char *const names[] = {"A", "B", "C", "D"};
    static const char *const sizes[] = {"first", "second", "third", "fourth"};
    const struct onnx_layer whole = out->layer[index];
    struct onnx_layer joined = {.name = whole.name,
                                .preset = "concat",
                                .factored = -1,
                                .type = whole.type,
                                .shape = whole.shape,
                                .uses = whole.uses};
    if (whole.type == ONNX_FLOAT16)
        lowering_set_word(l, &joined, "type", "f16");
    lowering_set(l, &joined, "rows", onnx_count(&whole.shape) / whole.channels);
    for (int i = 0; i < parts; i++) {
        int64_t first = whole.channels * i / parts, end = whole.channels * (i + 1) / parts;
        add_part(l, &whole, i + 1, first, end - first);
        lowering_set(l, &joined, sizes[i], end - first);
        joined.from[joined.from_count++] = (struct onnx_flow){names[i], out->layer_count - 1};
    }
    out->layer[index] = joined;
}

void lowering_split(struct lowering *l)
{
    int count = l->out->layer_count;
    for (int i = 0; i < count; i++) {
        int parts = parts_of(&l->out->layer[i]);
        if (parts > 1)
            split(l, i, parts);
    }
}
