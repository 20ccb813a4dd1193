// What SPIRV-Tools know: SPIR-V as text, a line for each instruction, and whether it is valid.
#ifndef TILEWALK_KERNEL_DISASSEMBLE_H
#define TILEWALK_KERNEL_DISASSEMBLE_H

#include "kernel/kernel.h"

// As spirv-dis writes it, with the names that the module gives to its ids. Heap, the caller's.
// NULL and `e` for what is no module.
char *kernel_disassemble(const struct spirv *s, struct err *e);

// By the rules of Vulkan 1.1. `e` has the first that it breaks.
bool kernel_validate(const struct spirv *s, struct err *e);

#endif
