// Ranges of expressions, and a check that every read lies in its tensor.
//
//     struct range r = bounds_range(&d, stage, node, NULL);  the least and the greatest value
//     bounds_check(&d, stage, &misread)                      every read lies in its tensor
//
// The range follows from the extents of the axes; the check tries points. Conditions around a read
// count: an index may leave its tensor where the read is not selected.
#ifndef TILEWALK_DEFINE_BOUNDS_H
#define TILEWALK_DEFINE_BOUNDS_H

#include "define/definition.h"

struct range {
    double low, high;
};

// Returns the range of the node over all points of the stage. Reads have any value of their type,
// and real nodes an unbounded range, unless `tensor` has a range for each tensor (NULL: it is
// unknown).
struct range bounds_range(const struct definition *d, const struct define_stage *s, int node,
                          const struct range *tensor);

struct misread {
    int read, dimension;         // the node (-1: there are too many to check) and its index
    bool is_certain;             // false: the index could not be shown to stay inside
    double index;                // an example: its value
    int64_t at[DEFINE_MAX_AXES]; // and the point of the stage's axes
};

// False: a read leaves its tensor, or may leave it. At most BOUNDS_MOST_TRIES points are tried for
// each index.
#define BOUNDS_MOST_TRIES (1 << 21)
bool bounds_check(const struct definition *d, const struct define_stage *s, struct misread *out);

#endif
