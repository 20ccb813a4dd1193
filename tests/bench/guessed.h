// What first guesses are worth, good ones and bad ones (search/guesses.h).
#ifndef TILEWALK_TESTS_GUESSED_H
#define TILEWALK_TESTS_GUESSED_H

#include "record/record.h"

// Prints the mean of optimum / best of walk without guesses, with 20 bad ones (from the slower half
// of a recording), and with 20 good ones among these (from the fastest twentieth, but not within
// 1 % of the optimum).
void guessed_on_recordings(struct recording *const *recording, int recordings, int repeats);

#endif
