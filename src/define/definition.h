// A definition: an operator as data. It has tensors, and stages that compute one tensor each from
// the inputs and earlier stages. A space file declares it with `compute` (docs/definitions.md); the
// reference, the search space and the GLSL are derived from it.
//
//     struct definition d = {0};
//     int a = definition_add_tensor(&d, &tensor);          inputs first, then one for each stage
//     int i = definition_axis(&d, 0), k = definition_axis(&d, 1);
//     int read = definition_read(&d, a, (int[]){i, k}, 2);
//     definition_add_stage(&d, &(struct define_stage){...});
//     definition_write(&d, &text);  definition_read_text(&d, text, e);   between processes
//     definition_finish(&d);
//
// An expression is a node of the definition's pool. Its operands stand before it, and equal nodes
// are one node. Nodes are real or whole: indices, axes and integer elements are whole; a node with
// a real operand is real. An axis is a number of the stage in whose expression it stands: space
// axes first, then reduction axes. One thread makes a definition; afterwards any thread may read
// it.
#ifndef TILEWALK_DEFINE_DEFINITION_H
#define TILEWALK_DEFINE_DEFINITION_H

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "space/operation.h"

#define DEFINE_MAX_RANK   6
#define DEFINE_MAX_REDUCE 4
#define DEFINE_MAX_AXES   (2 * DEFINE_MAX_RANK)
#define DEFINE_AFFINE     (DEFINE_MAX_AXES + 1) // coefficients of the axes, and the constant
#define DEFINE_MAX_STAGES 32
#define DEFINE_MAX_INPUTS (OPERATION_MAX_TENSORS - 1)
#define DEFINE_MAX_NODES  4096
#define DEFINE_LARGEST    4 // whole numbers for which sums are exact

enum node_op {
    NODE_NUMBER,
    NODE_AXIS,
    NODE_READ,
    NODE_ADD,
    NODE_SUBTRACT,
    NODE_MULTIPLY,
    NODE_DIVIDE,       // real numbers
    NODE_FLOOR_DIVIDE, // whole numbers, rounded down
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
    int tensor, index;    // a read: its tensor, and its first index in `index`
    int axis;             // an axis
    double number;        // a number
    enum element element; // a cast
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
    int space, reduce; // numbers of axes
    int64_t extent[DEFINE_MAX_AXES];
    const char *axis[DEFINE_MAX_AXES]; // names
    int body;
};

struct definition {
    struct arena arena;
    struct node *node;
    int node_count, node_capacity;
    int *index; // the indices of all reads
    int index_count, index_capacity;
    struct define_tensor tensor[DEFINE_MAX_INPUTS + DEFINE_MAX_STAGES];
    int tensor_count, inputs;
    struct define_stage stage[DEFINE_MAX_STAGES]; // stages of the tensors behind the inputs
    int stage_count;                              // the last one makes the output
};

void definition_finish(struct definition *d);

// Names are copied.
int definition_add_tensor(struct definition *d, const struct define_tensor *t);
void definition_add_stage(struct definition *d, const struct define_stage *s);

// Add a node and return it. -1: there are too many nodes, or an operand is -1.
int definition_number(struct definition *d, double number, bool is_real);
int definition_axis(struct definition *d, int axis);
int definition_read(struct definition *d, int tensor, const int *index, int count);
int definition_cast(struct definition *d, int a, enum element element);
// An operation of one to three operands; those that it lacks are -1.
int definition_op(struct definition *d, enum node_op op, int a, int b, int c);

bool definition_is_number(const struct definition *d, int node, double number);
const char *node_op_name(enum node_op op);    // "+", "max", "?"
int node_operands(enum node_op op);           // operands that are nodes in a, b, c
const char *reduction_name(enum reduction r); // "sum"; REDUCE_NONE: "map"
double reduction_identity(enum reduction r);  // its initial value
int64_t define_tensor_count(const struct define_tensor *t);
int64_t stage_points(const struct define_stage *s, int first, int count); // of some of its axes
int64_t stage_points_of(const struct define_stage *s, unsigned axes);     // of these, a bit each

// Returns the expression with its axes replaced by nodes (`axis` NULL: they stay), and with reads
// of tensors whose `expression` is not -1 replaced by that expression at the indices of the read
// (NULL: reads stay). -1: there are too many nodes.
int definition_substitute(struct definition *d, int node, const int *axis, const int *expression);
// Lists the nodes of the expression, operands first, itself last, and returns their number. `out`
// has room for node + 1.
int definition_nodes_of(const struct definition *d, int node, int *out);
// Lists the same without the nodes of which only indices and conditions consist.
int definition_value_nodes(const struct definition *d, int node, int *out);
// Lists the reads that are in no branch of a choice and in no index, the last one first.
int definition_unconditional_reads(const struct definition *d, int node, int *out);
int definition_reads_of(const struct definition *d, int node, int tensor); // how many in all
// Adds `factor` times an affine expression to DEFINE_AFFINE coefficients: one for each axis, and
// the constant. False: the expression is not affine; the affine part under it is added.
bool definition_affine(const struct definition *d, int node, double factor, double *coefficient);
// Adds the coefficients of a read's linear index in its tensor. False as above.
bool definition_affine_place(const struct definition *d, int read, double *coefficient);
bool definition_depends(const struct definition *d, int node, int axis); // the axis occurs in it

// A definition as text, one line for each tensor and stage: it is sent so to the process that
// measures. False: the text would be too long (shared parts are written out); or it is no
// definition (`e` gives the line).
#define DEFINE_MAX_TEXT (1 << 18)
bool definition_write(const struct definition *d, struct str *out);
bool definition_read_text(struct definition *d, const char *text, struct err *e);

// The operations of all stages on values, not on indices and conditions. Shared parts count once.
double definition_flop(const struct definition *d);
double definition_bytes(const struct definition *d); // of all inputs and the output, once

#endif
