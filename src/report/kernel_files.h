// One exported kernel as files: pure text, written by nobody until the whole set is in memory.
//
//     struct kernel_files files = {0};
//     kernel_files_add(&files, &description);   // once for each kernel
//     kernel_files_write(&files, folder, e);
//     kernel_files_finish(&files);
//
// A kernel NAME becomes NAME.comp and NAME.spv (GLSL and SPIR-V; NAME.pass2.comp ... for further
// passes), NAME.json (everything a program or a person may want to know) and NAME.h (C and C++: the
// SPIR-V words and one `const struct tilewalk_kernel` named kernel_identifier(NAME)). The kernels
// are specialised to their sizes, so the dispatch is a constant: every pass with its `groups`, in
// order, with a full barrier between them.
//
// What is exported is output of the templates and belongs to the user; header and JSON say so.
#ifndef TILEWALK_REPORT_KERNEL_FILES_H
#define TILEWALK_REPORT_KERNEL_FILES_H

#include "base/err.h"
#include "space/operation.h"

#include <stddef.h>
#include <stdint.h>

#define KERNEL_MAX_PASSES   8
#define KERNEL_MAX_BINDINGS 16

struct kernel_pass {
    const char *glsl;
    const uint32_t *word; // SPIR-V, entry point main
    size_t word_count;
    uint32_t local_size[3], groups[3];
    bool once;              // made what others read, before these were timed
    uint32_t subgroup_size; // that it was measured with and must have; 0: any
    const uint8_t *push;    // push constants, whole words
    uint32_t push_bytes;
    const char *given; // a line of what its GLSL was given; NULL: nothing
};

struct kernel_binding { // binding i of descriptor set 0 is a storage buffer
    const char *name;   // "A", "B", "C", "scratch"
    const char *access; // "read", "write", "read-write"
    uint64_t bytes;
};

struct kernel_timing {
    double seconds;
    const char *samples;    // JSON array of seconds
    bool cold;              // its inputs were in memory, not in a cache (tune --cold)
    double of_roof;         // share of what the roofline of its device leaves to it; 0: not known
    const char *roof_by;    // what bounds that
    bool retimed;           // in a race against the other best ones
    const char *statistics; // what the driver says of it, a JSON object; NULL: nothing
};

// All strings are borrowed; NULL where something is not known.
struct kernel_description {
    const char *name; // of the files
    int64_t session, trial;
    const char *title;            // "matmul f32 nn 256x256x256"
    const char *space, *settings; // its name; JSON object of the sizes that were set
    const char *declared; // JSON of the operation before its batch was reduced; NULL: it was not
    const struct operation *operation;
    const char *configuration; // JSON object
    const char *source;        // where times come from: "device", "synthetic:..."
    const char *device, *device_type, *driver, *device_id;
    const char *text_hash; // of the space file and the templates
    double flop;
    struct workload work; // what it is rated by; no amount: its FLOP
    struct kernel_timing timing;
    const char *baselines; // what it is held against (docs/json.md); NULL: nothing is in use
    const char *exact_inputs, *exact_against; // NULL: the result was never checked
    bool random_checked;                      // and within tolerance on random inputs
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
// Any other file; both are taken, `text` is empty then.
void kernel_files_add_text(struct kernel_files *f, char *name, struct str *text);
// Makes the folder. All files are written beside their places before the first one takes its place:
// when one cannot be written, those that were there before are still there, whole.
bool kernel_files_write(const struct kernel_files *f, const char *folder, struct err *e);
void kernel_files_finish(struct kernel_files *f);

// The C identifier of the kernel in NAME.h: "gemm-256" -> "gemm_256_kernel". Heap, the caller's.
char *kernel_identifier(const char *name);

// The parts of a set, appended to `out` (kernel_files.c adds them to the files).
// `embedded`: the passes hold their SPIR-V, as tables do, in place of the names of files.
void kernel_add_json(const struct kernel_description *d, bool embedded, struct str *out);
void kernel_add_header(const struct kernel_description *d, struct str *out);
// What the text of a NAME.json says; false: it is none of ours.
struct kernel_there {
    int64_t session;
    double seconds;
    char device[64]; // its identity; "": of none
};
bool kernel_json_read(const char *json, struct kernel_there *out);
// "NAME.comp", "NAME.pass2.spv": name of pass `index` (0 ..) with a suffix. Heap, the caller's.
char *kernel_pass_name(const char *name, int index, const char *suffix);

#endif
