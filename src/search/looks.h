// What the driver's compiler says of what a strategy has given, by index (visited.h), and of it as
// coordinates of a model.
//
//     struct looks l = {.problem = problem};
//     if (!looks_take(&l, &visited.given, handed_out)) return ASK_COMPILE;
//     looks_add(&l.given[index], x);
//     looks_finish(&l);
#ifndef TILEWALK_SEARCH_LOOKS_H
#define TILEWALK_SEARCH_LOOKS_H

#include "search/strategy.h"

#define LOOKS_MOST 16

// The option of a strategy that looks.
#define LOOKS_OPTION                                                                               \
    {                                                                                              \
        "look", "compiled before one is chosen (tune: 3 where the driver tells)", 1, 1,            \
            LOOKS_MOST, true, NULL, true                                                           \
    }

struct looks {
    const struct search_problem *problem; // with a `look`
    struct preview *given;
    int count, capacity; // of those it knows: the first ones
};

void looks_finish(struct looks *l);

// Takes those of the first `count` that were given. False: some are being compiled.
bool looks_take(struct looks *l, const struct config_set *given, int count);

// log2(1 + n) / 8 of each number n, as coordinates of the profile are (coordinates.h); 0 for what
// the driver does not say.
void looks_point(const struct preview *said, double x[STATISTIC_KIND_COUNT]);

#endif
