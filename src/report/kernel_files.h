// Exported kernels as files. Nothing is written until the whole set is in memory.
//
//     struct kernel_files files = {0};
//     kernel_files_add(&files, &description);   // once for each kernel
//     kernel_files_write(&files, folder, e);
//     kernel_files_finish(&files);
//
// A kernel NAME becomes NAME.comp and NAME.spv (GLSL and SPIR-V; NAME.pass2.comp ... for further
// passes), NAME.json (everything a program or a person may want to know) and NAME.h (C and C++: the
// SPIR-V words and one `const struct tilewalk_kernel`, kernel_identifier(NAME) and "_kernel"). The
// kernels are specialised to their sizes, so the dispatch is a constant: every pass with its
// `groups`, in order, with a full barrier between them.
//
// Exported files are output of the templates and belong to the user, as header and JSON state.
#ifndef TILEWALK_REPORT_KERNEL_FILES_H
#define TILEWALK_REPORT_KERNEL_FILES_H

#include "base/err.h"
#include "space/operation.h"

#include <stddef.h>
#include <stdint.h>

#define KERNEL_MAX_PASSES   64
#define KERNEL_MAX_BINDINGS 17

struct kernel_pass {
    const char *glsl;
    const uint32_t *word; // SPIR-V
    size_t word_count;
    const char *entry; // the name of its entry point
    uint32_t local_size[3], groups[3];
    bool once;              // ran before the others were timed, and made what they read
    uint32_t subgroup_size; // as measured, and required; 0: any
    uint32_t shared_bytes;
    bool uses_f16, uses_i8, uses_dot, uses_matrix;
    const uint8_t *push; // push constants, whole words
    uint32_t push_bytes;
    const char *addresses; // JSON list of the buffers whose addresses these begin with; NULL: none
    const char *uniforms;  // JSON list of the contents of descriptor set 1, in words; NULL: none
    // JSON list of the images, texel buffers, samplers and arrays of descriptor set 2; NULL: none
    const char *descriptors;
    const char *given; // a line with what the GLSL was compiled with; NULL: nothing
};

struct kernel_binding { // binding i of descriptor set 0 is a storage buffer
    const char *name;   // "A", "B", "C", "scratch"
    const char *access; // "read", "write", "read-write"
    uint64_t bytes;
    const char *begins; // before each run: as the input of this name, "zeros", "kept"; NULL: any
};

struct kernel_timing {
    double seconds;
    const char *samples;    // JSON array of seconds
    bool cold;              // its inputs were in memory, not in a cache (tune --cold)
    double of_roof;         // share of the peak of its device (roofline); 0: not known
    const char *roof_by;    // the resource that bounds the peak
    bool retimed;           // timed in turns with the other best ones
    const char *statistics; // compiler statistics of the driver, a JSON object; NULL: none
};

// All strings are borrowed; NULL where something is not known.
struct kernel_description {
    const char *name; // file name without suffix
    int64_t session, trial;
    const char *title;            // "matmul f32 nn 256x256x256"
    const char *space, *settings; // its name; JSON object of the sizes that were set
    const char *declared; // JSON of the operation before its batch was reduced; NULL: it was not
    const struct operation *operation;
    const char *configuration; // JSON object
    const char *source;        // measurement source: "device", "synthetic:..."
    const char *device, *device_type, *driver, *device_id;
    const char *build;     // what measured it, as of base/build.h
    const char *text_hash; // hash of the space file and the templates
    double flop;
    struct workload work; // the amount of its rate; 0: its FLOP
    struct kernel_timing timing;
    const char *baselines;                    // in use today (docs/reference/json.md), or NULL
    const char *exact_inputs, *exact_against; // NULL: the result was never checked
    bool random_checked;                      // the result was within tolerance on random inputs
    int64_t soaked; // runs of the soak at the end of its session that were right; 0: none
    int pass_count, binding_count;
    struct kernel_pass pass[KERNEL_MAX_PASSES];
    struct kernel_binding binding[KERNEL_MAX_BINDINGS];
};

struct kernel_file {
    char *name, *bytes;
    size_t length;
};

struct kernel_files {
    struct kernel_file *file;
    int count, capacity;
};

void kernel_files_add(struct kernel_files *f, const struct kernel_description *d);
// Adds any other file. Takes `name` (heap) and the content of `text`, which is empty then.
void kernel_files_add_text(struct kernel_files *f, char *name, struct str *text);
// Makes the folder and writes the files. All of them are written under temporary names before the
// first is renamed: when one cannot be written, the files that were there before are intact.
bool kernel_files_write(const struct kernel_files *f, const char *folder, struct err *e);
void kernel_files_finish(struct kernel_files *f);

// Returns a C identifier, "gemm-256" -> "gemm_256": ASCII letters, digits and underscores that are
// no reserved word before a suffix; heap.
char *kernel_identifier(const char *name);
void kernel_add_literal(struct str *out, const char *text); // a C string literal

// Append NAME.json and NAME.h to `out`. `embedded`: the passes hold their SPIR-V, as in tables,
// instead of the names of files.
void kernel_add_json(const struct kernel_description *d, bool embedded, struct str *out);
void kernel_add_header(const struct kernel_description *d, struct str *out);
struct kernel_there { // a kernel that was exported before
    int64_t session;
    double seconds;
    char device[64]; // its identity; "": no device
};
// Reads the text of a NAME.json; false: tilewalk did not write it.
bool kernel_json_read(const char *json, struct kernel_there *out);
// Returns the file name of pass `index` (0 ..) with a suffix, "NAME.comp" or "NAME.pass2.spv";
// heap.
char *kernel_pass_name(const char *name, int index, const char *suffix);

#endif
