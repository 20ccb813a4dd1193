// Drives a strategy as the engine does: several asks open at once, results told in the order asked
// (or, for async strategies, the newest first), fitness computed by a function of the
// configuration.
//
//     struct drive d = drive_create("opevo:q=0.3", &problem, seed);
//     d.measure = bowl;
//     drive_run(&d, 100);
//     ...d.asked, d.best...
//     drive_destroy(&d);
#ifndef TILEWALK_TESTS_DRIVER_H
#define TILEWALK_TESTS_DRIVER_H

#include "search/strategy.h"

struct drive {
    struct strategy *strategy;
    int workers;   // asks open at once, at most
    bool backward; // tell the newest open ask first
    // Fitness, 0 for a failed trial; negative: rejected.
    double (*measure)(void *context, const struct config *c);
    double (*takes)(const struct config *c); // seconds; NULL: nobody says
    void *context;

    struct config_set asked; // all, in the order asked
    double best;
    int tells;
};

struct drive drive_create(const char *spec, const struct search_problem *problem, uint64_t seed);
// Asks until `trials` were asked in all or the strategy is exhausted (true), then tells what is
// open. Asserts the contract: nothing twice, every point valid, no ASK_WAIT with nothing open.
bool drive_run(struct drive *d, int trials);
void drive_destroy(struct drive *d);

#endif
