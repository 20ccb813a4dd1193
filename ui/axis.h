// An axis of a map: the values of a parameter, of one part of a factorization, or of what the
// driver says of kernels, as places 0, 1, ..
//
//     n = factor_list(space, factors);                   what can be an axis, beside what is told
//     axis_init(&a, space, factors[i]);
//     place = axis_place(&a, &config, told);             -1: a value that has no place yet
//     place = axis_make_place(&a, &config, told, moved); gives it one
//     axis_add_label(&a, place, &out);                   "16", "n,m,k", "shared"
//
// Few possible values (at most AXIS_MOST): each has its place from the start. More: those that were
// visited, as long as these are few. More still: each place is a range of neighbouring values; a
// label "16+" means from 16 on, up to the next place; "n,m,…" all orders that begin so. What is
// told is always in ranges: from each power of two on and from the middle to the next, or, where
// that is too fine, from each power of two.
//
// A value is a number here: a part itself, the place in the list of a parameter that has one, the
// lexicographic place of an order, the least of a range of what is told. Places are ascending in
// it. Pure; one thread.
#ifndef TILEWALK_UI_AXIS_H
#define TILEWALK_UI_AXIS_H

#include "engine/engine.h"

#define AXIS_MOST    32
#define FACTORS_MOST (SPACE_MAX_PARAMS + SPACE_MAX_SLOTS)

#define FACTOR_TOLD (-1)

struct factor {
    int param; // FACTOR_TOLD: none, but what the driver says
    int slot;  // part of a factorization; -1: the whole value; or of enum statistic_kind
};

enum axis_kind { AXIS_ALL, AXIS_VISITED, AXIS_RANGES };

struct axis {
    struct factor factor;
    const struct param *param; // of the space, which outlives the axis; NULL: of what is told
    enum axis_kind kind;
    int count;               // places
    uint64_t low[AXIS_MOST]; // the first value of each
};

// What can be an axis, in the order declared: each part of a factorization, every other parameter;
// without those that have one value only. Returns how many.
int factor_list(const struct space *s, struct factor out[SPACE_MAX_SLOTS]);
// "tile_k[2]", "order", "spills"; counted from 1 as in space files.
void factor_add_name(const struct space *s, struct factor f, struct str *out);

// Makes an axis of one of factor_list's; a whole factorization is none, its parts are.
void axis_init(struct axis *a, const struct space *s, struct factor f);
// Whether a trial has a value on this axis. Of a parameter it always has; of what drivers say it
// does when `told`, indexed by enum statistic_kind, is not NULL and not NAN there.
bool axis_has_value(const struct axis *a, const double *told);
int axis_place(const struct axis *a, const struct config *c, const double *told);
// As axis_place, for a trial that has a value: one without a place gets a new one, and moved[i]
// says where that puts what was place i before.
int axis_make_place(struct axis *a, const struct config *c, const double *told,
                    int moved[AXIS_MOST]);

void axis_add_label(const struct axis *a, int place, struct str *out);
// Appends a term of a filter (filter.h) that finds the trials of this place, "tile_k[2]=16". False,
// with nothing appended, where no filter can say it.
bool axis_add_term(const struct axis *a, int place, struct str *out);

#endif
