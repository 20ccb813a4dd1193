#ifndef TILEWALK_UI_LANDSCAPE_H
#define TILEWALK_UI_LANDSCAPE_H

#include "engine/engine.h"

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

// How much of the speed each parameter decides, alone: the share of the variance of the ranks of
// the speeds that its values explain (the correlation ratio; on ranks, so that no scale matters).
//
//     importance_init(&i, space);
//     importance_add(&i, &config, speed);          each ok trial once; failures have no speed
//     while (importance_step(&i)) ...              a slice a call; entries are new at the end
//     i.entry[0 .. i.count - 1]                    most important first, of i.used trials
//     importance_finish(&i);
//
// With N trials in k groups of equal value, H = (N - 1) eta^2, the raw ratio eta^2 = SSbetween /
// SStotal is (k - 1) / (N - 1) on pure noise: with few trials a value everything looks important.
// So what is shown is Kelley's epsilon^2 = 1 - (1 - eta^2) (N - 1) / (N - k), not below 0, which is
// 0 on noise in the mean (T. L. Kelley, "An unbiased correlation ratio measure", PNAS 21, 1935).
//
// Exact for up to IMPORTANCE_SAMPLE ok trials; beyond, a uniform sample of that many (reservoir,
// algorithm R of Vitter 1985) with a fixed seed: the same trials in the same order give the same
// numbers. Adding is cheap; ranks are taken anew once a twentieth more has come. One thread.

#define IMPORTANCE_SAMPLE 8192

struct importance_entry {
    struct factor factor; // whole parameters and parts of factorizations
    double share;         // 0 .. 1
    int values;           // that were seen
};

struct importance {
    const struct space *space; // outlives it
    int64_t added;             // ok trials ever
    int64_t used;              // trials that the entries speak of; 0: no entries yet
    int count;
    struct importance_entry entry[FACTORS_MOST];
    // the sample
    int kept;
    double *speed; // [IMPORTANCE_SAMPLE]
    int32_t *slot; // [IMPORTANCE_SAMPLE][space->slots]
    struct rng rng;
    // the entries in the making
    bool busy;
    int64_t started_at; // `added` then
    int sampled, next;
    double *rank; // [IMPORTANCE_SAMPLE], of sampled ones
    struct importance_entry made[FACTORS_MOST];
};

void importance_init(struct importance *i, const struct space *s);
void importance_finish(struct importance *i); // a zeroed one is fine
void importance_add(struct importance *i, const struct config *c, double speed);
// About a millisecond of work. True while there is more.
bool importance_step(struct importance *i);
// The share of one factor; NAN while there are no entries yet.
double importance_of(const struct importance *i, struct factor f);

// Ranks 1 .. n, equal values sharing their mean rank.
void rank_values(const double *value, int n, double *rank);
// epsilon^2 of `value` grouped by equal `key`, in [0, 1]; 0 when all values are equal or no group
// has two. `groups` (may be NULL): how many there are.
double explained_share(const double *value, const uint64_t *key, int n, int *groups);

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
