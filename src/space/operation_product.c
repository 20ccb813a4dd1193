#include "base/number.h"
#include "space/block.h"
#include "space/operation_kinds.h"

#include <math.h>

// --- the epilogue of a sum of products: y = activation(scale * sum + bias + residual) ---

#define EPILOGUE_CHOICES                                                                           \
    {"bias", (const char *const[]){"none", "add", NULL}, false},                                   \
        {"residual", (const char *const[]){"none", "add", NULL}, false},                           \
    {                                                                                              \
        "activation", (const char *const[]){"none", "relu", "leaky", "clamp", NULL}, false         \
    }
#define SUM_TYPES                                                                                  \
    {                                                                                              \
        "type", (const char *const[]){"f32", "f16", "i8", "bf16", "u8", "f8e4m3", "f8e5m2", NULL}, \
            true                                                                                   \
    }
#define SUM_ACCUMULATE                                                                             \
    {                                                                                              \
        "accumulate", (const char *const[]){"f32", "f16", "mixed", NULL}, false                    \
    }

static const struct operation_real epilogue_reals[] = {
    {"scale", 1}, {"slope", 0.01}, {"low", 0}, {"high", 6}, {NULL, 0},
};

// Refuses types, sums and epilogues that do not go together.
static bool epilogue_check(const struct operation *o, struct err *e)
{
    const char *kind = o->kind->name;
    enum element type = operation_element(o);
    double low = operation_real(o, "low"), high = operation_real(o, "high");
    bool clamps = operation_chooses(o, "activation", "clamp");
    bool fits = low == floor(low) && high == floor(high) && fabs(low) <= INT32_MAX &&
                fabs(high) <= INT32_MAX;
    if (!operation_chooses(o, "accumulate", "f32") && (type != ELEMENT_F16 || operation_blocks(o)))
        return err_set(e, "%s: accumulate = \"%s\" needs type = \"f16\"", kind,
                       operation_choice(o, "accumulate"));
    if (clamps && low > high)
        return err_set(e, "%s: low is greater than high", kind);
    if (element_is_real(type))
        return true;
    const char *name = element_name(type);
    if (operation_real(o, "scale") != 1)
        return err_set(e, "%s: %s has no scale (its sums are stored as i32)", kind, name);
    if (operation_chooses(o, "activation", "leaky"))
        return err_set(e, "%s: %s has no leaky activation (it has none, relu, clamp)", kind, name);
    return !clamps || fits ||
           err_set(e, "%s: low and high of %s are whole numbers of 32 bits", kind, name);
}

// Returns the element that a sum of products is stored as: one of 32 bits, but f16 as f16, unless A
// has blocks.
static enum element epilogue_element(const struct operation *o)
{
    enum element e = operation_element(o);
    return e == ELEMENT_F16 && !operation_blocks(o) ? e
           : element_is_real(e)                     ? ELEMENT_F32
                                                    : ELEMENT_I32;
}

// Adds bias (`channels` numbers) and residual where they are chosen, and the output. Returns the
// number of tensors.
static int epilogue_tensors(const struct operation *o, int count, int64_t channels,
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

// --- matrix products ---

// C[N,M] = A[N,K] B[K,M], one product or a batch of them; the two letters of a layout are for A and
// B: `t` is stored transposed.

#define LAYOUTS                                                                                    \
    {                                                                                              \
        "layout", (const char *const[]){"nn", "nt", "tn", "tt", NULL}, true                        \
    }

static const struct operation_choice product_choices[] = {
    SUM_TYPES, LAYOUTS, SUM_ACCUMULATE, EPILOGUE_CHOICES, {NULL, NULL, false},
};

// Weights in blocks are A's, in the memory layout of models: the operand of few bits. `b` says what
// kernels may multiply B as, which bounds their rounding: with q8_1, as 32 whole numbers with a
// scale.
static const struct operation_choice matmul_choices[] = {
    SUM_TYPES,
    LAYOUTS,
    SUM_ACCUMULATE,
    EPILOGUE_CHOICES,
    {"blocks", (const char *const[]){"none", "q4_0", "q8_0", "q4_K", "q6_K", NULL}, false},
    {"b", (const char *const[]){"float", "q8_1", NULL}, false},
    {NULL, NULL, false},
};

const struct block_format *operation_blocks(const struct operation *o)
{
    return o->kind == &operation_matmul ? block_format_named(operation_choice(o, "blocks")) : NULL;
}

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

// The storage of a matrix: rows of `columns` elements; the sizes named `row_name` and `batch_name`
// are the distances of rows and of matrices.
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

static bool blocks_fit(const struct operation *o, const struct place *a, int64_t row, struct err *e)
{
    const struct block_format *f = operation_blocks(o);
    enum element type = operation_element(o);
    const char *kind = o->kind->name, *format = operation_choice(o, "blocks");
    if (type != ELEMENT_F32 && type != ELEMENT_F16)
        return err_set(e, "%s: blocks are multiplied with f32 or f16", kind);
    if (operation_choice(o, "layout")[0] == 't')
        return err_set(e, "%s: blocks of %s lie along K (layout nn or nt)", kind, format);
    if (row && row != a->columns)
        return err_set(e, "%s: blocks of %s have no gaps between rows (row_a)", kind, format);
    return a->columns % f->weights == 0 ||
           err_set(e, "%s: blocks of %s have %d weights (choose K as a multiple)", kind, format,
                   f->weights);
}

// Fills in the distances of rows and matrices. The matrices of a batch lie one behind the other, or
// with interleaved rows (as the heads of an attention do).
static bool product_complete(struct operation *o, struct err *e)
{
    struct place place[MATRICES];
    find_places(o, place);
    for (int i = 0; i < MATRICES; i++) {
        const struct place *p = &place[i];
        int64_t *row = operation_size_at(o, p->row_name);
        if (i == A && operation_blocks(o) && !blocks_fit(o, p, *row, e))
            return false;
        *row = *row == 0 ? p->columns : *row;
        if (*row < p->columns)
            return err_set(e, "%s: %s is smaller than a row of %s", o->kind->name, p->row_name,
                           p->name);
        if (!is_batched(o))
            continue;
        int64_t *step = operation_size_at(o, p->batch_name), behind = times_signed(p->rows, *row);
        *step = *step == 0 ? behind : *step;
        bool is_in_turn =
            *step >= p->columns && *row >= times_signed(operation_size(o, "batch"), *step);
        if (*step < behind && !is_in_turn)
            return err_set(e, "%s: %s lets the matrices of %s overlap", o->kind->name,
                           p->batch_name, p->name);
    }
    if (!is_batched(o) && !operation_blocks(o) && operation_chooses(o, "b", "q8_1"))
        return err_set(e, "%s: b = \"q8_1\" needs A in blocks", o->kind->name);
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
    const struct block_format *f = operation_blocks(o);
    const int64_t bytes[2] = {place[A].rows,
                              f ? place[A].columns / f->weights * block_bytes(f) : 0};
    out[A] =
        f ? tensor_packed("A", ELEMENT_I8, 2, bytes) : matrix(o, &place[A], operation_element(o));
    out[B] = matrix(o, &place[B], operation_element(o));
    struct tensor output = matrix(o, &place[C], epilogue_element(o));
    return epilogue_tensors(o, C, place[C].columns, &output, out);
}

// With a vector every element of the matrix is used once, and memory limits the speed; with weights
// of few bits it does so with a few vectors.
static struct workload product_work(const struct operation *o)
{
    int64_t few = operation_blocks(o) ? 8 : 1;
    bool is_vector = operation_size(o, "N") <= few || operation_size(o, "M") <= few;
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
    .choices = matmul_choices,
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
    .choices = product_choices,
    .reals = epilogue_reals,
    .flop = product_flop,
    .work = product_work,
    .complete = product_complete,
    .tensors = product_tensors,
};

// --- convolution ---

// Y = X * W: a convolution (as in networks: the kernel is not turned) of images with a kernel for
// each output channel, in independent groups of channels.

static const struct operation_choice conv2d_choices[] = {
    SUM_TYPES,
    {"layout", (const char *const[]){"nchw", "nhwc", NULL}, true},
    SUM_ACCUMULATE,
    EPILOGUE_CHOICES,
    {"algorithm", (const char *const[]){"sums", "winograd", "winograd_f16", NULL}, false},
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

static int64_t conv2d_height(const struct operation *o)
{
    return (padded(o, "height") - dilated(o, "kernel_h")) / operation_size(o, "stride") + 1;
}

static int64_t conv2d_width(const struct operation *o)
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
    const int64_t y[4] = {batch, channels, conv2d_height(o), conv2d_width(o)};
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
    .derived = (const struct operation_derived[]){{"out_height", conv2d_height},
                                                  {"out_width", conv2d_width},
                                                  {NULL, NULL}},
    .choices = conv2d_choices,
    .reals = epilogue_reals,
    .flop = conv2d_flop,
    .complete = conv2d_complete,
    .tensors = conv2d_tensors,
};

// --- attention ---

// O = softmax(Q K' / sqrt(dim)) V, head by head; `kv_heads` fewer heads of K and V are each used by
// neighbouring heads of Q. Of a causal mask the last query sees all keys, each one before it one
// key less, as where the first keys come out of a cache.

// Gives K and V as many heads as Q where they have none of their own.
static bool attention_complete(struct operation *o, struct err *e)
{
    int64_t heads = operation_size(o, "heads"), *kv = operation_size_at(o, "kv_heads");
    *kv = *kv == 0 ? heads : *kv;
    if (heads % *kv != 0)
        return err_set(e, "attention: kv_heads does not divide heads");
    return !operation_chooses(o, "mask", "causal") ||
           operation_size(o, "N") <= operation_size(o, "M") ||
           err_set(e, "attention: a causal mask has at least as many keys (M) as queries (N)");
}

static struct tensor head_tensor(const struct operation *o, const char *name, enum element e,
                                 const char *heads, const char *rows)
{
    bool heads_first = operation_chooses(o, "layout", "bhnd");
    const int64_t size[4] = {
        operation_size(o, "batch"), operation_size(o, heads_first ? heads : rows),
        operation_size(o, heads_first ? rows : heads), operation_size(o, "dim")};
    return tensor_packed(name, e, 4, size);
}

static int attention_tensors(const struct operation *o, struct tensor out[OPERATION_MAX_TENSORS])
{
    enum element e = operation_element(o);
    out[0] = head_tensor(o, "Q", e, "heads", "N");
    out[1] = head_tensor(o, "K", e, "kv_heads", "M");
    out[2] = head_tensor(o, "V", e, "kv_heads", "M");
    out[3] = head_tensor(o, "O", epilogue_element(o), "heads", "N");
    return 4;
}

// Two products over the pairs of a query and a key that it sees.
static double attention_flop(const struct operation *o)
{
    double n = (double)operation_size(o, "N"), m = (double)operation_size(o, "M");
    double pairs = n * m - (operation_chooses(o, "mask", "causal") ? n * (n - 1) / 2 : 0);
    return 4 * (double)operation_size(o, "batch") * (double)operation_size(o, "heads") * pairs *
           (double)operation_size(o, "dim");
}

// One query is a product with a vector.
static struct workload attention_work(const struct operation *o)
{
    return operation_size(o, "N") == 1 ? operation_moved(o)
                                       : (struct workload){attention_flop(o), WORK_FLOP};
}

const struct operation_kind operation_attention = {
    .name = "attention",
    .help = "O = softmax(Q K' / sqrt(dim)) V, head by head; kv_heads fewer of K and V",
    .sizes =
        (const struct operation_size[]){
            {"batch", 1, 1},
            {"heads", SIZE_REQUIRED, 1},
            {"kv_heads", 0, 0},
            {"N", SIZE_REQUIRED, 1},
            {"M", SIZE_REQUIRED, 1},
            {"dim", SIZE_REQUIRED, 1},
            {NULL, 0, 0},
        },
    .choices =
        (const struct operation_choice[]){
            {"type", (const char *const[]){"f32", "f16", "bf16", "f8e4m3", "f8e5m2", NULL}, true},
            {"layout", (const char *const[]){"bhnd", "bnhd", NULL}, true},
            {"mask", (const char *const[]){"none", "causal", NULL}, false},
            {NULL, NULL, false},
        },
    .flop = attention_flop,
    .work = attention_work,
    .complete = attention_complete,
    .tensors = attention_tensors,
};
