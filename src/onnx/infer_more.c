// Computes the shapes that ONNX's operators give of which most have no kernel here: shapes go on
// through them (onnx/docs/Operators.md). Where a shape depends on what is computed, or a node is
// not as it has to be, the node is unsupported and its shape stays unknown.
#include "onnx/operators.h"

#include "base/number.h"

#include <inttypes.h>
#include <math.h>

static const struct onnx_shape *shape_in(const struct onnx_at *n, int index)
{
    return &onnx_in(n, index)->shape;
}

static enum onnx_verdict set_typed(const struct onnx_at *n, int output,
                                   const struct onnx_shape *shape, int type)
{
    struct onnx_value *out = onnx_out(n, output);
    if (!out)
        return ONNX_OK;
    out->has_shape = true;
    out->shape = *shape;
    out->type = type;
    return ONNX_OK;
}

static enum onnx_verdict misfit(const struct onnx_at *n)
{
    return onnx_unsupported(n, "its inputs or attributes do not go together");
}

enum onnx_verdict infer_open(const struct onnx_at *n)
{
    return onnx_unsupported(n, "the shape that it gives depends on values");
}

// --- element by element ---

enum onnx_verdict infer_truth(const struct onnx_at *n)
{
    TRY(n->step->kind->needs == 2 ? infer_broadcast(n) : infer_same(n));
    onnx_out(n, 0)->type = ONNX_BOOL;
    return ONNX_OK;
}

enum onnx_verdict infer_where(const struct onnx_at *n)
{
    TRY(infer_broadcast(n));
    onnx_out(n, 0)->type = onnx_in(n, 1)->type;
    return ONNX_OK;
}

// Infers QuantizeLinear, DequantizeLinear and CastLike, whose type is that of another input.
enum onnx_verdict infer_retyped(const struct onnx_at *n)
{
    const char *kind = n->node->kind;
    const struct onnx_value *like = onnx_in(n, str_equal(kind, "QuantizeLinear") ? 2 : 1);
    TRY(infer_same(n));
    onnx_out(n, 0)->type = like ? like->type : ONNX_UINT8;
    return ONNX_OK;
}

// --- norms and recurrent layers, which may give more than one ---

enum onnx_verdict infer_layer_norm(const struct onnx_at *n)
{
    const struct onnx_shape *x = shape_in(n, 0);
    struct onnx_shape rest = *x;
    int64_t axis = onnx_int(n->node, "axis", -1);
    if (!onnx_axis(x, &axis))
        return misfit(n);
    for (int i = (int)axis; i < x->rank; i++)
        rest.size[i] = 1;
    set_typed(n, 1, &rest, ONNX_FLOAT);
    set_typed(n, 2, &rest, ONNX_FLOAT);
    return infer_same(n);
}

// Infers LSTM, GRU and RNN: all states, the last one, the last cells.
enum onnx_verdict infer_recurrent(const struct onnx_at *n)
{
    const struct onnx_shape *x = shape_in(n, 0), *w = shape_in(n, 1), *r = shape_in(n, 2);
    bool by_batch = onnx_int(n->node, "layout", 0);
    if (x->rank != 3 || w->rank != 3 || r->rank != 3)
        return misfit(n);
    int64_t steps = x->size[by_batch], batch = x->size[!by_batch], both = w->size[0];
    const struct onnx_shape all = by_batch
                                      ? (struct onnx_shape){4, {batch, steps, both, r->size[2]}}
                                      : (struct onnx_shape){4, {steps, both, batch, r->size[2]}};
    const struct onnx_shape last = by_batch ? (struct onnx_shape){3, {batch, both, r->size[2]}}
                                            : (struct onnx_shape){3, {both, batch, r->size[2]}};
    set_typed(n, 0, &all, onnx_in(n, 0)->type);
    set_typed(n, 1, &last, onnx_in(n, 0)->type);
    return set_typed(n, 2, &last, onnx_in(n, 0)->type);
}

// --- along an axis ---

enum onnx_verdict infer_place(const struct onnx_at *n) // ArgMax, ArgMin
{
    struct onnx_shape out = *shape_in(n, 0);
    int64_t axis = onnx_int(n->node, "axis", 0);
    if (!onnx_axis(&out, &axis))
        return misfit(n);
    out.size[axis] = 1;
    if (!onnx_int(n->node, "keepdims", 1)) {
        for (int i = (int)axis; i + 1 < out.rank; i++)
            out.size[i] = out.size[i + 1];
        out.rank--;
    }
    return set_typed(n, 0, &out, ONNX_INT64);
}

enum onnx_verdict infer_top(const struct onnx_at *n)
{
    struct onnx_shape out = *shape_in(n, 0);
    int64_t axis = onnx_int(n->node, "axis", -1);
    struct onnx_list k;
    TRY(onnx_list_of(n, NULL, 1, &k));
    int64_t most = k.count == 1 ? k.value[0] : onnx_int(n->node, "k", -1);
    if (!onnx_axis(&out, &axis) || most < 0 || most > out.size[axis])
        return misfit(n);
    out.size[axis] = most;
    set_typed(n, 1, &out, ONNX_INT64);
    return set_typed(n, 0, &out, onnx_in(n, 0)->type);
}

enum onnx_verdict infer_one_hot(const struct onnx_at *n)
{
    const struct onnx_shape *which = shape_in(n, 0);
    struct onnx_shape out = {which->rank + 1, {0}};
    struct onnx_list depth;
    int64_t axis = onnx_int(n->node, "axis", -1);
    TRY(onnx_list_of(n, NULL, 1, &depth));
    if (out.rank > ONNX_MAX_RANK || !onnx_axis(&out, &axis) || depth.count != 1 ||
        depth.value[0] < 0)
        return misfit(n);
    for (int i = 0, k = 0; i < out.rank; i++)
        out.size[i] = i == axis ? depth.value[0] : which->size[k++];
    return set_typed(n, 0, &out, onnx_in(n, 2)->type);
}

// --- other places ---

// Returns number `index` of a list that is an attribute or a constant input; NAN: there is none.
static double number_of(const struct onnx_at *n, const char *attribute, int input, int64_t index)
{
    const struct onnx_value *v = onnx_in(n, input);
    const struct onnx_attribute *a = onnx_attribute(n->node, attribute);
    if (v)
        return v->constant && index < v->constant->count ? onnx_element(v->constant, index) : NAN;
    if (a && a->type == ONNX_WHOLES)
        return index < a->int_count ? (double)a->ints[index] : NAN;
    return a && a->tensor && index < a->tensor->count ? onnx_element(a->tensor, index) : NAN;
}

// Sets a size that may be none. False: it is none.
static bool set_size(struct onnx_shape *out, int axis, double size)
{
    if (!(size >= 0 && size < INT32_MAX))
        return false;
    out->size[axis] = (int64_t)size;
    return true;
}

enum onnx_verdict infer_pad(const struct onnx_at *n)
{
    const struct onnx_shape *x = shape_in(n, 0);
    const char *pads = onnx_attribute(n->node, "paddings") ? "paddings" : "pads";
    struct onnx_shape out = *x;
    struct onnx_list axes;
    TRY(onnx_list_of(n, NULL, 3, &axes));
    int count = axes.is_there ? axes.count : x->rank;
    for (int i = 0; i < count; i++) {
        int64_t axis = axes.is_there ? axes.value[i] : i;
        double before = number_of(n, pads, 1, i), after = number_of(n, pads, 1, count + i);
        if (!onnx_axis(x, &axis) ||
            !set_size(&out, (int)axis, (double)x->size[axis] + before + after))
            return misfit(n);
    }
    return onnx_set_output(n, &out);
}

enum onnx_verdict infer_tile(const struct onnx_at *n)
{
    struct onnx_shape out = *shape_in(n, 0);
    for (int i = 0; i < out.rank; i++)
        if (!set_size(&out, i, (double)out.size[i] * number_of(n, "", 1, i)))
            return misfit(n);
    return onnx_set_output(n, &out);
}

// Infers Resize and Upsample: by factors, the first rounded down, or to sizes.
enum onnx_verdict infer_resize(const struct onnx_at *n)
{
    const struct onnx_shape *x = shape_in(n, 0);
    bool is_resize = str_equal(n->node->kind, "Resize");
    int factors = is_resize && n->graph->model->opset >= 11 ? 2 : 1;
    const struct onnx_value *given = onnx_in(n, factors);
    const struct onnx_attribute *axes = onnx_attribute(n->node, "axes");
    bool by_size = factors == 2 && onnx_in(n, 3) && (!given || onnx_count(&given->shape) == 0);
    struct onnx_shape out = *x;
    for (int i = 0; i < (axes ? axes->int_count : x->rank); i++) {
        int64_t axis = axes ? axes->ints[i] : i;
        double number = number_of(n, "scales", by_size ? 3 : factors, i);
        if (!onnx_axis(x, &axis) ||
            !set_size(&out, (int)axis, by_size ? number : floor((double)x->size[axis] * number)))
            return misfit(n);
    }
    return onnx_set_output(n, &out);
}

enum onnx_verdict infer_depth_space(const struct onnx_at *n)
{
    struct onnx_shape out = *shape_in(n, 0);
    int64_t block = onnx_int(n->node, "blocksize", 0);
    bool to_depth = str_equal(n->node->kind, "SpaceToDepth");
    if (out.rank != 4 || block < 1 || block > 1 << 15 ||
        (to_depth ? out.size[2] % block || out.size[3] % block : out.size[1] % (block * block)))
        return misfit(n);
    out.size[1] = to_depth ? times_signed(out.size[1], block * block) : out.size[1] / block / block;
    for (int i = 2; i < 4; i++)
        out.size[i] = to_depth ? out.size[i] / block : times_signed(out.size[i], block);
    return onnx_set_output(n, &out);
}

// --- by indices ---

enum onnx_verdict infer_gather_elements(const struct onnx_at *n)
{
    return onnx_set_output(n, shape_in(n, 1));
}

enum onnx_verdict infer_gather_nd(const struct onnx_at *n)
{
    const struct onnx_shape *x = shape_in(n, 0), *which = shape_in(n, 1);
    int64_t first = onnx_int(n->node, "batch_dims", 0);
    struct onnx_shape out = {0};
    if (which->rank < 1 || first < 0 || first >= which->rank || first > x->rank)
        return misfit(n);
    first += which->size[which->rank - 1];
    if (first > x->rank || which->rank - 1 + x->rank - first > ONNX_MAX_RANK)
        return misfit(n);
    for (int i = 0; i + 1 < which->rank; i++)
        out.size[out.rank++] = which->size[i];
    for (int i = (int)first; i < x->rank; i++)
        out.size[out.rank++] = x->size[i];
    return onnx_set_output(n, &out);
}

enum onnx_verdict infer_range(const struct onnx_at *n)
{
    struct onnx_shape out = {1, {0}};
    for (int i = 0; i < 3; i++)
        if (!onnx_in(n, i)->constant)
            return infer_open(n);
    double first = number_of(n, "", 0, 0), end = number_of(n, "", 1, 0);
    return set_size(&out, 0, fmax(0, ceil((end - first) / number_of(n, "", 2, 0))))
               ? onnx_set_output(n, &out)
               : misfit(n);
}

// --- products of many axes ---

// Finds the letters of one operand of an equation, which ends at `,`, `-` or the end. False: it has
// others than letters, or not as many as the operand has axes.
static bool read_letters(const char **at, const struct onnx_shape *s, int64_t size[128])
{
    int axis = 0;
    for (; **at && **at != ',' && **at != '-'; ++*at) {
        if (**at == ' ')
            continue;
        bool is_letter = (**at >= 'a' && **at <= 'z') || (**at >= 'A' && **at <= 'Z');
        int64_t *known = &size[(unsigned char)**at & 127];
        if (!is_letter || axis >= s->rank || (*known >= 0 && *known != s->size[axis]))
            return false;
        *known = s->size[axis++];
    }
    return axis == s->rank;
}

enum onnx_verdict infer_einsum(const struct onnx_at *n)
{
    const char *at = onnx_text(n->node, "equation", "");
    int64_t size[128];
    struct onnx_shape out = {0};
    for (int i = 0; i < 128; i++)
        size[i] = -1;
    for (int i = 0; i < n->node->input_count; i++) {
        if (!read_letters(&at, shape_in(n, i), size))
            return misfit(n);
        at += *at == ',';
    }
    if (!str_starts(at, "->"))
        return misfit(n);
    for (at += 2; *at; at++) {
        if (*at == ' ')
            continue;
        if (out.rank == ONNX_MAX_RANK || size[(unsigned char)*at & 127] < 0)
            return misfit(n);
        out.size[out.rank++] = size[(unsigned char)*at & 127];
    }
    return onnx_set_output(n, &out);
}
