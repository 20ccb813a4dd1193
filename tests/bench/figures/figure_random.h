// Random search on the landscapes that were recorded in full, against its closed form
// (docs/guide/comparing.md): that the figures' searches are simulated right.
#ifndef TILEWALK_TESTS_FIGURE_RANDOM_H
#define TILEWALK_TESTS_FIGURE_RANDOM_H

#include "base/str.h"

// Two tables with a line of each landscape and number of trials: the share of the optimum that is
// expected, the mean of FIGURE_RANDOM_REPEATS searches, and how many standard errors lie between.
// Markdown ends with how many of them are within two.
#define FIGURE_RANDOM_REPEATS 1000
void figure_random_add(struct str *markdown, struct str *csv);

#endif
