// A job: the GLSL of one candidate, or SPIR-V that others made, and how it is dispatched. It is a
// pure value between script, trial and export.
//
// A candidate is one or more passes run in order with a full barrier between them (a split-K
// product has a second pass that adds the parts). All passes see the same storage buffers in
// descriptor set 0: the operator's buffers at bindings 0 .. n-1 in its order (matmul: A, B, C),
// then, when `scratch_bytes` > 0, a scratch buffer at binding n. A pass may map its bindings to
// others of these.
#ifndef TILEWALK_KERNEL_JOB_H
#define TILEWALK_KERNEL_JOB_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

#define JOB_MAX_PASSES    8
#define JOB_MAX_CONSTANTS 64
#define JOB_MAX_BINDINGS  16
#define JOB_MAX_PUSH      256 // bytes

// The beginning of a text that is no GLSL but SPIR-V, each word in eight hexadecimal digits.
#define JOB_SPIRV "; SPIR-V in words\n"

struct spec_constant { // the value for the specialization constant of this id
    uint32_t id;
    bool is_bool;
    double value;
};

// A field of the push constants: numbers of one type, one behind the other, given by the space
// file.
#define JOB_MAX_FIELDS     64
#define JOB_MAX_FIELD_NAME 48
// PUSH_WHOLE fits a signed member as well as an unsigned one.
enum push_kind { PUSH_UNSIGNED, PUSH_SIGNED, PUSH_FLOAT, PUSH_WHOLE };
struct push_field {
    uint8_t kind, bytes;           // of one number
    uint16_t at, count;            // the position of the first one; at most JOB_MAX_PUSH
    char name[JOB_MAX_FIELD_NAME]; // the member of the block that it is for; "": any
};

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
    uint8_t push[JOB_MAX_PUSH]; // push constants
    uint32_t push_bytes;
    struct push_field field[JOB_MAX_FIELDS]; // the numbers in `push`
    int field_count;
    uint8_t binding[JOB_MAX_BINDINGS]; // the buffer of the job that its binding i is
    int binding_count;                 // 0: binding i is buffer i of the job
};

struct job {
    int pass_count;         // at most JOB_MAX_PASSES
    struct pass *pass;      // its own
    uint64_t scratch_bytes; // a multiple of 4
    uint32_t spirv_minor;   // the newest SPIR-V that its device takes is 1.N; 0: not known
};

// Appends a pass' constants, push constants and bindings, in one line without a newline; nothing
// where it has none.
void pass_add_given(const struct pass *p, struct str *out);

// Adds a zeroed pass behind the others, which must be fewer than JOB_MAX_PASSES. Pointers to other
// passes are invalid afterwards.
struct pass *job_add_pass(struct job *j);

void job_finish(struct job *j); // frees what it holds, zeroes it

#endif
