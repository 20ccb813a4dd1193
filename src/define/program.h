// How a definition is computed on a device: which stages become kernels, the space of their
// sketches and tilings, and the GLSL of one point of it.
//
//     struct program *p = program_create(&d, device, e);
//     program_add_params(p, space, e);            then space_seal
//     program_set_rules(p, space, file, line);    constraints and resources
//     program_job(p, &config, name, &job, e);     one configuration's kernels
//     program_destroy(p);
//
// Stages without a reduction are computed where they are read; each of the others, and the output,
// is a kernel, in order, with what they hand on in scratch memory (32 bits a number). What the
// output makes of each number of the last reduction alone, a bias and a relu say, is computed
// before the number is stored.
//
// A kernel is a nest of tiled loops around one statement. Where tiles read numbers again, the loops
// are the axes, and what is read may be copied to shared memory; elsewhere all space axes are one
// loop, and so are all axes of the reduction, which the invocations of a workgroup may share, and
// workgroups too: then each stores its part in scratch memory, behind what kernels hand on, and a
// second pass combines them. The sketch (define/sketch.h) says which. A program is immutable, and
// usable from any thread.
#ifndef TILEWALK_DEFINE_PROGRAM_H
#define TILEWALK_DEFINE_PROGRAM_H

#include "define/constants.h"
#include "define/sketch.h"
#include "kernel/job.h"
#include "space/space.h"

#define PROGRAM_MAX_KERNELS (JOB_MAX_PASSES / 2) // each may have a second pass
#define PROGRAM_MAX_VARIANTS                                                                       \
    7 // of a kernel: alone, shared, split or by matrix units; guarded or not
#define PROGRAM_MAX_COPIES  3 // a kernel; what it reads besides is read where it lies
#define PROGRAM_MOST_VECTOR 4 // neighbours that are read or stored at once

// Parts of a loop over space, outermost first, as Ansor's S0 to S4. The numbers of an invocation
// are those of all parts but the first and the third.
enum { TILE_GROUPS, TILE_VIRTUAL, TILE_THREADS, TILE_OUTER, TILE_INNER, TILE_PARTS };
// Of a loop over a reduction, as R0 to R2; then of neighbours that work together, and of workgroups
// that do.
enum { TILE_LOOP, TILE_MIDDLE, TILE_WRITTEN, TILE_SHARED, TILE_ACROSS };

// The loops of a kernel: those over space first. Their parts are parameters.
struct program_loops {
    int space, reduce;
    int64_t extent[DEFINE_MAX_AXES]; // at least its length, more where its end is guarded
    int64_t length[DEFINE_MAX_AXES];
    const char *name[DEFINE_MAX_AXES];
    int param[DEFINE_MAX_AXES]; // -1: it is of length 1, and not tiled
};

// One way to compute a kernel.
struct program_variant {
    // PLAN_TILE: a loop each axis; PLAN_CONSTANT: one over the space axes that are not written out;
    // PLAN_MATRIX: batch, rows and columns; else all axes of a kind are one.
    enum stage_plan plan;
    bool is_guarded; // loops may run past their ends
    struct program_loops loops;
    int copied[PROGRAM_MAX_COPIES]; // parameters: whether that read is of a copy
    int unroll;                     // the parameter: written out are so many statements; -1: none
    // Parameters: neighbours at once at most, numbers after each line of a copy, tiles of it that
    // are held. -1: none.
    int vector, pad, buffers;
    int values, reads; // of each step, that are written out (PLAN_CONSTANT)
    // Parameters (PLAN_MATRIX): the fragments' shape, subgroups of a workgroup and fragments of a
    // subgroup along rows and columns, fragments along the reduction of a tile.
    int shape, subgroups, fragments, steps;
};

// A read that may be of a copy in shared memory: its indices are sums of axes.
struct program_copy {
    int read;       // the node of the kernel's body
    int plain;      // what is computed in its place where there is no copy; -1: it is read
    int expression; // what is copied, over the tensor's axes
    int stage;      // of that expression; -1: it is a read
    int operations; // that the text of a read has more where it is of no copy
    double coefficient[DEFINE_MAX_RANK][DEFINE_AFFINE]; // of each index
};

struct program_kernel {
    struct define_stage stage; // of `inlined`
    int epilogue;              // what is stored in place of a reduction's numbers, by them; or -1
    bool is_output;
    uint64_t scratch; // where its numbers begin, in numbers
    struct program_copy copy[PROGRAM_MAX_COPIES];
    int copies;
    int operations; // that the text of a statement has: what is computed, and where it is read
    int stored;     // the same of what is stored
    int written;    // of all that constant tensors make of it
    struct constants constants; // what it stores, where it is written out (PLAN_CONSTANT)
    struct product product;     // what it sums, with all that is computed in place (PLAN_MATRIX)
    struct matrix_shape shape[MATRIX_MAX_SHAPES]; // of fragments that may
    int shapes;
    struct program_variant variant[PROGRAM_MAX_VARIANTS];
    int variants;
};

struct program_device {
    uint32_t subgroup;          // invocations that it runs together
    uint32_t invocations;       // that a workgroup can have
    bool is_cpu;                // long kernels take its driver's compiler long
    struct matrix_units matrix; // that kernels may use
    bool emulates;              // them: in plain GLSL
    uint32_t lanes; // of subgroups that use them: `subgroup`, or the fewest that may be asked for
    uint32_t subgroups; // of a workgroup that asks for them
};

struct program {
    struct definition inlined; // what is left of the stages, and their tensors
    struct program_kernel kernel[PROGRAM_MAX_KERNELS];
    int kernel_count;
    int output; // the tensor
    uint64_t scratch_bytes;
    struct sketches sketches;
    char *sketch_name[SKETCH_MOST];
    bool has_widths; // whether vectors and padding are parameters: where a space has room
    int chooser;     // the parameter that says which sketch it is; -1: there is one
    const struct space *space;
    struct program_device device;
};

// One point's tiles of one kernel: what is not split is 1.
struct tiling {
    const struct program_variant *variant;
    int32_t part[DEFINE_MAX_AXES][TILE_PARTS]; // of each loop
    bool is_copied[PROGRAM_MAX_COPIES];
    int32_t unroll;
    int32_t vector; // 1, 2 or 4
    int32_t pad;    // numbers after each line of a copy, where it has several
    bool doubles;   // of copies: the next tile is fetched while this one is computed
    const struct matrix_shape *shape; // of fragments (PLAN_MATRIX)
    int32_t lanes;                    // of the subgroups that multiply them; else 1
};

// `d` is copied.
struct program *program_create(const struct definition *d, struct program_device device,
                               struct err *e);
void program_destroy(struct program *p);

void program_count_operations(struct program *p); // of its kernels (length.c)

// Which of the kernel's copies the read is of; -1: of none.
int program_copy_of(const struct program_kernel *k, int node);
// Which variant of the kernel the sketch has.
int program_variant_of(const struct program *p, int sketch, int kernel);

int program_parts(const struct program_variant *v, bool is_space); // of a loop's parameter
bool program_add_params(struct program *p, struct space *s, struct err *e);
// `file` and `line`: where the constraints are said to be declared. `p` outlives the space.
void program_set_rules(struct program *p, struct space *s, const char *file, int line);

// --- tiles (tiling.c) ---

struct tiling program_tiling(const struct program *p, int kernel, const struct config *c);
// Which of its parameter's parts a part of a loop is; -1: it has none, and the part is 1.
int tiling_place(enum stage_plan plan, bool is_space, int part);
// The product of a part of all loops over space, or over the reduction.
int64_t tiling_product(const struct tiling *t, int part);
int64_t tiling_reduced(const struct tiling *t, int part);
int64_t tiling_registers(const struct tiling *t); // numbers of an invocation
int64_t tiling_threads(const struct tiling *t);   // invocations of a workgroup
// How many of a copy's numbers lie along an index, for a workgroup and a step of the outer loops.
int64_t tiling_extent(const struct tiling *t, const struct program_copy *c, int index);
// A copy's lines: how long one is, how far it is to the next one, how many there are.
int64_t tiling_line(const struct program *p, const struct program_copy *c, const struct tiling *t);
int64_t tiling_pitch(const struct program *p, const struct program_copy *c, const struct tiling *t);
int64_t tiling_lines(const struct program *p, const struct program_copy *c, const struct tiling *t);
// How far a loop runs within a workgroup, and within a step of the outer loops over the reduction.
int64_t tiling_reach(const struct tiling *t, int loop);
// Which parts of the loops over the reduction are written out.
bool tiling_is_written(const struct tiling *t, int part);
int64_t tiling_statements(const struct tiling *t); // that are written out
// What drivers' compilers translate of it: the operations of all statements, those of indices and
// conditions too.
int64_t tiling_operations(const struct program_kernel *k, const struct tiling *t);
void tiling_groups(const struct tiling *t, uint64_t out[3]);
int64_t tiling_points(const struct tiling *t); // numbers of the tensor
// The second pass of a kernel whose reduction workgroups share: an invocation combines the parts of
// one number, of which there are as many as TILE_LOOP has steps. `v` becomes its variant.
struct tiling tiling_second(const struct tiling *t, struct program_variant *v);

// --- vectors (vectors.c) ---

// Numbers of an invocation that are computed at once, neighbours along the last axis: the vector's
// width where it divides their innermost part, and 1 elsewhere.
int32_t tiling_lanes(const struct tiling *t);
// Whether the read, of the kernel's body or of what becomes of its numbers, is one vector for all
// lanes; and whether these are stored as one.
bool tiling_is_wide(const struct program *p, const struct program_kernel *k, int read,
                    const struct tiling *t);
bool tiling_stores_wide(const struct program *p, const struct program_kernel *k,
                        const struct tiling *t);
// Neighbours that an invocation copies at once.
int32_t tiling_fill_lanes(const struct program *p, const struct program_copy *c,
                          const struct tiling *t);
// How often all invocations copy a vector or number until the copy is full.
int64_t tiling_rounds(const struct program *p, const struct program_copy *c,
                      const struct tiling *t);
// What of it no tiling changes: the widest vector, of neighbours along the axis, that a read of an
// input is; whether a copy may be read so; the widest in which it is filled.
int vectors_read_width(const struct definition *d, int read, int axis);
bool vectors_may_be_read(const struct program *p, const struct program_kernel *k, int copy);
int vectors_fill_width(const struct program *p, const struct program_variant *v,
                       const struct program_copy *c);

// --- matrix units (units.c) ---

// The shapes that an emulation has, of products of any element.
void units_emulate(struct matrix_units *out);
// Sets the parts of loops that the parameters of PLAN_MATRIX are.
void units_set_tiles(const struct program *p, int kernel, const struct config *c, struct tiling *t);
// Of the factor's tile (0: the rows', 1: the columns'): how many lines along the side, how many
// numbers along the reduction, and how far its lines in shared memory lie apart, which are along
// the reduction where the product's `along` says so.
int64_t units_lines(const struct tiling *t, int factor);
int64_t units_depth(const struct tiling *t);
int64_t units_pitch(const struct program_kernel *k, const struct tiling *t, int factor);
int64_t units_subgroups(const struct tiling *t);
uint64_t units_shared_bytes(const struct program_kernel *k, const struct tiling *t);
int64_t units_statements(const struct tiling *t);
uint64_t units_loop_trips(const struct program *p, const struct tiling *t);
// Rules: subgroups are full and share fragments; no fragment lies outside of the matrices.
bool units_are_full(const struct program *p, int kernel, const struct tiling *t);
bool units_are_inside(const struct program *p, int kernel, const struct tiling *t);

// --- one point's kernels ---

// `job` is filled for the caller (job_finish); `name` is where it is said to come from.
bool program_job(const struct program *p, const struct config *c, const char *name, struct job *job,
                 struct err *e);
// The loops of all kernels, sealed; the caller's (loops.c). After program_add_params.
struct nest *program_nest(const struct program *p);
// The text of one kernel (glsl.c); false: it is too long. `is_second`: of its second pass, whose
// tiles `t` are then.
bool program_glsl(const struct program *p, int kernel, const struct tiling *t, bool is_second,
                  struct str *out);
// A sketch for people (outline.c): its loops and statements, without sizes.
void program_outline(const struct program *p, int sketch, struct str *out);

#endif
