// Sessions that a benchmark keeps in a database: those that are there with as many trials are not
// measured again, others go on.
//
//     struct kept k = {"my.db", "gemm", {"N=256"}, .trials = 200, .seed = 1, .device = -1};
//     int id = kept_make(&k);
#ifndef TILEWALK_TESTS_KEPT_H
#define TILEWALK_TESTS_KEPT_H

#include <stdbool.h>

#define KEPT_MOST_SETTINGS 12

struct kept {
    const char *db, *preset;             // a preset, or the path of a space file
    const char *set[KEPT_MOST_SETTINGS]; // what the problem is known by, "N=256", up to a NULL
    const char *also;                    // another setting, or NULL
    const char *strategy;     // NULL: the program's choice; a database holds those of one strategy
    int trials, seed, device; // device -1: the program's choice
};

// The session; 0: there is none. `done`: it has its trials.
int kept_find(const struct kept *k, bool *done);
int kept_make(const struct kept *k);
// A run of the program, of which the line that sums up is printed.
void kept_run(const char *const *words);

#endif
