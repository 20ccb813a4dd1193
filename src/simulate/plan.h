// What is to be simulated, from the words of a command: each strategy on each recording.
//
//     struct simulate_plan p;
//     if (simulate_plan_make(&words, &p, e))
//         simulate(p.list, p.count, &options, e);
//     simulate_plan_finish(&p);                in any case
#ifndef TILEWALK_SIMULATE_PLAN_H
#define TILEWALK_SIMULATE_PLAN_H

#include "simulate/simulate.h"

struct simulate_words {
    const char *const *path; // of recordings
    int paths;
    const char *strategies; // "opevo,ga:pop=20"
    int64_t trials;
    int repeats;
    uint64_t seed;
    bool noise;            // as in struct simulation
    const char *costs_for; // option that needs compile and benchmark times; NULL: none does
};

struct simulate_plan {
    struct recording **recording;
    int recordings;
    char **strategy; // specs as they were given
    int strategies;
    struct simulation *list; // recording by recording, strategy by strategy
    int count;
};

// False: a strategy is not known, or a file is no recording with times; `out` holds what there is.
bool simulate_plan_make(const struct simulate_words *words, struct simulate_plan *out,
                        struct err *e);
void simulate_plan_finish(struct simulate_plan *p);

#endif
