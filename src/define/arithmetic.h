// The arithmetic of a definition's nodes, for the reference (evaluate.c), the bounds of indices
// (bounds.c) and folding (constants.c).
#ifndef TILEWALK_DEFINE_ARITHMETIC_H
#define TILEWALK_DEFINE_ARITHMETIC_H

#include "define/definition.h"
#include "space/tensor.h"

#include <math.h>

// Returns the node's value. Operands that it lacks are ignored; a node without operands gives 0.
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
    case NODE_CAST: // whole numbers are rounded towards 0
        return n->element == ELEMENT_F32   ? (double)(float)a
               : n->element == ELEMENT_F16 ? (double)half_to_float(half_from_float((float)a))
                                           : trunc(a);
    default: return 0;
    }
}

#endif
