// Constant tensors, as of the transforms in Winograd's convolution: choices between numbers by the
// axes alone. A stage that reduces over axes of such tensors is written out: an expression for each
// point of those axes, of which what is 0 has gone.
//
//     if (constant_axes(&d, &stage))
//         constants_write_out(&d, &stage, epilogue, once, &written);
#ifndef TILEWALK_DEFINE_CONSTANTS_H
#define TILEWALK_DEFINE_CONSTANTS_H

#include "define/definition.h"

// The axes that the node chooses its number by, a bit each; 0: it is no element of a constant
// tensor.
unsigned constant_choosers(const struct definition *d, int node);

// Those of all such nodes of the stage; 0 where an axis of the reduction chooses no such number,
// where there is no reduction, and where too much would be written out.
unsigned constant_axes(const struct definition *d, const struct define_stage *s);

struct constants {
    unsigned axes;
    int values;       // points of the space axes among them, the last one fastest
    int *value;       // a node each: what is stored there
    int reads, *read; // of theirs that no choice stands around, each once
    int *plain;       // what is computed in a read's place, or -1
    int whole;        // the stage's body with that in place
};

// `epilogue`: what is stored in place of the stage's number, by it, or -1. `once`: of each tensor
// what is computed in its place, or -1. The arrays are of the definition's arena. False: there are
// too many nodes.
bool constants_write_out(struct definition *d, const struct define_stage *s, int epilogue,
                         const int *once, struct constants *out);

#endif
