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

int64_t onnx_whole(const struct onnx_tensor *t, int64_t index)
{
    double value = onnx_element(t, index);
    return value >= (double)INT32_MAX  ? INT32_MAX
           : value > (double)INT32_MIN ? (int64_t)value
                                       : INT32_MIN;
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
    for (int i = 0; i < out->count; i++)
        out->value[i] = onnx_whole(v->constant, i);
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

// --- some elements, in another order ---

bool onnx_permutation(const struct onnx_at *n, int rank, int *out)
{
    const struct onnx_attribute *a = onnx_attribute(n->node, "perm");
    bool seen[ONNX_MAX_RANK] = {false};
    if (a && a->int_count != rank)
        return false;
    for (int i = 0; i < rank; i++) {
        int64_t from = a ? a->ints[i] : rank - 1 - i;
        if (from < 0 || from >= rank || seen[from])
            return false;
        seen[from] = true;
        out[i] = (int)from;
    }
    return true;
}

static enum onnx_verdict cut(const struct onnx_at *n, const struct onnx_shape *x, int64_t axis,
                             const int64_t limit[3], struct onnx_range *r, struct onnx_shape *out)
{
    if (!onnx_axis(x, &axis))
        return onnx_wrong(n, "there is no axis %" PRId64, axis);
    int64_t size = x->size[axis], first = limit[0], end = limit[1], step = limit[2];
    if (step == 0)
        return onnx_wrong(n, "its step is 0");
    if (step < 0)
        return onnx_lacks(n, "it goes backwards");
    first = int64_clamp(first < 0 ? first + size : first, 0, size);
    end = int64_clamp(end < 0 ? end + size : end, 0, size);
    r->first[axis] = first;
    r->step[axis] = step;
    out->size[axis] = end > first ? (end - first + step - 1) / step : 0;
    return ONNX_FINE;
}

enum onnx_verdict onnx_slice_of(const struct onnx_at *n, struct onnx_range *r,
                                struct onnx_shape *out)
{
    const struct onnx_shape *x = &onnx_in(n, 0)->shape;
    struct onnx_list starts, ends, axes, steps;
    TRY(onnx_list_of(n, "starts", 1, &starts));
    TRY(onnx_list_of(n, "ends", 2, &ends));
    TRY(onnx_list_of(n, "axes", 3, &axes));
    TRY(onnx_list_of(n, NULL, 4, &steps));
    if (starts.count != ends.count || (axes.is_there && axes.count != starts.count) ||
        (steps.is_there && steps.count != starts.count))
        return onnx_wrong(n, "its starts, ends, axes and steps do not go together");
    *out = *x;
    for (int i = 0; i < ONNX_MAX_RANK; i++) {
        r->first[i] = 0;
        r->step[i] = 1;
    }
    for (int i = 0; i < starts.count; i++) {
        const int64_t limit[3] = {starts.value[i], ends.value[i],
                                  steps.is_there ? steps.value[i] : 1};
        TRY(cut(n, x, axes.is_there ? axes.value[i] : i, limit, r, out));
    }
    return ONNX_FINE;
}

enum onnx_verdict onnx_split_of(const struct onnx_at *n, int64_t *axis, int64_t *sizes)
{
    const struct onnx_shape *x = &onnx_in(n, 0)->shape;
    int parts = n->node->output_count;
    struct onnx_list list;
    int64_t sum = 0;
    *axis = onnx_int(n->node, "axis", 0);
    if (!onnx_axis(x, axis))
        return onnx_wrong(n, "there is no axis %" PRId64, *axis);
    if (parts > ONNX_MAX_RANK)
        return onnx_lacks(n, "it has more than %d outputs", ONNX_MAX_RANK);
    TRY(onnx_list_of(n, "split", 1, &list));
    int64_t each = (x->size[*axis] + parts - 1) / parts;
    for (int i = 0; i < parts; i++) {
        sizes[i] =
            list.is_there && i < list.count ? list.value[i] : int64_min(each, x->size[*axis] - sum);
        if (sizes[i] < 0 || (list.is_there && list.count != parts))
            return onnx_wrong(n, "its parts are wrong");
        sum += sizes[i];
    }
    return sum == x->size[*axis] ? ONNX_FINE
                                 : onnx_wrong(n, "its parts are not what there is to split");
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
