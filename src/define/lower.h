// Lowering a program to its loop nest (space/nest.h): the loops, buffers, accesses and statements
// of one kernel that is computed in one way (lower.c). Used by the files that say which statements
// a kernel has: nest.c, and lower_matrix.c for kernels on matrix units.
//
//     lower_add_loops(w); lower_add_staging(w);            loops and buffers of a tiled kernel
//     s = lower_new_statement(w, "reduce", PATH_REDUCE, lower_block_access(w, true, true));
//     lower_add_reads(w, s, node, staged);                 its other accesses
//     lower_count_operations(w, node, staged, reduction, s);
//
// Sizes are formulas of the nest (indices of them): they depend on the configuration.
#ifndef TILEWALK_DEFINE_LOWER_H
#define TILEWALK_DEFINE_LOWER_H

#include "define/program.h"
#include "space/nest.h"

struct lowering {
    const struct program *p;
    const struct program_kernel *k;
    const struct program_variant *v;
    struct nest *nest;
    int when;                                 // formula: the kernel is computed in this way
    int loop[DEFINE_MAX_AXES][TILE_PARTS];    // the loop of each part; -1: it has one iteration
    int written[DEFINE_MAX_AXES][TILE_PARTS]; // the same, where the configuration unrolls it
    int step[DEFINE_MAX_AXES][TILE_PARTS];    // formula: how far one iteration leads
    int constant[DEFINE_MAX_AXES];            // the loop of an axis that is written out, or -1
    int buffer[DEFINE_MAX_INPUTS + DEFINE_MAX_STAGES]; // the buffer of each tensor, or -1
    int staged[PROGRAM_MAX_STAGED];                    // the buffer of each staged read
    int fill[PROGRAM_MAX_STAGED];                      // the loop that fills it
    int fill_written[PROGRAM_MAX_STAGED];              // the same, where it has two buffers
    int lanes, lane; // formula: the width of vectors; the loop over their lanes, or -1
    int fill_lanes[PROGRAM_MAX_STAGED], fill_lane[PROGRAM_MAX_STAGED]; // the same while filling
    int halving;   // the loop in which invocations combine their partial results
    int registers; // the buffer of an invocation's results
};

// Formulas.
int lower_constant(struct lowering *w, double number);
int lower_compute(struct lowering *w, enum formula_op op, int a, int b);
int lower_multiply(struct lowering *w, int a, int b);
// Number `place` of the configuration's factors of a parameter.
int lower_slot(struct lowering *w, int param, int place);
// The iterations of a part of a loop; 1 where the loop is not split so.
int lower_length(struct lowering *w, int loop, int part);
// The product of that part over all space loops, or over all loops of the reduction.
int lower_product(struct lowering *w, bool space, int part);
int lower_threads(struct lowering *w); // of a workgroup

// Loops and buffers. `name` is freed; `length` is a formula.
int lower_add_loop(struct lowering *w, char *name, enum nest_loop_kind kind, int length);
int lower_add_buffer(struct lowering *w, const char *name, enum nest_memory memory, int bytes);
// Returns the buffer of a tensor, which is added at its first use.
int lower_buffer_of(struct lowering *w, int tensor, bool is_input);
void lower_add_loops(struct lowering *w);   // with the registers
void lower_add_staging(struct lowering *w); // the staging buffers and the loops that fill them

// Accesses.
struct nest_term *lower_new_terms(struct lowering *w);
// A term of index `dim` of the access.
void lower_add_term(struct lowering *w, struct nest_access *x, int dim, int loop, int coefficient);
// The parts that count: all; those within a workgroup and a step of the outer loops; the outer
// ones.
enum lower_parts { ALL_PARTS, INNER_PARTS, OUTER_PARTS };
// Appends the loops' terms of an affine index, times the formula `scale`; returns the new count.
int lower_add_terms(struct lowering *w, const double *coefficient, enum lower_parts parts,
                    int scale, struct nest_term *term, int count);
struct nest_access lower_block_access(struct lowering *w, bool reads, bool writes); // of registers
struct nest_access lower_output_access(struct lowering *w);

// Statements. The path is the list of loops around a statement.
enum lower_path { PATH_STORE, PATH_REDUCE, PATH_FILL, PATH_HALVE, PATH_FETCH };
struct nest_statement *lower_new_statement(struct lowering *w, const char *name,
                                           enum lower_path path, struct nest_access first);
void lower_add_access(struct nest_statement *s, struct nest_access x);
// Adds what the expression reads. `staged`, a bit each: the reads that are staged.
void lower_add_reads(struct lowering *w, struct nest_statement *s, int node, unsigned staged);
// Adds the operations of the expression to `of_op`, by their kind.
void lower_add_operations(const struct lowering *w, int node, unsigned staged, int *of_op);
// Sets the operations of one execution, `each` times those counted.
void lower_set_operations(struct lowering *w, const int *of_op, double each,
                          struct nest_statement *s);
// Both, for the expression and the reduction around it.
void lower_count_operations(struct lowering *w, int node, unsigned staged, enum reduction r,
                            struct nest_statement *s);

// Lowers a kernel on matrix units (lower_matrix.c), whose loops are these.
void lower_matrix(struct lowering *w);
enum { BATCH = PRODUCT_BATCH, ROWS = PRODUCT_ROWS, COLUMNS = PRODUCT_COLUMNS, REDUCED };

#endif
