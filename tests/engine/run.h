// Sessions run by the engine inside the test, on the synthetic source, in a database of the test.
//
//     struct run r;
//     run_init(&r);
//     int64_t id = run_tune(&r, &options);     to its end
//     char *text = run_sequence(&r, id);       its asks and results, heap
//     run_finish(&r);
#ifndef TILEWALK_TESTS_RUN_H
#define TILEWALK_TESTS_RUN_H

#include "engine/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct run {
    char *folder, *path;
    struct store *store;
    int messages;               // that speak of a fit
    struct session_record last; // numbers of the latest event that ended a session
};

void run_init(struct run *r);
void run_finish(struct run *r);

// Returns the options of a session of that many trials, seed 5, strategy "learner".
struct session_options run_options(int64_t trials);
// Returns an engine of this run, to be destroyed (engine_destroy).
struct engine *run_engine(struct run *r);
// Fail the test when something fails.
int64_t run_tune(struct run *r, const struct session_options *o);
void run_resume(struct run *r, int64_t id, int64_t trials); // 0: the budget that it had
// Runs a session in a child that dies at a point of TILEWALK_KILL. `resumed` 0: a new session.
void run_killed(struct run *r, const char *point, int64_t resumed, const struct session_options *o);

char *run_sequence(struct run *r, int64_t id);
char *run_refits(struct run *r, int64_t id); // "8/16 16/32 ": told and rows of each
struct session_record run_record(struct run *r, int64_t id, struct arena *a);
void run_must(bool ok, const struct err *e);

#endif
