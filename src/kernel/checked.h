// The same kernel with every access to an array checked.
//
//     kernel_check_accesses(&spirv, bytes, bindings, true, &checked, e);    buffer k has bytes[k]
//     run `checked` with one more buffer of 4 bytes, zeroed, at binding `bindings`; read it
//     kernel_outside_access(word)                                     what was left, if anything
//
// In front of each access that is not plainly inside, the index is compared with the array's
// length: of buffers, what their bytes hold; of shared and local arrays, vectors and matrices, what
// their type says. An index outside is noted in a variable of the invocation and replaced by 0, so
// that nothing else can happen; an invocation that ends adds what it has noted to the extra buffer.
// Reads count like writes, whether they matter or not: Vulkan promises nothing for either.
//
// Not seen: what cooperative matrices reach behind the element that their load or store names,
// indices of 8 and 16 bits, arrays whose length a specialization constant computes, and accesses
// that stay in their buffer but belong to another row.
#ifndef TILEWALK_KERNEL_CHECKED_H
#define TILEWALK_KERNEL_CHECKED_H

#include "kernel/kernel.h"

// `spirv` passed kernel_inspect. False and `e`: it is too old for a buffer to be added (before
// SPIR-V 1.3). `roll`: no loop is asked to be unrolled, so that drivers compile it in a fraction of
// the time. `out` is spirv_finish's.
bool kernel_check_accesses(const struct spirv *spirv, const uint64_t *bytes, int bindings,
                           bool roll, struct spirv *out, struct err *e);

// What the word in the extra buffer says: the lowest binding of a buffer that an index left, or one
// of these.
#define ACCESS_INSIDE (-1)
#define ACCESS_SHARED (-2)
#define ACCESS_LOCAL  (-3)
int kernel_outside_access(uint32_t word);

#endif
