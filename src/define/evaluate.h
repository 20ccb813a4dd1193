// The reference results of a definition, computed on the CPU in double.
//
//     definition_evaluate(&d, inputs, output);   inputs in order, without gaps, as their elements
//
// Stages are computed one after the other, kept in double and rounded only by their casts. The
// output is rounded to its element type. All tensors are held in memory as doubles meanwhile.
#ifndef TILEWALK_DEFINE_EVALUATE_H
#define TILEWALK_DEFINE_EVALUATE_H

#include "define/definition.h"

void definition_evaluate(const struct definition *d, const void *const *inputs, void *output);

#endif
