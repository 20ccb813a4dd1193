// The kernel of a trial of any outcome as text: rendered again from the stored texts of its
// session; for SPIR-V also compiled by a worker and disassembled.
//
//     struct kernel_text k;
//     if (kernel_text_make(script, trial.key, KERNEL_SPIRV, &k, e))
//         kernel_text_of(&k, 0)                       of the first pass
//     kernel_text_finish(&k);
//
// Runs the script in this process, which must be confined (cli/confine.h).
#ifndef TILEWALK_EXPORT_KERNEL_TEXT_H
#define TILEWALK_EXPORT_KERNEL_TEXT_H

#include "kernel/job.h"
#include "script/script.h"
#include "store/store.h"

enum kernel_language { KERNEL_GLSL, KERNEL_SPIRV };

struct kernel_text {
    struct job job;
    char *assembly[JOB_MAX_PASSES]; // NULL: GLSL is wanted
};

// `key` is that of a stored trial. False and `e`: it cannot be rendered (a configuration that the
// rules forbid may well be none of the template's) or, SPIR-V, compiled.
bool kernel_text_make(struct script *s, const char *key, enum kernel_language language,
                      struct kernel_text *out, struct err *e);
const char *kernel_text_of(const struct kernel_text *k, int pass);
// Adds a line of comment with the number of the pass and its dispatch.
void kernel_text_add_head(const struct kernel_text *k, int pass, struct str *out);
// Adds all passes, each below its head.
void kernel_text_add(const struct kernel_text *k, struct str *out);
void kernel_text_finish(struct kernel_text *k);

// Lists the paths of files that were changed or removed since the session began, in the arena,
// NULL-terminated. Called while they can be read.
bool kernel_text_changed(struct store *store, int64_t session, struct arena *a,
                         const char *const **out, struct err *e);

#endif
