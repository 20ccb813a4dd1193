// How a definition is computed on a device: which stages become kernels, the space of their
// tilings, and one tiling's GLSL.
//
//     struct program *p = program_create(&d, device, e);
//     program_add_params(p, space, e);            then space_seal
//     program_set_rules(p, space, file, line);    constraints and resources
//     program_job(p, &config, name, &job, e);     one configuration's kernels
//     program_destroy(p);
//
// Stages without a reduction are computed where they are read; each of the others, and the output,
// is a kernel, in order, with what they hand on in scratch memory (32 bits a number). An invocation
// of a kernel computes a block of numbers in registers: each space axis is split into workgroups,
// invocations and registers, each axis of the reduction into a loop and what is written out of it.
// What the output makes of each number of the last reduction alone, a bias and a relu say, is
// computed before the number is stored. A program is immutable, and usable from any thread.
#ifndef TILEWALK_DEFINE_PROGRAM_H
#define TILEWALK_DEFINE_PROGRAM_H

#include "define/definition.h"
#include "kernel/job.h"
#include "space/space.h"

#define PROGRAM_MAX_KERNELS JOB_MAX_PASSES

struct program_kernel {
    struct define_stage stage; // of `inlined`
    int epilogue;              // what is stored in place of a reduction's numbers, by them; or -1
    bool is_output;
    uint64_t scratch;           // where its numbers begin, in numbers
    int param[DEFINE_MAX_AXES]; // of each axis; -1: it is of length 1, and not tiled
};

struct program_device {
    uint32_t subgroup; // invocations that it runs together
    bool is_cpu;       // long kernels take its driver's compiler long
};

struct program {
    struct definition inlined; // what is left of the stages, and their tensors
    struct program_kernel kernel[PROGRAM_MAX_KERNELS];
    int kernel_count;
    int output; // the tensor
    uint64_t scratch_bytes;
    const struct space *space;
    struct program_device device;
};

// Parts of axes, as a configuration has them: what is not split is 1.
enum { TILE_GROUPS, TILE_THREADS, TILE_REGISTERS, TILE_PARTS }; // of space axes
enum { TILE_LOOP, TILE_WRITTEN };                               // of a reduction's
struct tiling {
    int32_t part[DEFINE_MAX_AXES][TILE_PARTS];
};

// `d` is copied.
struct program *program_create(const struct definition *d, struct program_device device,
                               struct err *e);
void program_destroy(struct program *p);

bool program_add_params(struct program *p, struct space *s, struct err *e);
// `file` and `line`: where the constraints are said to be declared. `p` outlives the space.
void program_set_rules(struct program *p, struct space *s, const char *file, int line);

struct tiling program_tiling(const struct program *p, int kernel, const struct config *c);
int64_t tiling_product(const struct tiling *t, const struct define_stage *s, int part); // of space
int64_t tiling_reduced(const struct tiling *t, const struct define_stage *s, int part);

// `job` is filled for the caller (job_finish); `name` is where it is said to come from.
bool program_job(const struct program *p, const struct config *c, const char *name, struct job *job,
                 struct err *e);
// The loops of all kernels, sealed; the caller's (loops.c). After program_add_params.
struct nest *program_nest(const struct program *p);
// The text of one kernel (glsl.c); false: it is too long.
bool program_glsl(const struct program *p, int kernel, const struct tiling *t, struct str *out);

#endif
