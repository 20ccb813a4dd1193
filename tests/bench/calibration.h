// Whether a model knows how unsure it is: how many of the results lie where it expected them.
//
//     calibration_on_recordings("walk", recording, recordings, 200, 20);
//
// Prints a table in Markdown on stdout: for each recording the share of the results, of trials that
// the strategy's model chose, inside of the central intervals of 50 and 90 % of what it expected
// right before; the mean, and the root of the mean square, of (result - expected) / deviation,
// which are 0 and 1 where it is right; and the share of these trials that failed, of which it
// expects nothing. Errors end the program, as in bench.h.
#ifndef TILEWALK_TESTS_CALIBRATION_H
#define TILEWALK_TESTS_CALIBRATION_H

#include "record/record.h"

void calibration_on_recordings(const char *spec, struct recording *const *recording, int recordings,
                               int trials, int repeats);

#endif
