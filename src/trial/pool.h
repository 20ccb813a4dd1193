// The inside of the pool of workers. From outside the pool is a source (source.h); this header is
// for pool.c and its tests.
#ifndef TILEWALK_TRIAL_POOL_H
#define TILEWALK_TRIAL_POOL_H

#include "trial/device_lock.h"
#include "trial/slot.h"
#include "trial/source.h"

// The limit on compiling a candidate. Some kernels, such as those unrolled a thousandfold, keep a
// driver's compiler busy for a minute, and are not worth that.
//
//     struct compile_limit l = {.least_s = COMPILE_LIMIT_LEAST_S};
//     compile_limit_add(&l, seconds);               each that compiled, or took too long
//     compile_limit_s(&l, 60)                       the limit of the next one
//
// The limit is ten times the median of the last observations, once there are enough of them, but
// never less than `least_s` (machines are busy now and then) and never more than the fixed limit. A
// candidate that took too long counts with its limit, so that the limit rises where most take long.

#define COMPILE_LIMIT_LEAST_S 10.0
#define COMPILE_LIMIT_KEPT    64

struct compile_limit {
    double least_s;
    double seen[COMPILE_LIMIT_KEPT]; // a ring
    int count;                       // in all
};

void compile_limit_add(struct compile_limit *l, double seconds);
double compile_limit_s(const struct compile_limit *l, double most_s);
double compile_limit_median(const struct compile_limit *l); // 0: too few observations

// Called for every phase that a worker announces, and with PHASE_NONE when it has sent a result or
// has gone. `at_ns` is os_now_ns() of the worker when it entered the phase.
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
    struct device_lock lock;
    bool prepared;                       // the shared memory holds inputs and references
    struct work_list waiting, compiling; // requests to measure, requests only to compile
    struct work_list done;
    struct kept_list kept;                 // binaries of what was only compiled
    struct compile_limit compile_limit[2]; // of GLSL to SPIR-V, of the driver's compiler
    int64_t trials, starts;                // so far
    int failed_starts; // in a row; counted again from 0 after a worker was given up
    bool has_new_work; // something was submitted since the last step
    bool is_broken;    // no worker can be started
    struct err broken;

    int64_t busy_ns, busy_since_ns; // at least one worker is busy; since: 0 when none is

    pool_watcher *watcher; // NULL but in tests, which set it themselves
    void *watcher_context;
};

#endif
