// Where a search has not been: of many legal points the one that lies farthest from all that was
// measured, which is the one that a model of distances is most unsure of.
//
//     struct field f = {.problem = problem, .coordinates = &coordinates};
//     if (field_farthest(&f, &given, count, weight, &rng, &c)) ...
//     field_finish(&f);
//
// The points are all that are legal, of a space with at most so many points that these have
// FIELD_NUMBERS coordinates; of a larger one what is legal of as many draws. FIELD_AT_ONCE more are
// looked for each time one is asked for, as to ask whether they are legal takes microseconds. Each
// remembers how near the nearest result is, so that a result costs one pass: 0.1 ms.
#ifndef TILEWALK_SEARCH_FIELD_H
#define TILEWALK_SEARCH_FIELD_H

#include "model/coordinates.h"
#include "search/visited.h"

enum { FIELD_NUMBERS = 200000, FIELD_AT_ONCE = 2048 };

struct field {
    const struct search_problem *problem;
    struct coordinates *coordinates;
    struct config_set points;
    int tried, most; // points of the space, or draws
    float *x;        // [coordinates][most]
    float *nearest;  // [most] distance of the nearest result
    float *distance; // [most] scratch
    int results;     // the first of those given that all points were compared with
};

// Looks at the first `count` given. `weight`: what each coordinate counts, from now on. False: no
// point is left.
bool field_farthest(struct field *f, const struct config_set *given, int count,
                    const double *weight, struct rng *r, struct config *out);
void field_finish(struct field *f); // fine on a zeroed one

#endif
