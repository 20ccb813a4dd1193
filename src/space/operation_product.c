#include "base/times.h"
#include "space/operation_kinds.h"

#include <math.h>

// C[N,M] = A[N,K] B[K,M], one product or a batch of them; a layout says for A and for B whether it
// is stored transposed.

#define LAYOUTS                                                                                    \
    {                                                                                              \
        "layout", (const char *const[]){"nn", "nt", "tn", "tt", NULL}, true                        \
    }

static const struct operation_choice choices[] = {
    SUM_TYPES, LAYOUTS, SUM_ACCUMULATE, EPILOGUE_CHOICES, {NULL, NULL, false},
};

static bool is_batched(const struct operation *o)
{
    return o->kind == &operation_batch_matmul;
}

static double product_flop(const struct operation *o)
{
    double batch = is_batched(o) ? (double)operation_size(o, "batch") : 1;
    return 2 * batch * (double)operation_size(o, "N") * (double)operation_size(o, "M") *
           (double)operation_size(o, "K");
}

// A matrix as it lies in memory: rows of `columns` elements, `row` elements apart, and matrices
// `batch` elements apart.
struct place {
    const char *name, *row_name, *batch_name;
    int64_t rows, columns;
};

enum { A, B, C, MATRICES };

static void find_places(const struct operation *o, struct place place[MATRICES])
{
    int64_t n = operation_size(o, "N"), m = operation_size(o, "M"), k = operation_size(o, "K");
    const char *layout = operation_choice(o, "layout");
    bool a_turned = layout[0] == 't', b_turned = layout[1] == 't';
    place[A] = (struct place){"A", "row_a", "batch_a", a_turned ? k : n, a_turned ? n : k};
    place[B] = (struct place){"B", "row_b", "batch_b", b_turned ? m : k, b_turned ? k : m};
    place[C] = (struct place){"C", "row_c", "batch_c", n, m};
}

static bool place_rows(struct operation *o, const struct place *p, struct err *e)
{
    int64_t *row = operation_size_at(o, p->row_name);
    if (*row == 0)
        *row = p->columns;
    return *row >= p->columns ||
           err_set(e, "%s: %s is smaller than a row of %s", o->kind->name, p->row_name, p->name);
}

// Matrices lie one behind the other, or row by row in turn (as the heads of an attention do).
static bool place_batch(struct operation *o, const struct place *p, struct err *e)
{
    int64_t row = operation_size(o, p->row_name), batch = operation_size(o, "batch");
    int64_t *step = operation_size_at(o, p->batch_name);
    if (*step == 0)
        *step = times_signed(p->rows, row);
    bool is_apart = *step >= times_signed(p->rows, row);
    bool is_in_turn = *step >= p->columns && row >= times_signed(batch, *step);
    return is_apart || is_in_turn ||
           err_set(e, "%s: %s lets the matrices of %s overlap", o->kind->name, p->batch_name,
                   p->name);
}

static bool product_complete(struct operation *o, struct err *e)
{
    struct place place[MATRICES];
    find_places(o, place);
    for (int i = 0; i < MATRICES; i++)
        if (!place_rows(o, &place[i], e) || (is_batched(o) && !place_batch(o, &place[i], e)))
            return false;
    return epilogue_check(o, e);
}

static struct tensor matrix(const struct operation *o, const struct place *p, enum element element)
{
    int64_t row = operation_size(o, p->row_name);
    if (!is_batched(o))
        return (struct tensor){p->name, element, 2, {p->rows, p->columns}, {row, 1}};
    int64_t batch = operation_size(o, "batch"), step = operation_size(o, p->batch_name);
    return (struct tensor){p->name, element, 3, {batch, p->rows, p->columns}, {step, row, 1}};
}

static int product_tensors(const struct operation *o, struct tensor out[OPERATION_MAX_TENSORS])
{
    struct place place[MATRICES];
    find_places(o, place);
    out[A] = matrix(o, &place[A], operation_element(o));
    out[B] = matrix(o, &place[B], operation_element(o));
    struct tensor output = matrix(o, &place[C], epilogue_element(o));
    return epilogue_tensors(o, C, place[C].columns, &output, out);
}

// With a vector every element of the matrix is used once: memory decides.
static struct workload product_work(const struct operation *o)
{
    bool is_vector = operation_size(o, "N") == 1 || operation_size(o, "M") == 1;
    return is_vector ? operation_moved(o) : (struct workload){product_flop(o), WORK_FLOP};
}

const struct operation_kind operation_matmul = {
    .name = "matmul",
    .help = "C[N,M] = A[N,K] B[K,M]",
    .sizes =
        (const struct operation_size[]){
            {"N", SIZE_REQUIRED, 1},
            {"M", SIZE_REQUIRED, 1},
            {"K", SIZE_REQUIRED, 1},
            {"row_a", 0, 0},
            {"row_b", 0, 0},
            {"row_c", 0, 0},
            {NULL, 0, 0},
        },
    .choices = choices,
    .reals = epilogue_reals,
    .flop = product_flop,
    .work = product_work,
    .complete = product_complete,
    .tensors = product_tensors,
};

const struct operation_kind operation_batch_matmul = {
    .name = "batch_matmul",
    .help = "C[batch,N,M] = A[batch,N,K] B[batch,K,M]",
    .sizes =
        (const struct operation_size[]){
            {"batch", SIZE_REQUIRED, 1},
            {"N", SIZE_REQUIRED, 1},
            {"M", SIZE_REQUIRED, 1},
            {"K", SIZE_REQUIRED, 1},
            {"row_a", 0, 0},
            {"row_b", 0, 0},
            {"row_c", 0, 0},
            {"batch_a", 0, 0},
            {"batch_b", 0, 0},
            {"batch_c", 0, 0},
            {NULL, 0, 0},
        },
    .choices = choices,
    .reals = epilogue_reals,
    .flop = product_flop,
    .work = product_work,
    .complete = product_complete,
    .tensors = product_tensors,
};

// Y = X * W: a convolution (in the sense of networks: the kernel is not turned) of images with a
// kernel for each output channel, in groups of channels that do not see each other.

static const struct operation_choice operation_conv2d_choices[] = {
    SUM_TYPES,
    {"layout", (const char *const[]){"nchw", "nhwc", NULL}, true},
    SUM_ACCUMULATE,
    EPILOGUE_CHOICES,
    {"algorithm", (const char *const[]){"sums", "winograd", NULL}, false}, // how it may round
    {NULL, NULL, false},
};

static int64_t dilated(const struct operation *o, const char *kernel)
{
    return operation_size(o, "dilation") * (operation_size(o, kernel) - 1) + 1;
}

static int64_t padded(const struct operation *o, const char *size)
{
    return operation_size(o, size) + 2 * operation_size(o, "padding") + operation_size(o, "extra");
}

static int64_t out_height(const struct operation *o)
{
    return (padded(o, "height") - dilated(o, "kernel_h")) / operation_size(o, "stride") + 1;
}

static int64_t out_width(const struct operation *o)
{
    return (padded(o, "width") - dilated(o, "kernel_w")) / operation_size(o, "stride") + 1;
}

static double conv2d_flop(const struct operation *o)
{
    static const char *const factors[] = {"batch",       "out_channels", "out_height", "out_width",
                                          "in_channels", "kernel_h",     "kernel_w"};
    double flop = 2 / (double)operation_size(o, "groups");
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        flop *= (double)operation_size(o, factors[i]);
    return flop;
}

static bool conv2d_complete(struct operation *o, struct err *e)
{
    if (padded(o, "height") < dilated(o, "kernel_h") || padded(o, "width") < dilated(o, "kernel_w"))
        return err_set(e, "conv2d: the kernel is larger than the padded image");
    int64_t groups = operation_size(o, "groups");
    if (operation_size(o, "in_channels") % groups || operation_size(o, "out_channels") % groups)
        return err_set(e, "conv2d: groups does not divide in_channels and out_channels");
    return epilogue_check(o, e);
}

static int conv2d_tensors(const struct operation *o, struct tensor out[OPERATION_MAX_TENSORS])
{
    int64_t batch = operation_size(o, "batch"), in = operation_size(o, "in_channels"),
            channels = operation_size(o, "out_channels");
    const int64_t x[4] = {batch, in, operation_size(o, "height"), operation_size(o, "width")};
    const int64_t w[4] = {channels, in / operation_size(o, "groups"), operation_size(o, "kernel_h"),
                          operation_size(o, "kernel_w")};
    const int64_t y[4] = {batch, channels, out_height(o), out_width(o)};
    out[0] = tensor_image(o, "X", operation_element(o), x);
    out[1] = tensor_image(o, "W", operation_element(o), w);
    struct tensor output = tensor_image(o, "Y", epilogue_element(o), y);
    return epilogue_tensors(o, 2, channels, &output, out);
}

const struct operation_kind operation_conv2d = {
    .name = "conv2d",
    .help = "Y = X * W: images [batch, in_channels, height, width] and kernels",
    .sizes =
        (const struct operation_size[]){
            {"batch", SIZE_REQUIRED, 1},
            {"in_channels", SIZE_REQUIRED, 1},
            {"height", SIZE_REQUIRED, 1},
            {"width", SIZE_REQUIRED, 1},
            {"out_channels", SIZE_REQUIRED, 1},
            {"kernel_h", SIZE_REQUIRED, 1},
            {"kernel_w", SIZE_REQUIRED, 1},
            {"stride", 1, 1},
            {"padding", 0, 0},
            {"extra", 0, 0}, // more rows and columns of padding behind than before
            {"dilation", 1, 1},
            {"groups", 1, 1},
            {NULL, 0, 0},
        },
    .derived = (const struct operation_derived[]){{"out_height", out_height},
                                                  {"out_width", out_width},
                                                  {NULL, NULL}},
    .choices = operation_conv2d_choices,
    .reals = epilogue_reals,
    .flop = conv2d_flop,
    .complete = conv2d_complete,
    .tensors = conv2d_tensors,
};

// What is done with a sum of products before it is stored: y = activation(scale * sum + bias +
// residual).

const struct operation_real epilogue_reals[] = {
    {"scale", 1}, {"slope", 0.01}, {"low", 0}, {"high", 6}, {NULL, 0},
};

static bool check_integers(const struct operation *o, struct err *e)
{
    const char *kind = o->kind->name;
    double low = operation_real(o, "low"), high = operation_real(o, "high");
    if (operation_real(o, "scale") != 1)
        return err_set(e, "%s: i8 has no scale (its sums are stored as i32)", kind);
    if (operation_chooses(o, "activation", "leaky"))
        return err_set(e, "%s: i8 has no leaky activation (it has none, relu, clamp)", kind);
    if (operation_chooses(o, "activation", "clamp") &&
        (low != floor(low) || high != floor(high) || fabs(low) > INT32_MAX ||
         fabs(high) > INT32_MAX))
        return err_set(e, "%s: low and high of i8 are whole numbers of 32 bits", kind);
    return true;
}

bool epilogue_check(const struct operation *o, struct err *e)
{
    bool is_half = operation_element(o) == ELEMENT_F16;
    if (!operation_chooses(o, "accumulate", "f32") && !is_half)
        return err_set(e, "%s: accumulate = \"%s\" needs type = \"f16\"", o->kind->name,
                       operation_choice(o, "accumulate"));
    if (operation_chooses(o, "activation", "clamp") &&
        operation_real(o, "low") > operation_real(o, "high"))
        return err_set(e, "%s: low is greater than high", o->kind->name);
    return operation_element(o) != ELEMENT_I8 || check_integers(o, e);
}

enum element epilogue_element(const struct operation *o)
{
    enum element e = operation_element(o);
    return e == ELEMENT_I8 ? ELEMENT_I32 : e;
}

int epilogue_tensors(const struct operation *o, int count, int64_t channels,
                     const struct tensor *output, struct tensor *out)
{
    if (operation_chooses(o, "bias", "add"))
        out[count++] = tensor_packed("bias", output->element, 1, &channels);
    if (operation_chooses(o, "residual", "add")) {
        out[count] = *output;
        out[count++].name = "residual";
    }
    out[count++] = *output;
    return count;
}
