// SPIR-V modules that others wrote: reading, validating, disassembling, and fitting them to a pass,
// so that limits, checked accesses, drivers and exports see one plain module.
//
//     kernel_read_spirv(text, &spirv, e); kernel_fit(&pass, &spirv, e);
//
// Specialization constants become constants: those that the pass gives, else their defaults, and
// those that are computed from them. So the workgroup size is of literals, that of the pass where
// it gives one. One entry point stays, and bindings become those of the job (module.h).
#ifndef TILEWALK_KERNEL_FIT_H
#define TILEWALK_KERNEL_FIT_H

#include "kernel/kernel.h"

// Replaces `s`. False and `e`: it lacks a constant or has it with another type, the pass does not
// name a binding or an entry point, a resource cannot be bound, what a division of constants by
// zero gives is used, or it is no module.
bool kernel_fit(const struct pass *p, struct spirv *s, struct err *e);

// Reads the module of a text with JOB_SPIRV and validates it. Release `out` with spirv_finish.
bool kernel_read_spirv(const char *text, struct spirv *out, struct err *e);

// Returns the text that spirv-dis writes, with the names of ids in the module. Heap, the caller's.
// NULL and `e` if it is no module.
char *kernel_disassemble(const struct spirv *s, struct err *e);

// Validates by the rules of the first Vulkan that takes its version, where that is 1.1 or newer;
// LocalSizeId is allowed in all (kernel_fit makes it LocalSize). `e` has the first one that it
// breaks.
bool kernel_validate(const struct spirv *s, struct err *e);

#endif
