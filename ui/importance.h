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
#ifndef TILEWALK_UI_IMPORTANCE_H
#define TILEWALK_UI_IMPORTANCE_H

#include "axis.h"

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

#endif
