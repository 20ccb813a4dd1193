// What surrounds products and convolutions in networks: softmax, functions of single elements,
// copies, normalisation across channels.
#include "space/operation_kinds.h"

#define TYPES                                                                                      \
    {                                                                                              \
        "type", (const char *const[]){"f32", "f16", NULL}, true                                    \
    }

static double matrix_count(const struct operation *o)
{
    return (double)operation_size(o, "rows") * (double)operation_size(o, "columns");
}

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
    return 5 * matrix_count(o);
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

static int copy_tensors(const struct operation *o, struct tensor out[OPERATION_MAX_TENSORS])
{
    matrix_tensors(o, out);
    if (operation_chooses(o, "transpose", "yes")) {
        const int64_t turned[2] = {out[0].size[1], out[0].size[0]};
        out[1] = tensor_packed("Y", out[0].element, 2, turned);
    }
    return 2;
}

// One "operation" an element moved.
const struct operation_kind operation_copy = {
    .name = "copy",
    .help = "Y = X, or X transposed; flattening is copying",
    .sizes = matrix_sizes,
    .choices =
        (const struct operation_choice[]){
            TYPES,
            {"transpose", (const char *const[]){"no", "yes", NULL}, false},
            {NULL, NULL, false},
        },
    .flop = matrix_count,
    .work = operation_moved,
    .tensors = copy_tensors,
};

static double elementwise_flop(const struct operation *o)
{
    return (double)operation_size(o, "count");
}

static bool elementwise_complete(struct operation *o, struct err *e)
{
    return !operation_chooses(o, "apply", "clamp") ||
           operation_real(o, "low") <= operation_real(o, "high") ||
           err_set(e, "elementwise: low is greater than high");
}

static int elementwise_tensors(const struct operation *o, struct tensor out[OPERATION_MAX_TENSORS])
{
    static const char *const names[] = {"X", "Z"};
    const int64_t size = operation_size(o, "count");
    bool of_two = operation_chooses(o, "apply", "add") || operation_chooses(o, "apply", "sub") ||
                  operation_chooses(o, "apply", "mul");
    int count = 0;
    for (int i = 0; i < 1 + of_two; i++)
        out[count++] = tensor_packed(names[i], operation_element(o), 1, &size);
    out[count++] = tensor_packed("Y", operation_element(o), 1, &size);
    return count;
}

const struct operation_kind operation_elementwise = {
    .name = "elementwise",
    .help = "y = function(x), or x + z, x - z, x z",
    .sizes = (const struct operation_size[]){{"count", SIZE_REQUIRED, 1}, {NULL, 0, 0}},
    .choices =
        (const struct operation_choice[]){
            TYPES,
            {"apply",
             (const char *const[]){"relu", "leaky", "clamp", "sigmoid", "tanh", "add", "sub", "mul",
                                   NULL},
             true},
            {NULL, NULL, false},
        },
    .reals = (const struct operation_real[]){{"slope", 0.01}, {"low", 0}, {"high", 6}, {NULL, 0}},
    .flop = elementwise_flop,
    .work = operation_moved,
    .complete = elementwise_complete,
    .tensors = elementwise_tensors,
};

static double image_count(const struct operation *o)
{
    return (double)operation_size(o, "batch") * (double)operation_size(o, "channels") *
           (double)operation_size(o, "height") * (double)operation_size(o, "width");
}

// Squares and sums of a window; scale, shift, raise, divide.
static double lrn_flop(const struct operation *o)
{
    return image_count(o) * (2 * (double)operation_size(o, "window") + 4);
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
