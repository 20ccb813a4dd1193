// What is computed: an operator's kind and its sizes, choices and numbers, as a space file declares
// them.
//
//     operator.matmul { N = 512, M = 1024, K = 1024, type = "f32", layout = "nn" }
//
// A pure description. `operation_kinds` says which fields a kind has, and is what space files are
// checked against; a kind also says which tensors it reads and writes and how they lie in memory.
// trial/operator.h knows how to fill them and what the right result is.
#ifndef TILEWALK_SPACE_OPERATION_H
#define TILEWALK_SPACE_OPERATION_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

#define OPERATION_MAX_SIZES   16
#define OPERATION_MAX_CHOICES 8
#define OPERATION_MAX_REALS   4
#define OPERATION_MAX_TENSORS 6
#define TENSOR_MAX_RANK       4

struct operation;

enum element { ELEMENT_F32, ELEMENT_F16, ELEMENT_I8, ELEMENT_I32, ELEMENT_COUNT };

const char *element_name(enum element e); // "f32"
int element_bytes(enum element e);        // 4

struct tensor {
    const char *name; // "A", "bias"
    enum element element;
    int rank;
    int64_t size[TENSOR_MAX_RANK];   // slowest first
    int64_t stride[TENSOR_MAX_RANK]; // in elements; no two elements share a place
};

int64_t tensor_count(const struct tensor *t);  // elements; saturates at 2^63-1
int64_t tensor_extent(const struct tensor *t); // the same with the gaps between them
uint64_t tensor_bytes(const struct tensor *t); // of its buffer, gaps included, a multiple of 4
// A tensor is read line by line, a line being the elements along the last dimension.
int64_t tensor_lines(const struct tensor *t);
int64_t tensor_line(const struct tensor *t, int64_t line); // where its first element lies
// Whether an element lies at `offset`; false in a gap.
bool tensor_has(const struct tensor *t, int64_t offset);

#define SIZE_REQUIRED (-1)

struct operation_size {
    const char *name;
    int64_t standard; // SIZE_REQUIRED: must be given
    int64_t least;    // 0 or 1; the most is 2^31-1
};

struct operation_derived { // a size that follows from the others
    const char *name;
    int64_t (*value)(const struct operation *o);
};

struct operation_choice {
    const char *name;          // "type"
    const char *const *values; // NULL-terminated; the first is the default
    bool is_plain;             // its value alone says what it is: titles always have it
};

struct operation_real {
    const char *name;
    double standard; // NAN: must be given
};

// What a run does, as its speed is told: so much of what `unit` counts by the second.
struct workload {
    double amount;
    const char *unit; // "FLOPS", "B/s", or what a defined operation calls its own
};
#define WORK_FLOP  "FLOPS"
#define WORK_BYTES "B/s"

struct operation_kind {
    const char *name, *help;                 // "matmul", one line
    const struct operation_size *sizes;      // the lists end with a NULL name
    const struct operation_derived *derived; // NULL: none
    const struct operation_choice *choices;  // NULL: none
    const struct operation_real *reals;      // NULL: none
    double (*flop)(const struct operation *o);
    struct workload (*work)(const struct operation *o); // NULL: its FLOP
    // Fills in sizes that were left to it (0) and refuses what does not fit together. NULL: nothing
    // to do. Called again on what it has completed it changes nothing.
    bool (*complete)(struct operation *o, struct err *e);
    // The inputs in the order of their bindings, the output last. Returns how many.
    int (*tensors)(const struct operation *o, struct tensor out[OPERATION_MAX_TENSORS]);
};

struct operation {
    const struct operation_kind *kind;
    int64_t size[OPERATION_MAX_SIZES];
    int choice[OPERATION_MAX_CHOICES]; // index into values
    double real[OPERATION_MAX_REALS];
};

// What can be computed. Each has two records: operation_NAME says what it is (here), operator_NAME
// how inputs are filled and what is right (src/trial).
// clang-format off
#define OPERATIONS(O) \
    O(matmul) O(batch_matmul) O(conv2d) O(max_pool) O(avg_pool) O(softmax) O(elementwise) O(copy) O(lrn) \
    O(concat) O(strided)
// clang-format on

extern const struct operation_kind *const operation_kinds[]; // NULL-terminated

const struct operation_kind *operation_kind_find(const char *name); // NULL when unknown
// The same, with what was meant, perhaps.
const struct operation_kind *operation_kind_named(const char *name, struct err *e);

// Everything at its standard.
void operation_init(struct operation *o, const struct operation_kind *kind);
// On failure `o` is as before and `e` says what is known.
bool operation_set_size(struct operation *o, const char *name, int64_t value, struct err *e);
bool operation_set_choice(struct operation *o, const char *name, const char *value, struct err *e);
bool operation_set_real(struct operation *o, const char *name, double value, struct err *e);
// Once all is set: names a size that is missing, refuses what does not fit together.
bool operation_complete(struct operation *o, struct err *e);

// Of a complete operation; the size (derived ones too), the choice, the number must exist.
int64_t operation_size(const struct operation *o, const char *name);
const char *operation_choice(const struct operation *o, const char *name);
double operation_real(const struct operation *o, const char *name);
bool operation_chooses(const struct operation *o, const char *name, const char *value);
double operation_flop(const struct operation *o);
// Products and convolutions are rated by their FLOP; what reads and writes more than it computes by
// the bytes of its tensors, each counted once.
struct workload operation_work(const struct operation *o);
int operation_tensors(const struct operation *o, struct tensor out[OPERATION_MAX_TENSORS]);
// "matmul f32 nn 512x1024x1024", and then what differs from the standard: " bias=add"
void operation_add_text(const struct operation *o, struct str *out);
// {"kind":"matmul","N":512,"M":1024,"K":1024,"type":"f32","layout":"nn"}, and likewise
void operation_add_json(const struct operation *o, struct str *out);

#endif
