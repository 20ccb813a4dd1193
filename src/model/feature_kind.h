// What each kind of features knows, one record a kind, and what several of them need. Internal to
// this folder: everyone else calls features_*.
#ifndef TILEWALK_MODEL_FEATURE_KIND_H
#define TILEWALK_MODEL_FEATURE_KIND_H

#include "model/features.h"
#include "space/nest.h"

struct features {
    const struct feature_methods *methods;
    const struct space *space;
    int width, most_rows;
    struct nest_point point; // scratch, of the kinds that need a nest
    int *column;             // memory that `measure` may allocate for its kind, or NULL
    float *scratch;          // likewise
    int scratch_width;
};

struct feature_methods {
    const char *name;
    bool needs_nest;
    void (*measure)(struct features *f); // sets the width and the most rows
    // With a nest: `f->point` is what `c` makes of it.
    int (*fill)(struct features *f, const struct config *c, float *out);
    bool (*are_like)(const struct features *a, const struct features *b); // widths are equal
};

extern const struct feature_methods features_knob, features_itervar, features_curve,
    features_statements, features_tree;

// Parameters as columns, all of them or only those that no loop shows: numbers and words.
enum feature_params { FEATURE_ALL_PARAMS, FEATURE_OPTIONS };

int feature_params_width(const struct space *s, enum feature_params which);
void feature_params_fill(const struct space *s, enum feature_params which, const struct config *c,
                         float *out);
bool feature_params_are_like(const struct space *a, const struct space *b,
                             enum feature_params which);

// log2(x + 1) of what is positive, -log2(1 - x) of what is negative, of each, in place: within
// 1e-6, and the same on every machine. 0 and 1 stay as they are.
void feature_log(int count, float *x);

#endif
