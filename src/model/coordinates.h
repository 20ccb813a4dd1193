// Configurations as points for the Gaussian process (gp.h): lists of numbers whose distances follow
// those on the parameters' graphs.
//
//     struct coordinates s;
//     coordinates_init(&s, space, with_profile);
//     coordinates_of(&s, &config, x);      x[0 .. s.count)
//     coordinates_finish(&s);
//
//   factorization            two for each part: the part itself (a label), and log(part) /
//                            log(product), since a step of the graph moves one prime from one part
//                            to another
//   permutation              one for each position: the item at it (a label)
//   categorical, custom      one: the value (a label)
//   discrete of two values   one: the value (a label)
//   discrete of more values  the value (a label), and its rank, from 0 for the first value to 1 for
//                            the last. If all values are whole numbers, two more, unless the rank
//                            has the same information: how many times two divides the value, as a
//                            share of the most of any value; and a label that is 1 for powers of
//                            two. Hardware is built in powers of two, so 32 and 128 may act alike
//                            while 48 does not
//   the profile              log2(1 + v) / 8 of each number v of the profile, for a space with a
//                            loop nest and if wanted; values 256 times apart have the largest
//                            distance
//
// Labels are whole numbers that are only equal or different. All other coordinates are in [0, 1],
// those of the profile in [0, 8]. A parameter with only one value has no coordinate.
#ifndef TILEWALK_MODEL_COORDINATES_H
#define TILEWALK_MODEL_COORDINATES_H

#include "space/nest.h"
#include "space/space.h"

// The profile: a kernel's demands on the device, in a few numbers computed from its loop nest. Each
// depends on several parameters at once.

enum profile_number {
    PROFILE_GROUPS,
    PROFILE_THREADS,        // per group
    PROFILE_REGISTER_BYTES, // per invocation, as declared
    PROFILE_SHARED_BYTES,   // per group
    PROFILE_TRIPS,          // of serial loops, per invocation
    PROFILE_EXECUTIONS,     // of all statements, per invocation
    PROFILE_GLOBAL,         // accesses to global memory per invocation; vectors count once
    PROFILE_SHARED,         // accesses to shared memory, likewise
    PROFILE_WRITTEN_OUT,    // copies in the unrolled code of the statement executed most often
    PROFILE_LANES           // lanes of its vectors
};
#define PROFILE_NUMBERS (PROFILE_LANES + 1)

// Computes the profile: `out` is [PROFILE_NUMBERS], all at least 0. Takes a microsecond or two.
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
    double whole;         // divisor of the coordinate
};

// A configuration whose coordinates are cached: most come again, as results or as their neighbours.
struct coordinates_known {
    struct config config;
    bool known;
};

struct coordinates {
    int count;
    int own; // the first coordinates, which are of parameters; those of the profile follow
    struct coordinate at[COORDINATES_MOST];
    const struct space *space;
    struct nest_point point;         // scratch: one thread at a time
    struct coordinates_known *known; // [COORDINATES_KNOWN], by hash
    double *x;                       // [count] of each
};

// `space` outlives the coordinates.
void coordinates_init(struct coordinates *s, const struct space *space, bool with_profile);
void coordinates_finish(struct coordinates *s);
void coordinates_of(struct coordinates *s, const struct config *c, double *x);

#endif
