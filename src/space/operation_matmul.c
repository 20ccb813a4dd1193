// C[N,M] = A[N,K] B[K,M], one product or a batch of them; a layout says for A and for B whether it
// is stored transposed.
#include "space/operation_kinds.h"

#include "base/times.h"

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
