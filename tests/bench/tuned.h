// Sessions that a benchmark makes with the program itself, and their winners in a race.
//
//     const char *folder = tuned_folder();                  temporary; removed at exit
//     struct tuned_run run = tuned_make(&t);                tilewalk tune ... --export
//     tuned_add(race, "name", &t);                          its best kernel
//     tuned_add_file(race, "name", path);                   by hand, with its `// groups: X Y Z`
#ifndef TILEWALK_TESTS_TUNED_H
#define TILEWALK_TESTS_TUNED_H

#include "race.h"

#define TUNED_MOST_SETTINGS 12

struct tuned {
    const char *preset;
    const char *set[TUNED_MOST_SETTINGS]; // "N=256", up to a NULL
    int trials, seed, device;
};

struct tuned_run {
    double trials, rejected, ok, wrong;
    double wall_s, ran_s, busy_s; // of the process, of its session, of its workers
};

const char *tuned_folder(void);
char *tuned_export_folder(const struct tuned *t); // where its winner is; heap
struct tuned_run tuned_make(const struct tuned *t);
void tuned_add(struct race *r, const char *name, const struct tuned *t);
void tuned_add_file(struct race *r, const char *name, const char *path);

#endif
