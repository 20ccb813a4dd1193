// Operators that read and write each element once: softmax, copy, elementwise, concat, strided.
//
// Kernels compute in fp32, whatever they load and store. The errors of exp, tanh and division are
// twice those that Vulkan allows (spec, "Precision and Operation of SPIR-V Instructions"): exp(x) 3
// + 2 |x| units in the last place, division 2.5.

#include "base/str.h"
#include "space/tensor.h"
#include "trial/operator_kind.h"

#include <math.h>

#define UNIT 0x1p-23

enum { LARGEST_EXPONENT = 4 }; // of an exact input of exp

static enum element type_of(const struct operation *o)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    operation_tensors(o, tensor);
    return tensor[0].element;
}

// --- moving elements ---

static void concat_reference(const struct operation *o, const void *const *inputs, void *output)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    int last = operation_tensors(o, tensor) - 1;
    enum element e = tensor[last].element;
    int64_t at = 0;
    for (int64_t row = 0; row < tensor[last].size[0]; row++)
        for (int part = 0; part < last; part++) {
            int64_t columns = tensor[part].size[1];
            for (int64_t i = 0; i < columns; i++)
                element_move(output, at++, inputs[part], row * columns + i, e);
        }
}

const struct operator_kind operator_concat = {.name = "concat",
                                              .filling = usual_filling,
                                              .reference = concat_reference,
                                              .tolerance = no_tolerance};

static void strided_reference(const struct operation *o, const void *const *inputs, void *output)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    operation_tensors(o, tensor);
    const int64_t *n = tensor[1].size;
    enum element e = tensor[1].element;
    int64_t at = 0, offset = operation_size(o, "offset");
    int64_t s1 = operation_size(o, "s1"), s2 = operation_size(o, "s2"),
            s3 = operation_size(o, "s3"), s4 = operation_size(o, "s4");
    for (int64_t i = 0; i < n[0]; i++)
        for (int64_t j = 0; j < n[1]; j++)
            for (int64_t k = 0; k < n[2]; k++)
                for (int64_t l = 0; l < n[3]; l++)
                    element_move(output, at++, inputs[0],
                                 offset + i * s1 + j * s2 + k * s3 + l * s4, e);
}

const struct operator_kind operator_strided = {.name = "strided",
                                               .filling = usual_filling,
                                               .reference = strided_reference,
                                               .tolerance = no_tolerance};

static void copy_reference(const struct operation *o, const void *const *inputs, void *output)
{
    int64_t rows = operation_size(o, "rows"), columns = operation_size(o, "columns");
    bool transposes = operation_chooses(o, "transpose", "yes");
    enum element e = type_of(o), to = element_named(operation_choice(o, "to"));
    for (int64_t i = 0; to < ELEMENT_COUNT && i < rows * columns; i++)
        element_put(output, to, i, element_saturated(to, element_get(inputs[0], e, i)));
    for (int64_t i = 0; to == ELEMENT_COUNT && i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            element_move(output, transposes ? j * rows + i : i * columns + j, inputs[0],
                         i * columns + j, e);
}

const struct operator_kind operator_copy = {.name = "copy",
                                            .filling = usual_filling,
                                            .reference = copy_reference,
                                            .tolerance = no_tolerance};

// --- computing in fp32 ---

// Returns the tolerance of storing a result with an error of `units` in the last place of fp32.
static struct tolerance fp32_tolerance(const struct operation *o, double units)
{
    struct tolerance t = tolerance_of_store(type_of(o));
    t.relative += units * UNIT;
    return t;
}

// Returns inputs for exp that are so small that no result overflows.
static struct filling exponent_filling(const struct operation *o, enum input_set set, int index)
{
    (void)o, (void)index;
    return set == INPUT_EXACT
               ? (struct filling){.largest = LARGEST_EXPONENT, .density = 1}
               : (struct filling){.low = -LARGEST_EXPONENT, .high = LARGEST_EXPONENT};
}

static void softmax_reference(const struct operation *o, const void *const *inputs, void *output)
{
    int64_t rows = operation_size(o, "rows"), columns = operation_size(o, "columns");
    enum element e = type_of(o);
    const void *x = inputs[0];
    for (int64_t first = 0; first < rows * columns; first += columns) {
        double largest = -INFINITY, sum = 0;
        for (int64_t j = first; j < first + columns; j++)
            largest = fmax(largest, element_get(x, e, j));
        for (int64_t j = first; j < first + columns; j++)
            sum += exp(element_get(x, e, j) - largest);
        for (int64_t j = first; j < first + columns; j++)
            element_put(output, e, j, exp(element_get(x, e, j) - largest) / sum);
    }
}

// The sum of n positive terms adds n units at most, and with a probability of 1 - exp(-32) less
// than 8 sqrt(n) (Higham and Mary 2019, as in product.c).
static struct tolerance softmax_tolerance(const struct operation *o, enum input_set set)
{
    (void)set;
    double n = (double)operation_size(o, "columns");
    double exponential = 3 + 2 * 2 * LARGEST_EXPONENT;
    return fp32_tolerance(o, 2 * (2 * exponential + 2.5) + fmin(n, 8 * sqrt(n)));
}

const struct operator_kind operator_softmax = {.name = "softmax",
                                               .filling = exponent_filling,
                                               .reference = softmax_reference,
                                               .tolerance = softmax_tolerance};

// --- elementwise ---

enum function {
    RELU,
    LEAKY,
    CLAMP,
    SIGMOID,
    TANH,
    ADD,
    SUB,
    MUL,
    DIV,
    LARGER,
    SMALLER,
    GELU,
    GELU_TANH,
    SILU,
    MISH,
    ELU,
    SELU,
    CELU,
    HARDSIGMOID,
    HARDSWISH,
    SOFTPLUS,
    SOFTSIGN,
    ERF,
    EXP,
    LOG,
    SQRT,
    RECIPROCAL,
    ABS,
    NEG,
    FLOOR,
    CEIL,
    ROUND,
    SIGN
};

enum { NO_EXP, USES_EXP, IS_POSITIVE };

static const struct {
    const char *name;
    int inputs;             // what they may be
    bool is_exact;          // for whole numbers
    double units, absolute; // error allowed in fp32
} functions[] = {
    [RELU] = {"relu", NO_EXP, true, 0, 0},
    [LEAKY] = {"leaky", NO_EXP, false, 1, 0},
    [CLAMP] = {"clamp", NO_EXP, false, 1, 0},
    [SIGMOID] = {"sigmoid", USES_EXP, false, 30, 0},
    // tanh(x) may be computed as (e^x - e^-x) / (e^x + e^-x): near 0 it has the terms' errors.
    [TANH] = {"tanh", USES_EXP, false, 30, 30},
    [ADD] = {"add", NO_EXP, true, 1, 0},
    [SUB] = {"sub", NO_EXP, true, 1, 0},
    [MUL] = {"mul", NO_EXP, true, 1, 0},
    [DIV] = {"div", IS_POSITIVE, false, 6, 0},
    [LARGER] = {"max", NO_EXP, true, 0, 0},
    [SMALLER] = {"min", NO_EXP, true, 0, 0},
    // The error function is a polynomial that is off by 1.5e-7 at most, 3 units; gelu multiplies
    // that by x.
    [GELU] = {"gelu", USES_EXP, false, 30, 120},
    [GELU_TANH] = {"gelu_tanh", USES_EXP, false, 60, 200},
    [SILU] = {"silu", USES_EXP, false, 30, 0},
    [MISH] = {"mish", USES_EXP, false, 60, 0},
    [ELU] = {"elu", USES_EXP, false, 30, 30},
    [SELU] = {"selu", USES_EXP, false, 30, 60},
    [CELU] = {"celu", USES_EXP, false, 60, 60},
    [HARDSIGMOID] = {"hardsigmoid", NO_EXP, false, 3, 3},
    [HARDSWISH] = {"hardswish", NO_EXP, false, 6, 3},
    [SOFTPLUS] = {"softplus", USES_EXP, false, 30, 30},
    [SOFTSIGN] = {"softsign", NO_EXP, false, 6, 0},
    [ERF] = {"erf", USES_EXP, false, 10, 30},
    [EXP] = {"exp", USES_EXP, false, 30, 0},
    // Vulkan promises 3 units, near 1 an error of 2^-21.
    [LOG] = {"log", IS_POSITIVE, false, 8, 16},
    [SQRT] = {"sqrt", IS_POSITIVE, false, 8, 0},
    [RECIPROCAL] = {"reciprocal", IS_POSITIVE, false, 6, 0},
    [ABS] = {"abs", NO_EXP, true, 0, 0},
    [NEG] = {"neg", NO_EXP, true, 0, 0},
    [FLOOR] = {"floor", NO_EXP, true, 0, 0},
    [CEIL] = {"ceil", NO_EXP, true, 0, 0},
    [ROUND] = {"round", NO_EXP, true, 0, 0},
    [SIGN] = {"sign", NO_EXP, true, 0, 0},
};

static enum function function_of(const struct operation *o)
{
    int f = 0;
    while (!operation_chooses(o, "apply", functions[f].name))
        f++;
    return (enum function)f;
}

static double softplus(double x)
{
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

// Computes what `apply` leaves.
static double apply_more(const struct operation *o, enum function f, double x)
{
    double slope = operation_real(o, "slope");
    switch (f) {
    case GELU: return 0.5 * x * (1 + erf(x * M_SQRT1_2));
    case GELU_TANH: return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    case SILU: return x / (1 + exp(-x));
    case MISH: return x * tanh(softplus(x));
    case ELU: return x < 0 ? slope * expm1(x) : x;
    case SELU: return 1.0507009873554805 * (x < 0 ? 1.6732632423543772 * expm1(x) : x);
    case CELU: return x < 0 ? slope * expm1(x / slope) : x;
    case HARDSIGMOID: return fmin(fmax(slope * x + operation_real(o, "low"), 0), 1);
    case HARDSWISH: return x * fmin(fmax(x / 6 + 0.5, 0), 1);
    case SOFTPLUS: return softplus(x);
    case SOFTSIGN: return x / (1 + fabs(x));
    case ERF: return erf(x);
    case EXP: return exp(x);
    case LOG: return log(x);
    case SQRT: return sqrt(x);
    case RECIPROCAL: return 1 / x;
    case ABS: return fabs(x);
    case NEG: return -x;
    case FLOOR: return floor(x);
    case CEIL: return ceil(x);
    case ROUND: return rint(x); // halves to even numbers, as GLSL's roundEven
    case SIGN: return x > 0 ? 1 : x < 0 ? -1 : 0;
    default: return x;
    }
}

static double apply(const struct operation *o, enum function f, double x, double z)
{
    switch (f) {
    case RELU: return x < 0 ? 0 : x;
    case LEAKY: return x < 0 ? operation_real(o, "slope") * x : x;
    case CLAMP: return fmin(fmax(x, operation_real(o, "low")), operation_real(o, "high"));
    case SIGMOID: return 1 / (1 + exp(-x));
    case TANH: return tanh(x);
    case ADD: return x + z;
    case SUB: return x - z;
    case MUL: return x * z;
    case DIV: return x / z;
    case LARGER: return fmax(x, z);
    case SMALLER: return fmin(x, z);
    default: return apply_more(o, f, x);
    }
}

static void elementwise_reference(const struct operation *o, const void *const *inputs,
                                  void *output)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    bool has_two = operation_tensors(o, tensor) == 3;
    enum function f = function_of(o);
    enum element e = type_of(o);
    int64_t count = operation_size(o, "count");
    for (int64_t i = 0; i < count; i++) {
        double z = has_two ? element_get(inputs[1], e, i) : 0;
        element_put(output, e, i, apply(o, f, element_get(inputs[0], e, i), z));
    }
}

// Half of a clamp's inputs lie below the number in the window that is nearest to 0, half above, so
// that they do not all become one of its ends. A clamp rounds nothing: its exact inputs need not be
// whole.
static struct filling elementwise_filling(const struct operation *o, enum input_set set, int index)
{
    enum function f = function_of(o);
    if (functions[f].inputs == USES_EXP)
        return exponent_filling(o, set, index);
    if (functions[f].inputs == IS_POSITIVE)
        return (struct filling){.low = 0.25, .high = 8};
    if (f != CLAMP)
        return usual_filling(o, set, index);
    double low = operation_real(o, "low"), high = operation_real(o, "high");
    double middle = fmin(fmax(0, low), high), reach = fmax(USUAL_LARGEST, fabs(middle));
    if (set == INPUT_EXACT)
        return (struct filling){.low = middle - reach, .high = middle + reach};
    return (struct filling){.low = -(2 * fabs(high) + 1), .high = 2 * fabs(high) + 1};
}

static struct tolerance elementwise_tolerance(const struct operation *o, enum input_set set)
{
    enum function f = function_of(o);
    if (functions[f].units == 0 || (functions[f].is_exact && set == INPUT_EXACT))
        return no_tolerance(o, set);
    struct tolerance t = fp32_tolerance(o, functions[f].units);
    t.absolute += functions[f].absolute * UNIT;
    return t;
}

const struct operator_kind operator_elementwise = {.name = "elementwise",
                                                   .filling = elementwise_filling,
                                                   .reference = elementwise_reference,
                                                   .tolerance = elementwise_tolerance};
