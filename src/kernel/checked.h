// A copy of a kernel in which every access to an array is checked.
//
//     kernel_check_accesses(&spirv, bytes, bindings, true, &checked, e);    buffer k has bytes[k]
//     run `checked` with one more buffer of 4 bytes, zeroed, at binding `bindings`; read it
//     kernel_outside_access(word)                                     the access outside, if any
//
// In front of each access that is not certainly inside, the index is compared with the array's
// length: for buffers it follows from their bytes; for shared and local arrays, vectors and
// matrices from their type. An index outside is noted in a variable of the invocation and replaced
// by 0, so that nothing else can happen; an invocation that ends adds its notes to the extra
// buffer. Reads count like writes, even if they do not matter: Vulkan guarantees nothing for
// either.
//
// Not checked: elements of cooperative matrices behind the one that their load or store names,
// indices of 8 and 16 bits, arrays whose length a specialization constant computes, and accesses
// that stay in their buffer but belong to another row.
#ifndef TILEWALK_KERNEL_CHECKED_H
#define TILEWALK_KERNEL_CHECKED_H

#include "kernel/kernel.h"

// `spirv` passed kernel_inspect. False and `e`: it is too old for a buffer to be added (before
// SPIR-V 1.3). `roll` removes the requests to unroll loops, so that drivers compile it much faster.
// Release `out` with spirv_finish.
bool kernel_check_accesses(const struct spirv *spirv, const uint64_t *bytes, int bindings,
                           bool roll, struct spirv *out, struct err *e);

// Returns, for the word in the extra buffer, the lowest binding of a buffer with an index outside,
// or one of these.
#define ACCESS_INSIDE (-1)
#define ACCESS_SHARED (-2)
#define ACCESS_LOCAL  (-3)
int kernel_outside_access(uint32_t word);

#endif
