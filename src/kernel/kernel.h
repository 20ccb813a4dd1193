// From GLSL to SPIR-V, what the SPIR-V really holds, and whether a device can take it.
//
//     kernel_setup(); kernel_compile(glsl, &spirv, e); kernel_inspect(&spirv, &facts, e);
//     kernel_check(&facts, groups, &limits, reason, sizeof reason); spirv_finish(&spirv);
//
// Vulkan drivers do not enforce their own limits (lavapipe runs 256 KiB of shared memory and 2048
// invocations), so everything is checked here, against the module and not against what a space
// declares. Front end: glslang's C API, or the compiler that TILEWALK_GLSLANG names (external.h);
// target Vulkan 1.1 / SPIR-V 1.3. No optimiser pass. One thread at a time.
#ifndef TILEWALK_KERNEL_KERNEL_H
#define TILEWALK_KERNEL_KERNEL_H

#include "base/err.h"
#include "kernel/job.h"
#include "space/limits.h"

#include <stddef.h>
#include <stdint.h>

struct spirv {
    uint32_t *word;
    size_t count;
};

#define KERNEL_MAX_CAPABILITIES 64

struct kernel_facts {
    uint32_t local_size[3];
    uint32_t subgroup;     // not of the module: what its pass asks for (job.h)
    uint64_t shared_bytes; // all Workgroup variables, explicit or std430-like layout
    uint32_t push_bytes;   // to the end of the last push constant
    uint32_t bindings;     // highest storage buffer binding in set 0, plus one
    uint32_t written;      // a bit for each of the first 32 that it may write to
    size_t words;
    uint32_t capability[KERNEL_MAX_CAPABILITIES]; // of SPIR-V, as its registry numbers them
    int capability_count;
    bool uses_f16, uses_f16_storage;
    bool uses_i8;           // arithmetic or storage
    bool uses_dot;          // dot products of four bytes in a word
    enum matrix_api matrix; // what its cooperative matrices are, if it has any
    bool has_loops;         // unrolled or not: a driver may ignore the hint
    bool uses_group_count;  // gl_NumWorkGroups
};

// Once per process. It is cheap: the first compile pays for glslang's symbol tables.
void kernel_setup(void);

// On failure `e->line` is the line of the generated GLSL, or behind #line that of the source whose
// number is in `e->file`, and `e->text` glslang's first message without its prefix.
bool kernel_compile(const char *glsl, struct spirv *out, struct err *e);
void spirv_finish(struct spirv *s);

// Adds the version of the compiler that TILEWALK_GLSLANG names, if any, to what a driver says of
// itself: both make a kernel what it is. False and `e` when it cannot be run.
bool kernel_add_compiler(char *text, size_t size, struct err *e);

// The glslang that is built in, with its version, where it is what compiles; else NULL.
const char *kernel_built_in(void);

// Whether such a text of another day names the compiler of today, as far as their versions tell:
// false and `e` when it names another one, or none where there is one, or the other way round (a
// glslang or glslc that was named is known by the first words of its version).
bool kernel_check_compiler(const char *text, struct err *e);

// Whether cooperative matrices of this API can be compiled, which is tried.
bool kernel_knows_matrix(enum matrix_api api);

// Compiles a rendered pass, or reads its SPIR-V, and fits it to what the pass is given
// (kernel_fit). `e` names the template, or a file that it includes, and its line.
bool kernel_compile_pass(const struct pass *p, struct spirv *out, struct err *e);
// Adds a pass' text as its preprocessor leaves it, without comments and without runs of empty
// lines, by the glslang that is built in. Errors as those of kernel_compile_pass.
bool kernel_preprocess_pass(const struct pass *p, struct str *out, struct err *e);
const char *kernel_pass_file(const struct pass *p); // what its errors name
// Tells `raw`, an error in what the space file gives a pass, at its line there; returns false.
bool kernel_fail_given(const struct pass *p, const struct err *raw, struct err *e);

// Reads what the module holds; never past its end. False for anything but a well-formed module with
// one GLCompute entry point named main, whose specialization constants have been made constants
// (kernel_fit). Descriptors other than storage buffers in set 0 are refused: nothing here could
// bind them.
bool kernel_inspect(const struct spirv *s, struct kernel_facts *out, struct err *e);

// Checks that a module which has been inspected declares exactly the push constants that its pass
// gives, of their types, and writes to none of the first `inputs` buffers. `e` names the shader,
// and the space file where the pass knows it.
bool kernel_check_use(const struct spirv *s, const struct kernel_facts *f, const struct pass *p,
                      int inputs, struct err *e);

// The limits that the module exceeds, as in limits_exceeded, KERNEL_NEEDS_F16 where 16-bit floats
// (a feature, no limit) are missing, KERNEL_NEEDS_FEATURE for a capability that is not enabled when
// the device is opened, KERNEL_NEEDS_MATRIX for matrix units that are missing or whose subgroups a
// row of invocations does not fill, KERNEL_NEEDS_SUBGROUP for subgroups that no kernel can ask for
// or that a workgroup does not fill, and KERNEL_TOO_LONG where drivers would be busy for minutes or
// run out of memory; `reason` gets one sentence for the first, "" when nothing is exceeded.
#define KERNEL_NEEDS_F16      (1u << LIMIT_COUNT)
#define KERNEL_TOO_LONG       (1u << (LIMIT_COUNT + 1))
#define KERNEL_NEEDS_MATRIX   (1u << (LIMIT_COUNT + 2))
#define KERNEL_NEEDS_I8       (1u << (LIMIT_COUNT + 3)) // 8-bit integers
#define KERNEL_NEEDS_FEATURE  (1u << (LIMIT_COUNT + 4))
#define KERNEL_NEEDS_SUBGROUP (1u << (LIMIT_COUNT + 5))
#define KERNEL_MAX_WORDS      (1u << 20)
unsigned kernel_check(const struct kernel_facts *f, const uint32_t groups[3],
                      const struct limits *l, char *reason, size_t size);

// The subgroups that it must run with: what is asked for, else with matrix units those of the
// device; 0: any.
uint32_t kernel_subgroup(const struct kernel_facts *f, const struct limits *l);

#endif
