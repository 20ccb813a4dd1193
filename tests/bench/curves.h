// Sessions that a benchmark makes with the program itself, and how fast each came to its best.
//
//     struct curve c;
//     curve_read(db, curve_tune(db, &(struct tuning){.space = "gemm", .strategy = "walk",
//                                                    .trials = 200, .seed = 1}), &c);
//     int trials = curve_reached(&c, 1.05 * best_ms);
//
// Errors end the program, as in bench.h.
#ifndef TILEWALK_TESTS_CURVES_H
#define TILEWALK_TESTS_CURVES_H

#include <stdint.h>

enum { CURVE_MOST_TRIALS = 4000 };

struct tuning {
    const char *space, *strategy;
    const char *const *set; // "N=128", ... up to a NULL; NULL: nothing
    const char *source;     // NULL: the device
    const char *transfer;   // of which sessions; NULL: none
    int trials, seed;
};

struct curve { // the fastest so far, ms; INFINITY: nothing valid yet
    double best[CURVE_MOST_TRIALS];
    double at_s[CURVE_MOST_TRIALS]; // running time
    int count;
};

int64_t curve_tune(const char *db, const struct tuning *t); // the session's id
void curve_read(const char *db, int64_t session, struct curve *out);
// The first trial that is as fast as `ms`, from 1; one more than there are when none is.
int curve_reached(const struct curve *c, double ms);

#endif
