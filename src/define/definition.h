// A definition: an operator as data, like a tensor expression of TVM. It has tensors, and stages
// that compute one tensor each from the inputs and earlier stages. A space file declares it with
// `compute` (docs/guide/definitions.md); the reference, the search space and the GLSL follow from
// it.
//
//     struct definition d = {0};
//     int a = definition_add_tensor(&d, &tensor);          inputs first, then one for each stage
//     int i = definition_axis(&d, 0), k = definition_axis(&d, 1);
//     int read = definition_read(&d, a, (int[]){i, k}, 2);
//     definition_add_stage(&d, &(struct define_stage){...});
//     definition_write(&d, &text);  definition_read_text(&d, text, e);   between processes
//     definition_finish(&d);
//
// Expressions are graphs of nodes in one array, the pool. A node's operands stand before it, and
// equal nodes are one node. A node is an integer (an axis, an index, an element of i8 or i32) or a
// floating-point number, `is_real`; an operation with one floating-point operand is floating-point.
// An axis is numbered within its stage: space axes first (TVM's data-parallel axes), then reduction
// axes. One thread makes a definition; afterwards any thread may read it.
#ifndef TILEWALK_DEFINE_DEFINITION_H
#define TILEWALK_DEFINE_DEFINITION_H

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "space/operation.h"

#define DEFINE_MAX_RANK    6
#define DEFINE_MAX_REDUCE  4
#define DEFINE_MAX_AXES    (2 * DEFINE_MAX_RANK)
#define DEFINE_AFFINE      (DEFINE_MAX_AXES + 1) // coefficients of the axes, and the constant
#define DEFINE_MAX_STAGES  32
#define DEFINE_MAX_INPUTS  5
#define DEFINE_MAX_TENSORS (DEFINE_MAX_INPUTS + DEFINE_MAX_STAGES)
#define DEFINE_MAX_NODES   4096
#define DEFINE_LARGEST     4 // inputs are filled with integers from -4 to 4: their sums are exact

enum node_op {
    NODE_NUMBER,
    NODE_AXIS,
    NODE_READ,
    NODE_ADD,
    NODE_SUBTRACT,
    NODE_MULTIPLY,
    NODE_DIVIDE,       // of floating-point numbers
    NODE_FLOOR_DIVIDE, // of integers, rounded down
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

extern const struct node_kind {
    const char *name; // "+", "max", "?"
    int operands;     // how many of a, b and c
} node_kinds[NODE_OP_COUNT];

struct node {
    enum node_op op;
    bool is_real;
    int a, b, c;          // operands, as indices in the pool; -1: none
    int tensor, index;    // NODE_READ: the tensor; where its indices begin in `index` below
    int axis;             // NODE_AXIS
    double number;        // NODE_NUMBER
    enum element element; // NODE_CAST
};

struct define_tensor {
    const char *name;
    enum element element;
    int rank;
    int64_t size[DEFINE_MAX_RANK]; // row-major: the last index runs fastest
};

enum reduction { REDUCE_NONE, REDUCE_SUM, REDUCE_MAX, REDUCE_MIN, REDUCE_PRODUCT, REDUCE_COUNT };
extern const char *const reduction_names[REDUCE_COUNT]; // "sum"; REDUCE_NONE: "map"

// tensor[space axes] = `body`, reduced over the reduction axes. The tensor of a stage without space
// axes has one element.
struct define_stage {
    int tensor;
    enum reduction reduction;
    int space, reduce; // numbers of axes
    int64_t extent[DEFINE_MAX_AXES];
    const char *axis[DEFINE_MAX_AXES]; // names
    int body;                          // a node
};

struct definition {
    struct arena arena;
    struct node *node; // the pool
    int node_count, node_capacity;
    int *index; // the indices of all reads: nodes
    int index_count, index_capacity;
    struct define_tensor tensor[DEFINE_MAX_TENSORS];
    int tensor_count, inputs;
    struct define_stage stage[DEFINE_MAX_STAGES]; // stage k computes tensor inputs + k
    int stage_count;                              // the last one computes the output
};

void definition_finish(struct definition *d);

// Names are copied.
int definition_add_tensor(struct definition *d, const struct define_tensor *t);
void definition_add_stage(struct definition *d, const struct define_stage *s);

// Each adds a node, or finds the equal one, and returns it. -1: there are too many nodes, or an
// operand is -1.
int definition_number(struct definition *d, double number, bool is_real);
int definition_axis(struct definition *d, int axis);
int definition_read(struct definition *d, int tensor, const int *index, int count);
// Says if results and casts of a definition can be of the type; if inputs can.
bool define_computes(enum element e);
bool define_reads(enum element e);
int definition_cast(struct definition *d, int a, enum element element);
// An operation of one to three operands; missing ones are -1. Integer arithmetic with 0, 1 and
// constants is simplified.
int definition_op(struct definition *d, enum node_op op, int a, int b, int c);

bool definition_is_number(const struct definition *d, int node, double number);
double reduction_identity(enum reduction r);                // the initial value of an accumulator
int64_t define_tensor_count(const struct define_tensor *t); // elements
// Return how many points a stage's iteration domain has along some axes: `count` of them from
// `first` on, or those whose bits are set.
int64_t stage_points(const struct define_stage *s, int first, int count);
int64_t stage_points_of(const struct define_stage *s, unsigned axes);
// Advances the point `at` along the axes whose bits are set, the last axis fastest. False: it was
// the last point, and `at` is the first one again.
bool stage_next_point(const struct define_stage *s, unsigned axes, int64_t *at);

// Returns the expression with each axis i replaced by node axis[i] (NULL: axes stay), and each read
// of a tensor t with expression[t] >= 0 replaced by that expression at the indices of the read, as
// inlining does (NULL: reads stay). -1: there are too many nodes.
int definition_substitute(struct definition *d, int node, const int *axis, const int *expression);

// Lists nodes of an expression in the order of the pool, operands before the nodes that use them.
// Returns how many there are; `out` has room for DEFINE_MAX_NODES.
enum node_set {
    NODES_ALL,
    NODES_READS,        // the reads among them, also those within indices and conditions
    NODES_VALUES,       // all but those that occur only in indices and conditions
    NODES_UNCONDITIONAL // the reads that no branch of a select and no index contains
};
int definition_list(const struct definition *d, int node, enum node_set set, int *out);
int definition_reads_of(const struct definition *d, int node, int tensor); // how many in all
bool definition_depends(const struct definition *d, int node, int axis);   // the axis occurs in it

// Adds `factor` times an affine expression to DEFINE_AFFINE coefficients: one for each axis, and
// the constant. False: the expression is not affine, and only its affine part was added.
bool definition_affine(const struct definition *d, int node, double factor, double *coefficient);
// Adds the coefficients of a read's offset in its tensor, in elements. False as above.
bool definition_affine_offset(const struct definition *d, int read, double *coefficient);

// Write and read a definition as text, a line for each tensor and stage, for the process that
// measures. Writing fails where the text is too long: a node that two expressions share stands in
// the text twice. Reading fails with the line in `e`.
#define DEFINE_MAX_TEXT (1 << 18)
bool definition_write(const struct definition *d, struct str *out);
bool definition_read_text(struct definition *d, const char *text, struct err *e);

// Returns the operations of all stages. Those in indices and conditions do not count; a node that
// expressions share counts once.
double definition_flop(const struct definition *d);
double definition_bytes(const struct definition *d); // of all inputs and the output, once

#endif
