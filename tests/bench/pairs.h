// Strategies that are variants of one another, run by run: is one worse than another anywhere?
//
//     char *spec[] = {"walk:near=4", "walk"};               the first is what others are held to
//     pairs_on_recordings(spec, 2, recording, recordings, 400, 200);
//     pairs_in_traps(spec, 2, 50);
//
// Tables are Markdown on stdout. The k-th runs of all strategies have the same seed, so that they
// differ no more than the strategies do.
#ifndef TILEWALK_TESTS_PAIRS_H
#define TILEWALK_TESTS_PAIRS_H

#include "record/record.h"

enum { PAIRS_MOST = 32 }; // strategies

// Optimum / best on each recording after 20, 50, 100, 200 and 400 trials, and p of Wilcoxon's
// signed-rank test of each difference, with Holm's correction for all of a strategy's;
// and the share of trials that failed.
void pairs_on_recordings(char *const *spec, int specs, struct recording *const *recording,
                         int recordings, int trials, int repeats);
// Share of `seeds` runs that are at 0.95 of the optimum or above on landscape `trap`, on a space of
// about 10^4 and on one of about 10^8 points; and CPU time a trial.
void pairs_in_traps(char *const *spec, int specs, int seeds);

#endif
