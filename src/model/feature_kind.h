// The kinds of features, one record each, and the parts that they share. Internal to this folder:
// all others call features_*.
#ifndef TILEWALK_MODEL_FEATURE_KIND_H
#define TILEWALK_MODEL_FEATURE_KIND_H

#include "model/features.h"
#include "space/nest.h"

// The parameters that have columns at the end of the first row: all, only those that no loop shows
// (numbers and words), or none.
enum feature_params { FEATURE_ALL_PARAMS, FEATURE_OPTIONS, FEATURE_NO_PARAMS };

struct features {
    const struct feature_methods *methods;
    const struct space *space;
    int own_width;           // columns of the kind itself, set by `measure`
    int width;               // these, and the columns of the parameters
    int most_rows;           // 1 unless set by `measure`
    struct nest_point point; // scratch, for the kinds that need a nest
    int *column;             // memory that `measure` may allocate, or NULL
    float *scratch;          // likewise
    int scratch_width;
};

struct feature_methods {
    const char *name;
    bool needs_nest;
    enum feature_params params;
    void (*measure)(struct features *f); // NULL: there are only the columns of the parameters
    // Fills the rows; `f->point` is the nest at the configuration, and the first row has the
    // columns of the parameters already, the others being 0. Returns the number of rows. NULL: one
    // row.
    int (*fill)(struct features *f, float *out);
    // Compares the columns of the kind, whose number is equal. NULL: they are alike.
    bool (*are_like)(const struct features *a, const struct features *b);
};

extern const struct feature_methods features_itervar, features_statements, features_tree;

// Computes log2(x + 1) of positive and -log2(1 - x) of negative numbers, in place: within 1e-6, and
// the same on every machine. 0 and 1 do not change.
void feature_log(int count, float *x);

// Memory use of a statement of a loop nest: the elements that each of its accesses touches, how
// often, and when it touches them again.
//
//     struct access_use use[NEST_MAX_ACCESSES];
//     access_uses(&point, statement, use);
//
// The definitions are Ansor's (OSDI 2020, appendix B; TVM's per-store features). With e the size of
// an element, over the loops of the statement's path:
//
//     bytes          e * executions
//     unique_bytes   e * different elements
//     lines          executions / lengths of the innermost loops that do not move the access
//                    * min(1, stride of the next loop * e / 64), at least 1: 64-byte lines fetched
//     unique_lines   unique_bytes / min(64, length of a contiguous run), at least 1
//     reuse          REUSE_LOOP by the innermost loop that does not move the access, as often as
//                    its length; else, if another access to the buffer shares a loop with it,
//                    REUSE_SERIAL, as often as the number of such accesses
//     distance       executions, and bytes that the statement touches, until the element is touched
//                    again: those of all loops inside that one
//     stride         of the innermost loop, in elements
//
// Loops of one iteration are ignored.

enum access_reuse { REUSE_LOOP, REUSE_SERIAL, REUSE_NONE };

struct access_use {
    double bytes, unique_bytes, lines, unique_lines;
    enum access_reuse reuse;
    double reuse_count, distance, distance_bytes; // 0 when there is none
    double stride;
    double touched[NEST_MAX_PATH + 1]; // bytes touched by the innermost 0, 1, ... loops
};

void access_uses(const struct nest_point *p, int statement, struct access_use *use);

#endif
