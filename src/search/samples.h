// Programs as rows of features, each with a label: what a cost model learns from.
//
//     struct samples s = {.width = features_width(f)}; // empty and valid
//     int program = samples_add(&s, f, &c); // y may have moved
//     s.y[program] = label;
//     samples_add_wider(&wider, &s, program, more);
//     samples_finish(&s);
#ifndef TILEWALK_SEARCH_SAMPLES_H
#define TILEWALK_SEARCH_SAMPLES_H

#include "model/features.h"

struct samples {
    float *x;   // rows * width
    float *y;   // label of each program
    int *first; // [programs + 1] where its rows begin; one each but for FEATURES_STATEMENTS
    int programs, rows, width;
    int row_capacity, capacity;
};

int samples_add(struct samples *s, struct features *f, const struct config *c); // its program
// Adds a program of `of`, with its label, where rows are wider: each of its rows ends with `more`.
void samples_add_wider(struct samples *s, const struct samples *of, int program,
                       const double *more);
void samples_finish(struct samples *s);

#endif
