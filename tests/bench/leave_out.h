// What the results of one kernel on other GPUs are worth on another: recordings of the same kernel,
// of which each in turn is searched with what was measured on the others, and without.
//
//     leave_out_print(recording, count, "walk", trials, repeats);
//
// A kernel is what stands before the first '-' of a recording's name. Each run has histories of its
// own: searches of the others, with as many trials. The k-th runs with and without have one seed.
// Tables are Markdown on stdout.
#ifndef TILEWALK_TESTS_LEAVE_OUT_H
#define TILEWALK_TESTS_LEAVE_OUT_H

#include "record/record.h"

void leave_out_print(struct recording *const *recording, int count, const char *spec, int trials,
                     int repeats);

#endif
