// Constant tensors, like the transforms of Winograd's convolution: choices between numbers by the
// axes alone. A stage that reduces over the axes of such tensors is written out: one expression for
// each point of those axes, without the terms that are 0.
//
//     if (constant_axes(&d, &stage))
//         constants_write_out(&d, &stage, epilogue, once, &written);
#ifndef TILEWALK_DEFINE_CONSTANTS_H
#define TILEWALK_DEFINE_CONSTANTS_H

#include "define/definition.h"

// Returns the axes that choose the node's number, a bit each; 0: it is no element of a constant
// tensor.
unsigned constant_choosers(const struct definition *d, int node);

// Returns the axes of all such nodes of the stage. 0 where a reduction axis chooses no number,
// where there is no reduction, and where too much would be written out.
unsigned constant_axes(const struct definition *d, const struct define_stage *s);

struct constants {
    unsigned axes;
    int values;       // points of the space axes among `axes`, the last one fastest
    int *value;       // the node that is stored at each point
    int reads, *read; // the unconditional reads of all values
    int *computed;    // what is computed in place of each read, or -1
    int whole;        // the stage's body with that in place
};

// `epilogue`: the expression that is stored in place of the stage's number, or -1. `once`: for each
// tensor the expression that is computed in its place, or -1. The arrays belong to the definition's
// arena. False: there are too many nodes.
bool constants_write_out(struct definition *d, const struct define_stage *s, int epilogue,
                         const int *once, struct constants *out);

#endif
