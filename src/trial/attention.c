// Fused attention: O = softmax(Q K' / sqrt(dim)) V.
//
// Exact inputs have exact results: rows of Q and K are one pattern of signs, or its opposite, large
// enough that the keys of a query's own sign weigh the same and all others nothing. A result is the
// mean of the values whose keys are seen and of that sign: a key that is missed, seen twice or seen
// through the mask shows, however many there are. Random inputs have scores that differ by several
// powers of e, so that few keys decide, and show what is wrong with scores.

#include "base/mem.h"
#include "space/tensor.h"
#include "trial/operator_kind.h"

#ifdef TILEWALK_MKL
#include <mkl_cblas.h>
#else
#include <cblas.h>
#endif
#include <math.h>
#include <stdlib.h>

#define UNIT 0x1p-23

enum {
    PATTERN = 4, // exact queries and keys: scores differ by at least 2 PATTERN^2
    LARGEST = 3, // of random ones
    ROWS_AT_ONCE = 128
};

enum { Q, K, V, O };

// --- inputs ---

static struct filling attention_filling(const struct operation *o, enum input_set set, int index)
{
    if (index == V)
        return usual_filling(o, set, index);
    return (struct filling){.low = -LARGEST, .high = LARGEST};
}

static bool attention_fill(const struct operation *o, enum input_set set, struct rng *r, int index,
                           void *out)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    operation_tensors(o, tensor);
    const struct tensor *t = &tensor[index];
    if (set != INPUT_EXACT || index == V)
        return false;
    int64_t dim = operation_size(o, "dim"), lines = tensor_lines(t);
    for (int64_t line = 0; line < lines; line++) {
        double sign = rng_below(r, 2) ? PATTERN : -PATTERN;
        struct rng pattern; // the same for all lines
        rng_seed(&pattern, 1);
        for (int64_t d = 0; d < dim; d++)
            element_put(out, t->element, line * dim + d, rng_below(&pattern, 2) ? sign : -sign);
    }
    return true;
}

// --- the right result ---

// Rows of one head: `first` is the offset of the first, `step` from one to the next.
struct rows {
    int64_t first, step;
};

static struct rows rows_of(const struct operation *o, const struct tensor *t, int64_t batch,
                           int64_t head)
{
    bool heads_first = operation_chooses(o, "layout", "bhnd");
    return (struct rows){batch * t->stride[0] + head * t->stride[heads_first ? 1 : 2],
                         t->stride[heads_first ? 2 : 1]};
}

// Returns `count` rows from row `from` on, as doubles; heap.
static double *widen(const void *buffer, enum element e, struct rows rows, int64_t from,
                     int64_t count, int64_t dim)
{
    double *wide = mem_alloc((size_t)(count * dim) * sizeof *wide);
    for (int64_t i = 0; i < count; i++)
        for (int64_t d = 0; d < dim; d++)
            wide[i * dim + d] = element_get(buffer, e, rows.first + (from + i) * rows.step + d);
    return wide;
}

// Makes weights of the scores of a query, of which it sees the first `seen`.
static void weigh(double *score, int64_t seen, int64_t count)
{
    double top = -INFINITY, sum = 0;
    for (int64_t j = 0; j < seen; j++)
        top = fmax(top, score[j]);
    for (int64_t j = 0; j < seen; j++)
        sum += score[j] = exp(score[j] - top);
    for (int64_t j = 0; j < count; j++)
        score[j] = j < seen ? score[j] / sum : 0;
}

static void head_reference(const struct operation *o, const void *const *inputs, void *output,
                           int64_t batch, int64_t head)
{
    struct tensor t[OPERATION_MAX_TENSORS];
    operation_tensors(o, t);
    int64_t n = operation_size(o, "N"), m = operation_size(o, "M"), dim = operation_size(o, "dim");
    int64_t of_kv = head / (operation_size(o, "heads") / operation_size(o, "kv_heads"));
    bool is_causal = operation_chooses(o, "mask", "causal");
    enum element e = t[Q].element;
    struct rows out = rows_of(o, &t[O], batch, head), q = rows_of(o, &t[Q], batch, head);
    double *keys = widen(inputs[K], e, rows_of(o, &t[K], batch, of_kv), 0, m, dim);
    double *values = widen(inputs[V], e, rows_of(o, &t[V], batch, of_kv), 0, m, dim);
    double *scores = mem_alloc((size_t)(ROWS_AT_ONCE * m) * sizeof *scores);
    double *results = mem_alloc((size_t)(ROWS_AT_ONCE * dim) * sizeof *results);
    for (int64_t first = 0; first < n; first += ROWS_AT_ONCE) {
        int rows = (int)(n - first < ROWS_AT_ONCE ? n - first : ROWS_AT_ONCE);
        double *queries = widen(inputs[Q], e, q, first, rows, dim);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, (int)m, (int)dim,
                    1 / sqrt((double)dim), queries, (int)dim, keys, (int)dim, 0, scores, (int)m);
        for (int64_t i = 0; i < rows; i++)
            weigh(scores + i * m, is_causal ? m - n + first + i + 1 : m, m);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, (int)dim, (int)m, 1, scores,
                    (int)m, values, (int)dim, 0, results, (int)dim);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t d = 0; d < dim; d++)
                element_put(output, t[O].element, out.first + (first + i) * out.step + d,
                            results[i * dim + d]);
        free(queries);
    }
    free(results);
    free(scores);
    free(values);
    free(keys);
}

static void attention_reference(const struct operation *o, const void *const *inputs, void *output)
{
    for (int64_t batch = 0; batch < operation_size(o, "batch"); batch++)
        for (int64_t head = 0; head < operation_size(o, "heads"); head++)
            head_reference(o, inputs, output, batch, head);
}

// --- tolerances ---

// The error of a weight, relative to it, moves a result by as much of twice the largest value. It
// consists of
//
// * exp(x) of a score's distance from the largest and twice that of a rescaling, 3 + 2 |x| units in
//   the last place of fp32 (Vulkan spec, "Precision and Operation of SPIR-V Instructions"); the
//   mean of |x| by the weights is at most log n, as an entropy is;
// * the error of a score, a sum of dim products with s = LARGEST^2 / 3, as half_sum_tolerance in
//   product.c has it, by sqrt(dim).
//
// Sums of n weights and of their values have n units each, as softmax's, a division 2.5. Weights
// that matrix units multiply as f16 or bf16 lose a unit of theirs, or half the smallest one; they
// are added up as they are multiplied, so that those of exact inputs, all the same, stay so.
static struct tolerance attention_tolerance(const struct operation *o, enum input_set set)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    operation_tensors(o, tensor);
    bool is_exact = set == INPUT_EXACT;
    double dim = (double)operation_size(o, "dim"), n = (double)operation_size(o, "M");
    double largest = is_exact ? USUAL_LARGEST : 1, s = LARGEST * LARGEST / 3.0;
    double weight = 3 * (3 + 2 * log(n)) + 20 * s * sqrt((dim + 3) / 3);
    double units = (is_exact ? 0 : 2 * weight) + 2 * fmin(n, 8 * sqrt(n)) + 2.5;
    struct tolerance t = tolerance_of_store(tensor[O].element);
    t.absolute += largest * units * UNIT;
    if (element_bytes(tensor[Q].element) == 2 && !is_exact) {
        struct tolerance weights = tolerance_of_store(tensor[Q].element);
        t.absolute += largest * (weights.relative / 1.5 + n * weights.absolute / 2);
    }
    return t;
}

const struct operator_kind operator_attention = {
    .name = "attention",
    .filling = attention_filling,
    .fill = attention_fill,
    .reference = attention_reference,
    .tolerance = attention_tolerance,
    .by = "OpenBLAS",
};
