// Inside the pool of workers. From outside it is a source (see source.h); this header is for its
// own files and tests.
//
// pool.c is the source: what goes in, what comes out, when to look again. pool_worker.c is
// everything that happens to one worker: it starts, speaks, dies, outlives a deadline.
#ifndef TILEWALK_TRIAL_POOL_H
#define TILEWALK_TRIAL_POOL_H

#include "trial/compile_limit.h"
#include "trial/slot.h"
#include "trial/source.h"
#include "trial/token.h"

// Called for every phase that a worker announces, and with PHASE_NONE when it has sent a result or
// is gone. `at_ns` is os_now_ns() of the worker when it entered the phase.
typedef void pool_watcher(void *context, int worker, enum trial_phase phase, int64_t at_ns);

struct pool {
    struct source base;
    struct pool_options options; // strings, operation and limits are our own copies
    char *program, *fault, *device_id;
    struct operation operation;
    struct limits limits;
    struct gpu_cards cards;
    int shared_fd;

    struct slot *slot; // [slots]: the workers, then the compilers, then a warmer for each card
    int slots, first_warmer;
    struct token token;
    bool prepared;                             // the shared memory holds inputs and references
    struct work_list waiting, compiling, done; // compiling: what is only to be
    struct kept_list kept;                     // of what was only compiled
    struct compile_limit compile_limit[2];     // of GLSL to SPIR-V, of the driver's compiler
    int64_t trials, starts;                    // so far
    int failed_starts;                         // in a row; counted anew once a worker was given up
    bool has_new_work;                         // something was submitted since the last step
    bool is_broken;                            // no worker can be started
    struct err broken;

    int64_t busy_ns, busy_since_ns; // at least one worker at work; since: 0 when none is

    pool_watcher *watcher; // NULL but in tests, which set it themselves
    void *watcher_context;
};

// Starts the slot's worker if it is time, takes in what it says, sees to its death and its
// deadline.
// Whether anything is there for it to be started for.
bool pool_wants(const struct pool *p, const struct slot *s);
void pool_step_worker(struct pool *p, struct slot *s, int64_t now_ns);
void pool_send_trial(struct pool *p, struct slot *s, struct work *w, int64_t now_ns);
void pool_send_go(struct pool *p, struct slot *s, int64_t now_ns);
void pool_send_warm(struct pool *p, struct slot *warmer, int64_t now_ns);
void pool_send_rest(struct pool *p, struct slot *warmer, int64_t now_ns);
void pool_send_prepare(struct pool *p, struct slot *s, int64_t now_ns);
void pool_finish_work(struct pool *p, struct work *w); // to `done`, or to be sent again

#endif
