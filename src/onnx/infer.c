// Computes the shapes that ONNX's operators give (onnx/docs/Operators.md, the versions of onnx
// 1.12).

#include "base/number.h"
#include "onnx/operators.h"

#include <inttypes.h>
#include <stdlib.h>

// --- shapes, axes and lists ---

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

void onnx_strides_of(const struct onnx_shape *s, int64_t *out)
{
    for (int i = s->rank - 1; i >= 0; i--)
        out[i] = i == s->rank - 1 ? 1 : out[i + 1] * s->size[i + 1];
}

void onnx_broadcast_strides(const struct onnx_shape *from, const struct onnx_shape *to,
                            struct onnx_strides *out)
{
    int64_t strides[ONNX_MAX_RANK];
    onnx_strides_of(from, strides);
    *out = (struct onnx_strides){.shape = *to};
    for (int i = 0; i < to->rank; i++) {
        int own = i - (to->rank - from->rank);
        out->stride[i] = own < 0 || from->size[own] == 1 ? 0 : strides[own];
    }
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

enum onnx_verdict onnx_list_of(const struct onnx_at *n, const char *attribute, int input,
                               struct onnx_list *out)
{
    const struct onnx_attribute *a = attribute ? onnx_attribute(n->node, attribute) : NULL;
    const struct onnx_value *v = input >= 0 ? onnx_in(n, input) : NULL;
    *out = (struct onnx_list){.is_there = v || a};
    if (v && !v->constant)
        return onnx_unsupported(n, "'%s' is not known before it runs", v->name);
    if (v && v->constant->count > ONNX_MAX_RANK)
        return onnx_invalid(n, "'%s' has %" PRId64 " numbers, at most %d make sense", v->name,
                            v->constant->count, ONNX_MAX_RANK);
    if (!v && a && a->int_count > ONNX_MAX_RANK)
        return onnx_invalid(n, "%s has %d numbers, at most %d make sense", attribute, a->int_count,
                            ONNX_MAX_RANK);
    out->count = v ? (int)v->constant->count : a ? a->int_count : 0;
    for (int i = 0; i < out->count; i++)
        out->value[i] =
            v ? onnx_whole(v->constant, i) : int64_clamp(a->ints[i], INT32_MIN, INT32_MAX);
    return ONNX_OK;
}

enum onnx_verdict onnx_shape_of(const struct onnx_at *n, int input, struct onnx_shape *out)
{
    struct onnx_list to;
    *out = (struct onnx_shape){0};
    TRY(onnx_list_of(n, NULL, input, &to));
    for (int i = 0; i < to.count; i++) {
        if (to.value[i] < 0)
            return onnx_invalid(n, "the shape that it is to give is wrong");
        out->size[out->rank++] = to.value[i];
    }
    return ONNX_OK;
}

// --- windows ---

static bool read_sizes(const struct onnx_at *n, const char *name, int axes, int64_t *out)
{
    const struct onnx_attribute *a = onnx_attribute(n->node, name);
    for (int i = 0; i < axes; i++) {
        out[i] = a && a->int_count == axes ? a->ints[i] : 1;
        if (out[i] < 1 || out[i] >= INT32_MAX)
            return false;
    }
    return !a || a->int_count == axes;
}

// Reads what a node says of its window, all but how many there are.
static enum onnx_verdict read_window(const struct onnx_at *n, const struct onnx_shape *image,
                                     const int64_t *kernel, struct onnx_window *out)
{
    const struct onnx_attribute *pads = onnx_attribute(n->node, "pads");
    int axes = image->rank - 2;
    *out = (struct onnx_window){.axes = axes};
    if (axes < 1 || axes > ONNX_MAX_AXES)
        return onnx_unsupported(n, "it is not over images (batch, channels, one to three sizes)");
    bool ok = read_sizes(n, "strides", axes, out->stride) &&
              read_sizes(n, "dilations", axes, out->dilation) &&
              (!pads || pads->int_count == 2 * axes);
    for (int i = 0; i < axes && ok; i++) {
        out->kernel[i] = kernel[i];
        out->before[i] = pads ? pads->ints[i] : 0;
        out->after[i] = pads ? pads->ints[i + axes] : 0;
        ok = out->before[i] >= 0 && out->after[i] >= 0 && out->before[i] <= INT32_MAX / 2 &&
             out->after[i] <= INT32_MAX / 2;
    }
    return ok ? ONNX_OK : onnx_invalid(n, "its strides, dilations or pads are wrong");
}

// Returns what a window reaches over, limited so that sums of such lengths do not overflow.
static int64_t extent_of(const struct onnx_window *w, int axis)
{
    return int64_min(times_signed(w->kernel[axis] - 1, w->dilation[axis]), INT64_MAX / 8) + 1;
}

// Splits what is padded into before and behind; where it is odd, one of them has one more.
static void split_padding(struct onnx_window *w, int axis, int64_t total, bool more_behind)
{
    total = int64_max(total, 0);
    w->before[axis] = more_behind ? total / 2 : total - total / 2;
    w->after[axis] = total - w->before[axis];
}

enum onnx_verdict onnx_window_of(const struct onnx_at *n, const struct onnx_shape *image,
                                 const int64_t *kernel, struct onnx_window *out)
{
    const char *fit = onnx_text(n->node, "auto_pad", "NOTSET");
    bool rounds_up = onnx_int(n->node, "ceil_mode", 0);
    TRY(read_window(n, image, kernel, out));
    for (int i = 0; i < out->axes; i++) {
        int64_t size = image->size[2 + i], extent = extent_of(out, i);
        if (str_starts(fit, "SAME")) {
            int64_t windows = (size + out->stride[i] - 1) / out->stride[i];
            split_padding(out, i, (windows - 1) * out->stride[i] + extent - size,
                          str_equal(fit, "SAME_UPPER"));
        } else if (str_equal(fit, "VALID")) {
            out->before[i] = out->after[i] = 0;
        }
        int64_t room = size + out->before[i] + out->after[i] - extent;
        if (room < 0)
            return onnx_invalid(n, "its window is larger than the padded image");
        out->out[i] = (room + (rounds_up ? out->stride[i] - 1 : 0)) / out->stride[i] + 1;
    }
    return ONNX_OK;
}

enum onnx_verdict onnx_window_back(const struct onnx_at *n, const struct onnx_shape *image,
                                   const int64_t *kernel, struct onnx_window *out)
{
    const char *fit = onnx_text(n->node, "auto_pad", "NOTSET");
    const struct onnx_attribute *more = onnx_attribute(n->node, "output_padding");
    const struct onnx_attribute *to = onnx_attribute(n->node, "output_shape");
    TRY(read_window(n, image, kernel, out));
    if ((more && more->int_count != out->axes) || (to && to->int_count < out->axes))
        return onnx_invalid(n, "its output_padding or output_shape is wrong");
    for (int i = 0; i < out->axes; i++) {
        int64_t size = image->size[2 + i], extent = extent_of(out, i);
        int64_t behind = more ? int64_clamp(more->ints[i], 0, INT32_MAX) : 0;
        int64_t all =
            int64_min(times_signed(size - 1, out->stride[i]), INT64_MAX / 8) + extent + behind;
        if (str_equal(fit, "VALID"))
            out->before[i] = out->after[i] = 0;
        int64_t wanted = to ? int64_clamp(to->ints[to->int_count - out->axes + i], 1, INT32_MAX)
                            : times_signed(size, out->stride[i]);
        if (to || str_starts(fit, "SAME"))
            split_padding(out, i, all - wanted, str_equal(fit, "SAME_UPPER"));
        out->out[i] = to ? wanted : all - out->before[i] - out->after[i];
        if (size < 1 || out->out[i] < 1)
            return onnx_invalid(n, "nothing is left of what it gives");
    }
    return ONNX_OK;
}

static const struct onnx_shape *shape_in(const struct onnx_at *n, int index)
{
    return &onnx_in(n, index)->shape;
}

// --- the shape of the input ---

enum onnx_verdict infer_same(const struct onnx_at *n)
{
    return onnx_set_output(n, shape_in(n, 0));
}

// Models before version 7 are for training unless they have is_test.
static bool was_for_training(const struct onnx_at *n)
{
    return n->graph->model->opset < 7 && !onnx_int(n->node, "is_test", 0);
}

enum onnx_verdict infer_dropout(const struct onnx_at *n)
{
    const struct onnx_value *trains = onnx_in(n, 2);
    TRY(infer_same(n));
    if (onnx_out(n, 1) && onnx_out(n, 1)->uses)
        return onnx_unsupported(n, "its mask is used");
    if (was_for_training(n) || (trains && (!trains->constant || onnx_count(&trains->shape) != 1 ||
                                           onnx_whole(trains->constant, 0) != 0)))
        return onnx_unsupported(n, "it is for training");
    return ONNX_OK;
}

enum onnx_verdict infer_batch_norm(const struct onnx_at *n)
{
    const struct onnx_shape *x = shape_in(n, 0);
    TRY(onnx_set_output(n, x));
    if (onnx_int(n->node, "training_mode", 0) || was_for_training(n))
        return onnx_unsupported(n, "it is for training");
    for (int i = 1; i < n->node->output_count; i++)
        if (onnx_out(n, i) && n->graph->model->opset >= 7)
            return onnx_unsupported(n, "it also gives what training asks for");
    for (int i = 1; i < 5; i++)
        if (x->rank < 2 || onnx_count(shape_in(n, i)) != x->size[1])
            return onnx_invalid(n, "its input %d has not one number a channel", i + 1);
    return ONNX_OK;
}

enum onnx_verdict infer_cast(const struct onnx_at *n)
{
    TRY(infer_same(n));
    int to = (int)onnx_int(n->node, "to", 0);
    if (!onnx_type_bytes(to))
        return onnx_unsupported(n, "it gives a type that tilewalk does not know");
    onnx_out(n, 0)->type = to;
    return ONNX_OK;
}

// --- several inputs ---

enum onnx_verdict infer_broadcast(const struct onnx_at *n)
{
    struct onnx_shape all = *shape_in(n, 0), more;
    if (onnx_int(n->node, "broadcast", 0)) {
        TRY(infer_same(n));
        return onnx_unsupported(n, "it broadcasts as models did before version 7");
    }
    int needs = n->step->kind->needs, count = needs == ONNX_ALL ? n->node->input_count : needs;
    for (int i = 1; i < count; i++) {
        if (!onnx_broadcast(&all, shape_in(n, i), &more))
            return onnx_invalid(n, "its inputs' shapes do not go together");
        all = more;
    }
    return onnx_set_output(n, &all);
}

enum onnx_verdict infer_concat(const struct onnx_at *n)
{
    struct onnx_shape all = *shape_in(n, 0);
    int64_t axis = onnx_int(n->node, "axis", 1);
    if (!onnx_axis(&all, &axis))
        return onnx_invalid(n, "there is no axis %" PRId64, axis);
    for (int i = 1; i < n->node->input_count; i++) {
        struct onnx_shape part = *shape_in(n, i);
        if (part.rank != all.rank)
            return onnx_invalid(n, "its inputs have different numbers of dimensions");
        int64_t size = part.size[axis];
        part.size[axis] = all.size[axis];
        if (!onnx_same_shape(&part, &all))
            return onnx_invalid(n, "its inputs differ along others than axis %" PRId64, axis);
        all.size[axis] += size;
    }
    return onnx_set_output(n, &all);
}

// --- windows ---

// Sets the shape that windows give: as many as `w` has, of each of `channels`.
static enum onnx_verdict set_windows(const struct onnx_at *n, int64_t channels,
                                     const struct onnx_window *w)
{
    struct onnx_shape out = {2 + w->axes, {shape_in(n, 0)->size[0], channels}};
    for (int i = 0; i < w->axes; i++)
        out.size[2 + i] = w->out[i];
    return onnx_set_output(n, &out);
}

enum onnx_verdict infer_conv(const struct onnx_at *n)
{
    const struct onnx_shape *x = shape_in(n, 0), *w = shape_in(n, 1);
    struct onnx_window window;
    int64_t groups = onnx_int(n->node, "group", 1);
    if (x->rank < 3 || x->rank != w->rank)
        return onnx_unsupported(n, "it is not over images (batch, channels, one to three sizes)");
    if (groups < 1 || times_signed(w->size[1], groups) != x->size[1] || w->size[0] % groups)
        return onnx_invalid(n, "the weights do not fit the %" PRId64 " channels of its input",
                            x->size[1]);
    if (onnx_in(n, 2) && onnx_count(shape_in(n, 2)) != w->size[0])
        return onnx_invalid(n, "its bias has not one number a channel");
    TRY(onnx_window_of(n, x, &w->size[2], &window));
    return set_windows(n, w->size[0], &window);
}

enum onnx_verdict infer_conv_transpose(const struct onnx_at *n)
{
    const struct onnx_shape *x = shape_in(n, 0), *w = shape_in(n, 1);
    struct onnx_window window;
    int64_t groups = onnx_int(n->node, "group", 1);
    if (x->rank < 3 || x->rank != w->rank)
        return onnx_unsupported(n, "it is not over images (batch, channels, one to three sizes)");
    if (groups < 1 || w->size[0] != x->size[1] || x->size[1] % groups)
        return onnx_invalid(n, "the weights do not fit the %" PRId64 " channels of its input",
                            x->size[1]);
    int64_t channels = times_signed(w->size[1], groups);
    if (onnx_in(n, 2) && onnx_count(shape_in(n, 2)) != channels)
        return onnx_invalid(n, "its bias has not one number a channel");
    for (int i = 2; i < w->rank; i++)
        if (w->size[i] < 1)
            return onnx_invalid(n, "its weights have no elements");
    TRY(onnx_window_back(n, x, &w->size[2], &window));
    return set_windows(n, channels, &window);
}

enum onnx_verdict infer_pool(const struct onnx_at *n)
{
    const struct onnx_shape *x = shape_in(n, 0);
    const struct onnx_attribute *kernel = onnx_attribute(n->node, "kernel_shape");
    struct onnx_window window;
    if (x->rank < 3 || x->rank > 2 + ONNX_MAX_AXES)
        return onnx_unsupported(n, "it is not over images (batch, channels, one to three sizes)");
    bool ok = kernel && kernel->int_count == x->rank - 2;
    for (int i = 0; ok && i < x->rank - 2; i++)
        ok = kernel->ints[i] >= 1 && kernel->ints[i] <= INT32_MAX;
    if (!ok)
        return onnx_invalid(n, "its kernel_shape is wrong");
    TRY(onnx_window_of(n, x, kernel->ints, &window));
    TRY(set_windows(n, x->size[1], &window));
    struct onnx_value *places = onnx_out(n, 1);
    if (!places || !places->uses)
        return ONNX_OK;
    places->has_shape = true;
    places->shape = onnx_out(n, 0)->shape;
    places->type = ONNX_INT64;
    return onnx_unsupported(n, "it also gives where the largest are");
}

enum onnx_verdict infer_global_pool(const struct onnx_at *n)
{
    struct onnx_shape out = *shape_in(n, 0);
    for (int i = 2; i < out.rank; i++)
        out.size[i] = 1;
    return onnx_set_output(n, &out);
}

// --- products ---

enum onnx_verdict infer_gemm(const struct onnx_at *n)
{
    const struct onnx_shape *a = shape_in(n, 0), *b = shape_in(n, 1);
    bool turns_a = onnx_int(n->node, "transA", 0), turns_b = onnx_int(n->node, "transB", 0);
    struct onnx_shape out = {2, {0}}, all;
    if (a->rank != 2 || b->rank != 2 || a->size[!turns_a] != b->size[turns_b])
        return onnx_invalid(n, "its matrices do not go together");
    out.size[0] = a->size[turns_a];
    out.size[1] = b->size[!turns_b];
    const struct onnx_value *c = onnx_in(n, 2);
    if (c && (!onnx_broadcast(&c->shape, &out, &all) || !onnx_same_shape(&all, &out)))
        return onnx_invalid(n, "what it adds does not fit the product");
    return onnx_set_output(n, &out);
}

enum onnx_verdict infer_matmul(const struct onnx_at *n)
{
    struct onnx_shape a = *shape_in(n, 0), b = *shape_in(n, 1), x = {0}, y = {0}, out;
    bool is_row = a.rank == 1, is_column = b.rank == 1; // vectors, whose axis of one element goes
    if (a.rank < 1 || b.rank < 1)
        return onnx_unsupported(n, "it is of a number");
    if (is_row)
        a = (struct onnx_shape){2, {1, a.size[0]}};
    if (is_column)
        b = (struct onnx_shape){2, {b.size[0], 1}};
    for (int i = 0; i < a.rank - 2; i++)
        x.size[x.rank++] = a.size[i];
    for (int i = 0; i < b.rank - 2; i++)
        y.size[y.rank++] = b.size[i];
    if (a.size[a.rank - 1] != b.size[b.rank - 2] || !onnx_broadcast(&x, &y, &out))
        return onnx_invalid(n, "its matrices do not go together");
    if (!is_row)
        out.size[out.rank++] = a.size[a.rank - 2];
    if (!is_column)
        out.size[out.rank++] = b.size[b.rank - 1];
    return onnx_set_output(n, &out);
}

// --- the same elements in another shape ---

enum onnx_verdict infer_reshape(const struct onnx_at *n)
{
    const struct onnx_shape *x = shape_in(n, 0);
    struct onnx_list to;
    struct onnx_shape out = {0};
    int open = -1;
    TRY(onnx_list_of(n, "shape", 1, &to));
    if (!to.is_there)
        return onnx_invalid(n, "it is not told what shape to give");
    for (int i = 0; i < to.count; i++) {
        int64_t size = to.value[i];
        if (size == 0 && !onnx_int(n->node, "allowzero", 0) && i < x->rank)
            size = x->size[i];
        if (size < -1 || (size == -1 && open >= 0))
            return onnx_invalid(n, "the shape that it is to give is wrong");
        open = size == -1 ? i : open;
        out.size[out.rank++] = size == -1 ? 1 : size;
    }
    int64_t count = onnx_count(x), rest = onnx_count(&out);
    if (open >= 0 && rest)
        out.size[open] = count / rest;
    if (onnx_count(&out) != count)
        return onnx_invalid(n, "its input has %" PRId64 " elements, which do not fill the shape",
                            count);
    return onnx_set_output(n, &out);
}

enum onnx_verdict infer_flatten(const struct onnx_at *n)
{
    const struct onnx_shape *x = shape_in(n, 0);
    int64_t axis = onnx_int(n->node, "axis", 1);
    struct onnx_shape out = {2, {1, 1}};
    if (axis != x->rank && !onnx_axis(x, &axis))
        return onnx_invalid(n, "there is no axis %" PRId64, axis);
    for (int i = 0; i < x->rank; i++)
        out.size[i >= axis] = times_signed(out.size[i >= axis], x->size[i]);
    return onnx_set_output(n, &out);
}

// Infers Squeeze and the reductions, which leave axes out.
enum onnx_verdict infer_reduced(const struct onnx_at *n)
{
    const struct onnx_shape *x = shape_in(n, 0);
    struct onnx_list axes;
    struct onnx_shape out = {0};
    bool is_squeeze = str_equal(n->node->kind, "Squeeze"), gone[ONNX_MAX_RANK] = {false};
    bool keeps = !is_squeeze && onnx_int(n->node, "keepdims", 1);
    TRY(onnx_list_of(n, "axes", 1, &axes));
    if (!is_squeeze && !axes.count && onnx_int(n->node, "noop_with_empty_axes", 0))
        return infer_same(n);
    for (int i = 0; i < axes.count; i++) {
        if (!onnx_axis(x, &axes.value[i]) || (is_squeeze && x->size[axes.value[i]] != 1))
            return onnx_invalid(n, "there is no axis %" PRId64 "%s", axes.value[i],
                                is_squeeze ? " of one element" : "");
        gone[axes.value[i]] = true;
    }
    for (int i = 0; i < x->rank; i++) {
        gone[i] |= is_squeeze ? !axes.is_there && x->size[i] == 1 : !axes.count;
        if (keeps || !gone[i])
            out.size[out.rank++] = gone[i] ? 1 : x->size[i];
    }
    return onnx_set_output(n, &out);
}

enum onnx_verdict infer_unsqueeze(const struct onnx_at *n)
{
    const struct onnx_shape *x = shape_in(n, 0);
    struct onnx_list axes;
    bool is_new[ONNX_MAX_RANK] = {false};
    TRY(onnx_list_of(n, "axes", 1, &axes));
    struct onnx_shape out = {x->rank + axes.count, {0}};
    if (out.rank > ONNX_MAX_RANK)
        return onnx_invalid(n, "it gives more than %d dimensions", ONNX_MAX_RANK);
    for (int i = 0; i < axes.count; i++) {
        if (!onnx_axis(&out, &axes.value[i]) || is_new[axes.value[i]])
            return onnx_invalid(n, "its axes are wrong");
        is_new[axes.value[i]] = true;
    }
    for (int i = 0, k = 0; i < out.rank; i++)
        out.size[i] = is_new[i] ? 1 : x->size[k++];
    return onnx_set_output(n, &out);
}

// --- some elements, in another order ---

enum onnx_verdict infer_moved(const struct onnx_at *n)
{
    for (int i = 0; i < n->node->output_count; i++) {
        struct onnx_strides s;
        struct onnx_value *out = onnx_out(n, i);
        TRY(n->step->kind->move(n, i, &s));
        if (!out)
            continue;
        out->has_shape = true;
        out->type = onnx_in(n, 0)->type;
        out->shape = s.shape;
    }
    return ONNX_OK;
}

enum onnx_verdict infer_gather(const struct onnx_at *n)
{
    const struct onnx_shape *x = shape_in(n, 0), *which = shape_in(n, 1);
    int64_t axis = onnx_int(n->node, "axis", 0);
    struct onnx_shape out = {0};
    if (!onnx_axis(x, &axis))
        return onnx_invalid(n, "there is no axis %" PRId64, axis);
    if (x->rank - 1 + which->rank > ONNX_MAX_RANK)
        return onnx_invalid(n, "it gives more than %d dimensions", ONNX_MAX_RANK);
    for (int i = 0; i < axis; i++)
        out.size[out.rank++] = x->size[i];
    for (int i = 0; i < which->rank; i++)
        out.size[out.rank++] = which->size[i];
    for (int i = (int)axis + 1; i < x->rank; i++)
        out.size[out.rank++] = x->size[i];
    return onnx_set_output(n, &out);
}

// --- constants ---

enum onnx_verdict infer_constant(const struct onnx_at *n)
{
    const struct onnx_tensor *t = onnx_constant_of(n->node);
    if (!t)
        return onnx_unsupported(n, "its value is no tensor");
    if (!onnx_type_bytes(t->type))
        return onnx_unsupported(n, "its value is %s", onnx_type_name(t->type));
    TRY(onnx_set_output(n, &t->shape));
    onnx_out(n, 0)->type = t->type;
    return ONNX_OK;
}

enum onnx_verdict infer_constant_of_shape(const struct onnx_at *n)
{
    const struct onnx_attribute *a = onnx_attribute(n->node, "value");
    struct onnx_shape out;
    TRY(onnx_shape_of(n, 0, &out));
    TRY(onnx_set_output(n, &out));
    if (a && a->tensor && (!onnx_type_bytes(a->tensor->type) || a->tensor->count != 1))
        return onnx_unsupported(n, "its value is no number");
    onnx_out(n, 0)->type = a && a->tensor ? a->tensor->type : ONNX_FLOAT;
    return ONNX_OK;
}

void onnx_shape_part(const struct onnx_at *n, int *first, int *end)
{
    int64_t rank = shape_in(n, 0)->rank;
    int64_t from = onnx_int(n->node, "start", 0), to = onnx_int(n->node, "end", rank);
    *first = (int)int64_clamp(from < 0 ? from + rank : from, 0, rank);
    *end = (int)int64_clamp(to < 0 ? to + rank : to, *first, rank);
}

// Infers Shape and Size, whose result has one axis or none.
enum onnx_verdict infer_shape(const struct onnx_at *n)
{
    bool is_shape = str_equal(n->node->kind, "Shape");
    int first, end;
    onnx_shape_part(n, &first, &end);
    TRY(onnx_set_output(n, &(struct onnx_shape){is_shape, {end - first}}));
    onnx_out(n, 0)->type = ONNX_INT64;
    return ONNX_OK;
}
