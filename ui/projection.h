// Trials projected on one or two axes: what became of all those that share their values there. On
// an axis of what drivers say of kernels, only trials of which the driver said it are counted.
//
//     projection_init(&p, space, x, &y);                  y NULL: along x only
//     projection_hold(&p, &best);                         trials like this one but for the axes
//     projection_add(&p, &seen);                          each told trial once, in any order
//     const struct place *c = projection_at(&p, row, col);
//     projection_finish(&p);
//
// A place is a cell of the map. Adding a trial costs the same however many were added; only new
// ones have to be. When an axis gets another place (axis.h) the cells move along with their values
// and `layout` grows.
//
// Four kinds of cell are never mistaken for each other: measured, tried but all failed, excluded
// by a constraint or limit, and not visited. Excluded is what was asked there and always rejected,
// or what `judge` finds: configurations drawn there uniformly, the hidden parameters free (or
// held), none of them legal. One that is legal ends the doubt. What a driver will say is not
// judged.
//
// Pure but for the rules that judging calls. One thread.
#ifndef TILEWALK_UI_PROJECTION_H
#define TILEWALK_UI_PROJECTION_H

#include "axis.h"

#define JUDGED_ENOUGH 128 // configurations without a legal one

struct place {
    int64_t outcome[OUTCOME_COUNT]; // told trials of each
    double best, worst, sum;        // FLOP/s of ok ones
    int64_t best_ask;
    bool best_raced; // those of a race are better than those that were measured
    int judged;      // configurations; JUDGED_ENOUGH or a legal one end it
    bool legal;      // one of them was
    bool impossible; // no configuration has these values
    int constraint;  // why the last one was not legal: index, or -1
    unsigned limits; // or bit set of 1 << enum limit
};

enum place_kind { PLACE_UNVISITED, PLACE_FAILED, PLACE_EXCLUDED, PLACE_MEASURED };
enum statistic { STATISTIC_BEST, STATISTIC_MEAN, STATISTIC_COUNT, STATISTICS };

struct projection {
    const struct space *space; // outlives it
    struct axis x, y;
    bool is_flat;        // no y: one row
    struct place *place; // rows of AXIS_MOST
    int layout;          // grows when places move
    int64_t taken;       // trials that counted
    bool is_held;
    struct config held;
    struct rng rng; // of judging
    int judged_to;  // the place to judge next, round and round
};

void projection_init(struct projection *p, const struct space *s, struct factor x,
                     const struct factor *y);
void projection_finish(struct projection *p); // a zeroed one is fine
// Counts only trials whose parameters off the axes are as in `c`; called before anything is added.
// Where one part of a factorization is an axis its other parts stay free, since their product is
// fixed.
void projection_hold(struct projection *p, const struct config *c);
struct seen {
    const struct config *config;
    const double *told; // by the driver (axis.h); NULL: nothing
    int64_t ask;
    enum outcome outcome;
    double speed;
    bool raced;
};
void projection_add(struct projection *p, const struct seen *s);
// Draws and judges at most `most` configurations for places without trials. `l` NULL: no device.
// True while there are places in doubt.
bool projection_judge(struct projection *p, const struct limits *l, int most);

int projection_rows(const struct projection *p);
int projection_cols(const struct projection *p);
const struct place *projection_at(const struct projection *p, int row, int col);
// Finds the cell of a configuration. False: it has none yet, or projection_hold leaves it out.
bool projection_find(const struct projection *p, const struct config *c, const double *told,
                     int *row, int *col);

enum place_kind place_kind(const struct place *c);
int64_t place_trials(const struct place *c); // told, without rejected ones
int64_t place_failed(const struct place *c);
// The number that a cell shows. NAN for cells without a measured trial, and, of the count of
// trials, for those without any trial.
double place_value(const struct place *c, enum statistic s);

#endif
