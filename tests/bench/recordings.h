// The recordings that searches are compared on: those of a folder, or made-up ones.
//
//     int count;
//     struct recording **r = recordings_gather(&count);
//     recordings_forget(r, count);
//
// Errors end the program, as in bench.h.
#ifndef TILEWALK_TESTS_RECORDINGS_H
#define TILEWALK_TESTS_RECORDINGS_H

#include "record/record.h"

// Of a folder, by name: without declarations, and without T4 and KTT files, because published ones
// are of spaces that are there as cache files too.
struct recording **recordings_read(const char *folder, int *count);
// Of the folder that TILEWALK_RECORDINGS names. Without the variable it says so and makes up some
// from analytic landscapes.
struct recording **recordings_gather(int *count);
void recordings_forget(struct recording **r, int count);

#endif
