// Configurations and how fast each was: what a model is fitted to and judged by.
//
//     struct measured m;
//     measured_read(&m, recording);                  all of a recording, or
//     measured_run(&m, "mm1", settings, 500);        a random session here, by the program, or
//     list = measured_stored("file.db", &count);     all sessions of a database
//     measured_finish(&m);
//
// Errors end the program, as in bench.h.
#ifndef TILEWALK_TESTS_MEASURED_H
#define TILEWALK_TESTS_MEASURED_H

#include "record/record.h"

struct measured {
    char *name;
    const struct space *space; // with the loop nest, where a preset declares one
    int count;
    struct config *config;
    double *speed; // 1 / s, or / the recording's unit; 0: it failed
    // Of a session: who owns the space.
    struct arena arena;
    struct script *script;
};

void measured_read(struct measured *m, const struct recording *r); // which outlives `m`
// `set`: "N=128", ... up to a NULL.
void measured_run(struct measured *m, const char *preset, const char *const *set, int trials);
struct measured *measured_stored(const char *db, int *count); // the caller's: finish each, free
void measured_finish(struct measured *m);

#endif
