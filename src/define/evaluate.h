// What is right: a definition computed on the CPU, in double.
//
//     definition_evaluate(&d, inputs, output);   inputs in order, without gaps, as their elements
//
// Stages one after the other, each kept in double and rounded only by its casts; the output is
// rounded to its element. Needs memory for all tensors in double, which it frees.
#ifndef TILEWALK_DEFINE_EVALUATE_H
#define TILEWALK_DEFINE_EVALUATE_H

#include "define/definition.h"

void definition_evaluate(const struct definition *d, const void *const *inputs, void *output);

#endif
