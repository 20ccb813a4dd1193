// Lowers convolutions, pools and products, and the operations on a sum before it is stored.
#include "onnx/operators.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

// Makes an input of the step a tensor of the layer: its weights, or one that is computed.
static enum onnx_verdict add_tensor(struct lowering *l, const struct onnx_at *n, int index,
                                    struct onnx_layer *to, const char *tensor)
{
    int source;
    if (lowering_is_constant(n, index)) {
        lowering_weigh(to, tensor, onnx_in(n, index)->constant);
        return ONNX_OK;
    }
    TRY(lowering_flow(l, n, index, &source));
    lowering_read(l, to, tensor, source);
    return ONNX_OK;
}

static void begin_sum(struct onnx_layer *to, int64_t channels, int64_t inner)
{
    to->is_sum = true;
    to->channels = channels;
    to->inner = inner;
}

// Lets a factor for each channel go into the weights that were added last. `inner` neighbouring
// weights belong to one channel.
static void factor_weights(struct onnx_layer *to, int64_t channels, int64_t inner)
{
    to->factored = to->weights_count - 1;
    to->weights[to->factored].factors = channels;
    to->weights[to->factored].inner = inner;
}

// Makes y * factor + shift of the sum y.
static void apply_affine(struct lowering *l, struct onnx_layer *to, const double *factor,
                         const double *shift)
{
    if (!to->bias)
        to->bias = arena_zero(&l->out->arena, (size_t)to->channels, sizeof *to->bias);
    for (int64_t i = 0; i < to->channels; i++)
        to->bias[i] = to->bias[i] * (factor ? factor[i] : 1) + (shift ? shift[i] : 0);
    if (to->stage == ONNX_SUM)
        to->stage = ONNX_SHIFTED;
    if (!factor)
        return;
    struct onnx_weights *w = &to->weights[to->factored];
    double *all = arena_zero(&l->out->arena, (size_t)to->channels, sizeof *all);
    for (int64_t i = 0; i < to->channels; i++)
        all[i] = factor[i] * (w->factor ? w->factor[i] : 1);
    w->factor = all;
}

// --- convolutions ---

// Makes a window and the sizes of its image those of rows and columns: of one axis it is one of one
// row. False: it has three.
static bool take_rows(struct onnx_window *w, const struct onnx_shape *x, int64_t image[4])
{
    if (!lowering_image(x, image) || w->axes > 2)
        return false;
    if (w->axes == 2)
        return true;
    image[2] = 1;
    image[3] = x->size[2];
    *w = (struct onnx_window){.axes = 2,
                              .kernel = {1, w->kernel[0]},
                              .stride = {w->stride[0], w->stride[0]},
                              .dilation = {w->dilation[0], w->dilation[0]},
                              .before = {0, w->before[0]},
                              .after = {0, w->after[0]},
                              .out = {1, w->out[0]}};
    return true;
}

// Finds one padding before rows and columns, and an extra one behind them, that give as many
// windows. False: there is none.
static bool find_padding(const struct onnx_window *w, const int64_t image[4], int64_t *padding,
                         int64_t *extra)
{
    int64_t stride = w->stride[0], most = INT32_MAX;
    *padding = w->before[0];
    *extra = 0;
    for (int i = 0; i < 2; i++) { // room / stride + 1 is how many windows there are
        int64_t extent = (w->kernel[i] - 1) * w->dilation[i] + 1;
        int64_t room = image[2 + i] + 2 * *padding - extent;
        *extra = int64_max(*extra, (w->out[i] - 1) * stride - room);
        most = int64_min(most, w->out[i] * stride - 1 - room);
    }
    return w->before[0] == w->before[1] && w->stride[0] == w->stride[1] &&
           w->dilation[0] == w->dilation[1] && *extra <= most;
}

static void set_image(struct lowering *l, struct onnx_layer *to, const char *channels,
                      const int64_t size[4])
{
    lowering_set(l, to, "batch", size[0]);
    lowering_set(l, to, channels, size[1]);
    lowering_set(l, to, "height", size[2]);
    lowering_set(l, to, "width", size[3]);
}

static void set_kernel(struct lowering *l, struct onnx_layer *to, const struct onnx_window *w,
                       int64_t padding, int64_t extra)
{
    lowering_set(l, to, "kernel_h", w->kernel[0]);
    lowering_set(l, to, "kernel_w", w->kernel[1]);
    lowering_set(l, to, "stride", w->stride[0]);
    lowering_set(l, to, "padding", padding);
    if (extra)
        lowering_set(l, to, "extra", extra);
    if (w->dilation[0] > 1)
        lowering_set(l, to, "dilation", w->dilation[0]);
}

// Adds a depthwise convolution of input `index` whose weights are all `weight`: a sum to which
// factors and shifts can be added. Its kernel is kernel[0] high and kernel[1] wide.
static enum onnx_verdict add_depthwise(struct lowering *l, const struct onnx_at *n, int index,
                                       const int64_t size[4], const int64_t kernel[2],
                                       double weight, struct onnx_layer **out)
{
    const struct onnx_window w = {
        .kernel = {kernel[0], kernel[1]}, .stride = {1, 1}, .dilation = {1, 1}};
    int64_t inner = kernel[0] * kernel[1];
    struct onnx_tensor *alike = arena_zero(&l->out->arena, 1, sizeof *alike);
    int source;
    TRY(lowering_flow(l, n, index, &source));
    *alike = (struct onnx_tensor){.type = ONNX_FLOAT,
                                  .shape = {4, {size[1], 1, kernel[0], kernel[1]}},
                                  .count = size[1] * inner,
                                  .fill = weight};
    *out = lowering_add(l, n, "depthwise", NULL, onnx_out(n, 0));
    set_image(l, *out, "channels", size);
    set_kernel(l, *out, &w, 0, 0);
    lowering_read(l, *out, "X", source);
    lowering_weigh(*out, "W", alike);
    factor_weights(*out, size[1], inner);
    begin_sum(*out, size[1], size[2] * size[3] / inner);
    return ONNX_OK;
}

// Sets what rows and columns have of their own: kernel_h, kernel_w, stride_h and so on.
static void set_axes(struct lowering *l, struct onnx_layer *to, const char *name,
                     const int64_t value[2])
{
    for (int i = 0; i < 2; i++)
        lowering_set(l, to, arena_printf(&l->out->arena, "%s_%c", name, "hw"[i]), value[i]);
}

// Adds the convolution's weights and its bias.
static enum onnx_verdict add_weights(struct lowering *l, const struct onnx_at *n,
                                     struct onnx_layer *to, int64_t inner)
{
    TRY(add_tensor(l, n, 1, to, "W"));
    if (inner && lowering_is_constant(n, 1))
        factor_weights(to, to->channels, inner);
    if (onnx_in(n, 2)) {
        to->bias = arena_zero(&l->out->arena, (size_t)to->channels, sizeof *to->bias);
        for (int64_t i = 0; i < to->channels; i++)
            to->bias[i] = onnx_element(onnx_in(n, 2)->constant, i);
        to->stage = ONNX_SHIFTED;
    }
    return lowering_give(l, n, 0);
}

enum onnx_verdict lower_conv(struct lowering *l, const struct onnx_at *n)
{
    const struct onnx_shape *x = &onnx_in(n, 0)->shape, *w = &onnx_in(n, 1)->shape;
    int64_t groups = onnx_int(n->node, "group", 1), padding, extra, image[4];
    struct onnx_window window;
    int source;
    TRY(onnx_window_of(n, x, &w->size[2], &window));
    if (!take_rows(&window, x, image))
        return onnx_unsupported(n, "it is over three axes");
    if (onnx_in(n, 2) && !lowering_is_constant(n, 2))
        return onnx_unsupported(n, "its bias is not constant");
    TRY(lowering_flow(l, n, 0, &source));
    bool is_even = find_padding(&window, image, &padding, &extra);
    bool is_depthwise = is_even && groups == image[1] && groups > 1;
    bool is_pixel = window.kernel[0] * window.kernel[1] == 1;
    const char *preset = !is_even       ? "conv-axes"
                         : is_depthwise ? "depthwise"
                         : is_pixel     ? "conv1x1"
                                        : "conv-implicit";
    struct onnx_layer *to = lowering_add(l, n, preset, NULL, onnx_out(n, 0));
    set_image(l, to, is_depthwise ? "channels" : "in_channels", image);
    if (is_depthwise)
        lowering_set(l, to, "multiplier", w->size[0] / groups);
    else
        lowering_set(l, to, "out_channels", w->size[0]);
    if (!is_depthwise && groups > 1)
        lowering_set(l, to, "groups", groups);
    if (is_even) {
        set_kernel(l, to, &window, padding, extra);
    } else {
        set_axes(l, to, "kernel", window.kernel);
        set_axes(l, to, "stride", window.stride);
        set_axes(l, to, "dilation", window.dilation);
        set_axes(l, to, "before", window.before);
        for (int i = 0; i < 2; i++) // what rounding up asks for, too
            window.after[i] = int64_max(0, (window.out[i] - 1) * window.stride[i] +
                                               (window.kernel[i] - 1) * window.dilation[i] + 1 -
                                               image[2 + i] - window.before[i]);
        set_axes(l, to, "after", window.after);
    }
    lowering_read(l, to, "X", source);
    to->is_product = is_even; // conv-axes has kernels of f32 and f16 alone
    begin_sum(to, w->size[0], window.out[0] * window.out[1]);
    return add_weights(l, n, to, w->size[1] * window.kernel[0] * window.kernel[1]);
}

enum onnx_verdict lower_conv_transpose(struct lowering *l, const struct onnx_at *n)
{
    const struct onnx_shape *x = &onnx_in(n, 0)->shape, *w = &onnx_in(n, 1)->shape;
    int64_t groups = onnx_int(n->node, "group", 1), image[4];
    struct onnx_window window;
    int source;
    TRY(onnx_window_back(n, x, &w->size[2], &window));
    if (!take_rows(&window, x, image))
        return onnx_unsupported(n, "it is over three axes");
    if (onnx_in(n, 2) && !lowering_is_constant(n, 2))
        return onnx_unsupported(n, "its bias is not constant");
    TRY(lowering_flow(l, n, 0, &source));
    struct onnx_layer *to = lowering_add(l, n, "conv-transposed", NULL, onnx_out(n, 0));
    set_image(l, to, "in_channels", image);
    lowering_set(l, to, "out_channels", w->size[1] * groups);
    if (groups > 1)
        lowering_set(l, to, "groups", groups);
    set_axes(l, to, "kernel", window.kernel);
    set_axes(l, to, "stride", window.stride);
    set_axes(l, to, "dilation", window.dilation);
    set_axes(l, to, "before", window.before);
    set_axes(l, to, "out", window.out);
    lowering_read(l, to, "X", source);
    begin_sum(to, w->size[1] * groups, window.out[0] * window.out[1]);
    return add_weights(l, n, to, groups == 1 ? window.kernel[0] * window.kernel[1] : 0);
}

// --- pools ---

static enum onnx_verdict add_pool(struct lowering *l, const struct onnx_at *n,
                                  const struct onnx_window *w, const int64_t image[4], bool is_max,
                                  bool by_window)
{
    int64_t padding, extra;
    int source;
    if (!find_padding(w, image, &padding, &extra) || w->kernel[0] != w->kernel[1] ||
        w->dilation[0] != 1)
        return onnx_unsupported(
            n, "its window, padding or strides differ between rows and columns, or "
               "have gaps");
    if (padding >= w->kernel[0])
        return onnx_unsupported(n, "its padding is not smaller than its window");
    if (extra && by_window)
        return onnx_unsupported(n, "it counts padding that differs before and behind");
    for (int i = 0; i < 2; i++)
        if ((w->out[i] - 1) * w->stride[i] - padding >= image[2 + i])
            return onnx_unsupported(n, "a window of it lies outside of the image");
    TRY(lowering_flow(l, n, 0, &source));
    struct onnx_layer *to =
        lowering_add(l, n, is_max ? "maxpool" : "avgpool", NULL, onnx_out(n, 0));
    set_image(l, to, "channels", image);
    lowering_set(l, to, "window", w->kernel[0]);
    lowering_set(l, to, "stride", w->stride[0]);
    lowering_set(l, to, "padding", padding);
    if (extra)
        lowering_set(l, to, "extra", extra);
    if (by_window)
        lowering_set_word(l, to, "divisor", "window");
    lowering_read(l, to, "X", source);
    return lowering_give(l, n, 0);
}

enum onnx_verdict lower_pool(struct lowering *l, const struct onnx_at *n)
{
    const struct onnx_shape *x = &onnx_in(n, 0)->shape;
    struct onnx_window w;
    int64_t image[4];
    TRY(onnx_window_of(n, x, onnx_attribute(n->node, "kernel_shape")->ints, &w));
    if (!take_rows(&w, x, image))
        return onnx_unsupported(n, "it is over three axes");
    bool is_padded = w.before[0] + w.before[1] + w.after[0] + w.after[1] > 0;
    return add_pool(l, n, &w, image, str_equal(n->node->kind, "MaxPool"),
                    is_padded && onnx_int(n->node, "count_include_pad", 0));
}

enum onnx_verdict lower_global_pool(struct lowering *l, const struct onnx_at *n)
{
    const struct onnx_shape *x = &onnx_in(n, 0)->shape;
    bool is_max = str_equal(n->node->kind, "GlobalMaxPool");
    int64_t size[4];
    if (!lowering_image(x, size))
        return onnx_unsupported(n, "it is not over images (batch, channels, height, width)");
    if (x->rank == 4 && size[2] == size[3]) {
        const struct onnx_window w = {
            .kernel = {size[2], size[2]}, .stride = {1, 1}, .dilation = {1, 1}, .out = {1, 1}};
        return add_pool(l, n, &w, size, is_max, false);
    }
    if (is_max)
        return onnx_unsupported(n, "its images are not square");
    // The mean of whole images is a depthwise convolution whose weights are all the same.
    struct onnx_layer *to;
    TRY(add_depthwise(l, n, 0, size, &size[2], 1 / (double)(size[2] * size[3]), &to));
    return lowering_give(l, n, 0);
}

// Adds the sum or mean of rows: their product with a column of equal weights.
static enum onnx_verdict add_rows(struct lowering *l, const struct onnx_at *n, int64_t rows,
                                  int64_t columns, double weight)
{
    int source;
    struct onnx_tensor *alike = arena_zero(&l->out->arena, 1, sizeof *alike);
    TRY(lowering_flow(l, n, 0, &source));
    *alike = (struct onnx_tensor){
        .type = ONNX_FLOAT, .shape = {2, {columns, 1}}, .count = columns, .fill = weight};
    struct onnx_layer *to = lowering_add(l, n, "gemm", NULL, onnx_out(n, 0));
    lowering_set(l, to, "N", rows);
    lowering_set(l, to, "M", 1);
    lowering_set(l, to, "K", columns);
    lowering_set_word(l, to, "layout", "nn");
    lowering_read(l, to, "A", source);
    lowering_weigh(to, "B", alike);
    factor_weights(to, 1, 1);
    begin_sum(to, 1, rows);
    return lowering_give(l, n, 0);
}

// Lowers ReduceMean and ReduceSum of whole images, and of the last axes.
enum onnx_verdict lower_reduce(struct lowering *l, const struct onnx_at *n)
{
    const struct onnx_shape *x = &onnx_in(n, 0)->shape;
    bool is_mean = str_equal(n->node->kind, "ReduceMean");
    struct onnx_list axes;
    bool gone[ONNX_MAX_RANK] = {false};
    int64_t rows = 1, columns = 1;
    TRY(onnx_list_of(n, "axes", 1, &axes));
    if (!axes.count && onnx_int(n->node, "noop_with_empty_axes", 0))
        return lowering_alias(l, n, 0);
    for (int i = 0; i < axes.count; i++)
        if (onnx_axis(x, &axes.value[i]))
            gone[axes.value[i]] = true;
    if (is_mean && x->rank == 4 && gone[2] && gone[3] && !gone[0] && !gone[1])
        return lower_global_pool(l, n);
    bool is_last = true;
    for (int i = 0; i < x->rank; i++) {
        gone[i] |= !axes.count;
        is_last &= gone[i] || columns == 1;
        *(gone[i] ? &columns : &rows) *= x->size[i];
    }
    if (!is_last)
        return onnx_unsupported(n, "it is not over the last axes, nor over whole images");
    return add_rows(l, n, rows, columns, is_mean ? 1 / (double)columns : 1);
}

// Lowers LayerNormalization and RMSNormalization, of rows that begin at an axis.
enum onnx_verdict lower_layer_norm(struct lowering *l, const struct onnx_at *n)
{
    const struct onnx_shape *x = &onnx_in(n, 0)->shape;
    bool has_mean = str_equal(n->node->kind, "LayerNormalization");
    int64_t axis = onnx_int(n->node, "axis", -1), rows = 1, columns = 1;
    double epsilon = onnx_real(n->node, "epsilon", 1e-5);
    int source;
    onnx_axis(x, &axis);
    for (int i = 0; i < x->rank; i++)
        *(i < axis ? &rows : &columns) *= x->size[i];
    for (int i = 1; i < 3; i++) {
        if (onnx_out(n, i) && onnx_out(n, i)->uses)
            return onnx_unsupported(n, "it also gives the means and deviations");
        if (onnx_in(n, i) && onnx_count(&onnx_in(n, i)->shape) != columns)
            return onnx_unsupported(n, "its scale or bias has not one number a column");
    }
    if (!isfinite(epsilon) || epsilon < 0)
        return onnx_unsupported(n, "its epsilon is no number that can be added");
    TRY(lowering_flow(l, n, 0, &source));
    struct onnx_layer *to =
        lowering_add(l, n, has_mean ? "layer-norm" : "rms-norm", NULL, onnx_out(n, 0));
    lowering_set(l, to, "M", rows);
    lowering_set(l, to, "N", columns);
    lowering_set_real(l, to, "epsilon", epsilon);
    lowering_read(l, to, "X", source);
    TRY(add_tensor(l, n, 1, to, "gamma"));
    if (has_mean && onnx_in(n, 2)) {
        TRY(add_tensor(l, n, 2, to, "beta"));
    } else if (has_mean) {
        struct onnx_tensor *none = arena_zero(&l->out->arena, 1, sizeof *none);
        *none = (struct onnx_tensor){.type = ONNX_FLOAT, .shape = {1, {columns}}, .count = columns};
        lowering_weigh(to, "beta", none);
    }
    return lowering_give(l, n, 0);
}

// --- products ---

// Adds the product of inputs 0 and 1; `size` is N, M and K.
static enum onnx_verdict add_product(struct lowering *l, const struct onnx_at *n,
                                     const int64_t size[3], const char *layout,
                                     struct onnx_layer **out)
{
    struct onnx_layer *to = *out = lowering_add(l, n, "gemm", NULL, onnx_out(n, 0));
    lowering_set(l, to, "N", size[0]);
    lowering_set(l, to, "M", size[1]);
    lowering_set(l, to, "K", size[2]);
    lowering_set_word(l, to, "layout", layout);
    if (lowering_is_constant(n, 0) && lowering_is_constant(n, 1))
        return onnx_unsupported(n, "both matrices are constant");
    TRY(add_tensor(l, n, 0, to, "A"));
    TRY(add_tensor(l, n, 1, to, "B"));
    if (lowering_is_constant(n, 1))
        factor_weights(to, size[1], layout[1] == 't' ? size[2] : 1);
    to->is_product = true;
    begin_sum(to, size[1], 1);
    return ONNX_OK;
}

// Adds beta C: a bias where it is the same for all rows, else a residual.
static enum onnx_verdict add_summand(struct lowering *l, const struct onnx_at *n,
                                     struct onnx_layer *to)
{
    const struct onnx_value *c = onnx_in(n, 2), *out = onnx_out(n, 0);
    double beta = onnx_real(n->node, "beta", 1);
    int source;
    bool is_row = c->shape.rank < 2 || c->shape.size[0] == 1;
    if (c->constant && is_row) {
        double *shift = arena_zero(&l->out->arena, (size_t)to->channels, sizeof *shift);
        for (int64_t i = 0; i < to->channels; i++)
            shift[i] =
                beta * onnx_element(c->constant, onnx_broadcast_index(&c->shape, &out->shape, i));
        apply_affine(l, to, NULL, shift);
        return ONNX_OK;
    }
    if (c->constant || beta != 1 || !onnx_same_shape(&c->shape, &out->shape))
        return onnx_unsupported(n, "what it adds is neither a row of constants nor as large as the "
                                   "product");
    TRY(lowering_flow(l, n, 2, &source));
    lowering_read(l, to, "residual", source);
    lowering_set_word(l, to, "residual", "add");
    to->stage = ONNX_JOINED;
    return ONNX_OK;
}

enum onnx_verdict lower_gemm(struct lowering *l, const struct onnx_at *n)
{
    static const char *const layouts[2][2] = {{"nn", "nt"}, {"tn", "tt"}};
    const struct onnx_shape *a = &onnx_in(n, 0)->shape, *out = &onnx_out(n, 0)->shape;
    bool turns_a = onnx_int(n->node, "transA", 0), turns_b = onnx_int(n->node, "transB", 0);
    const int64_t size[3] = {out->size[0], out->size[1], a->size[!turns_a]};
    double alpha = onnx_real(n->node, "alpha", 1);
    if (!isfinite(alpha) || !isfinite(onnx_real(n->node, "beta", 1)))
        return onnx_unsupported(n, "its alpha or its beta is no number");
    struct onnx_layer *to;
    TRY(add_product(l, n, size, layouts[turns_a][turns_b], &to));
    if (alpha != 1) {
        lowering_set_real(l, to, "scale", alpha);
        to->factored = -1;
    }
    if (onnx_in(n, 2))
        TRY(add_summand(l, n, to));
    return lowering_give(l, n, 0);
}

// Returns whether both operands have the same batch dimensions.
static bool are_paired(const struct onnx_shape *a, const struct onnx_shape *b)
{
    for (int i = 0; i < a->rank - 2 || i < b->rank - 2; i++) {
        int64_t left = i < a->rank - 2 ? a->size[a->rank - 3 - i] : 1;
        int64_t right = i < b->rank - 2 ? b->size[b->rank - 3 - i] : 1;
        if (left != right)
            return false;
    }
    return true;
}

enum onnx_verdict lower_matmul(struct lowering *l, const struct onnx_at *n)
{
    const struct onnx_shape *a = &onnx_in(n, 0)->shape, *b = &onnx_in(n, 1)->shape;
    int64_t N = a->rank > 1 ? a->size[a->rank - 2] : 1, K = a->size[a->rank - 1];
    int64_t M = b->rank > 1 ? b->size[b->rank - 1] : 1; // of a vector: a row, a column
    if (onnx_count(a) == 0 || onnx_count(b) == 0)
        return onnx_unsupported(n, "it has no elements");
    int64_t left = onnx_count(a) / (N * K), right = onnx_count(b) / (K * M);
    if (right > 1 && !are_paired(a, b))
        return onnx_unsupported(n, "its batches do not match");
    const int64_t size[3] = {right == 1 ? left * N : N, M, K};
    struct onnx_layer *to;
    TRY(add_product(l, n, size, "nn", &to));
    if (right > 1) {
        lowering_set(l, to, "batch", right);
        to->factored = -1;
    }
    return lowering_give(l, n, 0);
}

// --- factors and shifts ---

enum onnx_verdict lowering_affine(struct lowering *l, const struct onnx_at *n, int index,
                                  const struct onnx_channels *c)
{
    struct onnx_layer *sum = lowering_sum(l, n, index, c->factor ? ONNX_SHIFTED : ONNX_JOINED);
    bool fits = sum && sum->channels == c->channels && sum->inner == c->inner;
    if (!fits || (c->factor && sum->factored < 0)) {
        // The sum is a depthwise convolution of single pixels.
        const struct onnx_shape *x = &onnx_in(n, index)->shape;
        int64_t size[4] = {onnx_count(x) / (c->channels * c->inner), c->channels, 1, c->inner};
        if (x->rank == 4 && x->size[1] == c->channels && x->size[2] * x->size[3] == c->inner)
            lowering_image(x, size);
        TRY(add_depthwise(l, n, index, size, (const int64_t[]){1, 1}, 1, &sum));
        apply_affine(l, sum, c->factor, c->shift);
        return lowering_give(l, n, 0);
    }
    apply_affine(l, sum, c->factor, c->shift);
    return lowering_alias(l, n, index);
}

// Lowers y = (x - mean) / sqrt(variance + epsilon) * scale + bias.
enum onnx_verdict lower_batch_norm(struct lowering *l, const struct onnx_at *n)
{
    const struct onnx_shape *x = &onnx_in(n, 0)->shape;
    int64_t channels = x->size[1];
    if (onnx_count(x) == 0)
        return onnx_unsupported(n, "it has no elements");
    double epsilon = onnx_real(n->node, "epsilon", 1e-5);
    double *factor = arena_zero(&l->out->arena, (size_t)channels, sizeof *factor),
           *shift = arena_zero(&l->out->arena, (size_t)channels, sizeof *shift);
    for (int i = 1; i < 5; i++)
        if (!lowering_is_constant(n, i))
            return onnx_unsupported(n, "'%s' is not constant", onnx_in(n, i)->name);
    for (int64_t i = 0; i < channels; i++) {
        double variance = onnx_element(onnx_in(n, 4)->constant, i);
        factor[i] = onnx_element(onnx_in(n, 1)->constant, i) / sqrt(variance + epsilon);
        shift[i] = onnx_element(onnx_in(n, 2)->constant, i) -
                   onnx_element(onnx_in(n, 3)->constant, i) * factor[i];
        if (!isfinite(factor[i]) || !isfinite(shift[i]))
            return onnx_unsupported(n, "its variance is no number that can be divided by");
    }
    const struct onnx_channels c = {channels, onnx_count(x) / x->size[0] / channels, factor, shift};
    return lowering_affine(l, n, 0, &c);
}
