// What is computed, as data: tensors, and stages that make one tensor each from inputs and earlier
// stages. It is what a space file's `compute` declares (docs/definitions.md); the reference, the
// search space and the GLSL all follow from it.
//
//     struct definition d = {0};
//     int a = definition_add_tensor(&d, &tensor);          inputs first, then one of each stage
//     int i = definition_axis(&d, 0), k = definition_axis(&d, 1);
//     int read = definition_read(&d, a, (int[]){i, k}, 2);
//     definition_add_stage(&d, &(struct define_stage){...});
//     definition_write(&d, &text);  definition_read_text(&d, text, e);   between processes
//     definition_finish(&d);
//
// An expression is a node of the definition's pool; its operands stand before it, and equal nodes
// are one node. Nodes are real or whole: indices, axes and integer elements are whole, and what has
// a real operand is real. An axis is a number from 0 on, of the stage in whose expression it
// stands: the space axes first, then those of the reduction. A definition belongs to one thread
// while it is made, and to any after.
#ifndef TILEWALK_DEFINE_DEFINITION_H
#define TILEWALK_DEFINE_DEFINITION_H

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "space/operation.h"

#define DEFINE_MAX_RANK   6
#define DEFINE_MAX_REDUCE 4
#define DEFINE_MAX_AXES   (2 * DEFINE_MAX_RANK)
#define DEFINE_AFFINE     (DEFINE_MAX_AXES + 1) // of axes, and what is constant
#define DEFINE_MAX_STAGES 32
#define DEFINE_MAX_INPUTS (OPERATION_MAX_TENSORS - 1)
#define DEFINE_MAX_NODES  4096
#define DEFINE_LARGEST    4 // of the whole numbers that sums are exact for

enum node_op {
    NODE_NUMBER,
    NODE_AXIS,
    NODE_READ,
    NODE_ADD,
    NODE_SUBTRACT,
    NODE_MULTIPLY,
    NODE_DIVIDE,       // of real numbers
    NODE_FLOOR_DIVIDE, // of whole ones, down
    NODE_MODULO,       // a - b * (a // b)
    NODE_MIN,
    NODE_MAX,
    NODE_EXP,
    NODE_SQRT,
    NODE_TANH,
    NODE_LESS, // conditions: a < b
    NODE_AT_MOST,
    NODE_EQUAL,
    NODE_SELECT, // a ? b : c
    NODE_CAST,   // to `element`
    NODE_OP_COUNT
};

struct node {
    enum node_op op;
    bool is_real;
    int a, b, c;          // operands; -1: none
    int tensor, index;    // of a read: which, and where its indices begin in `index`
    int axis;             // of an axis
    double number;        // of a number
    enum element element; // of a cast
};

struct define_tensor {
    const char *name;
    enum element element;
    int rank;
    int64_t size[DEFINE_MAX_RANK];
};

enum reduction { REDUCE_NONE, REDUCE_SUM, REDUCE_MAX, REDUCE_MIN, REDUCE_PRODUCT, REDUCE_COUNT };

// tensor[space axes] = reduction over the other axes of `body`. A tensor of one number has no axes.
struct define_stage {
    int tensor;
    enum reduction reduction;
    int space, reduce; // how many axes of each
    int64_t extent[DEFINE_MAX_AXES];
    const char *axis[DEFINE_MAX_AXES]; // their names
    int body;
};

struct definition {
    struct arena arena;
    struct node *node;
    int node_count, node_capacity;
    int *index; // of all reads
    int index_count, index_capacity;
    struct define_tensor tensor[DEFINE_MAX_INPUTS + DEFINE_MAX_STAGES];
    int tensor_count, inputs;
    struct define_stage stage[DEFINE_MAX_STAGES]; // of the tensors behind the inputs
    int stage_count;                              // the last one makes the output
};

void definition_finish(struct definition *d);

int definition_add_tensor(struct definition *d, const struct define_tensor *t); // copies the name
void definition_add_stage(struct definition *d, const struct define_stage *s);  // and the axes'

// Nodes. Too many give -1, and so does a node with an operand -1.
int definition_number(struct definition *d, double number, bool is_real);
int definition_axis(struct definition *d, int axis);
int definition_read(struct definition *d, int tensor, const int *index, int count);
int definition_cast(struct definition *d, int a, enum element element);
// Those of one to three operands; operands that it does not have are -1.
int definition_op(struct definition *d, enum node_op op, int a, int b, int c);

const char *node_op_name(enum node_op op);    // "+", "max", "?"
int node_operands(enum node_op op);           // that are nodes in a, b, c
const char *reduction_name(enum reduction r); // "sum"; REDUCE_NONE: "map"
double reduction_identity(enum reduction r);  // what it begins with
int64_t define_tensor_count(const struct define_tensor *t);
int64_t stage_points(const struct define_stage *s, int first, int count); // of some of its axes

// The same expression with its axes replaced by nodes (`axis` NULL: they stay), and reads of the
// tensors that have an `expression`, which is not -1, by it at the indices that are read (NULL:
// they stay). -1 when there are too many nodes.
int definition_substitute(struct definition *d, int node, const int *axis, const int *expression);
// The same expression with its axes replaced, and all computed that numbers decide: choices by
// them, sums with 0, products with 0 (which are 0) and 1.
int definition_fold(struct definition *d, int node, const int *axis);
int definition_fold_two(struct definition *d, enum node_op op, int a, int b); // one operation
// The nodes that it consists of, operands first, itself last; `out` has room for node + 1.
int definition_nodes_of(const struct definition *d, int node, int *out);
// The reads of the expression that no choice and no index stands around, the last one first; `out`
// as above.
int definition_plain_reads(const struct definition *d, int node, int *out);
// The same without what only indices and conditions consist of.
int definition_computed(const struct definition *d, int node, int *out);
int definition_reads_of(const struct definition *d, int node, int tensor); // how many in all
// Adds `factor` times the expression to the coefficients of axes, one for each, and to the constant
// behind them: DEFINE_AFFINE in all. False: it is no sum of axes times numbers; then it is taken
// for the sum under it.
bool definition_affine(const struct definition *d, int node, double factor, double *coefficient);
// Where a read lies in its tensor, in numbers: the coefficients of the same kind. False as above.
bool definition_affine_place(const struct definition *d, int read, double *coefficient);
// Whether the axis occurs in it.
bool definition_depends(const struct definition *d, int node, int axis);

// As text, one line each tensor and stage: how it is sent to the process that measures. It can be
// read back only whole; false: `e` says what is wrong. An expression of shared parts is written
// out, so that a text can become too long: false then.
#define DEFINE_MAX_TEXT (1 << 18)
bool definition_write(const struct definition *d, struct str *out);
bool definition_read_text(struct definition *d, const char *text, struct err *e);

// Operations on what is computed with, not on indices and conditions, of all stages; what an
// expression uses twice it computes once.
double definition_flop(const struct definition *d);
// All inputs and the output, once.
double definition_bytes(const struct definition *d);

#endif
