// How a search settles: what the best trials so far had in common, after each trial.
//
//     carpet_init(&c, space);
//     carpet_add(&c, &trial);                 valid trials in the order of their numbers; those
//                                             that take carpet_limit or longer change nothing
//     const struct moment *m = carpet_at(&c, number);     after that trial; NULL: before the first
//     carpet_finish(&c);
//
// The best are the CARPET_BEST trials with the shortest measured times, as in the curve: times of a
// race are not known at that moment. Of equal ones the earlier is the better. Each factor (a part
// of a factorization, or another parameter) has its most frequent value among them, of equally
// frequent ones that of the better trial, and the number of those that agree on it.
//
// A moment is kept for each trial that changed the best, which are few: about 8 log(n) of n random
// ones. When there are CARPET_MOST of them, those of `stride` numbers in a row become one, the last
// of them, and so on; `stride` doubles each time. So a moment is that of the number asked for, or
// of one that is less than `stride` before it.
//
// Pure, without drawing and without a database.
#ifndef TILEWALK_UI_CARPET_H
#define TILEWALK_UI_CARPET_H

#include "landscape.h"
#include "model.h"

#define CARPET_BEST 8
#define CARPET_MOST 2048

struct moment {
    int64_t number; // of the trial that changed the best
    int generation;
    double elapsed_s, finished;
    int count; // of the best, at most CARPET_BEST
    int64_t ask[CARPET_BEST];
    struct config value;            // the most frequent one of each factor
    uint8_t agree[SPACE_MAX_SLOTS]; // by factor
    uint64_t absent;                // bit set of factors: most have no such parameter
};

struct carpet_best {
    int64_t ask;
    double seconds;
    struct config config;
};

struct carpet {
    const struct space *space; // outlives it; NULL: none
    int factors;
    struct factor factor[SPACE_MAX_SLOTS];
    int best_count;
    struct carpet_best best[CARPET_BEST]; // best first
    int64_t stride;
    int count, capacity;
    struct moment *moment; // by number
};

void carpet_init(struct carpet *c, const struct space *s);
void carpet_finish(struct carpet *c); // a zeroed one is fine
void carpet_add(struct carpet *c, const struct trial *t);
// Returns the seconds below which a trial changes the best; DBL_MAX while there are few.
double carpet_limit(const struct carpet *c);
const struct moment *carpet_at(const struct carpet *c, int64_t number);
// Steps through the moments at which a generation had changed the best; where all are of one
// generation, through all moments. `number` 0 is now, the end. Returns the number of the moment
// before or after: 0 for the last one, `number` itself where there is none before.
int64_t carpet_step(const struct carpet *c, int64_t number, bool forward);

// True when two configurations have the same value of a factor, or both do not have it.
bool factor_equal(const struct space *s, struct factor f, const struct config *a,
                  const struct config *b);

#endif
