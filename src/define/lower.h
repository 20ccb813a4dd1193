// Lowering a program to its loop nest (space/nest.h), from which learned cost models take their
// features. These functions make the loops, buffers, accesses and statements of one variant of one
// kernel (lower.c). nest.c decides which statements a kernel has, lower_matrix.c does so for
// kernels on matrix units.
//
//     lower_add_loops(w); lower_add_staging(w);            loops and buffers of a tiled kernel
//     s = lower_new_statement(w, "reduce", PATH_REDUCE, lower_block_access(w, true, true));
//     lower_add_reads(w, s, node, staged);                 its other accesses
//     lower_count_operations(w, node, staged, reduction, s);
//
// Sizes depend on the configuration, so they are formulas of the nest. A formula is passed as its
// index in the nest.
#ifndef TILEWALK_DEFINE_LOWER_H
#define TILEWALK_DEFINE_LOWER_H

#include "define/program.h"
#include "space/nest.h"

struct lowering {
    const struct program *p;
    const struct program_kernel *k;
    const struct program_variant *v;
    struct nest *nest;
    int when;                                  // formula: the configuration has this variant
    int space, loops;                          // how many space loops; how many in all
    int loop[DEFINE_MAX_AXES][TILE_PARTS];     // the loop of each part; -1: it has one iteration
    int unrolled[DEFINE_MAX_AXES][TILE_PARTS]; // the loop in its place where it is unrolled
    int step[DEFINE_MAX_AXES][TILE_PARTS];     // formula: the stride of an iteration
    int constant[DEFINE_MAX_AXES];  // the unrolled loop of an axis of constant tensors, or -1
    int buffer[DEFINE_MAX_TENSORS]; // the buffer of each tensor, or -1
    int lanes, lane; // formula: the width of vectors; the loop over their lanes, or -1
    // Each staged read has a buffer, a loop that fills it and one in its place where it is
    // unrolled, the width of the vectors that fill it, and the loop over their lanes.
    int staged[PROGRAM_MAX_STAGED], fill[PROGRAM_MAX_STAGED], fill_unrolled[PROGRAM_MAX_STAGED];
    int fill_lanes[PROGRAM_MAX_STAGED], fill_lane[PROGRAM_MAX_STAGED];
    int halving;   // the loop in which invocations combine their partial results
    int registers; // the buffer of an invocation's accumulators
};

// Each returns a formula.
int lower_constant(struct lowering *w, double number);
int lower_compute(struct lowering *w, enum formula_op op, int a, int b);
int lower_multiply(struct lowering *w, int a, int b);
// Returns factor `place` of a parameter; the number of a parameter, or `otherwise` where it is -1.
int lower_slot(struct lowering *w, int param, int place);
int lower_number(struct lowering *w, int param, double otherwise);
// Returns the iterations of a part of a loop; 1 where the loop has no such part.
int lower_length(struct lowering *w, int loop, int part);
// Returns the product of that part over all space loops, or over all reduction loops.
int lower_product(struct lowering *w, bool space, int part);
int lower_threads(struct lowering *w); // invocations of a workgroup

// Loops and buffers. `name` is freed; `length` is a formula.
int lower_add_loop(struct lowering *w, char *name, enum nest_loop_kind kind, int length);
// Adds a buffer of this variant. Its dimensions are the formulas `lines` (-1: it has one dimension)
// and `line`.
int lower_add_buffer(struct lowering *w, const char *name, enum nest_memory memory, int bytes,
                     int lines, int line);
void lower_add_loops(struct lowering *w);   // and the registers
void lower_add_staging(struct lowering *w); // the staged tiles and the loops that fill them

// Accesses.
void lower_add_term(struct lowering *w, struct nest_access *x, int dim, int loop, int coefficient);
struct nest_access lower_block_access(struct lowering *w, bool reads, bool writes); // of registers
struct nest_access lower_output_access(struct lowering *w);

// Statements. The path is the list of loops around a statement.
enum lower_path { PATH_STORE, PATH_REDUCE, PATH_FILL, PATH_HALVE, PATH_FETCH };
struct nest_statement *lower_new_statement(struct lowering *w, const char *name,
                                           enum lower_path path, struct nest_access first);
void lower_add_access(struct nest_statement *s, struct nest_access x);
// Adds what the expression reads. `staged`, a bit each: the reads that are staged.
void lower_add_reads(struct lowering *w, struct nest_statement *s, int node, unsigned staged);
// Adds the reads of a statement that fills a staged tile with an expression. The expression is over
// the axes of the tensor of `c`, or over the kernel's axes (NULL). Neighbouring invocations read
// neighbouring elements: the last index of a read follows index `dim` of the statement's first
// access.
void lower_add_fill_reads(struct lowering *w, struct nest_statement *s, int node,
                          const struct staged_read *c, int dim);
// Counts the operations of the expression in `of_op`, by their kind.
void lower_add_operations(const struct lowering *w, int node, unsigned staged, int *of_op);
// Sets the operations of one execution, `each` times those counted.
void lower_set_operations(struct lowering *w, const int *of_op, double each,
                          struct nest_statement *s);
// Adds and sets the operations of the expression (-1: none) with the reduction around it.
void lower_count_operations(struct lowering *w, int node, unsigned staged, enum reduction r,
                            struct nest_statement *s);

// Lowers a kernel on matrix units (lower_matrix.c), whose loops are these.
void lower_matrix(struct lowering *w);
enum { BATCH = PRODUCT_BATCH, ROWS = PRODUCT_ROWS, COLUMNS = PRODUCT_COLUMNS, REDUCED };

#endif
