// Inside the pool of workers. From outside it is a source (see source.h); this header is for its
// own files and tests.
//
// pool.c is the source: what goes in, what comes out, when to look again. pool_worker.c is
// everything that happens to one worker: it starts, speaks, dies, outlives a deadline.
#ifndef TILEWALK_TRIAL_POOL_H
#define TILEWALK_TRIAL_POOL_H

#include "trial/slot.h"
#include "trial/source.h"
#include "trial/token.h"

// How long a candidate may compile: apart from the limits on running, and by what has been seen.
// Some kernels, unrolled a thousandfold say, keep a driver's compiler busy for a minute, and are
// not worth that.
//
//     struct compile_limit l = {.least_s = COMPILE_LIMIT_LEAST_S};
//     compile_limit_saw(&l, seconds);               of each that compiled, or took too long
//     compile_limit_s(&l, 60)                       what the next one may take
//
// Ten times the median of the last that were seen, once there are enough of them, but never less
// than `least_s` (machines are busy now and then) and never more than the fixed limit. Those that
// took too long count with what they had, so that the limit rises where most take long.

#define COMPILE_LIMIT_LEAST_S 10.0
#define COMPILE_LIMIT_KEPT    64

struct compile_limit {
    double least_s;
    double seen[COMPILE_LIMIT_KEPT]; // a ring
    int count;                       // in all
};

void compile_limit_saw(struct compile_limit *l, double seconds);
double compile_limit_s(const struct compile_limit *l, double most_s);
double compile_limit_median(const struct compile_limit *l); // 0: too few were seen

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
