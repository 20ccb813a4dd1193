// What other shapes that were measured on the device here are worth to the search of one: products
// of four shapes, each searched first once, then alone and with what was measured on the three
// others. Tables are Markdown on stdout.
//
//     shapes_print("walk", trials, first_trials, seeds);
//
// The optimum of a shape is the fastest of all its sessions. A seed's sessions follow one another,
// so that slow neighbours meet both ways to search.
#ifndef TILEWALK_TESTS_SHAPES_H
#define TILEWALK_TESTS_SHAPES_H

enum { SHAPES_MOST_SEEDS = 20, SHAPES_MOST_TRIALS = 400 };

void shapes_print(const char *strategy, int trials, int first_trials, int seeds);

#endif
