// Configurations as points for the Gaussian process (gp.h): each becomes a list of numbers, whose
// distances follow those on the parameters' graphs.
//
//     struct coordinates s;
//     coordinates_init(&s, space, with_profile);
//     coordinates_of(&s, &config, x);      x[0 .. s.count)
//     coordinates_finish(&s);
//
//   factorization            two for each part: the part itself (a label), and log(part) /
//                            log(product), since a step of the graph moves one prime from one part
//                            to another
//   permutation              one for each position: which item stands there (a label)
//   categorical, custom      one: the value (a label)
//   discrete of two values   one: the value (a label)
//   discrete of more values  the value (a label), and its rank, from 0 for the first value to 1 for
//                            the last. Where all values are whole numbers, two more, unless the
//                            rank says the same: how many times two divides the value, divided by
//                            the most of any value, and whether it is a power of two (a label).
//                            Hardware is built in powers of two, so 32 and 128 may act alike while
//                            48 does not
//   the profile              log2(1 + v) / 8 of each number v of profile.h, for a space with a loop
//                            nest and if wanted; values 256 times apart are at the largest distance
//
// Labels are whole numbers, of which only equality counts. All other coordinates lie in [0, 1],
// those of the profile in [0, 8]. A parameter with only one value has no coordinate.
#ifndef TILEWALK_MODEL_COORDINATES_H
#define TILEWALK_MODEL_COORDINATES_H

#include "space/nest.h"
#include "space/space.h"

// What a kernel asks of the machine, in a few numbers computed from its loop nest. Each depends on
// several parameters at once, and all kernels have them.

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

#define COORDINATES_MOST  (4 * SPACE_MAX_SLOTS + PROFILE_NUMBERS)
#define COORDINATES_KNOWN 4096

struct coordinate {
    enum {
        COORDINATE_LABEL,
        COORDINATE_RANK,
        COORDINATE_TWOS,
        COORDINATE_POWER,
        COORDINATE_PART
    } kind;
    int slot;
    const double *number; // TWOS, POWER: the number of each value
    double whole;         // what the coordinate is divided by
};

// The profile of a configuration: most are asked for again, of results and of what is next to them.
struct coordinates_known {
    struct config config;
    double profile[PROFILE_NUMBERS];
    bool known;
};

struct coordinates {
    int count;
    int own; // how many are of parameters; those of the profile follow them
    struct coordinate at[COORDINATES_MOST];
    const struct space *space;
    struct nest_point point;         // for evaluations: one thread at a time
    struct coordinates_known *known; // [COORDINATES_KNOWN], each at its hash; NULL: no profile
};

// `space` outlives it.
void coordinates_init(struct coordinates *s, const struct space *space, bool with_profile);
void coordinates_finish(struct coordinates *s);
void coordinates_of(struct coordinates *s, const struct config *c, double *x);

#endif
