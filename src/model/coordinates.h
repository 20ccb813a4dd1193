// Where configurations lie: each as a list of numbers, so near as the parameters' graphs are.
//
//     struct coordinates s;
//     coordinates_init(&s, space, with_profile);
//     coordinates_of(&s, &config, x);      x[0 .. s.count)
//     coordinates_finish(&s);
//
//   factorization            of each part: the part itself (a label), and its logarithm as a share
//                            of the product's: a step of the graph moves the logarithm of one prime
//                            from part to part
//   permutation              of each position, which item stands there (a label)
//   categorical, custom      the value (a label)
//   discrete of two values   the value (a label)
//   discrete                 the rank, as a share of the ladder; of whole numbers, how often two
//                            divides them, as a share of the most, and whether they are a power of
//                            two (a label): hardware is built in those, so that 32 and 128 may be
//                            alike while 48 is not; and the value (a label), for those that are
//                            like no other
//   the profile              of a space with a loop nest, if wanted: log2(1 + v) / 8 of each number
//                            of profile.h; what is 256 times as large is as far as can be
//
// A label is a whole number, equal or different, everything else lies in [0, 1], a profile in
// [0, 8]. A parameter that is the same for all configurations has no coordinate.
#ifndef TILEWALK_MODEL_COORDINATES_H
#define TILEWALK_MODEL_COORDINATES_H

#include "model/profile.h"
#include "space/space.h"

#define COORDINATES_MOST (4 * SPACE_MAX_SLOTS + PROFILE_NUMBERS)

struct coordinate {
    enum {
        COORDINATE_LABEL,
        COORDINATE_RANK,
        COORDINATE_TWOS,
        COORDINATE_POWER,
        COORDINATE_PART
    } kind;
    int slot;
    const double *number; // TWOS, POWER: of each value
    double whole;         // what all else is a share of
};

struct coordinates {
    int count;
    int own; // of parameters; those of the profile follow
    struct coordinate at[COORDINATES_MOST];
    const struct space *space;
    struct nest_point point; // for evaluations: one thread at a time
};

// `space` outlives it.
void coordinates_init(struct coordinates *s, const struct space *space, bool with_profile);
void coordinates_finish(struct coordinates *s);
void coordinates_of(struct coordinates *s, const struct config *c, double *x);

#endif
