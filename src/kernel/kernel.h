// Kernels: from GLSL to SPIR-V, the facts of a module, and the check that a device can run it.
//
//     kernel_setup(); kernel_compile(glsl, &spirv, e); kernel_inspect(&spirv, &facts, e);
//     kernel_check(&facts, groups, &limits, reason, sizeof reason); spirv_finish(&spirv);
//
// Vulkan drivers do not enforce their own limits (lavapipe runs 256 KiB of shared memory and 2048
// invocations), so everything is checked here, with the numbers of the module and not those that a
// space declares. The front end is glslang's C API, or the compiler that TILEWALK_GLSLANG names
// (external.h). The target is Vulkan 1.1 / SPIR-V 1.3, or the oldest newer one that the GLSL needs;
// an outside compiler's is the device's. No optimiser passes run. One thread at a time.
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

// A descriptor, or an array of them, of set JOB_DESCRIPTOR_SET. Elements are bits: those that it
// may read, those that it certainly writes, and all that it may write.
struct kernel_descriptor {
    uint32_t at; // its binding
    enum descriptor kind;
    uint32_t count;
    uint32_t read, written, may_write;
    bool is_computed; // the index of an access is no constant, or a function gets the whole array
};

struct kernel_facts {
    uint32_t local_size[3];
    uint32_t subgroup;     // that its pass requires (job.h); the module does not have it
    uint64_t shared_bytes; // all Workgroup variables, explicit or std430-like layout
    uint32_t push_bytes;   // to the end of the last push constant
    uint32_t bindings;     // highest storage buffer binding in set 0, plus one
    uint32_t uniforms;     // highest binding of a uniform block in set JOB_UNIFORM_SET, plus one
    struct kernel_descriptor descriptor[JOB_MAX_DESCRIPTORS];
    int descriptor_count;
    uint32_t written; // a bit for each of the first 32 bindings that it may write to
    uint32_t read;    // likewise
    uint32_t address_written, address_read; // likewise, by 8 bytes of push constants: of buffers
                                            // whose addresses they are
    size_t words;
    uint32_t spirv_minor;                         // it is SPIR-V 1.N
    uint32_t capability[KERNEL_MAX_CAPABILITIES]; // numbers of SPIR-V's registry
    int capability_count;
    bool uses_f16, uses_f16_storage; // arithmetic; storage of 16 bits
    bool uses_i8, uses_i8_storage;
    bool uses_dot;           // dot products of four bytes in a word
    enum matrix_api matrix;  // the API of its cooperative matrices, if it has any
    bool has_group_matrices; // a workgroup holds some of them
    bool has_loops;          // unrolled or not: a driver may ignore the hint
    bool uses_group_count;   // gl_NumWorkGroups
};

// Call it once per process. It is cheap: the first compile makes glslang's symbol tables.
void kernel_setup(void);

// On failure `e->line` is the line of the generated GLSL, or behind #line that of the source whose
// number is in `e->file`, and `e->text` is glslang's first message without its prefix. The target
// of an outside compiler is SPIR-V 1.3 here.
bool kernel_compile(const char *glsl, struct spirv *out, struct err *e);
void spirv_finish(struct spirv *s);

// Adds the version of the compiler that TILEWALK_GLSLANG names, if any, to the description of a
// driver: kernels depend on both. False and `e` when it cannot be run.
bool kernel_add_compiler(char *text, size_t size, struct err *e);

// Returns the name and version of the built-in glslang where it is the compiler; else NULL.
const char *kernel_built_in(void);

// Checks that the description of a driver from an earlier day names the compiler of today, judged
// by their versions. False and `e` when it names another one, or none where there is one, or the
// other way round (a glslang or glslc is recognised by the first words of its version).
bool kernel_check_compiler(const char *text, struct err *e);

// Returns whether cooperative matrices of this API can be compiled, by trying it. A compiler of the
// user's that does not end within ten seconds knows none.
bool kernel_knows_matrix(enum matrix_api api);
bool kernel_knows_matrix2(void);         // the same of GL_NV_cooperative_matrix2
bool kernel_knows_float(enum element e); // of bf16 and f8; true for other types

// Describes the compiler for people. `name` gets its name and version, and a remark if it is built
// in and that version was not tried with this program. `missing` gets what kernels may use and it
// does not know, with commas. False and `e` when the one that TILEWALK_GLSLANG names cannot be run.
#define KERNEL_KHR_UNITS "KHR matrix units" // its word for GL_KHR_cooperative_matrix
bool kernel_describe_compiler(struct str *name, struct str *missing, struct err *e);

// Compiles a rendered pass, or reads its SPIR-V, and fits it to its pass (kernel_fit). The target
// of an outside compiler is SPIR-V 1.`minor` (0: 1.3); kernel_check judges what was made. `e` names
// the template, or a file that it includes, and its line.
bool kernel_compile_pass(const struct pass *p, uint32_t minor, struct spirv *out, struct err *e);
// Adds a pass' text after preprocessing by the built-in glslang, without comments and empty lines.
// Errors are as those of kernel_compile_pass.
bool kernel_preprocess_pass(const struct pass *p, struct str *out, struct err *e);
const char *kernel_pass_file(const struct pass *p); // the file that its errors name
// Reports `raw`, an error in what the space file gives a pass, at its line there; returns false.
bool kernel_fail_given(const struct pass *p, const struct err *raw, struct err *e);

// Reads the facts of a module; never past its end. False for anything but a well-formed module with
// one GLCompute entry point, of any name, whose specialization constants are constants now
// (kernel_fit). Descriptors other than storage buffers in set 0, and those that are not where
// kernel_fit puts them, are refused: they cannot be bound.
bool kernel_inspect(const struct spirv *s, struct kernel_facts *out, struct err *e);
// Returns the name of an inspected module's entry point, which lies in the module.
const char *kernel_entry(const struct spirv *s);
// Returns whether a device whose newest SPIR-V is 1.`minor` (0: not known) takes the module; else
// `reason` gets a sentence.
bool kernel_check_version(const struct kernel_facts *f, uint32_t minor, char *reason, size_t size);

// Checks the push constants and uniform blocks of an inspected module. Each number of the pass has
// to be a number of the module's block: at the same byte, of the same width and type, and of the
// member that it names, where both have names. No number of the block may be missing; gaps between
// them do not matter. `e` has no place, but the member's name where the module has one.
bool kernel_check_push(const struct spirv *s, const struct pass *p, struct err *e);
// Checks that an inspected module has the push constants and uniform blocks of its pass
// (kernel_check_push) and writes to none of the inputs. `e` names the shader, and the space file
// where it is known.
bool kernel_check_use(const struct spirv *s, const struct kernel_facts *f, const struct pass *p,
                      const struct job_roles *r, struct err *e);

// Returns the buffers of the job that a module's pass uses through its descriptors, as bits.
struct kernel_uses {
    uint32_t read, written, may_write; // as in kernel_descriptor
};
struct kernel_uses kernel_descriptor_uses(const struct kernel_facts *f, const struct pass *p);
// Returns whether a device takes as many descriptors as the pass has, with `buffers` of set 0; else
// `reason` gets a sentence.
bool kernel_check_counts(const struct kernel_facts *f, int buffers, const struct limits *l,
                         char *reason, size_t size);
// Returns whether a device has the formats of the pass' images and texel buffers; else `reason`
// gets a sentence.
bool kernel_check_formats(const struct kernel_facts *f, const struct pass *p,
                          const struct limits *l, char *reason, size_t size);

// Returns the limits that the module exceeds, as in limits_exceeded, and the bits below; `reason`
// gets one sentence for the first, "" when nothing is exceeded.
#define KERNEL_NEEDS_F16      (1u << LIMIT_COUNT)       // 16-bit floats
#define KERNEL_TOO_LONG       (1u << (LIMIT_COUNT + 1)) // drivers need minutes or too much memory
#define KERNEL_NEEDS_MATRIX   (1u << (LIMIT_COUNT + 2)) // matrix units, with full subgroups along x
#define KERNEL_NEEDS_I8       (1u << (LIMIT_COUNT + 3)) // 8-bit integers
#define KERNEL_NEEDS_FEATURE  (1u << (LIMIT_COUNT + 4)) // a capability of SPIR-V
#define KERNEL_NEEDS_SUBGROUP (1u << (LIMIT_COUNT + 5)) // a subgroup size, with full subgroups
#define KERNEL_NEEDS_VERSION  (1u << (LIMIT_COUNT + 6)) // a newer SPIR-V
#define KERNEL_MAX_WORDS      (1u << 20)
unsigned kernel_check(const struct kernel_facts *f, const uint32_t groups[3],
                      const struct limits *l, char *reason, size_t size);

// Returns the subgroup size that it must run with: the required one, else with matrix units that of
// the device; 0: any.
uint32_t kernel_subgroup(const struct kernel_facts *f, const struct limits *l);

#endif
