// The arithmetic of a definition's nodes, and the reference results, computed on the CPU in double.
//
//     definition_evaluate(&d, inputs, output);   inputs in order, without gaps, as their elements
//
// Stages are computed one after the other, kept in double and rounded only by their casts. The
// output is rounded to its element type. All tensors are held in memory as doubles meanwhile.
#ifndef TILEWALK_DEFINE_EVALUATE_H
#define TILEWALK_DEFINE_EVALUATE_H

#include "define/definition.h"
#include "space/tensor.h"

#include <math.h>

// Returns the value of an operation. Missing operands are ignored; a node without operands gives 0.
static inline double node_value(const struct node *n, double a, double b, double c)
{
    switch (n->op) {
    case NODE_ADD: return a + b;
    case NODE_SUBTRACT: return a - b;
    case NODE_MULTIPLY: return a * b;
    case NODE_DIVIDE: return a / b;
    case NODE_FLOOR_DIVIDE: return floor(a / b);
    case NODE_MODULO: return a - b * floor(a / b);
    case NODE_MIN: return fmin(a, b);
    case NODE_MAX: return fmax(a, b);
    case NODE_EXP: return exp(a);
    case NODE_SQRT: return sqrt(a);
    case NODE_TANH: return tanh(a);
    case NODE_LESS: return a < b;
    case NODE_AT_MOST: return a <= b;
    case NODE_EQUAL: return a == b;
    case NODE_SELECT: return a != 0 ? b : c;
    case NODE_CAST: // integers are rounded towards 0
        return n->element == ELEMENT_F32   ? (double)(float)a
               : n->element == ELEMENT_F16 ? (double)half_to_float(half_from_float((float)a))
                                           : trunc(a);
    default: return 0;
    }
}

void definition_evaluate(const struct definition *d, const void *const *inputs, void *output);

#endif
