// Sketches: the structures that a program of a definition can have, by Ansor's rules for GPUs (OSDI
// 2020, section 4.1; the rules and their order are those of TVM's sketch_policy_rules.cc). A sketch
// decides how each stage is computed. Sizes of tiles and the like are left to the search.
//
//     struct sketches found;
//     sketches_derive(&d, device, &found);
//     found.sketch[0].plan[tensor], found.sketch[0].rule[...]
//
// The derivation starts at the output. A state is the tensor to look at and the decisions so far.
// The rules are tried in order. A rule passes, or it applies and gives a new state; it may leave
// later rules a choice. Pure, and usable from any thread.
#ifndef TILEWALK_DEFINE_SKETCH_H
#define TILEWALK_DEFINE_SKETCH_H

#include "define/definition.h"
#include "space/limits.h"

// A product of matrices is a stage C[s, i, j] = sum over k of A[s, i, k] * B[s, j, k]. Each letter
// stands for any number of axes, and the factors are any expressions (an element, one of a padded
// image, a transposed one). So a convolution is a product too (MetaSchedule's reindexing).

// The space axes: those that both factors have, or none has; those of the first; those of the
// second.
enum product_side { PRODUCT_BATCH, PRODUCT_ROWS, PRODUCT_COLUMNS, PRODUCT_SIDES };

struct product {
    unsigned axes[PRODUCT_SIDES]; // a bit each
    unsigned reduced;             // reduction axes, a bit each
    int factor[2];                // the expressions of rows and columns
    bool along[2];                // neighbours in memory are neighbours along the reduction
    enum element element;         // the type that holds both factors without loss
};

// False: the stage is no product, or it has too few rows, columns or steps to fill half a fragment.
bool product_find(const struct definition *d, const struct define_stage *s, struct product *out);
// True: fragments of that shape multiply the product's type and sum in f32, or in 32 bits where it
// is not real.
bool product_fits(const struct product *p, bool is_real, const struct matrix_shape *shape);

#define SKETCH_MOST       32
#define SKETCH_MOST_RULES 96
#define SKETCH_MOST_ACROSS                                                                         \
    64 // workgroups of a split reduction: one invocation combines their results

enum stage_plan {
    PLAN_SERIAL,   // an input, or a stage whose numbers are computed by one invocation each
    PLAN_INLINE,   // computed where it is read
    PLAN_ONCE,     // computed once for all results of a reader that is written out
    PLAN_CONSTANT, // written out over the axes of constant tensors
    PLAN_TILE,     // in tiles of several levels (SSSRRSRS)
    PLAN_CROSS,    // invocations share the reduction of each number
    PLAN_SPLIT,    // workgroups share the reduction, and so do their invocations
    PLAN_MATRIX    // in tiles of fragments on matrix units
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
    bool is_cached[DEFINE_MAX_INPUTS + DEFINE_MAX_STAGES];  // its tiles are staged in shared memory
    bool is_guarded[DEFINE_MAX_INPUTS + DEFINE_MAX_STAGES]; // its loops may run past their ends
    enum sketch_rule rule[SKETCH_MOST_RULES];               // the rules that applied, in order
    int rules;
};

struct sketches {
    struct sketch sketch[SKETCH_MOST];
    int count; // at least 1
};

// The properties of a device that decide.
struct sketch_device {
    int64_t subgroup, invocations;     // the size of a subgroup; the most of a workgroup
    bool guards;                       // ends may be guarded
    bool splits;                       // workgroups may share reductions
    const struct matrix_units *matrix; // matrix units that kernels may use
};

// Returns the extent of a loop with a guarded end: a multiple of 8 without prime factors above 7. A
// length without such factors, or of at most 8, stays.
int64_t guarded_extent(int64_t length);

const char *sketch_rule_name(enum sketch_rule r); // "multi-level tiling with fusion"

// Keeps the first SKETCH_MOST sketches; the first ones share no reductions.
void sketches_derive(const struct definition *d, struct sketch_device device, struct sketches *out);

// True: the expression reads the tensor, and only at the point that is computed.
bool reads_in_place(const struct definition *d, int node, int tensor);

#endif
