// The numbers behind the map: axes, the importance of parameters, and trials projected on axes.
//
//     n = factor_list(space, factors);                  what can be an axis
//     axis_init(&a, space, factors[i]);
//     importance_add(&i, &config, speed); while (importance_step(&i)) ...
//     projection_init(&p, space, x, &y); projection_add(&p, &trial); projection_at(&p, row, col)
//
// Pure, except that judging configurations calls the rules of a space. One thread.
#ifndef TILEWALK_UI_LANDSCAPE_H
#define TILEWALK_UI_LANDSCAPE_H

#include "engine/engine.h"

// --- axes ---

// An axis shows the values of a parameter, of one part of a factorization, or of a compiler
// statistic, as places 0, 1, ..
//
//     place = axis_place(&a, &config, statistics);             -1: a value that has no place yet
//     place = axis_make_place(&a, &config, statistics, moved); gives it one
//     axis_add_label(&a, place, &out);                         "16", "n,m,k", "shared"
//
// Few possible values (at most AXIS_MOST): each has its place from the start. More: those of
// trials, as long as these are few. More still: each place is a range of neighbouring values. A
// label "16+" means from 16 on, up to the next place; "n,m,…" means all orders that begin so.
// Statistics are always in ranges: from each power of two on and from the middle to the next, or,
// where that is too fine, from each power of two.
//
// A value is a number here: a part itself, the place in the list of a parameter that has one, the
// lexicographic place of an order, the least of a range of a statistic. Places ascend in it.

#define AXIS_MOST    32
#define FACTORS_MOST (SPACE_MAX_PARAMS + SPACE_MAX_SLOTS)

#define FACTOR_STATISTIC (-1)

struct factor {
    int param; // FACTOR_STATISTIC: none, but a compiler statistic
    int slot;  // part of a factorization; -1: the whole value; or of enum statistic_kind
};

enum axis_kind { AXIS_ALL, AXIS_VISITED, AXIS_RANGES };

struct axis {
    struct factor factor;
    const struct param *param; // of the space, which outlives the axis; NULL: a statistic
    enum axis_kind kind;
    int count;               // places
    uint64_t low[AXIS_MOST]; // the first value of each
};

// Lists what can be an axis, besides statistics, in the order declared: each part of a
// factorization, every other parameter; not those that have one value only. Returns their number.
int factor_list(const struct space *s, struct factor out[SPACE_MAX_SLOTS]);
// Appends "tile_k[2]", "order", "spills"; parts count from 1 as in space files.
void factor_add_name(const struct space *s, struct factor f, struct str *out);

// Makes an axis of one of factor_list's; a whole factorization is none, its parts are.
void axis_init(struct axis *a, const struct space *s, struct factor f);
// Returns true when a trial has a value on this axis. Every trial has one for a parameter. It has
// one for a statistic when `statistics`, indexed by enum statistic_kind, is neither NULL nor NAN
// there.
bool axis_has_value(const struct axis *a, const double *statistics);
int axis_place(const struct axis *a, const struct config *c, const double *statistics);
// Returns axis_place of a trial that has a value. A value without a place gets a new one, and what
// was place i before is moved[i] then.
int axis_make_place(struct axis *a, const struct config *c, const double *statistics,
                    int moved[AXIS_MOST]);

// Returns the last place that begins at or before a value, or -1.
int axis_last_place(const struct axis *a, uint64_t value);

void axis_add_label(const struct axis *a, int place, struct str *out);
// Appends a term of a filter (filter.h) that finds the trials of this place, "tile_k[2]=16". False,
// with nothing appended, where no filter can express it.
bool axis_add_term(const struct axis *a, int place, struct str *out);

// --- importance ---

// The importance of a parameter is the share of the variance of the ranks of the speeds that its
// values explain alone (the correlation ratio; on ranks, so that no scale matters).
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
// numbers. Adding is cheap; ranks are computed anew once a twentieth more has come.

#define IMPORTANCE_SAMPLE 8192

struct importance_entry {
    struct factor factor; // whole parameters and parts of factorizations
    double share;         // 0 .. 1
    int values;           // that were seen
};

struct importance {
    const struct space *space; // outlives it
    int64_t added;             // ok trials ever
    int64_t used;              // trials behind the entries; 0: no entries yet
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
// Does about a millisecond of work. True while there is more.
bool importance_step(struct importance *i);
// Returns the share of one factor; NAN while there are no entries yet.
double importance_of(const struct importance *i, struct factor f);

// Computes ranks 1 .. n; equal values share their mean rank.
void rank_values(const double *value, int n, double *rank);
// Returns epsilon^2 of `value` grouped by equal `key`, in [0, 1]; 0 when all values are equal or no
// group has two. `groups` (may be NULL) gets their number.
double explained_share(const double *value, const uint64_t *key, int n, int *groups);

// --- projections ---

// A projection holds trials on one or two axes: the outcomes of all those that share their values
// there. On an axis of a statistic, only trials that have it are counted.
//
//     projection_init(&p, space, x, &y);                  y NULL: along x only
//     p.is_held = true, p.held = best;                    trials like this one but for the axes
//     projection_add(&p, &trial);                         each ended trial once, in any order
//     const struct map_cell *c = projection_at(&p, row, col);
//     projection_finish(&p);
//
// Adding a trial costs the same however many were added; only new ones have to be. When an axis
// gets another place the cells move along with their values and `layout` grows.
//
// Four kinds of cell are never mistaken for each other: measured, tried but all failed, excluded
// by a constraint or limit, and not visited. A cell is excluded when all configurations that were
// asked there were rejected, or when judging found none legal: configurations are drawn there
// uniformly, the hidden parameters free (or held). One legal configuration settles the cell.
// Statistics are not known before a kernel is compiled, so they are not judged.

#define JUDGED_ENOUGH 128 // configurations without a legal one

struct map_cell {
    int64_t outcome[OUTCOME_COUNT]; // ended trials of each
    double best, worst, sum;        // FLOP/s of ok ones
    int64_t best_ask;
    bool best_raced; // results of a race are better than those that were measured
    int judged;      // configurations; JUDGED_ENOUGH or a legal one end it
    bool legal;      // one of them was
    bool impossible; // no configuration has these values
    int constraint;  // that the last one did not satisfy: index, or -1
    unsigned limits; // that it exceeded: bit set of 1 << enum limit
};

enum cell_kind { CELL_UNVISITED, CELL_FAILED, CELL_EXCLUDED, CELL_MEASURED };
enum statistic { STATISTIC_BEST, STATISTIC_MEAN, STATISTIC_COUNT, STATISTICS };

struct projection {
    const struct space *space; // outlives it
    struct axis x, y;
    bool is_flat;          // no y: one row
    struct map_cell *cell; // rows of AXIS_MOST
    int layout;            // grows when places move
    int64_t taken;         // trials that counted
    bool is_held;
    struct config held;
    struct rng rng; // of judging
    int judged_to;  // the cell to judge next, round and round
};

void projection_init(struct projection *p, const struct space *s, struct factor x,
                     const struct factor *y);
void projection_finish(struct projection *p); // a zeroed one is fine
struct map_trial {
    const struct config *config;
    const double *statistics; // NULL: none
    int64_t ask;
    enum outcome outcome;
    double speed;
    bool raced;
};
void projection_add(struct projection *p, const struct map_trial *s);
// Draws and judges at most `most` configurations for cells without trials. `l` NULL: no device.
// True while there are cells in doubt.
bool projection_judge(struct projection *p, const struct limits *l, int most);

int projection_rows(const struct projection *p); // there are p->x.count columns
const struct map_cell *projection_at(const struct projection *p, int row, int col);
// Finds the cell of a configuration. False: it has none yet, or it is not like `held`.
bool projection_find(const struct projection *p, const struct config *c, const double *statistics,
                     int *row, int *col);

enum cell_kind cell_kind(const struct map_cell *c);
int64_t cell_trials(const struct map_cell *c); // without rejected ones
// Returns the number that a cell shows: NAN without a measured trial, and NAN as the count of
// trials without any trial.
double cell_value(const struct map_cell *c, enum statistic s);

#endif
