// What a kernel asks of the machine, in a few numbers, from its loop nest: things that hang on
// several parameters at once and that all kernels have in common.
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
    PROFILE_WRITTEN_OUT,    // copies in the code of the statement that is executed most
    PROFILE_LANES           // of its vectors
};
#define PROFILE_NUMBERS (PROFILE_LANES + 1)

// All are at least 0. `out` is [PROFILE_NUMBERS]. A microsecond or two.
void profile_of(const struct nest_point *p, double *out);

#endif
