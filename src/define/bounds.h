// Ranges of expressions, and a check that every read stays inside its tensor.
//
//     struct range r = bounds_range(&d, stage, node, NULL);  the least and the greatest value
//     bounds_check(&d, stage, &bad)                          every read stays inside its tensor
//
// A range follows from the extents of the axes by interval arithmetic. Where an index's range is
// not inside the tensor, the check tries all points of the axes that the index depends on. Points
// at which a select around the read chooses its other branch do not count: nothing is read there.
#ifndef TILEWALK_DEFINE_BOUNDS_H
#define TILEWALK_DEFINE_BOUNDS_H

#include "define/definition.h"

struct range {
    double low, high;
};

// Returns the range of the node over all points of the stage. Elements that are read have the range
// of their tensor in `tensor`; without it (NULL) they have any value of their type. Floating-point
// functions and divisions are unbounded.
struct range bounds_range(const struct definition *d, const struct define_stage *s, int node,
                          const struct range *tensor);
// The same of all nodes up to that one; `out` has room for DEFINE_MAX_NODES.
void bounds_ranges(const struct definition *d, const struct define_stage *s, int node,
                   const struct range *tensor, struct range *out);

struct bad_read {
    int read, dimension; // the read (-1: there are too many to check), and which index of it
    bool is_certain;     // false: the index could not be shown to stay inside
    double index;        // an example: the value of the index
    int64_t at[DEFINE_MAX_AXES]; // the point of the stage's axes with that value
};

// Returns false where a read leaves its tensor, or may leave it: `out` has an example. At most
// BOUNDS_MOST_TRIES points are tried for each index.
#define BOUNDS_MOST_TRIES (1 << 21)
bool bounds_check(const struct definition *d, const struct define_stage *s, struct bad_read *out);

#endif
