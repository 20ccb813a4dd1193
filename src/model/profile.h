// What a kernel asks of the machine, in a few numbers computed from its loop nest. Each depends on
// several parameters at once, and all kernels have them.
#ifndef TILEWALK_MODEL_PROFILE_H
#define TILEWALK_MODEL_PROFILE_H

#include "space/nest.h"

enum profile_number {
    PROFILE_GROUPS,
    PROFILE_THREADS,        // of a group
    PROFILE_REGISTER_BYTES, // of an invocation, as declared
    PROFILE_SHARED_BYTES,   // of a group
    PROFILE_TRIPS,          // of serial loops, by an invocation
    PROFILE_EXECUTIONS,     // of all statements, by an invocation
    PROFILE_GLOBAL,         // accesses to global memory by an invocation; vectors count once
    PROFILE_SHARED,         // to shared memory, likewise
    PROFILE_WRITTEN_OUT,    // copies of the statement executed most in the unrolled code
    PROFILE_LANES           // of its vectors
};
#define PROFILE_NUMBERS (PROFILE_LANES + 1)

// All are at least 0. `out` is [PROFILE_NUMBERS]. A microsecond or two.
void profile_of(const struct nest_point *p, double *out);

#endif
