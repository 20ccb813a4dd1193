// A landscape with a trap that is made up: nearly all of it leads to ends that are not the best.
//
// Three ends have quality TRAP_END; the optimum, of quality 1, differs from each of them in
// TRAP_APART parameters. Around each end quality falls with the distance, around the optimum so
// steeply that the steepest climb by single moves leads there from TRAP_SHARE of all points only.
// A model of what is known says that the optimum's values are bad, for so they are near the ends.
#ifndef TILEWALK_TRIAL_TRAP_H
#define TILEWALK_TRIAL_TRAP_H

#include "space/space.h"

#define TRAP_ENDS  3
#define TRAP_APART 5 // or all parameters, of a space that has fewer
#define TRAP_END   0.83
#define TRAP_SHARE 0.02

struct trap {
    const struct space *space;
    struct config optimum, end[TRAP_ENDS];
    double weight[SPACE_MAX_PARAMS]; // what each counts in a distance, at most; their sum is 1
    double step[SPACE_MAX_PARAMS];   // the same for one step of its graph
    double steepness;                // around the optimum
};

// Where the ends lie is a matter of `seed` alone. `space` outlives the trap.
void trap_init(struct trap *t, const struct space *space, const struct config *optimum,
               uint64_t seed);
double trap_quality(const struct trap *t, const struct config *c); // in (0, 1]

#endif
