// The push constants that a module declares, against those that its pass gives.
//
//     kernel_check_push(&spirv, &pass, e);
//
// Each number of the pass has to be a number of the module's block: at the same byte, of the same
// width and type, and of the member that it names, where both have names. None of the block's may
// be missing; gaps between them are nobody's.
#ifndef TILEWALK_KERNEL_CHECK_H
#define TILEWALK_KERNEL_CHECK_H

#include "kernel/kernel.h"

// `s` has been inspected (kernel_inspect). False and `e`, without a place: what does not agree,
// with the member's name where the module tells.
bool kernel_check_push(const struct spirv *s, const struct pass *p, struct err *e);

#endif
