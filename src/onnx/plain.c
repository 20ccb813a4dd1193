// Lowers operators that compute element by element or along rows.
#include "onnx/operators.h"

#include "base/number.h"

#include <float.h>
#include <math.h>

static struct onnx_layer *add_elementwise(struct lowering *l, const struct onnx_at *n,
                                          const char *apply, int source)
{
    struct onnx_layer *to = lowering_add(l, n, "elementwise", NULL, onnx_out(n, 0));
    lowering_set(l, to, "count", onnx_count(&onnx_out(n, 0)->shape));
    lowering_set_word(l, to, "apply", apply);
    lowering_read(l, to, "X", source);
    return to;
}

// --- one input ---

struct activation {
    const char *name; // of the presets' setting; NULL: it is the identity
    bool is_separate; // no sum computes it
    double slope, low, high;
};

// Reads a bound of Clip: an attribute, in later versions an input.
static enum onnx_verdict read_bound(const struct onnx_at *n, const char *name, int input,
                                    double standard, double *out)
{
    const struct onnx_value *v = onnx_in(n, input);
    *out = onnx_real(n->node, name, standard);
    if (!v)
        return ONNX_OK;
    if (!v->constant || v->constant->count != 1)
        return onnx_unsupported(n, "'%s' is not constant", v->name);
    *out = onnx_element(v->constant, 0);
    return ONNX_OK;
}

static enum onnx_verdict read_activation(const struct onnx_at *n, struct activation *out)
{
    bool is_tanh = str_equal(n->node->kind, "Tanh");
    *out = (struct activation){.name = "relu"};
    if (is_tanh || str_equal(n->node->kind, "Sigmoid"))
        *out = (struct activation){.name = is_tanh ? "tanh" : "sigmoid", .is_separate = true};
    if (str_equal(n->node->kind, "LeakyRelu"))
        *out = (struct activation){.name = "leaky", .slope = onnx_real(n->node, "alpha", 0.01)};
    if (!isfinite(out->slope))
        return onnx_unsupported(n, "its alpha is no number");
    if (!str_equal(n->node->kind, "Clip"))
        return ONNX_OK;
    TRY(read_bound(n, "min", 1, -FLT_MAX, &out->low));
    TRY(read_bound(n, "max", 2, FLT_MAX, &out->high));
    if (isnan(out->low) || isnan(out->high))
        return onnx_unsupported(n, "its min or its max is no number");
    if (out->low > out->high)
        return onnx_unsupported(n, "its min is above its max");
    if (out->low > FLT_MAX || out->high < -FLT_MAX)
        return onnx_unsupported(n, "it leaves nothing but infinity");
    out->low = fmax(out->low, -FLT_MAX);
    out->high = fmin(out->high, FLT_MAX);
    bool is_open = out->high >= FLT_MAX;
    out->name = is_open && out->low <= -FLT_MAX ? NULL
                : is_open && out->low == 0      ? "relu"
                                                : "clamp";
    return ONNX_OK;
}

enum onnx_verdict lower_activation(struct lowering *l, const struct onnx_at *n)
{
    struct activation a;
    int source;
    TRY(read_activation(n, &a));
    if (!a.name)
        return lowering_alias(l, n, 0);
    struct onnx_layer *sum = a.is_separate ? NULL : lowering_sum(l, n, 0, ONNX_JOINED);
    struct onnx_layer *to = sum;
    if (sum) {
        lowering_set_word(l, sum, "activation", a.name);
        sum->stage = ONNX_ACTIVATED;
    } else {
        TRY(lowering_flow(l, n, 0, &source));
        to = add_elementwise(l, n, a.name, source);
    }
    if (str_equal(a.name, "leaky"))
        lowering_set_real(l, to, "slope", a.slope);
    if (str_equal(a.name, "clamp")) {
        lowering_set_real(l, to, "low", a.low);
        lowering_set_real(l, to, "high", a.high);
    }
    return sum ? lowering_alias(l, n, 0) : lowering_give(l, n, 0);
}

// --- functions of one input, that no sum computes ---

// Lowers functions that the preset elementwise has, with a slope and a number that is added.
enum onnx_verdict lower_function(struct lowering *l, const struct onnx_at *n)
{
    const char *kind = n->node->kind, *apply = onnx_function_find(kind)->apply;
    bool is_hard = str_equal(kind, "HardSigmoid");
    double slope = onnx_real(n->node, "alpha", is_hard ? 0.2 : 1);
    double added = onnx_real(n->node, "beta", 0.5);
    int source;
    if (str_equal(kind, "Gelu") && str_equal(onnx_text(n->node, "approximate", "none"), "tanh"))
        apply = "gelu_tanh";
    if (!isfinite(slope) || !isfinite(added) || (str_equal(kind, "Celu") && slope == 0))
        return onnx_unsupported(n, "its alpha or beta is no number that makes sense");
    if ((str_equal(kind, "Selu") &&
         (onnx_attribute(n->node, "alpha") || onnx_attribute(n->node, "gamma"))) ||
        (str_equal(kind, "Swish") && slope != 1))
        return onnx_unsupported(n, "it has other factors than usual");
    TRY(lowering_flow(l, n, 0, &source));
    struct onnx_layer *to = add_elementwise(l, n, apply, source);
    if (is_hard || str_equal(kind, "Elu") || str_equal(kind, "Celu"))
        lowering_set_real(l, to, "slope", slope);
    if (is_hard)
        lowering_set_real(l, to, "low", added);
    return lowering_give(l, n, 0);
}

// Lowers powers whose exponent is a constant that is simple.
enum onnx_verdict lower_power(struct lowering *l, const struct onnx_at *n)
{
    const struct onnx_tensor *c = onnx_in(n, 1)->constant;
    double exponent = c && c->count == 1 ? onnx_element(c, 0) : NAN;
    const char *apply = exponent == 2     ? "mul"
                        : exponent == 0.5 ? "sqrt"
                        : exponent == -1  ? "reciprocal"
                                          : NULL;
    int source;
    if (!onnx_same_shape(&onnx_in(n, 0)->shape, &onnx_out(n, 0)->shape))
        return onnx_unsupported(n, "its exponent makes it larger");
    if (exponent == 1)
        return lowering_alias(l, n, 0);
    if (!apply)
        return onnx_unsupported(n, "its exponent is none of 2, 1, 0.5 and -1");
    TRY(lowering_flow(l, n, 0, &source));
    struct onnx_layer *to = add_elementwise(l, n, apply, source);
    if (exponent == 2)
        lowering_read(l, to, "Z", source);
    return lowering_give(l, n, 0);
}

// --- with a constant ---

enum { MOST_ALIKE = 1 << 16, MOST_SPREAD = 1 << 22, MOST_IN_ALL = 1 << 24 };

// Returns the numbers of `c`, one for each of `channels` channels of `inner` elements; NULL: they
// also differ within a channel, or there are too many.
static const double *by_channel(struct lowering *l, const struct onnx_tensor *c,
                                const struct onnx_shape *x, int64_t channels, int64_t inner)
{
    int64_t behind = 1;
    bool fits = c->count == 1;
    for (int i = x->rank - 1; i >= 0 && !fits; i--) {
        int own = i - (x->rank - c->shape.rank);
        int64_t size = own < 0 ? 1 : c->shape.size[own];
        fits = size > 1 && size == c->count && size == channels && behind == inner;
        if (size > 1)
            break;
        behind *= x->size[i];
    }
    if (!fits || (c->count == 1 && channels > MOST_ALIKE))
        return NULL;
    double *out = arena_zero(&l->out->arena, (size_t)channels, sizeof *out);
    for (int64_t i = 0; i < channels; i++)
        out[i] = onnx_element(c, c->count == 1 ? 0 : i);
    return out;
}

// Returns numbers that differ by the channel only. Tried in turn as channels: those of the sum that
// computes x, those of images, the last axis, the whole tensor as one. NULL: none fits.
static const double *channel_numbers(struct lowering *l, const struct onnx_at *n, int flow,
                                     struct onnx_channels *out)
{
    const struct onnx_tensor *c = onnx_in(n, 1 - flow)->constant;
    const struct onnx_shape *x = &onnx_in(n, flow)->shape;
    const struct onnx_layer *sum = lowering_sum(l, n, flow, ONNX_JOINED);
    const double *numbers = NULL;
    struct onnx_channels way[4];
    int64_t size[4];
    int ways = 0;
    if (sum)
        way[ways++] = (struct onnx_channels){.channels = sum->channels, .inner = sum->inner};
    if (lowering_image(x, size))
        way[ways++] = (struct onnx_channels){.channels = size[1], .inner = size[2] * size[3]};
    if (x->rank > 0)
        way[ways++] = (struct onnx_channels){.channels = x->size[x->rank - 1], .inner = 1};
    if (c->count == 1)
        way[ways++] = (struct onnx_channels){.channels = 1, .inner = onnx_count(x)};
    for (int i = 0; i < ways && !numbers; i++) {
        *out = way[i];
        numbers = by_channel(l, c, x, out->channels, out->inner);
    }
    return numbers;
}

// Returns the number that is added or multiplied in place of the constant element `c`.
static double operand(const struct onnx_at *n, double c)
{
    return str_equal(n->node->kind, "Sub") ? -c : str_equal(n->node->kind, "Div") ? 1 / c : c;
}

// Applies a function of x and a constant that is written as large as x; `as_first`: of the constant
// and x.
static enum onnx_verdict apply_constant(struct lowering *l, const struct onnx_at *n, int flow,
                                        const char *apply, bool as_first)
{
    const struct onnx_value *out = onnx_out(n, 0), *c = onnx_in(n, 1 - flow);
    int64_t count = onnx_count(&out->shape);
    int source;
    if (!onnx_same_shape(&onnx_in(n, flow)->shape, &out->shape))
        return onnx_unsupported(n, "a constant makes it larger");
    if (count > MOST_SPREAD || l->spread + count > MOST_IN_ALL)
        return onnx_unsupported(n, "a constant of another form than its channels is too large");
    TRY(lowering_flow(l, n, flow, &source));
    l->spread += count;
    double *value = arena_zero(&l->out->arena, (size_t)count, sizeof *value);
    bool is_turned = str_equal(apply, "add") || str_equal(apply, "mul"); // a - c is a + -c
    for (int64_t i = 0; i < count; i++) {
        double element = onnx_element(c->constant, onnx_broadcast_index(&c->shape, &out->shape, i));
        value[i] = is_turned ? operand(n, element) : element;
    }
    struct onnx_layer *to = add_elementwise(l, n, apply, source);
    if (as_first)
        to->from[0].tensor = "Z";
    struct onnx_weights *w = lowering_weigh(to, as_first ? "X" : "Z", NULL);
    w->shape = (struct onnx_shape){1, {count}};
    w->value = value;
    return lowering_give(l, n, 0);
}

// Lowers x + c, x - c, x * c and x / c.
static enum onnx_verdict with_constant(struct lowering *l, const struct onnx_at *n, int flow,
                                       bool is_factor)
{
    const struct onnx_shape *x = &onnx_in(n, flow)->shape;
    struct onnx_channels c;
    bool is_same = onnx_same_shape(x, &onnx_out(n, 0)->shape) && onnx_count(x) > 0;
    const double *given = is_same ? channel_numbers(l, n, flow, &c) : NULL;
    if (!given)
        return apply_constant(l, n, flow, is_factor ? "mul" : "add", false);
    double *numbers = arena_zero(&l->out->arena, (size_t)c.channels, sizeof *numbers);
    for (int64_t i = 0; i < c.channels; i++)
        numbers[i] = operand(n, given[i]);
    c.factor = is_factor ? numbers : NULL;
    c.shift = is_factor ? NULL : numbers;
    return lowering_affine(l, n, flow, &c);
}

// Returns the input that is computed when the other one is constant; -1: both are computed.
static int flow_beside_constant(const struct onnx_at *n)
{
    return lowering_is_constant(n, 0) ? 1 : lowering_is_constant(n, 1) ? 0 : -1;
}

// --- two computed inputs ---

// Finds an input as large as the output, repeated where it is smaller.
static enum onnx_verdict spread(struct lowering *l, const struct onnx_at *n, int index, int *source)
{
    const struct onnx_shape *x = &onnx_in(n, index)->shape, *out = &onnx_out(n, 0)->shape;
    struct onnx_strides s;
    if (onnx_count(x) == onnx_count(out))
        return lowering_flow(l, n, index, source);
    onnx_broadcast_strides(x, out, &s);
    s.more = index ? "second" : "first";
    s.type = onnx_out(n, 0);
    return lowering_strided(l, n, index, &s, source);
}

static enum onnx_verdict add_binary(struct lowering *l, const struct onnx_at *n, const char *apply)
{
    int a, b;
    TRY(spread(l, n, 0, &a));
    TRY(spread(l, n, 1, &b));
    lowering_read(l, add_elementwise(l, n, apply, a), "Z", b);
    return lowering_give(l, n, 0);
}

// Returns the sum that gives input `index`, if the other input can be added to it: nothing else
// reads it, so it can be computed after the other one.
static struct onnx_layer *may_join(struct lowering *l, const struct onnx_at *n, int index)
{
    int64_t count = onnx_count(&onnx_out(n, 0)->shape);
    bool is_even =
        onnx_count(&onnx_in(n, 0)->shape) == count && onnx_count(&onnx_in(n, 1)->shape) == count;
    return is_even ? lowering_sum(l, n, index, ONNX_SHIFTED) : NULL;
}

static int newest_input(const struct onnx_layer *layer)
{
    int newest = -1;
    for (int i = 0; i < layer->from_count; i++)
        newest = int_max(newest, layer->from[i].source);
    return newest;
}

// Lowers Add and Sum.
enum onnx_verdict lower_add(struct lowering *l, const struct onnx_at *n)
{
    if (n->node->input_count == 1)
        return lowering_alias(l, n, 0);
    if (n->node->input_count > 2)
        return onnx_unsupported(n, "it adds more than two");
    int constant_flow = flow_beside_constant(n), source;
    if (constant_flow >= 0)
        return with_constant(l, n, constant_flow, false);
    struct onnx_layer *first = may_join(l, n, 0), *second = may_join(l, n, 1), *sum = first;
    if (!first && !second)
        return add_binary(l, n, "add");
    // The sum at the end of the longer path takes the other one as its residual.
    if (!first || (second && newest_input(second) >= newest_input(first)))
        sum = second;
    int other = sum == first ? 1 : 0;
    TRY(lowering_flow(l, n, other, &source));
    lowering_read(l, sum, "residual", source);
    lowering_set_word(l, sum, "residual", "add");
    sum->stage = ONNX_JOINED;
    return lowering_alias(l, n, 1 - other);
}

// Lowers c - x: a factor of -1 and a shift, where the constant differs by the channel only.
static enum onnx_verdict take_from_constant(struct lowering *l, const struct onnx_at *n)
{
    const struct onnx_shape *x = &onnx_in(n, 1)->shape;
    struct onnx_channels c;
    bool is_same = onnx_same_shape(x, &onnx_out(n, 0)->shape) && onnx_count(x) > 0;
    const double *given = is_same ? channel_numbers(l, n, 1, &c) : NULL;
    if (!given)
        return apply_constant(l, n, 1, "sub", true);
    double *factor = arena_zero(&l->out->arena, (size_t)c.channels, sizeof *factor);
    for (int64_t i = 0; i < c.channels; i++)
        factor[i] = -1;
    c.factor = factor;
    c.shift = given;
    return lowering_affine(l, n, 1, &c);
}

// Lowers Sub, Mul and Div.
enum onnx_verdict lower_arithmetic(struct lowering *l, const struct onnx_at *n)
{
    const struct onnx_tensor *by = onnx_in(n, 1)->constant;
    bool is_difference = str_equal(n->node->kind, "Sub"),
         is_ratio = str_equal(n->node->kind, "Div");
    int flow = flow_beside_constant(n);
    for (int64_t i = 0; is_ratio && by && i < by->count; i++)
        if (onnx_element(by, i) == 0)
            return onnx_unsupported(n, "it divides by 0");
    if (flow < 0)
        return add_binary(l, n, onnx_function_find(n->node->kind)->apply);
    if (flow > 0 && is_ratio)
        return apply_constant(l, n, flow, "div", true);
    if (flow > 0 && is_difference)
        return take_from_constant(l, n);
    return with_constant(l, n, flow, !is_difference);
}

// Lowers Max and Min of two.
enum onnx_verdict lower_extreme(struct lowering *l, const struct onnx_at *n)
{
    const char *apply = onnx_function_find(n->node->kind)->apply;
    if (n->node->input_count == 1)
        return lowering_alias(l, n, 0);
    if (n->node->input_count > 2)
        return onnx_unsupported(n, "it is of more than two");
    int flow = flow_beside_constant(n);
    return flow < 0 ? add_binary(l, n, apply) : apply_constant(l, n, flow, apply, false);
}

// --- along rows ---

enum onnx_verdict lower_softmax(struct lowering *l, const struct onnx_at *n)
{
    const struct onnx_shape *x = &onnx_in(n, 0)->shape;
    bool is_old = n->graph->model->opset < 13; // then all that is behind the axis is one row
    int64_t axis = onnx_int(n->node, "axis", is_old ? 1 : -1), rows = 1, columns, behind = 1;
    int source;
    if (axis == x->rank && is_old)
        return onnx_unsupported(n, "its rows have one element");
    if (!onnx_axis(x, &axis))
        return onnx_unsupported(n, "it is along no axis");
    for (int i = 0; i < axis; i++)
        rows *= x->size[i];
    for (int i = (int)axis + 1; i < x->rank; i++)
        behind *= x->size[i];
    if (!is_old && behind != 1)
        return onnx_unsupported(n, "it is not along the last axis");
    columns = x->size[axis] * behind;
    TRY(lowering_flow(l, n, 0, &source));
    struct onnx_layer *to = lowering_add(l, n, "softmax", NULL, onnx_out(n, 0));
    lowering_set(l, to, "rows", rows);
    lowering_set(l, to, "columns", columns);
    lowering_read(l, to, "X", source);
    return lowering_give(l, n, 0);
}

enum onnx_verdict lower_lrn(struct lowering *l, const struct onnx_at *n)
{
    const struct onnx_shape *x = &onnx_in(n, 0)->shape;
    static const char *const names[] = {"batch", "channels", "height", "width"};
    double alpha = onnx_real(n->node, "alpha", 1e-4), beta = onnx_real(n->node, "beta", 0.75),
           bias = onnx_real(n->node, "bias", 1);
    int64_t size[4], window = onnx_int(n->node, "size", 0);
    int source;
    if (!lowering_image(x, size))
        return onnx_unsupported(n, "it is not over images (batch, channels, height, width)");
    if (window < 1 || !isfinite(beta) || !(alpha >= 0 && alpha <= FLT_MAX) ||
        !(bias > 0 && bias <= FLT_MAX))
        return onnx_unsupported(n, "its size, alpha, beta or bias are none that make sense");
    TRY(lowering_flow(l, n, 0, &source));
    struct onnx_layer *to = lowering_add(l, n, "lrn", NULL, onnx_out(n, 0));
    for (int i = 0; i < 4; i++)
        lowering_set(l, to, names[i], size[i]);
    lowering_set(l, to, "window", window);
    lowering_set_real(l, to, "alpha", alpha);
    lowering_set_real(l, to, "beta", beta);
    lowering_set_real(l, to, "bias_k", bias);
    lowering_read(l, to, "X", source);
    return lowering_give(l, n, 0);
}
