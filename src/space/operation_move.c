// What only moves elements: concatenation, and reading in another order (transposing, slicing,
// repeating).
#include "space/operation_kinds.h"

#include "base/times.h"

#define MOVE_TYPES                                                                                 \
    {                                                                                              \
        "type", (const char *const[]){"f32", "f16", NULL}, true                                    \
    }

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

static double concat_flop(const struct operation *o)
{
    return (double)operation_size(o, "rows") * (double)concat_columns(o);
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
    .choices = (const struct operation_choice[]){MOVE_TYPES, {NULL, NULL, false}},
    .flop = concat_flop,
    .work = operation_moved,
    .complete = concat_complete,
    .tensors = concat_tensors,
};

// --- strided ---

enum { MOST_AXES = 4 };
static const char *const axis_sizes[MOST_AXES] = {"n1", "n2", "n3", "n4"};
static const char *const axis_strides[MOST_AXES] = {"s1", "s2", "s3", "s4"};

static double strided_flop(const struct operation *o)
{
    double count = 1;
    for (int i = 0; i < MOST_AXES; i++)
        count *= (double)operation_size(o, axis_sizes[i]);
    return count;
}

// That the last element read is one of X.
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
    return (struct workload){2 * strided_flop(o) * element_bytes(operation_element(o)), WORK_BYTES};
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
    .choices = (const struct operation_choice[]){MOVE_TYPES, {NULL, NULL, false}},
    .flop = strided_flop,
    .work = strided_work,
    .complete = strided_complete,
    .tensors = strided_tensors,
};
