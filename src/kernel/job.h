// A job: the GLSL of one candidate, or SPIR-V that others made, and how it is dispatched. It is a
// pure value between script, trial and export.
//
// A candidate is one or more passes run in order with a full barrier between them (a split-K
// product has a second pass that adds the parts). All passes see the same storage buffers in
// descriptor set 0: the operator's buffers at bindings 0 .. n-1 in its order (matmul: A, B, C),
// then, when `scratch_bytes` > 0, a scratch buffer at binding n. A pass may map its bindings to
// others of these, and has uniform blocks of its own. It may see a buffer as an image or as a texel
// buffer, and several as an array of descriptors.
#ifndef TILEWALK_KERNEL_JOB_H
#define TILEWALK_KERNEL_JOB_H

#include "base/str.h"
#include "space/image.h"

#include <stdbool.h>
#include <stdint.h>

#define JOB_MAX_PASSES    64
#define JOB_MAX_CONSTANTS 64
#define JOB_MAX_BUFFERS   17 // the operator's, and scratch
#define JOB_MAX_BINDINGS  32 // of a pass, in all its descriptor sets
#define JOB_MAX_UNIFORMS  8
#define JOB_MAX_SAMPLERS  8
#define JOB_MAX_PUSH      256  // bytes of push constants
#define JOB_MAX_BLOCK     1024 // bytes of a uniform block

// The beginning of a text that is no GLSL but SPIR-V, each word in eight hexadecimal digits.
#define JOB_SPIRV "; SPIR-V in words\n"

struct spec_constant { // the value for the specialization constant of this id
    uint32_t id;
    bool is_bool;
    double value;
};

// A field of a block: numbers of one type, one behind the other, given by the space file.
#define JOB_MAX_FIELDS     64
#define JOB_MAX_FIELD_NAME 48
// PUSH_WHOLE fits a signed member as well as an unsigned one; PUSH_ADDRESS is that of a buffer.
enum push_kind { PUSH_UNSIGNED, PUSH_SIGNED, PUSH_FLOAT, PUSH_WHOLE, PUSH_ADDRESS };
struct push_field {
    uint8_t kind, bytes;           // of one number
    uint16_t at, count;            // the position of the first one; at most JOB_MAX_BLOCK
    char name[JOB_MAX_FIELD_NAME]; // the member of the block that it is for; "": any
};

// The content of push constants or of a uniform block, and the numbers in it.
struct job_block {
    uint8_t byte[JOB_MAX_BLOCK];
    uint32_t bytes; // a multiple of 4
    struct push_field field[JOB_MAX_FIELDS];
    int field_count;
};

struct job_binding { // the buffer of the job that a binding of the shader is
    uint16_t set, binding;
    uint8_t buffer;
    uint8_t element; // of an array of descriptors, whose elements follow each other
};

// How all passes see a buffer that is no plain one to them. In the fitted module the descriptors of
// images, texel buffers and arrays are in set JOB_DESCRIPTOR_SET, at the place of their first
// element among the bindings of the pass; samplers stand behind.
struct job_image {
    uint8_t buffer;
    struct image_form form;
};
#define JOB_DESCRIPTOR_SET  2
#define JOB_MAX_DESCRIPTORS (JOB_MAX_BINDINGS + JOB_MAX_SAMPLERS)

struct job_uniform {       // in the fitted module it is at binding k of JOB_UNIFORM_SET
    uint16_t set, binding; // of the shader
    struct job_block block;
};
#define JOB_UNIFORM_SET 1

// A buffer that a pass writes begins each run as poison, which finds what is not written, as the
// content of an input, or as zeros. BEGIN_KEPT is zeroed before the first run, and each run begins
// with what the one before has left.
enum job_begin { BEGIN_POISON, BEGIN_COPY, BEGIN_ZERO, BEGIN_KEPT };

struct pass {
    // Complete compute shader, entry point main. Lines from other files stand behind
    // `#line N S // NAME`.
    char *glsl;
    char *template_name; // its source, for messages
    char *space_name;    // the file that declares it, NULL: unknown, and the line
    int space_line;
    int *line_map; // template line of generated line i+1; `line_count` of them
    int line_count;
    uint32_t groups[3];
    // It packs inputs for the passes behind it: it writes to scratch alone, and runs once, before
    // the others are timed.
    bool once;
    uint32_t subgroup; // the required subgroup size; 0: any
    struct spec_constant constant[JOB_MAX_CONSTANTS];
    int constant_count;
    struct job_block push;            // push constants
    uint8_t address[JOB_MAX_BUFFERS]; // buffers whose addresses they begin with
    int address_count;
    struct job_binding binding[JOB_MAX_BINDINGS];
    int binding_count;           // 0: binding i of set 0 is buffer i of the job
    struct job_uniform *uniform; // heap
    int uniform_count;
    struct job_image *image; // heap; at most one for each buffer
    int image_count;
    char *entry;            // the entry point of SPIR-V that has several; NULL: it has one
    uint32_t local_size[3]; // replaces that of SPIR-V; 0: it stays
};

struct job_roles { // of a job's buffers: inputs, then outputs, then perhaps scratch
    int inputs, outputs;
};

struct job {
    int pass_count;         // at most JOB_MAX_PASSES
    struct pass *pass;      // its own
    uint64_t scratch_bytes; // a multiple of 4
    uint32_t spirv_minor;   // the newest SPIR-V that its device takes is 1.N; 0: not known
    struct job_roles roles; // 0: not known
    struct {
        uint8_t how, from; // of enum job_begin; the input that BEGIN_COPY copies
    } begin[JOB_MAX_BUFFERS];
};

// Appends a pass' constants, push constants, uniform blocks and bindings, in one line without a
// newline; nothing where it has none.
void pass_add_given(const struct pass *p, struct str *out);

// Adds a zeroed uniform block, of which a pass has at most JOB_MAX_UNIFORMS.
struct job_uniform *pass_add_uniform(struct pass *p);

// Returns how a pass sees a buffer; NULL: as a plain one. pass_add_image adds a zeroed one.
const struct job_image *pass_image_of(const struct pass *p, int buffer);
struct job_image *pass_add_image(struct pass *p);

// Returns the buffer of a descriptor's element, `at` of the set JOB_DESCRIPTOR_SET.
int pass_buffer_at(const struct pass *p, uint32_t at, uint32_t element);

// Adds a zeroed pass behind the others, which must be fewer than JOB_MAX_PASSES. Pointers to other
// passes are invalid afterwards.
struct pass *job_add_pass(struct job *j);

// Returns whether both passes have one module, so that one pipeline is enough.
bool pass_is_twin(const struct pass *a, const struct pass *b);

void job_finish(struct job *j); // frees what it holds, zeroes it

#endif
