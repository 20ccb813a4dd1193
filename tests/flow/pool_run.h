// Runs in a pool, for tests: their parts, their machines, and the comparison with a run without a
// pool.
#ifndef TILEWALK_TESTS_POOL_RUN_H
#define TILEWALK_TESTS_POOL_RUN_H

#include "pool_server.h"
#include "sessions.h"

#define QUICK "synthetic:rugged:invalid=0.2"
#define SLOW  "synthetic:rugged:invalid=0.2:delay_us=30000"

// Runs tune on small.lua with seed 5, 60 trials, --json and `more` words, to its end or in the
// background.
struct result tune_list(struct box *b, const char *source, const char *const *more);
struct running *begin_list(struct box *b, const char *source, const char *const *more);
#define TUNE(b, source, ...)  tune_list(b, source, (const char *const[]){__VA_ARGS__, NULL})
#define BEGIN(b, source, ...) begin_list(b, source, (const char *const[]){__VA_ARGS__, NULL})

struct running *start_worker(struct box *b, const struct pool_server *s); // of made-up trials

// Runs session 1 here, undisturbed. check_same checks that session `id` ended well and is the same.
void begin_with_ours(struct box *b, const char *strategy);
void check_same(struct box *b, const struct result *r, int64_t id);

// A pool in the middle of its work. Session 1 was run here; session 2 is the same in the pool, has
// some trials and not most of them, and is stopped until go_on, however long the test takes.
struct scene {
    struct pool_server server;
    struct running *worker[2], *run;
};
struct scene begin_scene(struct box *b, int workers);
void go_on(const struct running *r);                               // from where it was frozen
void wait_for_worker(struct box *b, const struct running *worker); // until it measures

const cJSON *machines_of(struct box *b, const char *id); // of `fleet ID --json`
// Returns the number of machines that measured trials; fails unless all trials of the session are
// theirs.
int at_work(struct box *b, const char *id);

#endif
