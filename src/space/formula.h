// Whole numbers that follow from a configuration, as data: what a loop's length or a tile's size is
// in terms of the parameters. Evaluated in one pass, by any thread.
//
//     int rows = formulas_slot(&f, param->offset + 2);           c.registers[3]
//     int both = formulas_add(&f, FORMULA_MULTIPLY, rows, rows, 0);
//     formulas_evaluate(&f, space, config, value);               value[both]
//
// A node's operands stand before it. Equal nodes are one node, what is constant is computed at
// once, and so are sums with 0 and products with 1 or 0. Values are doubles: exact for whole
// numbers up to 2^53, and no overflow traps.
#ifndef TILEWALK_SPACE_FORMULA_H
#define TILEWALK_SPACE_FORMULA_H

#include "space/space.h"

enum formula_op {
    FORMULA_CONSTANT,
    FORMULA_SLOT,   // slot a of the configuration as it is: a part, the index of a label
    FORMULA_NUMBER, // the number that parameter a, discrete or custom, has
    FORMULA_PLACE,  // where item b of permutation a stands, from 0
    FORMULA_ADD,
    FORMULA_SUBTRACT,
    FORMULA_MULTIPLY,
    FORMULA_DIVIDE, // rounds down; by 0 gives 0, as the next two do
    FORMULA_MODULO, // a - b * (a / b)
    FORMULA_CEIL_DIVIDE,
    FORMULA_MIN,
    FORMULA_MAX,
    FORMULA_DIVISOR, // the largest divisor of a that is at most b, and at least 1; from 2^32 on,
                     // of those divisors d for which d or a / d is at most 2^16
    FORMULA_EQUAL,   // these give 1 or 0; what is not 0 is true
    FORMULA_LESS,
    FORMULA_NOT, // of a alone
    FORMULA_AND,
    FORMULA_OR,
    FORMULA_CHOOSE // a ? b : c
};

struct formula_node {
    double constant;
    enum formula_op op;
    int a, b, c; // nodes, or as said above; 0 where the operation has none
};

// Empty and valid when zeroed; release with formulas_finish.
struct formulas {
    struct formula_node *node;
    int *bucket; // open addressing, index + 1
    int count, capacity, buckets;
};

void formulas_finish(struct formulas *f);

// Each gives the index of the node, old or new. formulas_add takes those from FORMULA_ADD on;
// operands that the operation does not have are ignored.
int formulas_constant(struct formulas *f, double constant);
int formulas_slot(struct formulas *f, int slot);
int formulas_number(struct formulas *f, int param);
int formulas_place(struct formulas *f, int param, int item);
int formulas_add(struct formulas *f, enum formula_op op, int a, int b, int c);

bool formulas_is_constant(const struct formulas *f, int node, double constant);

// `value` has room for f->count numbers. `s` is the space that the formulas were made for.
void formulas_evaluate(const struct formulas *f, const struct space *s, const struct config *c,
                       double *value);

#endif
