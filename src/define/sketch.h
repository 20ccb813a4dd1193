// Sketches: which shapes a program of a definition can have, by Ansor's rules for GPUs (OSDI 2020,
// section 4.1; the rules and their order are those of TVM's sketch_policy_rules.cc). A sketch says
// of each stage how it is computed; sizes of tiles and the like are left to the search.
//
//     struct sketches found;
//     sketches_derive(&d, device, &found);
//     found.sketch[0].plan[tensor], found.sketch[0].rule[...]
//
// The derivation starts at the output. A state is a stage to look at and what was decided so far;
// each rule, in its order, passes, or applies and gives states to go on with, after which later
// rules are tried or not. Pure, and usable from any thread.
#ifndef TILEWALK_DEFINE_SKETCH_H
#define TILEWALK_DEFINE_SKETCH_H

#include "define/definition.h"
#include "space/limits.h"

// Which stages are products of matrices: C[s, i, j] = sum over k of A[s, i, k] * B[s, j, k], where
// each letter stands for any number of axes and the factors are any expressions (an element, one
// of a padded image, a transposed one). So a convolution is one, too (MetaSchedule's reindexing).

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

#define SKETCH_MOST        32
#define SKETCH_MOST_RULES  96
#define SKETCH_MOST_ACROSS 64 // workgroups that share a number: one invocation adds their parts

enum stage_plan {
    PLAN_SERIAL,   // an input, or a stage of which each invocation computes its numbers alone
    PLAN_INLINE,   // computed where it is read
    PLAN_ONCE,     // the same, once before what is written out of its reader
    PLAN_CONSTANT, // written out over the axes of constant tensors
    PLAN_TILE,     // in tiles of several levels (SSSRRSRS)
    PLAN_CROSS,    // invocations share the reduction of each number
    PLAN_SPLIT,    // workgroups do, and in each its invocations
    PLAN_MATRIX    // in tiles of fragments, which matrix units multiply
};

enum sketch_rule {
    RULE_CACHE_READ,
    RULE_LOCATION,
    RULE_INLINE,
    RULE_CONSTANT,
    RULE_GUARD, // not Ansor's
    RULE_CROSS,
    RULE_SPLIT,  // not Ansor's
    RULE_MATRIX, // not Ansor's
    RULE_CACHE_WRITE,
    RULE_TILE_FUSED,
    RULE_TILE,
    RULE_SKIP,
    RULE_COUNT
};

struct sketch {
    enum stage_plan plan[DEFINE_MAX_INPUTS + DEFINE_MAX_STAGES]; // of each tensor
    bool is_cached[DEFINE_MAX_INPUTS + DEFINE_MAX_STAGES];       // its tiles lie in shared memory
    bool is_guarded[DEFINE_MAX_INPUTS + DEFINE_MAX_STAGES];      // its loops run past their ends
    enum sketch_rule rule[SKETCH_MOST_RULES];                    // that applied, in order
    int rules;
};

struct sketches {
    struct sketch sketch[SKETCH_MOST];
    int count; // at least 1
};

// What of a device decides.
struct sketch_device {
    int64_t subgroup, invocations;     // that run together; that a workgroup can have
    bool guards;                       // whether ends may be guarded
    bool splits;                       // whether workgroups may share reductions
    const struct matrix_units *matrix; // that kernels may use
};

// How far a loop of that length runs where it may run past its end: to a multiple of 8 without a
// prime factor above 7; as far as its length where that has no such factor, or is at most 8.
int64_t guarded_extent(int64_t length);

const char *sketch_rule_name(enum sketch_rule r); // "multi-level tiling with fusion"

// Not more than SKETCH_MOST: of more, the first ones, in which reductions are not shared.
void sketches_derive(const struct definition *d, struct sketch_device device, struct sketches *out);

// Whether each read of the tensor in the expression is at the very point that is computed, and
// there is one.
bool reads_in_place(const struct definition *d, int node, int tensor);

#endif
