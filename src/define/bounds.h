// What an expression can be: from the extents of axes, and by trying.
//
//     struct range r = bounds_range(&d, stage, node, NULL);  the least and the most
//     bounds_check(&d, stage, &misread)                    every read lies in its tensor
//
// Conditions around a read count: an index may leave its tensor where the read is not selected.
#ifndef TILEWALK_DEFINE_BOUNDS_H
#define TILEWALK_DEFINE_BOUNDS_H

#include "define/definition.h"

struct range {
    double low, high;
};

// Of all values that the node has while the stage's axes run; reads give any number, and a real
// node an unbounded range unless its parts are known. `tensor` (NULL: nothing is known) has the
// range of each tensor's elements.
struct range bounds_range(const struct definition *d, const struct define_stage *s, int node,
                          const struct range *tensor);

struct misread {
    int read, dimension;         // the node, -1: too many of them; which of its indices
    bool is_certain;             // false: it could not be shown that it stays inside
    double index;                // for an example: what the index is,
    int64_t at[DEFINE_MAX_AXES]; // and where each axis of the stage stands
};

// False: a read leaves its tensor. Takes time in proportion to BOUNDS_MOST_TRIES at worst for each
// index.
#define BOUNDS_MOST_TRIES (1 << 21)
bool bounds_check(const struct definition *d, const struct define_stage *s, struct misread *out);

#endif
