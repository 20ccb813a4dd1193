// Computes the constants that operators give of constants, in double precision.
#include "onnx/operators.h"

#include "base/str.h"
#include "space/tensor.h"

#include <math.h>
#include <string.h>

// The most elements of one constant and of all together: a larger one is no shape and no factor.
enum { MOST_FOLDED = 1 << 22, MOST_IN_ALL = 1 << 24 };

// Returns a tensor with room for the first output; NULL: it is too large.
static struct onnx_tensor *begin(const struct onnx_at *n, double **value)
{
    int64_t count = onnx_count(&onnx_out(n, 0)->shape);
    if (count > MOST_FOLDED || n->graph->folded + count > MOST_IN_ALL)
        return NULL;
    n->graph->folded += count;
    struct onnx_tensor *t = arena_zero(&n->graph->arena, 1, sizeof *t);
    *value = arena_zero(&n->graph->arena, (size_t)count + 1, sizeof **value);
    t->value = *value;
    return t;
}

// Returns elements of the first input, rounded to a type (ONNX_UNKNOWN: they are not), without a
// copy unless it is a view itself or they are more than it has.
static struct onnx_tensor *fold_view(const struct onnx_at *n, const struct onnx_strides *s,
                                     int type, bool saturates)
{
    struct onnx_view v = {.of = onnx_in(n, 0)->constant,
                          .shape = s->shape,
                          .first = s->offset,
                          .type = type,
                          .saturates = saturates};
    memcpy(v.stride, s->stride, sizeof v.stride);
    int64_t count = onnx_count(&s->shape);
    if (!v.of->view && count <= v.of->count) {
        struct onnx_view *kept = arena_zero(&n->graph->arena, 1, sizeof *kept);
        struct onnx_tensor *t = arena_zero(&n->graph->arena, 1, sizeof *t);
        *kept = v;
        t->view = kept;
        return t;
    }
    const struct onnx_tensor viewed = {.view = &v};
    double *value;
    struct onnx_tensor *t = begin(n, &value);
    for (int64_t i = 0; t && i < count; i++)
        value[i] = onnx_element(&viewed, i);
    return t;
}

// Returns the same elements without a copy: those of the first input, or of a Constant.
struct onnx_tensor *fold_same(const struct onnx_at *n)
{
    struct onnx_tensor *t = arena_zero(&n->graph->arena, 1, sizeof *t);
    bool is_constant = str_equal(n->node->kind, "Constant");
    *t = is_constant ? *onnx_constant_of(n->node) : *onnx_in(n, 0)->constant;
    return t;
}

static double element_for(const struct onnx_value *v, const struct onnx_shape *out, int64_t index)
{
    return onnx_element(v->constant, onnx_broadcast_index(&v->shape, out, index));
}

// Computes the functions of elements, of one, two or (Sum, Max, Min) any number of inputs.
struct onnx_tensor *fold_elements(const struct onnx_at *n)
{
    double (*of)(double, double) = onnx_function_find(n->node->kind)->of;
    const struct onnx_value *out = onnx_out(n, 0);
    int needs = n->step->kind->needs, inputs = needs == ONNX_ALL ? n->node->input_count : needs;
    double *value;
    struct onnx_tensor *t = begin(n, &value);
    int64_t count = t ? onnx_count(&out->shape) : 0;
    if (onnx_int(n->node, "fmod", 0)) // Mod's result has the sign of what is divided
        of = fmod;
    for (int64_t i = 0; i < count; i++) {
        double result = element_for(onnx_in(n, 0), &out->shape, i);
        if (inputs == 1 && needs == 1)
            result = of(result, 0);
        for (int k = 1; k < inputs; k++)
            result = of(result, element_for(onnx_in(n, k), &out->shape, i));
        value[i] = onnx_type_is_real(out->type) ? result : trunc(result);
    }
    return t;
}

struct onnx_tensor *fold_where(const struct onnx_at *n)
{
    const struct onnx_shape *out = &onnx_out(n, 0)->shape;
    double *value;
    struct onnx_tensor *t = begin(n, &value);
    int64_t count = t ? onnx_count(out) : 0;
    for (int64_t i = 0; i < count; i++)
        value[i] = element_for(onnx_in(n, element_for(onnx_in(n, 0), out, i) != 0 ? 1 : 2), out, i);
    return t;
}

struct onnx_tensor *fold_range(const struct onnx_at *n)
{
    double *value;
    struct onnx_tensor *t = begin(n, &value);
    int64_t count = t ? onnx_count(&onnx_out(n, 0)->shape) : 0;
    for (int64_t i = 0; i < count; i++)
        value[i] = onnx_element(onnx_in(n, 0)->constant, 0) +
                   (double)i * onnx_element(onnx_in(n, 2)->constant, 0);
    return t;
}

struct onnx_tensor *fold_cast(const struct onnx_at *n)
{
    const struct onnx_value *x = onnx_in(n, 0);
    int to = onnx_out(n, 0)->type;
    int64_t count = onnx_count(&x->shape);
    bool saturates = onnx_int(n->node, "saturate", 1) != 0;
    if (count > MOST_FOLDED) { // rounded where it is read
        struct onnx_strides all = {.shape = {1, {count}}, .stride = {1}};
        return fold_view(n, &all, to, saturates);
    }
    double *value;
    struct onnx_tensor *t = begin(n, &value);
    for (int64_t i = 0; t && i < count; i++)
        value[i] = onnx_rounded(onnx_element(x->constant, i), to, saturates);
    return t;
}

struct onnx_tensor *fold_constant_of_shape(const struct onnx_at *n)
{
    const struct onnx_attribute *a = onnx_attribute(n->node, "value");
    struct onnx_tensor *t = arena_zero(&n->graph->arena, 1, sizeof *t);
    t->fill = a && a->tensor ? onnx_element(a->tensor, 0) : 0;
    return t;
}

// Computes Shape and Size.
struct onnx_tensor *fold_shape(const struct onnx_at *n)
{
    const struct onnx_shape *s = &onnx_in(n, 0)->shape;
    double *value;
    struct onnx_tensor *t = begin(n, &value);
    bool is_shape = str_equal(n->node->kind, "Shape");
    int first, end;
    onnx_shape_part(n, &first, &end);
    for (int i = 0; t && i < (is_shape ? end - first : 1); i++)
        value[i] = (double)(is_shape ? s->size[first + i] : onnx_count(s));
    return t;
}

struct onnx_tensor *fold_moved(const struct onnx_at *n)
{
    struct onnx_strides s;
    bool is_known = n->step->kind->move(n, 0, &s) == ONNX_OK;
    return is_known ? fold_view(n, &s, ONNX_UNKNOWN, false) : NULL;
}

struct onnx_tensor *fold_gather(const struct onnx_at *n)
{
    const struct onnx_value *x = onnx_in(n, 0), *which = onnx_in(n, 1);
    int64_t axis = onnx_int(n->node, "axis", 0), inner = 1, many = which->constant->count;
    double *value;
    onnx_axis(&x->shape, &axis);
    int64_t size = x->shape.size[axis];
    for (int i = (int)axis + 1; i < x->shape.rank; i++)
        inner *= x->shape.size[i];
    struct onnx_tensor *t = begin(n, &value);
    int64_t count = t ? onnx_count(&onnx_out(n, 0)->shape) : 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t index = onnx_whole(which->constant, i / inner % many);
        index += index < 0 ? size : 0;
        if (index < 0 || index >= size)
            return NULL;
        value[i] = onnx_element(x->constant, (i / inner / many * size + index) * inner + i % inner);
    }
    return t;
}

struct onnx_tensor *fold_concat(const struct onnx_at *n)
{
    const struct onnx_shape *out = &onnx_out(n, 0)->shape;
    int64_t axis = onnx_int(n->node, "axis", 1), inner = 1, first = 0;
    double *value;
    struct onnx_tensor *t = begin(n, &value);
    if (!t)
        return NULL;
    onnx_axis(out, &axis);
    for (int i = (int)axis + 1; i < out->rank; i++)
        inner *= out->size[i];
    for (int k = 0; k < n->node->input_count; k++) {
        const struct onnx_tensor *part = onnx_in(n, k)->constant;
        int64_t row = onnx_in(n, k)->shape.size[axis] * inner;
        for (int64_t i = 0; i < part->count; i++)
            value[i / row * out->size[axis] * inner + first + i % row] = onnx_element(part, i);
        first += row;
    }
    return t;
}
