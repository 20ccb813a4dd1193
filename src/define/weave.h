// Weaving the loop nest of a program: its loops, buffers and accesses (weave.c), and the statements
// of which it consists (loops.c). Shared by these two only.
#ifndef TILEWALK_DEFINE_WEAVE_H
#define TILEWALK_DEFINE_WEAVE_H

#include "define/program.h"
#include "space/nest.h"

struct weaver {
    const struct program *p;
    const struct program_kernel *k;
    const struct program_variant *v;
    struct nest *nest;
    int when;                                 // the formula: it is computed this way
    int loop[DEFINE_MAX_AXES][TILE_PARTS];    // of each part of each loop; -1: of length 1
    int written[DEFINE_MAX_AXES][TILE_PARTS]; // the same, where the configuration writes it out
    int step[DEFINE_MAX_AXES][TILE_PARTS];    // how far one iteration leads: a formula
    int constant[DEFINE_MAX_AXES];            // the loop of an axis that is written out; -1: none
    int buffer[DEFINE_MAX_INPUTS + DEFINE_MAX_STAGES];      // of each tensor, or -1
    int copy[PROGRAM_MAX_COPIES], fill[PROGRAM_MAX_COPIES]; // its buffer, the loop that fills it
    int fill_written[PROGRAM_MAX_COPIES];                   // the same, where two tiles are held
    int lanes, lane; // how many (tiling_lanes): a formula; the loop over them, -1: there is none
    int fill_lanes[PROGRAM_MAX_COPIES], fill_lane[PROGRAM_MAX_COPIES]; // the same of what is copied
    int halving;   // the loop in which invocations that share hand on their numbers
    int registers; // a buffer
};

// Formulas of the nest.
int weave_constant(struct weaver *w, double number);
int weave_compute(struct weaver *w, enum formula_op op, int a, int b);
int weave_multiply(struct weaver *w, int a, int b);
// How many iterations a part of a loop has; 1 where it is not split so.
int weave_part(struct weaver *w, int loop, int index);
// Whether a copy is read from: 1 or 0.
int weave_placed(struct weaver *w, int copy);
int weave_threads(struct weaver *w);                               // of a workgroup
int weave_product(struct weaver *w, bool space, int index);        // of a part of all loops
bool weave_has_lanes(const struct weaver *w, int loop, int index); // whether they are part of it

int weave_loops(const struct weaver *w); // how many
bool weave_is_space(const struct weaver *w, int loop);
int weave_rank(const struct weaver *w, const struct program_copy *c);

// The loops of a kernel computed in one way, its registers, and the copies with the loops that fill
// them.
void weave_add_loops(struct weaver *w);
void weave_add_registers(struct weaver *w);
void weave_add_copies(struct weaver *w);
// `name` is freed; `length` is a formula.
int weave_add_loop(struct weaver *w, char *name, enum nest_loop_kind kind, int length);
int weave_add_buffer(struct weaver *w, const char *name, enum nest_memory memory, int bytes);
// That of a tensor, added when it is first asked for.
int weave_buffer_of(struct weaver *w, int tensor, bool is_input);

// Accesses of a statement.
struct nest_term *weave_new_terms(struct weaver *w);
enum weave_parts { ALL_PARTS, INNER_PARTS, OUTER_PARTS }; // in a workgroup and step; of them
// Adds the loops' terms of an index, times the formula `scale`. Gives how many terms there are.
int weave_add_terms(struct weaver *w, const double *coefficient, enum weave_parts which, int scale,
                    struct nest_term *term, int count);
void weave_set_read(struct weaver *w, struct nest_access *x, const struct node *n);
struct nest_access weave_copy_access(struct weaver *w, int copy);
struct nest_access weave_block_access(struct weaver *w, bool reads, bool writes); // of registers
struct nest_access weave_output_access(struct weaver *w);

// --- statements (loops.c) ---

enum weave_path { PATH_STORE, PATH_REDUCE, PATH_FILL, PATH_HALVE, PATH_FETCH };

// In the loops around it, whose first access is `first`.
struct nest_statement *weave_new_statement(struct weaver *w, const char *name, enum weave_path what,
                                           struct nest_access first);
void weave_add_access(struct nest_statement *s, struct nest_access x);
// What the expression reads; `copied`, a bit each: from copies.
void weave_add_reads(struct weaver *w, struct nest_statement *s, int node, unsigned copied);
// Of one execution of the expression, and of the reduction around it.
void weave_count_operations(struct weaver *w, int node, unsigned copied, enum reduction r,
                            struct nest_statement *s);

// --- matrix units (units_nest.c) ---

void weave_units(struct weaver *w); // the kernel
int weave_unit_loop(const struct weaver *w, int axis);
struct nest_access weave_unit_registers(struct weaver *w, bool reads, bool writes);

#endif
