// The loop nest of a kernel as data: its loops, buffers and statements, with all sizes as formulas
// of the configuration. A space file declares it beside the GLSL; features of programs are computed
// from it (src/model), and tests compare it with the shader.
//
//     struct nest_point p;
//     nest_point_init(&p, nest);
//     nest_evaluate(nest, space, config, &p);      a few microseconds; as often as needed
//     p.length[loop], nest_touched(&p, ...), nest_flops(&p)
//     nest_point_finish(&p);
//
// A statement stands in the loops of its path and stores into one buffer. Paths share the loops
// that they begin with. The structure is the same for all configurations of a space: what a
// configuration does not use has length 1 (a loop), `when` 0 (a statement) or `used` 0 (a buffer).
// Passes that run one after the other are statements with block and thread loops of their own. A
// nest is immutable, and usable from any thread; a point belongs to one thread.
#ifndef TILEWALK_SPACE_NEST_H
#define TILEWALK_SPACE_NEST_H

#include "space/space.h"

// Formulas: whole numbers that follow from a configuration, such as a loop's length or a tile's
// size. They are evaluated in one pass, by any thread.
//
//     int rows = formulas_slot(&f, param->offset + 2);           c.registers[3]
//     int both = formulas_add(&f, FORMULA_MULTIPLY, rows, rows, 0);
//     formulas_evaluate(&f, space, config, value);               value[both]
//
// A node's operands stand before it. Equal nodes are one node; constants, sums with 0 and products
// with 1 or 0 are computed at once. Values are doubles: exact for whole numbers up to 2^53, and no
// overflow traps.

enum formula_op {
    FORMULA_CONSTANT,
    FORMULA_SLOT,   // slot a of the configuration as it is: a part, the index of a label
    FORMULA_NUMBER, // the number that parameter a, discrete or custom, has
    FORMULA_PLACE,  // the position of item b in permutation a, from 0
    FORMULA_ADD,
    FORMULA_SUBTRACT,
    FORMULA_MULTIPLY,
    FORMULA_DIVIDE, // rounds down; by 0 gives 0, as the next two do
    FORMULA_MODULO, // a - b * (a / b)
    FORMULA_CEIL_DIVIDE,
    FORMULA_MIN,
    FORMULA_MAX,
    FORMULA_DIVISOR, // the largest divisor of a that is at most b, and at least 1; from 2^32 on,
                     // of those divisors d for which d or a / d is at most 2^16
    FORMULA_EQUAL,   // these give 1 or 0; any number but 0 is true
    FORMULA_LESS,
    FORMULA_NOT, // not a
    FORMULA_AND,
    FORMULA_OR,
    FORMULA_CHOOSE // a ? b : c
};

struct formula_node {
    double constant;
    enum formula_op op;
    int a, b, c; // nodes, or as in the list above; 0 where the operation has none
};

// Empty and valid when zeroed; release with formulas_finish.
struct formulas {
    struct formula_node *node;
    int *bucket; // open addressing, index + 1
    int count, capacity, buckets;
};

void formulas_finish(struct formulas *f);

// These return the index of the node, old or new. formulas_add is for operations from FORMULA_ADD
// on; it ignores operands that the operation does not have.
int formulas_constant(struct formulas *f, double constant);
int formulas_slot(struct formulas *f, int slot);
int formulas_number(struct formulas *f, int param);
int formulas_place(struct formulas *f, int param, int item);
int formulas_add(struct formulas *f, enum formula_op op, int a, int b, int c);

bool formulas_is_constant(const struct formulas *f, int node, double constant);

// `value` has room for f->count numbers. `s` is the space that the formulas were made for.
void formulas_evaluate(const struct formulas *f, const struct space *s, const struct config *c,
                       double *value);

#define NEST_MAX_DIMS       6
#define NEST_MAX_PATH       64 // loops around a statement
#define NEST_MAX_ACCESSES   8  // per statement
#define NEST_MAX_LOOPS      512
#define NEST_MAX_BUFFERS    128
#define NEST_MAX_STATEMENTS 128

// AutoTVM's eleven annotations, in its order.
enum nest_loop_kind {
    NEST_BLOCK_X,
    NEST_BLOCK_Y,
    NEST_BLOCK_Z,
    NEST_THREAD_X,
    NEST_THREAD_Y,
    NEST_THREAD_Z,
    NEST_UNROLLED, // written out, or unrolled on request
    NEST_VECTORIZED,
    NEST_PARALLEL,
    NEST_SERIAL,
    NEST_VIRTUAL // virtual threads: written out, far apart
};
#define NEST_LOOP_KINDS (NEST_VIRTUAL + 1)

const char *nest_loop_kind_name(enum nest_loop_kind k); // "block_x", ..., "virtual"

enum nest_memory { NEST_GLOBAL, NEST_SHARED, NEST_REGISTERS };

const char *nest_memory_name(enum nest_memory m); // "global", "shared", "registers"

// All `int`s below are formulas of the nest (indices into value[] of a point) unless a comment says
// otherwise.
struct nest_loop {
    const char *name;
    enum nest_loop_kind kind;
    int length; // less than 1 counts as 1
    // The sort key, or -1. Neighbours on a path that all have one stand in ascending order of these
    // values (as declared where they are equal): so a permutation orders loops.
    int place;
};

struct nest_buffer {
    const char *name;
    enum nest_memory memory;
    int bytes;              // of an element; a plain number
    int dim_count;          // a plain number
    int dim[NEST_MAX_DIMS]; // outermost first, gaps included
    int copies;             // 2 when doubled
    int used;               // 0: this configuration does not use it
};

struct nest_term {
    int loop; // index of a loop on the statement's path
    int coefficient;
};

// An element of a buffer: each index is a sum of loops times coefficients (constants do not matter
// here and are left out). A read that is not affine in the loops (the image under a window's tap)
// is declared as a read of the corresponding matrix.
struct nest_access {
    int buffer; // index
    bool read, write;
    struct {
        const struct nest_term *term;
        int count;
    } dim[NEST_MAX_DIMS];
};

struct nest_statement {
    const char *name;
    const int *loop; // indices of loops as declared, outermost first; nest_path has the real order
    int loop_count;
    int when; // 0: this configuration does not execute it
    // Floating-point operations of one execution: additions and subtractions, multiplications,
    // divisions and remainders, comparisons (minima and maxima too), calls of mathematical
    // functions.
    int add, multiply, divide, compare, special;
    int integer; // integer operations in place of floating-point ones (sums of i8)
    const struct nest_access *access;
    int access_count; // the first one, and only that, has `write`
    // Set by nest_seal: the begin of this statement's part of the arrays of a point.
    int first_path, first_stride;
};

struct nest {
    struct arena arena; // names, paths, terms and the arrays below
    struct formulas formulas;
    struct nest_loop *loop;
    struct nest_buffer *buffer;
    struct nest_statement *statement;
    int loop_count, buffer_count, statement_count;
    int unroll; // the parameter that limits what is unrolled ("auto_unroll_max_step"); -1: none
    // Set by nest_seal.
    int path_total, stride_total, most_path;
};

struct nest *nest_create(void); // empty; fill it, then nest_seal
void nest_seal(struct nest *n);
void nest_destroy(struct nest *n); // NULL is fine

// One evaluation. Positions on a path count from 0, outermost first.
struct nest_point {
    const struct nest *nest;
    double *value;  // [formulas.count]
    double *length; // [loop_count], at least 1
    bool *present;  // [statement_count]: its `when`
    int *path;      // see nest_path
    double *stride; // see nest_strides
    int *position;  // scratch: the position of each loop on the current path
};

void nest_point_init(struct nest_point *p, const struct nest *n);
void nest_point_finish(struct nest_point *p);
void nest_evaluate(const struct nest *n, const struct space *s, const struct config *c,
                   struct nest_point *p);

// Returns the loops of a statement, outermost first, [loop_count].
static inline const int *nest_path(const struct nest_point *p, int statement)
{
    return p->path + p->nest->statement[statement].first_path;
}

// Returns the product of the lengths of a statement's loops whose kind is one of first ... last.
double nest_product(const struct nest_point *p, int statement, enum nest_loop_kind first,
                    enum nest_loop_kind last);

// Returns how many loops two statements share, from the outermost on.
int nest_common_loops(const struct nest_point *p, int one, int other);

// Returns by how many elements the flattened index of an access moves with each loop of nest_path,
// [loop_count].
static inline const double *nest_strides(const struct nest_point *p, int statement, int access)
{
    const struct nest_statement *s = &p->nest->statement[statement];
    return p->stride + s->first_stride + access * s->loop_count;
}

// Returns the number of different elements that an access touches while the innermost `count` loops
// of its path run: for each dimension, the span of the index, at most the iterations that it
// depends on and at most the dimension.
double nest_touched(const struct nest_point *p, int statement, int access, int count);

double nest_buffer_bytes(const struct nest_point *p, int buffer); // copies included; 0 when unused

// Return the executions of a statement by one invocation and by all of them (0 when it is not
// executed). Tails count as full.
double nest_executions(const struct nest_point *p, int statement);
double nest_all_executions(const struct nest_point *p, int statement);

// Returns the bytes of all buffers: in registers of an invocation, in shared memory of a workgroup.
double nest_memory_bytes(const struct nest_point *p, enum nest_memory m);
double nest_flops(const struct nest_point *p); // floating-point operations of all statements
// Returns the iterations of serial loops per invocation, without loops of one iteration.
double nest_trips(const struct nest_point *p);

#endif
