// softmax, copy, elementwise: what is read once and written once.
//
// Kernels compute in fp32, whatever they load and store. Errors of exp, tanh, division are those
// that Vulkan allows (spec, "Precision and Operation of SPIR-V Instructions"), twice: exp(x) 3 + 2
// |x| units in the last place, division 2.5.

#include "base/str.h"
#include "space/tensor.h"
#include "trial/operator_kind.h"

#include <math.h>

// concat and strided: elements are moved, and nothing else happens to them.

enum { MOVE_LARGEST = 45 }; // any number does: halves hold these

static struct filling filling(const struct operation *o, enum input_set set, int index)
{
    (void)o;
    (void)index;
    return set == INPUT_EXACT ? (struct filling){.largest = MOVE_LARGEST, .density = 1}
                              : (struct filling){.low = -1, .high = 1};
}

static struct tolerance tolerance(const struct operation *o, enum input_set set)
{
    (void)o;
    (void)set;
    return (struct tolerance){0, 0};
}

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
                element_put(output, e, at++, element_get(inputs[part], e, row * columns + i));
        }
}

const struct operator_kind operator_concat = {
    .name = "concat", .filling = filling, .reference = concat_reference, .tolerance = tolerance};

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
                    element_put(
                        output, e, at++,
                        element_get(inputs[0], e, offset + i * s1 + j * s2 + k * s3 + l * s4));
}

const struct operator_kind operator_strided = {
    .name = "strided", .filling = filling, .reference = strided_reference, .tolerance = tolerance};

#define UNIT 0x1p-23

enum {
    LARGEST = 45,        // sums and products of two are exact in halves
    LARGEST_EXPONENT = 4 // of what is raised
};

static enum element type_of(const struct operation *o)
{
    return operation_chooses(o, "type", "f16") ? ELEMENT_F16 : ELEMENT_F32;
}

static struct filling fill_to(enum input_set set, int64_t largest, double high)
{
    return set == INPUT_EXACT ? (struct filling){.largest = largest, .density = 1}
                              : (struct filling){.low = -high, .high = high};
}

// The store's tolerance and `units` in the last place of fp32.
static struct tolerance within(const struct operation *o, double units)
{
    struct tolerance t = tolerance_of_store(type_of(o));
    t.relative += units * UNIT;
    return t;
}

// --- softmax ---

static void softmax_reference(const struct operation *o, const void *const *inputs, void *output)
{
    int64_t rows = operation_size(o, "rows"), columns = operation_size(o, "columns");
    for (int64_t i = 0; i < rows; i++) {
        enum element e = type_of(o);
        const void *x = inputs[0];
        int64_t first = i * columns;
        double largest = -INFINITY, sum = 0;
        for (int64_t j = first; j < first + columns; j++)
            largest = fmax(largest, element_get(x, e, j));
        for (int64_t j = first; j < first + columns; j++)
            sum += exp(element_get(x, e, j) - largest);
        for (int64_t j = first; j < first + columns; j++)
            element_put(output, e, j, exp(element_get(x, e, j) - largest) / sum);
    }
}

static struct filling softmax_filling(const struct operation *o, enum input_set set, int index)
{
    (void)o;
    (void)index;
    return fill_to(set, LARGEST_EXPONENT, LARGEST_EXPONENT);
}

// The sum of n positive terms adds n units at most, and with a probability of exp(-32) less than 8
// sqrt(n) (Higham and Mary 2019, as in product.c).
static struct tolerance softmax_tolerance(const struct operation *o, enum input_set set)
{
    (void)set;
    double n = (double)operation_size(o, "columns");
    double raised = 3 + 2 * 2 * LARGEST_EXPONENT;
    return within(o, 2 * (2 * raised + 2.5) + fmin(n, 8 * sqrt(n)));
}

const struct operator_kind operator_softmax = {.name = "softmax",
                                               .filling = softmax_filling,
                                               .reference = softmax_reference,
                                               .tolerance = softmax_tolerance};

// --- copy ---

static void copy_reference(const struct operation *o, const void *const *inputs, void *output)
{
    int64_t rows = operation_size(o, "rows"), columns = operation_size(o, "columns");
    bool turned = operation_chooses(o, "transpose", "yes");
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            element_put(output, type_of(o), turned ? j * rows + i : i * columns + j,
                        element_get(inputs[0], type_of(o), i * columns + j));
}

static struct filling plain_filling(const struct operation *o, enum input_set set, int index)
{
    (void)o;
    (void)index;
    return fill_to(set, LARGEST, 1);
}

static struct tolerance no_tolerance(const struct operation *o, enum input_set set)
{
    (void)o;
    (void)set;
    return (struct tolerance){0, 0};
}

const struct operator_kind operator_copy = {.name = "copy",
                                            .filling = plain_filling,
                                            .reference = copy_reference,
                                            .tolerance = no_tolerance};

// --- elementwise ---

struct function {
    const char *name;
    double (*apply)(const struct operation *o, double x, double z);
    bool is_raised;         // by exp: of small numbers
    bool is_exact;          // of whole numbers
    double units, absolute; // that it may be off by, in fp32
};

static double relu(const struct operation *o, double x, double z)
{
    (void)o;
    (void)z;
    return x < 0 ? 0 : x;
}

static double leaky(const struct operation *o, double x, double z)
{
    (void)z;
    return x < 0 ? operation_real(o, "slope") * x : x;
}

static double clamp(const struct operation *o, double x, double z)
{
    (void)z;
    return fmin(fmax(x, operation_real(o, "low")), operation_real(o, "high"));
}

static double sigmoid(const struct operation *o, double x, double z)
{
    (void)o;
    (void)z;
    return 1 / (1 + exp(-x));
}

static double tangent(const struct operation *o, double x, double z)
{
    (void)o;
    (void)z;
    return tanh(x);
}

static double sum(const struct operation *o, double x, double z)
{
    (void)o;
    return x + z;
}

static double difference(const struct operation *o, double x, double z)
{
    (void)o;
    return x - z;
}

static double product(const struct operation *o, double x, double z)
{
    (void)o;
    return x * z;
}

// tanh(x) may be computed as (e^x - e^-x) / (e^x + e^-x): near 0 it errs by what its terms do.
static const struct function functions[] = {
    {"relu", relu, false, true, 0, 0},      {"leaky", leaky, false, false, 1, 0},
    {"clamp", clamp, false, false, 1, 0},   {"sigmoid", sigmoid, true, false, 30, 0},
    {"tanh", tangent, true, false, 30, 30}, {"add", sum, false, true, 1, 0},
    {"sub", difference, false, true, 1, 0}, {"mul", product, false, true, 1, 0},
};

static const struct function *function_of(const struct operation *o)
{
    const struct function *f = functions;
    while (!operation_chooses(o, "apply", f->name))
        f++;
    return f;
}

static void elementwise_reference(const struct operation *o, const void *const *inputs,
                                  void *output)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    bool of_two = operation_tensors(o, tensor) == 3;
    const struct function *f = function_of(o);
    enum element e = type_of(o);
    int64_t count = operation_size(o, "count");
    for (int64_t i = 0; i < count; i++) {
        double z = of_two ? element_get(inputs[1], e, i) : 0;
        element_put(output, e, i, f->apply(o, element_get(inputs[0], e, i), z));
    }
}

static struct filling elementwise_filling(const struct operation *o, enum input_set set, int index)
{
    (void)index;
    if (operation_chooses(o, "apply", "clamp")) {
        // Half of them lie below what is nearest to 0 in the window, half above: they do not all
        // become one of its ends. A clamp rounds nothing, its exact inputs need not be whole.
        double low = operation_real(o, "low"), high = operation_real(o, "high");
        double middle = fmin(fmax(0, low), high), reach = fmax(LARGEST, fabs(middle));
        if (set == INPUT_EXACT)
            return (struct filling){.low = middle - reach, .high = middle + reach};
        return fill_to(set, LARGEST, 2 * fabs(high) + 1);
    }
    if (function_of(o)->is_raised)
        return fill_to(set, LARGEST_EXPONENT, LARGEST_EXPONENT);
    return fill_to(set, LARGEST, 1);
}

static struct tolerance elementwise_tolerance(const struct operation *o, enum input_set set)
{
    const struct function *f = function_of(o);
    if (f->units == 0 || (f->is_exact && set == INPUT_EXACT))
        return (struct tolerance){0, 0};
    struct tolerance t = within(o, f->units);
    t.absolute += f->absolute * UNIT;
    return t;
}

const struct operator_kind operator_elementwise = {.name = "elementwise",
                                                   .filling = elementwise_filling,
                                                   .reference = elementwise_reference,
                                                   .tolerance = elementwise_tolerance};
