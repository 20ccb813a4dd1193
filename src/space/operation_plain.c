// The operations beside products and convolutions in networks: concatenation, strided reads,
// pooling, softmax, copies, functions of single elements, normalisation across channels.

#include "base/number.h"
#include "space/operation_kinds.h"

#define TYPES                                                                                      \
    {                                                                                              \
        "type", (const char *const[]){"f32", "f16", NULL}, true                                    \
    }

// The operations that move elements take all types.
#define MOVED_TYPES                                                                                \
    {                                                                                              \
        "type", (const char *const[]){ELEMENTS(ELEMENT_NAME) NULL}, true                           \
    }

// Returns the number of elements of the output. For operations that only move elements each counts
// as one operation.
static double output_count(const struct operation *o)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    return (double)tensor_count(&tensor[operation_tensors(o, tensor) - 1]);
}

// --- concat ---

enum { MOST_PARTS = 4 };
static const char *const part_names[MOST_PARTS] = {"first", "second", "third", "fourth"};
static const char *const part_tensors[MOST_PARTS] = {"A", "B", "C", "D"};

static int64_t concat_columns(const struct operation *o)
{
    int64_t sum = 0;
    for (int i = 0; i < MOST_PARTS; i++)
        sum += operation_size(o, part_names[i]);
    return sum;
}

static bool concat_complete(struct operation *o, struct err *e)
{
    return operation_size(o, "third") > 0 || operation_size(o, "fourth") == 0 ||
           err_set(e, "concat: there is a fourth part, and no third one");
}

static int concat_tensors(const struct operation *o, struct tensor out[OPERATION_MAX_TENSORS])
{
    int64_t rows = operation_size(o, "rows");
    int count = 0;
    for (; count < MOST_PARTS && operation_size(o, part_names[count]) > 0; count++) {
        const int64_t size[2] = {rows, operation_size(o, part_names[count])};
        out[count] = tensor_packed(part_tensors[count], operation_element(o), 2, size);
    }
    const int64_t all[2] = {rows, concat_columns(o)};
    out[count] = tensor_packed("Y", operation_element(o), 2, all);
    return count + 1;
}

const struct operation_kind operation_concat = {
    .name = "concat",
    .help = "rows of up to four matrices, one behind the other",
    .sizes =
        (const struct operation_size[]){
            {"rows", SIZE_REQUIRED, 1},
            {"first", SIZE_REQUIRED, 1},
            {"second", SIZE_REQUIRED, 1},
            {"third", 0, 0},
            {"fourth", 0, 0},
            {NULL, 0, 0},
        },
    .derived = (const struct operation_derived[]){{"columns", concat_columns}, {NULL, NULL}},
    .choices = (const struct operation_choice[]){MOVED_TYPES, {NULL, NULL, false}},
    .flop = output_count,
    .work = operation_moved,
    .complete = concat_complete,
    .tensors = concat_tensors,
};

// --- strided ---

enum { MOST_AXES = 4 };
static const char *const axis_sizes[MOST_AXES] = {"n1", "n2", "n3", "n4"};
static const char *const axis_strides[MOST_AXES] = {"s1", "s2", "s3", "s4"};

// Checks that the last element read is one of X.
static bool strided_complete(struct operation *o, struct err *e)
{
    int64_t last = operation_size(o, "offset");
    for (int i = 0; i < MOST_AXES; i++) {
        int64_t far =
            times_signed(operation_size(o, axis_sizes[i]) - 1, operation_size(o, axis_strides[i]));
        last = far > INT64_MAX - last ? INT64_MAX : last + far;
    }
    return last < operation_size(o, "count") ||
           err_set(e, "strided: it reads behind the end of X (count is too small)");
}

static struct workload strided_work(const struct operation *o)
{
    return (struct workload){2 * output_count(o) * element_bytes(operation_element(o)), WORK_BYTES};
}

static int strided_tensors(const struct operation *o, struct tensor out[OPERATION_MAX_TENSORS])
{
    int64_t count = operation_size(o, "count"), size[MOST_AXES];
    for (int i = 0; i < MOST_AXES; i++)
        size[i] = operation_size(o, axis_sizes[i]);
    out[0] = tensor_packed("X", operation_element(o), 1, &count);
    out[1] = tensor_packed("Y", operation_element(o), MOST_AXES, size);
    return 2;
}

const struct operation_kind operation_strided = {
    .name = "strided",
    .help = "Y[i,j,k,l] = X[offset + i s1 + j s2 + k s3 + l s4]: transposed, sliced, repeated",
    .sizes =
        (const struct operation_size[]){
            {"count", SIZE_REQUIRED, 1},
            {"n1", 1, 1},
            {"n2", 1, 1},
            {"n3", 1, 1},
            {"n4", SIZE_REQUIRED, 1},
            {"s1", 0, 0},
            {"s2", 0, 0},
            {"s3", 0, 0},
            {"s4", 1, 0},
            {"offset", 0, 0},
            {NULL, 0, 0},
        },
    .choices = (const struct operation_choice[]){MOVED_TYPES, {NULL, NULL, false}},
    .flop = output_count,
    .work = strided_work,
    .complete = strided_complete,
    .tensors = strided_tensors,
};

// --- max and average pooling: one number for each window of an image, channel by channel ---

#define POOL_CHOICES                                                                               \
    {"type", (const char *const[]){"f32", "f16", NULL}, true},                                     \
    {                                                                                              \
        "layout", (const char *const[]){"nchw", "nhwc", NULL}, true                                \
    }

static int64_t pooled(const struct operation *o, const char *size)
{
    int64_t padded =
        operation_size(o, size) + 2 * operation_size(o, "padding") + operation_size(o, "extra");
    return (padded - operation_size(o, "window")) / operation_size(o, "stride") + 1;
}

static int64_t pool_height(const struct operation *o)
{
    return pooled(o, "height");
}

static int64_t pool_width(const struct operation *o)
{
    return pooled(o, "width");
}

static double pool_flop(const struct operation *o)
{
    double window = (double)operation_size(o, "window");
    return output_count(o) * window * window;
}

// Checks that every window meets the image: a window outside has no result.
static bool pool_complete(struct operation *o, struct err *e)
{
    int64_t window = operation_size(o, "window"), padding = operation_size(o, "padding");
    int64_t extra = operation_size(o, "extra");
    if (padding >= window)
        return err_set(e, "%s: the padding is not smaller than the window", o->kind->name);
    if (window > operation_size(o, "height") + 2 * padding + extra ||
        window > operation_size(o, "width") + 2 * padding + extra)
        return err_set(e, "%s: the window is larger than the padded image", o->kind->name);
    int64_t stride = operation_size(o, "stride");
    if ((pool_height(o) - 1) * stride - padding >= operation_size(o, "height") ||
        (pool_width(o) - 1) * stride - padding >= operation_size(o, "width"))
        return err_set(e, "%s: a window lies outside of the image (extra is too much)",
                       o->kind->name);
    return true;
}

static int pool_tensors(const struct operation *o, struct tensor out[OPERATION_MAX_TENSORS])
{
    int64_t batch = operation_size(o, "batch"), channels = operation_size(o, "channels");
    const int64_t x[4] = {batch, channels, operation_size(o, "height"), operation_size(o, "width")};
    const int64_t y[4] = {batch, channels, pool_height(o), pool_width(o)};
    out[0] = tensor_image(o, "X", operation_element(o), x);
    out[1] = tensor_image(o, "Y", operation_element(o), y);
    return 2;
}

static const struct operation_size pool_sizes[] = {
    {"batch", SIZE_REQUIRED, 1},
    {"channels", SIZE_REQUIRED, 1},
    {"height", SIZE_REQUIRED, 1},
    {"width", SIZE_REQUIRED, 1},
    {"window", SIZE_REQUIRED, 1},
    {"stride", 1, 1},
    {"padding", 0, 0},
    {"extra", 0, 0}, // more rows and columns of padding behind the image than before it
    {NULL, 0, 0},
};

static const struct operation_derived pool_derived[] = {
    {"out_height", pool_height}, {"out_width", pool_width}, {NULL, NULL}};

const struct operation_kind operation_max_pool = {
    .name = "max_pool",
    .help = "the largest number of each square window (padding is left out)",
    .sizes = pool_sizes,
    .derived = pool_derived,
    .choices = (const struct operation_choice[]){POOL_CHOICES, {NULL, NULL, false}},
    .flop = pool_flop,
    .work = operation_moved,
    .complete = pool_complete,
    .tensors = pool_tensors,
};

const struct operation_kind operation_avg_pool = {
    .name = "avg_pool",
    .help = "the mean of each square window: of what is inside the image, or with zeros around it",
    .sizes = pool_sizes,
    .derived = pool_derived,
    .choices =
        (const struct operation_choice[]){
            POOL_CHOICES,
            {"divisor", (const char *const[]){"inside", "window", NULL}, false},
            {NULL, NULL, false},
        },
    .flop = pool_flop,
    .work = operation_moved,
    .complete = pool_complete,
    .tensors = pool_tensors,
};

// --- softmax and copy ---

static int matrix_tensors(const struct operation *o, struct tensor out[OPERATION_MAX_TENSORS])
{
    const int64_t size[2] = {operation_size(o, "rows"), operation_size(o, "columns")};
    out[0] = tensor_packed("X", operation_element(o), 2, size);
    out[1] = tensor_packed("Y", operation_element(o), 2, size);
    return 2;
}

static const struct operation_size matrix_sizes[] = {
    {"rows", SIZE_REQUIRED, 1}, {"columns", SIZE_REQUIRED, 1}, {NULL, 0, 0}};

// Compare, subtract, raise, add, divide.
static double softmax_flop(const struct operation *o)
{
    return 5 * output_count(o);
}

const struct operation_kind operation_softmax = {
    .name = "softmax",
    .help = "y = exp(x - max) / sum of exp(x - max), over each row",
    .sizes = matrix_sizes,
    .choices = (const struct operation_choice[]){TYPES, {NULL, NULL, false}},
    .flop = softmax_flop,
    .work = operation_moved,
    .tensors = matrix_tensors,
};

static bool copy_complete(struct operation *o, struct err *e)
{
    return operation_chooses(o, "to", "same") ||
           (operation_element(o) == ELEMENT_F32 && operation_chooses(o, "transpose", "no")) ||
           err_set(e, "copy: to = \"%s\" needs type = \"f32\" and transpose = \"no\"",
                   operation_choice(o, "to"));
}

static int copy_tensors(const struct operation *o, struct tensor out[OPERATION_MAX_TENSORS])
{
    matrix_tensors(o, out);
    if (!operation_chooses(o, "to", "same"))
        out[1].element = element_named(operation_choice(o, "to"));
    if (operation_chooses(o, "transpose", "yes")) {
        const int64_t turned[2] = {out[0].size[1], out[0].size[0]};
        out[1] = tensor_packed("Y", out[0].element, 2, turned);
    }
    return 2;
}

const struct operation_kind operation_copy = {
    .name = "copy",
    .help = "Y = X, X transposed, or X rounded to another type; flattening is copying",
    .sizes = matrix_sizes,
    .choices =
        (const struct operation_choice[]){
            MOVED_TYPES,
            {"transpose", (const char *const[]){"no", "yes", NULL}, false},
            {"to", (const char *const[]){"same", "bf16", "f8e4m3", "f8e5m2", NULL}, false},
            {NULL, NULL, false},
        },
    .flop = output_count,
    .work = operation_moved,
    .complete = copy_complete,
    .tensors = copy_tensors,
};

// --- elementwise ---

static bool elementwise_complete(struct operation *o, struct err *e)
{
    if (operation_chooses(o, "apply", "celu") && operation_real(o, "slope") == 0)
        return err_set(e, "elementwise: slope is 0");
    return !operation_chooses(o, "apply", "clamp") ||
           operation_real(o, "low") <= operation_real(o, "high") ||
           err_set(e, "elementwise: low is greater than high");
}

static int elementwise_tensors(const struct operation *o, struct tensor out[OPERATION_MAX_TENSORS])
{
    static const char *const names[] = {"X", "Z"};
    const int64_t size = operation_size(o, "count");
    static const char *const two[] = {"add", "sub", "mul", "div", "max", "min"};
    bool of_two = false;
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        of_two |= operation_chooses(o, "apply", two[i]);
    int count = 0;
    for (int i = 0; i < 1 + of_two; i++)
        out[count++] = tensor_packed(names[i], operation_element(o), 1, &size);
    out[count++] = tensor_packed("Y", operation_element(o), 1, &size);
    return count;
}

const struct operation_kind operation_elementwise = {
    .name = "elementwise",
    .help = "y = function(x), or of x and z: sum, difference, product, ratio, larger, smaller",
    .sizes = (const struct operation_size[]){{"count", SIZE_REQUIRED, 1}, {NULL, 0, 0}},
    .choices =
        (const struct operation_choice[]){
            TYPES,
            {"apply",
             (const char *const[]){
                 "relu",     "leaky", "clamp", "sigmoid", "tanh",        "add",        "sub",
                 "mul",      "div",   "max",   "min",     "gelu",        "gelu_tanh",  "silu",
                 "mish",     "elu",   "selu",  "celu",    "hardsigmoid", "hardswish",  "softplus",
                 "softsign", "erf",   "exp",   "log",     "sqrt",        "reciprocal", "abs",
                 "neg",      "floor", "ceil",  "round",   "sign",        NULL},
             true},
            {NULL, NULL, false},
        },
    .reals = (const struct operation_real[]){{"slope", 0.01}, {"low", 0}, {"high", 6}, {NULL, 0}},
    .flop = output_count,
    .work = operation_moved,
    .complete = elementwise_complete,
    .tensors = elementwise_tensors,
};

// --- lrn: local response normalisation ---

// Squares and sums of a window; scale, shift, raise, divide.
static double lrn_flop(const struct operation *o)
{
    return output_count(o) * (2 * (double)operation_size(o, "window") + 4);
}

static bool lrn_complete(struct operation *o, struct err *e)
{
    if (operation_real(o, "alpha") < 0 || operation_real(o, "bias_k") <= 0)
        return err_set(e, "lrn: alpha is negative or bias_k is not positive");
    return true;
}

static int lrn_tensors(const struct operation *o, struct tensor out[OPERATION_MAX_TENSORS])
{
    const int64_t size[4] = {operation_size(o, "batch"), operation_size(o, "channels"),
                             operation_size(o, "height"), operation_size(o, "width")};
    out[0] = tensor_image(o, "X", operation_element(o), size);
    out[1] = tensor_image(o, "Y", operation_element(o), size);
    return 2;
}

const struct operation_kind operation_lrn = {
    .name = "lrn",
    .help = "y = x / (bias_k + alpha / window * sum of x^2 over a window of channels)^beta",
    .sizes =
        (const struct operation_size[]){
            {"batch", SIZE_REQUIRED, 1},
            {"channels", SIZE_REQUIRED, 1},
            {"height", SIZE_REQUIRED, 1},
            {"width", SIZE_REQUIRED, 1},
            {"window", 5, 1},
            {NULL, 0, 0},
        },
    .choices =
        (const struct operation_choice[]){
            TYPES,
            {"layout", (const char *const[]){"nchw", "nhwc", NULL}, true},
            {NULL, NULL, false},
        },
    .reals =
        (const struct operation_real[]){{"alpha", 1e-4}, {"beta", 0.75}, {"bias_k", 2}, {NULL, 0}},
    .flop = lrn_flop,
    .work = operation_moved,
    .complete = lrn_complete,
    .tensors = lrn_tensors,
};
