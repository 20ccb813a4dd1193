// The itervar columns, for what is made from them. Internal to this folder.
#ifndef TILEWALK_MODEL_FEATURES_ITERVAR_H
#define TILEWALK_MODEL_FEATURES_ITERVAR_H

#include "model/feature_kind.h"

// Columns of a loop: these, then those of every access that it surrounds.
enum {
    LENGTH,
    LEVEL,
    TOP_DOWN,
    BOTTOM_UP,
    KIND,
    ADD = KIND + NEST_LOOP_KINDS,
    MULTIPLY,
    DIVIDE,
    OF_LOOP
};
enum { STRIDE, COUNT, REUSE, THREAD_COUNT, THREAD_REUSE, OF_ACCESS };

int itervar_measure(struct features *f); // sets f->column; returns the width, options aside
void itervar_fill(const struct features *f, int width, float *out);

// Where the columns of a loop begin, and in them those of the first access of a statement.
int itervar_at_loop(const struct features *f, int loop);
int itervar_at_accesses(const struct features *f, int statement, int loop);

#endif
