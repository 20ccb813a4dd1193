// A module as its pass wants it: what is open in it when others have written it is closed here, so
// that all that follows (limits, checked accesses, drivers, exports) sees one plain module.
//
//     kernel_fit(&pass, &spirv, e);
//
// Specialization constants become constants: those that the pass gives, else their standards, and
// what is computed from them. Bindings become those of the job.
#ifndef TILEWALK_KERNEL_FIT_H
#define TILEWALK_KERNEL_FIT_H

#include "kernel/kernel.h"

// `s` is replaced. False and `e`: a constant that it lacks or that is of another type, a binding
// that the pass does not name, a division by zero among constants, no module.
bool kernel_fit(const struct pass *p, struct spirv *s, struct err *e);

// The module that a text with JOB_SPIRV holds, when it is valid. `out` is spirv_finish's.
bool kernel_read_spirv(const char *text, struct spirv *out, struct err *e);

#endif
