// Shapes, axes, lists and windows: what is asked of nodes wherever they are worked on.
#include "onnx/operators.h"

#include "base/minmax.h"

#include <inttypes.h>

bool onnx_axis(const struct onnx_shape *s, int64_t *axis)
{
    if (*axis < -s->rank || *axis >= s->rank)
        return false;
    *axis += *axis < 0 ? s->rank : 0;
    return true;
}

bool onnx_same_shape(const struct onnx_shape *a, const struct onnx_shape *b)
{
    for (int i = 0; i < a->rank && i < b->rank; i++)
        if (a->size[i] != b->size[i])
            return false;
    return a->rank == b->rank;
}

static int64_t aligned(const struct onnx_shape *s, int axis, int rank)
{
    int own = axis - (rank - s->rank);
    return own < 0 ? 1 : s->size[own];
}

bool onnx_broadcast(const struct onnx_shape *a, const struct onnx_shape *b, struct onnx_shape *out)
{
    out->rank = a->rank > b->rank ? a->rank : b->rank;
    for (int i = 0; i < out->rank; i++) {
        int64_t x = aligned(a, i, out->rank), y = aligned(b, i, out->rank);
        if (x != y && x != 1 && y != 1)
            return false;
        out->size[i] = x == 1 ? y : x;
    }
    return true;
}

int64_t onnx_broadcast_index(const struct onnx_shape *from, const struct onnx_shape *to,
                             int64_t index)
{
    int64_t at = 0, stride = 1;
    for (int i = to->rank - 1; i >= 0; i--) {
        int64_t size = aligned(from, i, to->rank), place = index % to->size[i];
        index /= to->size[i];
        if (size > 1)
            at += place * stride;
        stride *= size;
    }
    return at;
}

// The numbers of a constant that is a list.
static enum onnx_verdict read_list(const struct onnx_at *n, const struct onnx_value *v,
                                   struct onnx_list *out)
{
    if (!v->constant)
        return onnx_lacks(n, "'%s' is not known before it runs", v->name);
    if (v->constant->count > ONNX_MAX_RANK)
        return onnx_wrong(n, "'%s' has %" PRId64 " numbers, at most %d make sense", v->name,
                          v->constant->count, ONNX_MAX_RANK);
    out->is_there = true;
    out->count = (int)v->constant->count;
    for (int i = 0; i < out->count; i++) {
        double value = onnx_element(v->constant, i);
        out->value[i] = value >= (double)INT32_MAX   ? INT32_MAX
                        : value <= (double)INT32_MIN ? INT32_MIN
                                                     : (int64_t)value;
    }
    return ONNX_FINE;
}

enum onnx_verdict onnx_list_of(const struct onnx_at *n, const char *attribute, int input,
                               struct onnx_list *out)
{
    const struct onnx_attribute *a = attribute ? onnx_attribute(n->node, attribute) : NULL;
    const struct onnx_value *v = input >= 0 ? onnx_in(n, input) : NULL;
    *out = (struct onnx_list){.count = 0};
    if (v)
        return read_list(n, v, out);
    if (!a)
        return ONNX_FINE;
    if (a->int_count > ONNX_MAX_RANK)
        return onnx_wrong(n, "%s has %d numbers, at most %d make sense", attribute, a->int_count,
                          ONNX_MAX_RANK);
    out->is_there = true;
    out->count = a->int_count;
    for (int i = 0; i < out->count; i++)
        out->value[i] = int64_clamp(a->ints[i], INT32_MIN, INT32_MAX);
    return ONNX_FINE;
}

// --- windows ---

static bool read_sizes(const struct onnx_at *n, const char *name, int64_t out[2])
{
    const struct onnx_attribute *a = onnx_attribute(n->node, name);
    out[0] = out[1] = 1;
    if (!a)
        return true;
    for (int i = 0; a->int_count == 2 && i < 2; i++)
        out[i] = a->ints[i];
    return a->int_count == 2 && out[0] > 0 && out[1] > 0 && out[0] < INT32_MAX &&
           out[1] < INT32_MAX;
}

static bool read_padding(const struct onnx_at *n, struct onnx_window *w)
{
    const struct onnx_attribute *a = onnx_attribute(n->node, "pads");
    for (int i = 0; i < 2; i++) {
        w->before[i] = a && a->int_count == 4 ? a->ints[i] : 0;
        w->after[i] = a && a->int_count == 4 ? a->ints[i + 2] : 0;
        if (w->before[i] < 0 || w->after[i] < 0 || w->before[i] > INT32_MAX / 2 ||
            w->after[i] > INT32_MAX / 2)
            return false;
    }
    return !a || a->int_count == 4;
}

static int64_t reach(const struct onnx_window *w, int i)
{
    return (w->kernel[i] - 1) * w->dilation[i] + 1;
}

static void pad_to_same(struct onnx_window *w, int i, int64_t size, bool is_upper)
{
    int64_t out = (size + w->stride[i] - 1) / w->stride[i];
    int64_t total = int64_max((out - 1) * w->stride[i] + reach(w, i) - size, 0);
    w->before[i] = is_upper ? total / 2 : total - total / 2;
    w->after[i] = total - w->before[i];
}

enum onnx_verdict onnx_window_of(const struct onnx_at *n, const struct onnx_shape *image,
                                 const int64_t *kernel, struct onnx_window *out)
{
    const char *fit = onnx_text(n->node, "auto_pad", "NOTSET");
    bool rounds_up = onnx_int(n->node, "ceil_mode", 0);
    if (image->rank != 4)
        return onnx_lacks(n, "it is not over images (batch, channels, height, width)");
    out->kernel[0] = kernel[0];
    out->kernel[1] = kernel[1];
    if (!read_sizes(n, "strides", out->stride) || !read_sizes(n, "dilations", out->dilation) ||
        !read_padding(n, out))
        return onnx_wrong(n, "its strides, dilations or pads are wrong");
    for (int i = 0; i < 2; i++) {
        int64_t size = image->size[2 + i];
        if (str_starts(fit, "SAME"))
            pad_to_same(out, i, size, str_equal(fit, "SAME_UPPER"));
        else if (str_equal(fit, "VALID"))
            out->before[i] = out->after[i] = 0;
        int64_t room = size + out->before[i] + out->after[i] - reach(out, i);
        if (room < 0)
            return onnx_wrong(n, "its window is larger than the padded image");
        out->out[i] = (room + (rounds_up ? out->stride[i] - 1 : 0)) / out->stride[i] + 1;
    }
    return ONNX_FINE;
}
