// Sketches: the program structures that a definition can have, by Ansor's rules for GPUs (OSDI
// 2020, section 4.1; the rules and their order are those of TVM's sketch_policy_rules.cc). A sketch
// decides how each stage is computed. Tile sizes and the like are parameters that the search tunes.
//
//     struct sketches found;
//     sketches_derive(&d, device, &found);
//     found.sketch[0].plan[tensor], found.sketch[0].rule[...]
//
// The derivation starts at the output and goes back to the inputs. A state is the tensor to look at
// and the decisions so far. The rules are tried in order at each tensor; a rule that applies makes
// a new state, and may let later rules make another one. All functions are pure, for any thread.
#ifndef TILEWALK_DEFINE_SKETCH_H
#define TILEWALK_DEFINE_SKETCH_H

#include "define/definition.h"
#include "space/limits.h"

// --- products of matrices ---

// A product of matrices is a stage C[s, i, j] = sum over k of A[s, i, k] * B[s, j, k]. Each letter
// stands for any number of axes, and the factors are any expressions: an element, one of a padded
// image, a transposed one. So a convolution is a product too (MetaSchedule reindexes it).
//
// The sides of a product have these space axes: those that both factors have, or neither; those of
// the first factor only; those of the second only.
enum product_side { PRODUCT_BATCH, PRODUCT_ROWS, PRODUCT_COLUMNS, PRODUCT_SIDES };

struct product {
    unsigned axes[PRODUCT_SIDES]; // space axes, a bit each
    unsigned reduced;             // reduction axes, a bit each
    int factor[2];                // the expressions of rows and columns
    bool along[2];                // the factor is contiguous in memory along the reduction
    enum element element;         // the type that holds both factors without loss
};

// False: the stage is no product, or it has too few rows, columns or reduction steps to fill half a
// fragment (a matrix that matrix units multiply at once).
bool product_find(const struct definition *d, const struct define_stage *s, struct product *out);
// Returns how many shapes of fragments the units have that multiply the product's type and
// accumulate in f32, or in 32-bit integers where the product is not `is_real`; `out` has room for
// MATRIX_MAX_SHAPES. Sums of u8 have a sign where there are such: the bits are the same.
int product_shapes(const struct product *p, bool is_real, const struct matrix_units *units,
                   struct matrix_shape *out);

// --- constant tensors (constants.c) ---

// The elements of a constant tensor, like those of Winograd's transforms, are selects between
// numbers by the values of axes. Returns these axes, a bit each; 0: the node is no such element.
unsigned constant_element_axes(const struct definition *d, int node);
// Returns the axes of all such elements in the stage, along which it can be unrolled. 0: a
// reduction axis is none of them, there is no reduction, or the unrolled text would be too long.
unsigned constant_stage_axes(const struct definition *d, const struct define_stage *s);

// A stage that is unrolled along those axes: an expression for each of their points.
struct unrolled {
    unsigned axes;
    int values, *value; // the expression to store at each point of the space axes, the last fastest
    int reads, *read;   // the unconditional reads of all values
    int *computed;      // the inlined expression in place of each read; -1: it is read
    int body;           // the stage's body with these expressions inlined
};

// `epilogue`: the expression that is stored in place of the result; -1: the result. `once`: for
// each tensor the expression that is inlined; -1: it is read. The arrays belong to the definition's
// arena. False: there are too many nodes.
bool constants_unroll(struct definition *d, const struct define_stage *s, int epilogue,
                      const int *once, struct unrolled *out);

// --- sketches ---

#define SKETCH_MOST       32
#define SKETCH_MOST_RULES 96
#define SKETCH_MOST_SPLIT 64 // workgroups that share a reduction: one invocation combines them

enum stage_plan {
    PLAN_SERIAL,   // an input, or one invocation computes each result
    PLAN_INLINE,   // the stage is computed where it is read
    PLAN_ONCE,     // inlined into a PLAN_CONSTANT stage, and computed once for all its values
    PLAN_CONSTANT, // unrolled along the axes of constant tensors
    PLAN_TILE,     // multi-level tiles (Ansor's SSSRRSRS)
    PLAN_CROSS,    // cross-thread reduction: invocations share the reduction of each result
    PLAN_SPLIT,    // split reduction: workgroups share it, and so do their invocations
    PLAN_MATRIX    // tiles of fragments on matrix units
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
    enum stage_plan plan[DEFINE_MAX_TENSORS]; // of each tensor
    bool is_cached[DEFINE_MAX_TENSORS];       // tiles that read it may stage it in shared memory
    bool is_guarded[DEFINE_MAX_TENSORS];      // its loops may run past their ends
    enum sketch_rule rule[SKETCH_MOST_RULES]; // the rules that applied, in order
    int rules;
};

struct sketches {
    struct sketch sketch[SKETCH_MOST];
    int count; // at least 1
};

// The device and the features of the space that the rules depend on.
struct sketch_device {
    int64_t subgroup, invocations;     // the size of a subgroup; the most of a workgroup
    bool guards;                       // loops may run past their ends
    bool splits;                       // workgroups may share reductions
    const struct matrix_units *matrix; // matrix units that kernels may use
};

// Returns the extent of a loop that may run past its end: the least multiple of 8 without prime
// factors above 7. A length without such factors, or of at most 8, stays.
int64_t guarded_extent(int64_t length);

const char *sketch_rule_name(enum sketch_rule r); // "multi-level tiling with fusion"

// Keeps the first SKETCH_MOST sketches; those without shared reductions come first.
void sketches_derive(const struct definition *d, struct sketch_device device, struct sketches *out);

// True: the expression reads the tensor, and only at the point that is computed.
bool reads_in_place(const struct definition *d, int node, int tensor);

#endif
