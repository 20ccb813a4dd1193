// The neighbours of a configuration, one step away in one parameter, and what became of each.
//
//     fates_begin(&m, space, &config);
//     while (fates_step(&m, space, limits, 25, find, context)) ...     true: more wait
//     struct fates_sum all = fates_sum(&m, space, FATES_ALL, rank);
//     fates_finish(&m);
//
// They are the steps that searches walk by, in the order of parameters and then of
// param_neighbour. A step looks each one up among the trials; one that was not tried is judged by
// constraints and limits, which runs the rules of the space file: some 50 microseconds each. Of a
// parameter with very many neighbours only the first FATES_MOST_EACH are looked at; sums say so.
//
// Pure but for `find`; one thread. A zeroed `struct fates` is empty and valid.
#ifndef TILEWALK_UI_VIEW_SPACE_MOVES_H
#define TILEWALK_UI_VIEW_SPACE_MOVES_H

#include "model.h"

#define FATES_MOST_EACH 256
#define FATES_ALL       (-1)

enum fate {
    FATE_TRIED,     // told, and not rejected
    FATE_IN_FLIGHT, // asked, not told yet
    FATE_UNTRIED,   // allowed, never asked
    FATE_FORBIDDEN, // by a constraint or a limit of the device; `reason` says which
    FATE_BROKEN     // a rule failed when it was asked; `reason` says how
};

struct move {
    int param;
    int32_t value[PARAM_MAX_WIDTH]; // of that parameter; the others stay
    enum fate fate;
    int64_t number;       // of a tried one; 0: it has none
    enum outcome outcome; // of a tried one
    struct rank rank;
    char reason[160];
};

struct fates {
    struct config from;
    int candidates;            // neighbours in all
    int param, next, capacity; // the next one that is looked at; room in `move`
    int count;                 // looked at so far
    struct move *move;
};

struct fates_sum {
    int candidates, looked_at, valid, tried, better;
};

// Returns the trial with this configuration, or NULL.
typedef const struct trial *fates_find(void *context, const struct config *c);

void fates_begin(struct fates *m, const struct space *s, const struct config *from);
// Looks at `most` more; `l` may be NULL (no device). True: more wait.
bool fates_step(struct fates *m, const struct space *s, const struct limits *l, int most,
                fates_find *find, void *context);
// Counts the neighbours in one parameter, or in all (FATES_ALL); `better` are those ranked before
// `now`, which must have a rank.
struct fates_sum fates_sum(const struct fates *m, const struct space *s, int param,
                           struct rank now);
void fates_finish(struct fates *m);

#endif
