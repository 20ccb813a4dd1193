// A program computes a definition on a device: which stages become kernels, the space of their
// sketches and tilings, and the GLSL of one configuration.
//
//     struct program *p = program_create(&d, device, e);
//     program_add_params(p, space, e);            then space_seal
//     program_set_rules(p, space, file, line);    constraints and resources
//     program_job(p, &config, name, &job, e);     the kernels of one configuration
//     program_destroy(p);
//
// A stage without a reduction is inlined: it is computed where it is read. Each other stage is a
// kernel, and so is the output. Kernels run in order and pass their results on in scratch memory
// (32 bits a number). Where the output only maps the results of the last reduction, as a bias and a
// relu do, it becomes the epilogue of that kernel.
//
// A kernel is a nest of tiled loops around one statement. With PLAN_TILE each axis is a loop, and
// reads may be staged in shared memory (Ansor's cache read). With the other plans all space axes
// are fused into one loop and all reduction axes into another, which the invocations of a workgroup
// or several workgroups may share. Workgroups that share a reduction store partial results in
// scratch memory, behind the results of all kernels, and a second pass combines them. The sketch
// (define/sketch.h) decides which plan a kernel has. A program is immutable, for any thread.
#ifndef TILEWALK_DEFINE_PROGRAM_H
#define TILEWALK_DEFINE_PROGRAM_H

#include "define/sketch.h"
#include "kernel/job.h"
#include "space/space.h"

#define PROGRAM_MAX_KERNELS 4 // each may have a second pass
// Serial or tiled, cross-thread and split kernels, each guarded or not, and one on matrix units.
#define PROGRAM_MAX_VARIANTS 7
#define PROGRAM_MAX_STAGED   3 // staged reads of a kernel; further reads are never staged
#define PROGRAM_MOST_VECTOR  4 // the widest vector that is read or stored

// The parts of a space loop, outermost first (Ansor's S0 to S4). An invocation computes as many
// results as the product of the virtual, outer and inner parts.
enum { TILE_GROUPS, TILE_VIRTUAL, TILE_THREADS, TILE_OUTER, TILE_INNER, TILE_PARTS };
// The parts of a reduction loop (Ansor's R0 to R2), then the invocations of a workgroup that share
// it, and the workgroups that share it.
enum {
    TILE_REDUCE_OUTER,
    TILE_REDUCE_MIDDLE,
    TILE_REDUCE_INNER,
    TILE_REDUCE_THREADS,
    TILE_REDUCE_GROUPS
};

// The loops of a kernel, space loops first. The parts of each are a parameter of the space.
struct program_loops {
    int space, reduce;
    int64_t extent[DEFINE_MAX_AXES]; // the length, or more where the loop may run past its end
    int64_t length[DEFINE_MAX_AXES];
    const char *name[DEFINE_MAX_AXES];
    int param[DEFINE_MAX_AXES]; // -1: the loop has one iteration and is not tiled
};

// One way to compute a kernel. Members that are parameters are -1 where the variant has none.
struct program_variant {
    // PLAN_TILE: a loop for each axis; PLAN_CONSTANT: one loop over the space axes that are not
    // unrolled; PLAN_MATRIX: batch, rows, columns, reduction; else the fused space axes, and the
    // fused reduction axes.
    enum stage_plan plan;
    bool is_guarded; // loops may run past their ends
    struct program_loops loops;
    int staging[PROGRAM_MAX_STAGED]; // parameters: the read is staged
    int unroll;                      // parameter: the most statements that are unrolled
    int vector, pad, buffers; // parameters: vector width, padding of lines, buffers of each stage
    int values, reads;        // PLAN_CONSTANT: elements that each iteration stores and reads
    // PLAN_MATRIX, parameters: the shape of fragments, subgroups of a workgroup and fragments of a
    // subgroup along rows and columns, fragments of a tile along the reduction.
    int shape, subgroups, fragments, steps;
};

// A read that may be staged in shared memory: its indices are affine in the axes.
struct staged_read {
    int read;         // the node in the kernel's body
    int tensor, rank; // of the read
    int computed;     // the inlined expression in its place where it is not staged; -1: the read
    int expression;   // what is staged, over the tensor's axes
    int stage;        // the inlined stage of that expression; -1: the tensor itself is read
    int operations;   // operations of a statement that are saved where the read is staged
    double coefficient[DEFINE_MAX_RANK][DEFINE_AFFINE]; // of each index
};

struct program_kernel {
    struct define_stage stage; // of `inlined`
    int epilogue;              // the expression that is stored in place of the reduction; or -1
    bool is_output;
    uint64_t scratch; // the index of its first result in scratch memory
    struct staged_read staged[PROGRAM_MAX_STAGED];
    int staged_count;
    // Operations in the kernel's text, arithmetic and addresses: of one statement, of one store,
    // and of all statements of PLAN_CONSTANT.
    int operations, store_operations, unrolled_operations;
    struct unrolled unrolled; // PLAN_CONSTANT
    struct product product;   // PLAN_MATRIX: factors with all inlined stages computed in place
    struct matrix_shape shape[MATRIX_MAX_SHAPES]; // shapes that fragments may have
    int shapes;
    struct program_variant variant[PROGRAM_MAX_VARIANTS];
    int variants;
};

struct program_device {
    uint32_t subgroup;          // invocations of a subgroup
    uint32_t invocations;       // the most invocations of a workgroup
    bool is_cpu;                // its driver takes long to compile long kernels
    struct matrix_units matrix; // matrix units that kernels may use
    bool emulates;              // matrix units are emulated in plain GLSL
    uint32_t lanes;     // invocations of a subgroup that uses matrix units, `subgroup` or fewer
    uint32_t subgroups; // the most such subgroups of a workgroup; 0: any number
};

struct program {
    struct definition inlined; // the stages that are left after inlining, and their tensors
    struct program_kernel kernel[PROGRAM_MAX_KERNELS];
    int kernel_count;
    int output; // the tensor
    uint64_t scratch_bytes;
    struct sketches sketches;
    char *sketch_name[SKETCH_MOST];
    bool has_widths; // the space has parameters for vectors, padding and buffers
    int chooser;     // the parameter that chooses the sketch; -1: there is one sketch
    const struct space *space;
    struct program_device device;
};

// `d` is copied.
struct program *program_create(const struct definition *d, struct program_device device,
                               struct err *e);
void program_destroy(struct program *p);

// Returns the index of the kernel's staged read that the node is; -1: it is none.
int program_staged_of(const struct program_kernel *k, int node);

// --- parameters (params.c) ---

// Returns the variant of the kernel in the sketch; -1: none was added yet.
int program_variant_of(const struct program *p, int sketch, int kernel);
// Returns how the sketch computes the tensor's kernel.
enum stage_plan program_plan_of(const struct program *p, const struct sketch *s, int tensor);
// Adds the parameters of all sketches to the space, and remembers their numbers.
bool program_add_params(struct program *p, struct space *s, struct err *e);

// --- tiles (tiling.c) ---

// The tiles of one kernel in one configuration. A part that is not split is 1.
struct tiling {
    const struct program_variant *variant;
    int32_t part[DEFINE_MAX_AXES][TILE_PARTS]; // of each loop
    bool is_staged[PROGRAM_MAX_STAGED];
    int32_t unroll;
    int32_t vector;      // 1, 2 or 4
    int32_t pad;         // elements behind each line of a staged tile that has several lines
    bool double_buffers; // the next tile is fetched while this one is computed
    const struct matrix_shape *shape; // of fragments (PLAN_MATRIX)
    int32_t lanes;                    // invocations of a subgroup on matrix units; else 1
};

struct tiling program_tiling(const struct program *p, int kernel, const struct config *c);
// Adds the constraints and the resources to the space. `file` and `line` are the place of the
// constraints in messages. `p` outlives the space.
void program_set_rules(struct program *p, struct space *s, const char *file, int line);

// Returns which factor of a loop's parameter the part is; -1: it has none, and the part is 1.
int tiling_factor(enum stage_plan plan, bool is_space, int part);
// Return the product of a part over all space loops, and over all reduction loops.
int64_t tiling_space(const struct tiling *t, int part);
int64_t tiling_reduced(const struct tiling *t, int part);
int64_t tiling_registers(const struct tiling *t); // accumulators of an invocation
int64_t tiling_threads(const struct tiling *t);   // invocations of a workgroup
// Returns the iterations of a loop within a workgroup and an iteration of the outer reduction
// loops.
int64_t tiling_span(const struct tiling *t, int loop);
// True: the part of the reduction loops is unrolled.
bool tiling_is_unrolled(const struct tiling *t, int part);
void tiling_groups(const struct tiling *t, uint64_t out[3]); // workgroups of the dispatch
int64_t tiling_points(const struct tiling *t);               // results of the kernel
// Returns the second pass of a split reduction: an invocation combines the partial results of one
// element, as many as TILE_REDUCE_OUTER has iterations. `v` becomes its variant.
struct tiling tiling_second_pass(const struct tiling *t, struct program_variant *v);

// The tile of a staged read in shared memory: lines of elements that are neighbours in the tensor.
struct staged_tile {
    int64_t extent[DEFINE_MAX_RANK]; // elements along each index of the read; the last is a line
    int64_t lines, line;             // how many lines there are; their length
    int64_t pitch;                   // the distance of lines, with the padding
    int64_t size;                    // elements of the buffer, with the padding
    int32_t lanes;                   // the width of the vectors in which an invocation fills it
    int64_t rounds;                  // how many such vectors each invocation copies
};
struct staged_tile tiling_staged(const struct program *p, const struct staged_read *c,
                                 const struct tiling *t);
// Returns the widest vectors in which any tiling may fill the tile.
int tiling_fill_width(const struct program *p, const struct program_variant *v,
                      const struct staged_read *c);

// Vectors hold neighbours along the last axis. `tiling_lanes` is the number of results that an
// invocation computes at once: the vector's width where it divides the innermost part, else 1.
int32_t tiling_lanes(const struct tiling *t);
// Return whether the read is one vector for all lanes, and whether the results are stored as one.
bool tiling_reads_vector(const struct program *p, const struct program_kernel *k, int read,
                         const struct tiling *t);
bool tiling_stores_vector(const struct program_kernel *k, const struct tiling *t);

// A kernel on matrix units stages a tile of each factor (0: the rows', 1: the columns') in shared
// memory. Its sides are the spans of the factor's loop and of loop PRODUCT_SIDES, the reduction.
// Returns the distance of its lines, which run along the reduction where the product's `along` is
// true.
int64_t matrix_tile_pitch(const struct program_kernel *k, const struct tiling *t, int factor);
// Fills in the shapes of emulated matrix units, for products of any element type.
void matrix_emulate(struct matrix_units *out);

// --- the kernels of one configuration ---

// `job` is filled for the caller (job_finish); `name` becomes the name of its templates.
bool program_job(const struct program *p, const struct config *c, const char *name, struct job *job,
                 struct err *e);
// Returns the loop nest of all kernels, sealed; the caller owns it (nest.c). After
// program_add_params.
struct nest *program_nest(const struct program *p);
// Writes a sketch for people (print.c): its loops and statements, without sizes.
void program_outline(const struct program *p, int sketch, struct str *out);

#endif
