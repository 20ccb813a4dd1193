// Which stages are products of matrices: C[s, i, j] = sum over k of A[s, i, k] * B[s, j, k], where
// each letter stands for any number of axes and the factors are any expressions (an element, one
// of a padded image, a transposed one). So a convolution is one, too (MetaSchedule's reindexing).
#ifndef TILEWALK_DEFINE_PRODUCT_H
#define TILEWALK_DEFINE_PRODUCT_H

#include "define/definition.h"
#include "space/limits.h"

// Axes of space: those that both factors have, or none, and those of one alone.
enum product_side { PRODUCT_BATCH, PRODUCT_ROWS, PRODUCT_COLUMNS, PRODUCT_SIDES };

struct product {
    unsigned axes[PRODUCT_SIDES]; // a bit each
    unsigned reduced;             // the axes of the reduction
    int factor[2];                // that of the rows, and that of the columns
    bool along[2];                // whether its neighbours in memory are those along the reduction
    enum element element;         // in which both factors' numbers are, and lose nothing
};

// False: the stage is none, or it has too few rows, columns or steps to fill half of a fragment.
bool product_find(const struct definition *d, const struct define_stage *s, struct product *out);
// Whether fragments of that shape multiply the product's numbers and sum them as it does: in f32,
// or in 32 bits where it is not real.
bool product_fits(const struct product *p, bool is_real, const struct matrix_shape *shape);

#endif
