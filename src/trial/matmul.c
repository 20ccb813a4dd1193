// matmul and batch_matmul: C[N,M] = A[N,K] * B[K,M], row-major; a transposed input is stored as
// [K,N] or [M,K].
#include "space/element.h"
#include "trial/product.h"

#include "base/mem.h"

#include <cblas.h>
#include <stdlib.h>

// Matrix `index` of a tensor (0 of one without a batch), packed, as doubles; heap.
static double *widen(const struct tensor *t, const void *buffer, int64_t index)
{
    const int64_t *size = t->size + t->rank - 2, *stride = t->stride + t->rank - 2;
    int64_t base = t->rank == 3 ? index * t->stride[0] : 0;
    double *wide = mem_alloc((size_t)(size[0] * size[1]) * sizeof *wide), *at = wide;
    for (int64_t i = 0; i < size[0]; i++)
        for (int64_t j = 0; j < size[1]; j++)
            *at++ = element_get(buffer, t->element, base + i * stride[0] + j);
    return wide;
}

static void multiply(const struct operation *o, const double *a, const double *b, double *c)
{
    const char *layout = operation_choice(o, "layout");
    bool a_turned = layout[0] == 't', b_turned = layout[1] == 't';
    blasint n = (blasint)operation_size(o, "N"), m = (blasint)operation_size(o, "M"),
            k = (blasint)operation_size(o, "K");
    cblas_dgemm(CblasRowMajor, a_turned ? CblasTrans : CblasNoTrans,
                b_turned ? CblasTrans : CblasNoTrans, n, m, k, 1, a, a_turned ? n : k, b,
                b_turned ? k : m, 0, c, m);
}

static void product_reference(const struct operation *o, const void *const *inputs, void *output)
{
    struct tensor tensor[OPERATION_MAX_TENSORS];
    const struct tensor *c = &tensor[operation_tensors(o, tensor) - 1];
    struct epilogue epilogue = epilogue_of(o, inputs, output);
    int64_t batch = c->rank == 3 ? c->size[0] : 1;
    int64_t n = operation_size(o, "N"), m = operation_size(o, "M");
    double *sums = mem_alloc((size_t)(n * m) * sizeof *sums);
    for (int64_t b = 0; b < batch; b++) {
        double *left = widen(&tensor[0], inputs[0], b), *right = widen(&tensor[1], inputs[1], b);
        multiply(o, left, right, sums);
        for (int64_t i = 0; i < n; i++) {
            int64_t row = tensor_line(c, b * n + i);
            for (int64_t j = 0; j < m; j++)
                epilogue_store(&epilogue, sums[i * m + j], j, row + j);
        }
        free(left);
        free(right);
    }
    free(sums);
}

static struct filling filling(const struct operation *o, enum input_set set, int index)
{
    const struct summing s = {.depth = operation_size(o, "K"), .growth = 1};
    return product_filling(o, set, index, &s);
}

static struct tolerance tolerance(const struct operation *o, enum input_set set)
{
    const struct summing s = {.depth = operation_size(o, "K"), .growth = 1};
    return product_tolerance(o, set, &s);
}

const struct operator_kind operator_matmul = {
    .name = "matmul",
    .filling = filling,
    .reference = product_reference,
    .tolerance = tolerance,
    .by = "OpenBLAS",
};

const struct operator_kind operator_batch_matmul = {
    .name = "batch_matmul",
    .filling = filling,
    .reference = product_reference,
    .tolerance = tolerance,
    .by = "OpenBLAS",
};
