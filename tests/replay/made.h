// Synthetic recordings for tests, and the results that a random search of a recording has to reach.
//
//     struct made m = {.space = space_mixed(), .recorded = 60, .failing = 15, .runs = 3};
//     struct recording *r = made_recording(&m, "mine");       m.space is destroyed
//     check_random(r);
//
// Everything here asserts instead of returning errors.
#ifndef TILEWALK_TESTS_MADE_H
#define TILEWALK_TESTS_MADE_H

#include "simulate/simulate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct made {
    struct space *space;
    int recorded; // of 100 points
    int sampled;  // instead: so many points, drawn from a space of any size
    int failing;  // of 100 recorded ones
    int rejected; // of 100 recorded ones
    int runs;     // of each valid one; the mean is theirs
    bool costs;   // compile and benchmark times
};

// Times lie within 1 .. 16 ms; some are the same.
struct recording *made_recording(const struct made *m, const char *name);

// Runs `s` alone.
void run_simulation(struct simulation *s, int threads);

// 1000 random searches: their mean after 10, 50 and 200 trials is that of the closed form
// (report/score.h), |z| < 4.
void check_random(const struct recording *r);

#endif
