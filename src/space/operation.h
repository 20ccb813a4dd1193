// An operation: an operator's kind with its sizes, choices and numbers, as a space file declares
// them.
//
//     operator.matmul { N = 512, M = 1024, K = 1024, type = "f32", layout = "nn" }
//
// It is a pure description. `operation_kinds` has the fields of each kind, by which space files are
// checked, and the tensors that it reads and writes. trial/operator.h fills them and computes the
// right result.
#ifndef TILEWALK_SPACE_OPERATION_H
#define TILEWALK_SPACE_OPERATION_H

#include "base/err.h"
#include "base/str.h"
#include "space/tensor.h"

#include <stdbool.h>
#include <stdint.h>

#define OPERATION_MAX_SIZES   16
#define OPERATION_MAX_CHOICES 8
#define OPERATION_MAX_REALS   4
#define OPERATION_MAX_TENSORS 16

struct operation;

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
    bool is_plain;             // its value needs no name: titles always have it
};

struct operation_real {
    const char *name;
    double standard; // NAN: must be given
};

// The work of a run, from which its speed is computed: `amount` per second in `unit`.
struct workload {
    double amount;
    const char *unit; // "FLOPS", "B/s", or a defined operation's own
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
    // Fills in sizes that were not given (0) and checks that all fit together. NULL: nothing to do.
    // A second call changes nothing.
    bool (*complete)(struct operation *o, struct err *e);
    int outputs; // 0: one
    // The inputs in the order of their bindings, the outputs last. Returns how many.
    int (*tensors)(const struct operation *o, struct tensor out[OPERATION_MAX_TENSORS]);
};

struct operation {
    const struct operation_kind *kind;
    int64_t size[OPERATION_MAX_SIZES];
    int choice[OPERATION_MAX_CHOICES]; // index into values
    double real[OPERATION_MAX_REALS];
};

struct block_format;
// Returns the format of a product's A; NULL: it has no blocks.
const struct block_format *operation_blocks(const struct operation *o);

// The operators. Each has two records: operation_NAME describes it (here), operator_NAME fills
// inputs and computes the right result (src/trial).
// clang-format off
#define OPERATIONS(O) \
    O(matmul) O(batch_matmul) O(conv2d) O(max_pool) O(avg_pool) O(softmax) O(elementwise) O(copy) O(lrn) \
    O(concat) O(strided)
// clang-format on

extern const struct operation_kind *const operation_kinds[]; // NULL-terminated

const struct operation_kind *operation_kind_find(const char *name); // NULL when unknown
// Like operation_kind_find; the error suggests a name.
const struct operation_kind *operation_kind_named(const char *name, struct err *e);

// Sets everything to its standard.
void operation_init(struct operation *o, const struct operation_kind *kind);
// On failure `o` is as before and `e` lists the known names.
bool operation_set_size(struct operation *o, const char *name, int64_t value, struct err *e);
bool operation_set_choice(struct operation *o, const char *name, const char *value, struct err *e);
bool operation_set_real(struct operation *o, const char *name, double value, struct err *e);
// Completes an operation once all is set. Fails for a missing size and for fields that do not fit
// together.
bool operation_complete(struct operation *o, struct err *e);

// For a complete operation; the size (derived ones too), the choice, the number must exist.
int64_t operation_size(const struct operation *o, const char *name);
const char *operation_choice(const struct operation *o, const char *name);
double operation_real(const struct operation *o, const char *name);
bool operation_chooses(const struct operation *o, const char *name, const char *value);
double operation_flop(const struct operation *o);
// Returns FLOP for products and convolutions; for operations that read and write more than they
// compute, the bytes of their tensors, each counted once.
struct workload operation_work(const struct operation *o);
int operation_tensors(const struct operation *o, struct tensor out[OPERATION_MAX_TENSORS]);
int operation_outputs(const struct operation *o); // the last ones of the tensors
// Appends "matmul f32 nn 512x1024x1024", then fields that differ from the standard: " bias=add".
void operation_add_text(const struct operation *o, struct str *out);
// Appends {"kind":"matmul","N":512,"M":1024,"K":1024,"type":"f32","layout":"nn"}, and likewise.
void operation_add_json(const struct operation *o, struct str *out);

#endif
