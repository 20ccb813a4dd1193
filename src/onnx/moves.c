// Operators that only move elements or keep them as they are. Splits layers whose weights are too
// large for one buffer.
#include "onnx/operators.h"

#include "base/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// --- layers in parts ---

// Every Vulkan device has buffers of this size (maxStorageBufferRange, "Required Limits").
#define MOST_BYTES ((int64_t)1 << 27)

enum { MOST_PARTS = 4, NO_STEP = -2 }; // inputs of a concat

static const char *const part_names[] = {"A", "B", "C", "D"};
static const char *const part_sizes[] = {"first", "second", "third", "fourth"};

static int parts_of(const struct onnx_layer *layer)
{
    if (!str_equal(layer->preset, "gemm") || layer->factored < 0 || layer->from_count != 1)
        return 1;
    int64_t bytes =
        layer->weights[layer->factored].from->count * (layer->type == ONNX_FLOAT16 ? 2 : 4);
    int64_t parts = (bytes + MOST_BYTES - 1) / MOST_BYTES;
    return parts > MOST_PARTS || parts > layer->channels ? 1 : (int)parts;
}

// Adds a layer that computes `count` outputs of `whole`, beginning with `first`.
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
    struct onnx_weights w = whole->weights[whole->factored];
    bool by_rows = w.inner > 1; // a row for each output
    int64_t behind = w.from->count / whole->channels;
    w.line = by_rows ? w.from->count : whole->channels;
    w.part = by_rows ? count * behind : count;
    w.first = by_rows ? first * behind : first;
    w.shape.size[w.shape.rank - (by_rows ? 2 : 1)] = count;
    w.factor = w.factor ? w.factor + first : NULL;
    w.factors = count;
    part->weights[part->factored] = w;
    part->uses = 1;
    lowering_set(l, part, "M", count);
    if (number > 1)
        lowering_count_use(l, part->from[0].source, 1);
}

void lowering_split(struct lowering *l)
{
    struct onnx_layers *out = l->out;
    int count = out->layer_count;
    for (int i = 0; i < count; i++) {
        int parts = parts_of(&out->layer[i]);
        if (parts == 1)
            continue;
        const struct onnx_layer whole = out->layer[i];
        struct onnx_layer joined = {.name = whole.name,
                                    .preset = "concat",
                                    .factored = -1,
                                    .type = whole.type,
                                    .shape = whole.shape,
                                    .uses = whole.uses};
        lowering_set(l, &joined, "rows", onnx_count(&whole.shape) / whole.channels);
        for (int j = 0; j < parts; j++) {
            int64_t first = whole.channels * j / parts, end = whole.channels * (j + 1) / parts;
            add_part(l, &whole, j + 1, first, end - first);
            lowering_set(l, &joined, part_sizes[j], end - first);
            joined.from[joined.from_count++] =
                (struct onnx_flow){part_names[j], out->layer_count - 1};
        }
        out->layer[i] = joined;
    }
}

// --- the same elements ---

enum onnx_verdict lower_same(struct lowering *l, const struct onnx_at *n)
{
    // A constant that was computed does not come here.
    int from = onnx_in(n, 0)->type, to = onnx_out(n, 0)->type;
    if (from != to && !(lowering_computes(from) && lowering_computes(to)))
        return onnx_unsupported(n, "no kernel turns %s into %s", onnx_type_name(from),
                                onnx_type_name(to));
    return lowering_alias(l, n, 0);
}

// --- strides ---

enum onnx_verdict lowering_strided(struct lowering *l, const struct onnx_at *n, int input,
                                   struct onnx_strides *s, int *source)
{
    int64_t count = onnx_count(&onnx_in(n, input)->shape);
    int from;
    TRY(lowering_flow(l, n, input, &from));
    for (int i = 0; i < s->shape.rank; i++)
        if (s->stride[i] < 0)
            return onnx_unsupported(n, "it goes backwards");
    // Drops axes of one element and joins neighbours that one stride covers.
    int kept = 0;
    for (int i = 0; i < s->shape.rank; i++) {
        int64_t size = s->shape.size[i], stride = s->stride[i];
        if (size == 1)
            continue;
        if (kept && s->stride[kept - 1] == stride * size) {
            s->shape.size[kept - 1] *= size;
            s->stride[kept - 1] = stride;
            continue;
        }
        s->shape.size[kept] = size;
        s->stride[kept++] = stride;
    }
    s->shape.rank = kept;
    bool is_whole = s->offset == 0 && onnx_count(&s->shape) == count && s->shape.rank <= 1 &&
                    (s->shape.rank == 0 || s->stride[0] == 1);
    *source = from;
    if (is_whole)
        return ONNX_OK;
    if (s->shape.rank > 4)
        return onnx_unsupported(n, "it takes elements from more than four axes");
    bool transposed = s->shape.rank == 2 && s->offset == 0 && s->stride[0] == 1 &&
                      s->stride[1] == s->shape.size[0] &&
                      count == s->shape.size[0] * s->shape.size[1];
    struct onnx_layer *to = lowering_add(l, n, transposed ? "copy" : "strided", s->more, s->type);
    if (transposed) {
        lowering_set(l, to, "rows", s->shape.size[1]);
        lowering_set(l, to, "columns", s->shape.size[0]);
        lowering_set_word(l, to, "transpose", "yes");
    } else {
        lowering_set(l, to, "count", count);
        static const char *const sizes[] = {"n1", "n2", "n3", "n4"}, *const strides[] = {
                                                                         "s1", "s2", "s3", "s4"};
        for (int i = 0; i < 4; i++) {
            int own = i - (4 - s->shape.rank);
            lowering_set(l, to, sizes[i], own < 0 ? 1 : s->shape.size[own]);
            lowering_set(l, to, strides[i], own < 0 ? i == 3 : s->stride[own]);
        }
        if (s->offset)
            lowering_set(l, to, "offset", s->offset);
    }
    lowering_read(l, to, "X", from);
    *source = l->out->layer_count - 1;
    return ONNX_OK;
}

// Gives an output that consists of elements of the first input.
static enum onnx_verdict give_strided(struct lowering *l, const struct onnx_at *n, int output,
                                      struct onnx_strides *s)
{
    char more[20];
    int before = l->out->layer_count, source;
    snprintf(more, sizeof more, "%d", output + 1);
    if (onnx_count(&onnx_out(n, output)->shape) == 0)
        return onnx_unsupported(n, "it gives nothing");
    s->more = n->node->output_count > 1 ? more : NULL;
    s->type = onnx_out(n, output);
    TRY(lowering_strided(l, n, 0, s, &source));
    if (l->out->layer_count > before)
        return lowering_give(l, n, output);
    l->flow[n->step->output[output]] = (struct flow){.source = source, .is_there = true};
    return ONNX_OK;
}

enum onnx_verdict lower_moved(struct lowering *l, const struct onnx_at *n)
{
    for (int i = 0; i < n->node->output_count; i++) {
        const struct onnx_value *out = onnx_out(n, i);
        struct onnx_strides s;
        if (!out || (!out->uses && !out->is_output))
            continue;
        TRY(n->step->kind->move(n, i, &s));
        TRY(give_strided(l, n, i, &s));
    }
    return ONNX_OK;
}

// Lowers a gather whose indices are evenly spaced.
enum onnx_verdict lower_gather(struct lowering *l, const struct onnx_at *n)
{
    const struct onnx_value *x = onnx_in(n, 0), *which = onnx_in(n, 1);
    int64_t axis = onnx_int(n->node, "axis", 0), strides[ONNX_MAX_RANK] = {0};
    struct onnx_strides s = {.offset = 0};
    if (!which->constant || which->constant->count < 1)
        return onnx_unsupported(n, "its indices are not known before it runs");
    onnx_axis(&x->shape, &axis);
    int64_t size = x->shape.size[axis], count = which->constant->count;
    int64_t first = onnx_whole(which->constant, 0), step = 0;
    if (count > 1)
        step = onnx_whole(which->constant, 1) - first;
    for (int64_t i = 1; i < count; i++)
        if (onnx_whole(which->constant, i) != first + i * step)
            return onnx_unsupported(n, "its indices are not evenly spaced");
    first += first < 0 ? size : 0;
    int64_t last = first + (count - 1) * step;
    if (first < 0 || step < 0 || last >= size)
        return onnx_unsupported(n, "its indices are none of the axis, or fall");
    onnx_strides_of(&x->shape, strides);
    s.offset = first * strides[axis];
    for (int i = 0; i < x->shape.rank; i++) {
        s.shape.size[s.shape.rank] = i == axis ? count : x->shape.size[i];
        s.stride[s.shape.rank++] = strides[i] * (i == axis ? step : 1);
    }
    return give_strided(l, n, 0, &s);
}

// --- the elements of an output ---

enum onnx_verdict move_transpose(const struct onnx_at *n, int output, struct onnx_strides *out)
{
    (void)output;
    const struct onnx_shape *x = &onnx_in(n, 0)->shape;
    const struct onnx_attribute *a = onnx_attribute(n->node, "perm");
    int64_t strides[ONNX_MAX_RANK];
    bool seen[ONNX_MAX_RANK] = {false}, ok = !a || a->int_count == x->rank;
    *out = (struct onnx_strides){.shape.rank = x->rank};
    onnx_strides_of(x, strides);
    for (int i = 0; ok && i < x->rank; i++) {
        int64_t from = a ? a->ints[i] : x->rank - 1 - i;
        ok = from >= 0 && from < x->rank && !seen[from];
        if (!ok)
            break;
        seen[from] = true;
        out->shape.size[i] = x->size[from];
        out->stride[i] = strides[from];
    }
    return ok ? ONNX_OK : onnx_invalid(n, "its perm is no permutation of %d axes", x->rank);
}

enum onnx_verdict move_slice(const struct onnx_at *n, int output, struct onnx_strides *out)
{
    (void)output;
    const struct onnx_shape *x = &onnx_in(n, 0)->shape;
    struct onnx_list starts, ends, axes, steps;
    TRY(onnx_list_of(n, "starts", 1, &starts));
    TRY(onnx_list_of(n, "ends", 2, &ends));
    TRY(onnx_list_of(n, "axes", 3, &axes));
    TRY(onnx_list_of(n, NULL, 4, &steps));
    if (starts.count != ends.count || (axes.is_there && axes.count != starts.count) ||
        (steps.is_there && steps.count != starts.count))
        return onnx_invalid(n, "its starts, ends, axes and steps do not go together");
    int64_t first[ONNX_MAX_RANK] = {0}, each[ONNX_MAX_RANK];
    *out = (struct onnx_strides){.shape = *x};
    for (int i = 0; i < ONNX_MAX_RANK; i++)
        each[i] = 1;
    for (int i = 0; i < starts.count; i++) {
        int64_t axis = axes.is_there ? axes.value[i] : i;
        if (!onnx_axis(x, &axis))
            return onnx_invalid(n, "there is no axis %" PRId64, axis);
        int64_t size = x->size[axis], begin = starts.value[i], end = ends.value[i];
        int64_t step = steps.is_there ? steps.value[i] : 1;
        if (step == 0)
            return onnx_invalid(n, "its step is 0");
        // Backwards it ends before the first element at -1.
        int64_t last = step < 0 ? size - 1 : size, least = step < 0 ? -1 : 0;
        begin = int64_clamp(begin < 0 ? begin + size : begin, 0, last);
        end = int64_clamp(end < 0 ? end + size : end, least, size);
        first[axis] = begin;
        each[axis] = step;
        int64_t way = step < 0 ? begin - end : end - begin, by = step < 0 ? -step : step;
        out->shape.size[axis] = size > 0 && way > 0 ? (way + by - 1) / by : 0;
    }
    onnx_strides_of(x, out->stride);
    for (int i = 0; i < x->rank; i++) {
        out->offset += first[i] * out->stride[i];
        out->stride[i] *= each[i];
    }
    return ONNX_OK;
}

enum onnx_verdict move_split(const struct onnx_at *n, int output, struct onnx_strides *out)
{
    const struct onnx_shape *x = &onnx_in(n, 0)->shape;
    int parts = n->node->output_count;
    struct onnx_list list;
    int64_t sum = 0, axis = onnx_int(n->node, "axis", 0);
    *out = (struct onnx_strides){.shape = *x};
    if (!onnx_axis(x, &axis))
        return onnx_invalid(n, "there is no axis %" PRId64, axis);
    if (parts > ONNX_MAX_RANK)
        return onnx_unsupported(n, "it has more than %d outputs", ONNX_MAX_RANK);
    TRY(onnx_list_of(n, "split", 1, &list));
    onnx_strides_of(x, out->stride);
    int64_t each = (x->size[axis] + parts - 1) / parts;
    for (int i = 0; i < parts; i++) {
        int64_t size =
            list.is_there && i < list.count ? list.value[i] : int64_min(each, x->size[axis] - sum);
        if (size < 0 || (list.is_there && list.count != parts))
            return onnx_invalid(n, "its parts are wrong");
        if (i == output) {
            out->shape.size[axis] = size;
            out->offset = sum * out->stride[axis];
        }
        sum += size;
    }
    return sum == x->size[axis] ? ONNX_OK
                                : onnx_invalid(n, "its parts are not what there is to split");
}

enum onnx_verdict move_expand(const struct onnx_at *n, int output, struct onnx_strides *out)
{
    (void)output;
    const struct onnx_shape *x = &onnx_in(n, 0)->shape;
    struct onnx_shape wanted, all;
    TRY(onnx_shape_of(n, 1, &wanted));
    if (!onnx_broadcast(x, &wanted, &all))
        return onnx_invalid(n, "its input does not fit the shape");
    onnx_broadcast_strides(x, &all, out);
    return ONNX_OK;
}

// --- concat ---

struct parts { // of a concat that has not been added yet
    int64_t rows, columns[MOST_PARTS];
    int source[MOST_PARTS];
    const struct onnx_tensor *constant[MOST_PARTS]; // NULL: it is computed
    int count;
};

static void join(struct lowering *l, const struct onnx_at *n, const char *more, struct parts *p)
{
    struct onnx_layer *to = lowering_add(l, n, "concat", more, onnx_out(n, 0));
    lowering_set(l, to, "rows", p->rows);
    int64_t columns = 0;
    for (int i = 0; i < p->count; i++) {
        lowering_set(l, to, part_sizes[i], p->columns[i]);
        if (p->constant[i])
            lowering_weigh(to, part_names[i], p->constant[i]);
        else
            lowering_read(l, to, part_names[i], p->source[i]);
        columns += p->columns[i];
    }
    *p = (struct parts){
        .rows = p->rows, .columns = {columns}, .source = {l->out->layer_count - 1}, .count = 1};
}

enum onnx_verdict lower_concat(struct lowering *l, const struct onnx_at *n)
{
    const struct onnx_shape *out = &onnx_out(n, 0)->shape;
    struct parts p = {.rows = 1};
    char more[20];
    int64_t axis = onnx_int(n->node, "axis", 1);
    int only = 0;
    if (n->node->input_count > LOWERING_MOST_OF_A_STEP)
        return onnx_unsupported(n, "it joins more than %d", LOWERING_MOST_OF_A_STEP);
    onnx_axis(out, &axis);
    for (int i = 0; i < axis; i++)
        p.rows *= out->size[i];
    for (int i = 0; i < n->node->input_count; i++) {
        const struct onnx_value *v = onnx_in(n, i);
        if (onnx_count(&v->shape) == 0)
            continue;
        if (p.count == MOST_PARTS) {
            snprintf(more, sizeof more, "%d", i);
            join(l, n, more, &p);
        }
        only = i;
        p.constant[p.count] = v->constant;
        if (!v->constant)
            TRY(lowering_flow(l, n, i, &p.source[p.count]));
        p.columns[p.count++] = onnx_count(&v->shape) / p.rows;
    }
    if (p.count == 0)
        return onnx_unsupported(n, "it gives nothing");
    if (p.count == 1)
        return lowering_alias(l, n, only);
    join(l, n, NULL, &p);
    return lowering_give(l, n, 0);
}
