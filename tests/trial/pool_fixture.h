// A pool on the device of this machine, small matrix products by hand, and a loop that drives it:
// for the pool's tests.
//
// The test program itself is what the pool starts as its worker (worker.c).
#ifndef TILEWALK_TESTS_POOL_FIXTURE_H
#define TILEWALK_TESTS_POOL_FIXTURE_H

#include "trial/pool.h"

enum { SIZE = 32 }; // N = M = K

enum variant {
    GEMM_RIGHT,
    GEMM_SYNTAX_ERROR,      // in generated line 10, which comes from template line 100
    GEMM_OFF_BY_ONE,        // one element is wrong
    GEMM_MISSING_TILES,     // the last row of workgroups is not dispatched
    GEMM_OVERRUN,           // writes one element past the end
    GEMM_FAR_OVERRUN,       // right, and writes 21 KB behind C
    GEMM_FARTHER_OVERRUN,   // right, and writes 100 KB behind C
    GEMM_UNDERRUN,          // right, and writes 4 bytes before C
    GEMM_INPUT_OVERRUN,     // right, and writes behind A
    GEMM_READS_OUTSIDE,     // right, and reads behind B what it does not need
    GEMM_SHARED_OVERRUN,    // right, and writes past a shared array
    GEMM_SHARED_READ,       // right, and reads past one
    GEMM_LOCAL_OVERRUN,     // right, and writes past a local array
    GEMM_LOCAL_IN_FUNCTION, // the same in a function that is given the array
    GEMM_VECTOR_OVERRUN,    // right, and writes past a vector
    GEMM_INSIDE,            // right, with arrays of all kinds, used to their ends
    GEMM_SHARED_TOO_LARGE,
    GEMM_GROUP_TOO_LARGE,
    GEMM_UNBOUND_BINDING,
    GEMM_NO_ADDRESS,    // is given the address of a buffer that the job does not have
    GEMM_SCRIBBLES,     // right, but destroys its inputs
    GEMM_SPLIT,         // two passes over a scratch buffer
    GEMM_SPLIT_OVERRUN, // right, and writes one element past the end of scratch
    GEMM_PUSH,          // declares push constants
    GEMM_SLOW,          // right, and many times slower
    GEMM_ENDLESS        // takes minutes
};

struct fixture {
    struct source *pool;
    struct pool_options options;
    struct operation operation;
    struct limits limits;
    char program[4096], device_id[33];
    char log[4096]; // what workers said
    int64_t tickets;
};

bool find_device(void); // false: there is none, the test must be skipped

// Options for `workers` workers on the device; change them, then open_pool.
void prepare_pool(struct fixture *f, int workers);
void open_pool(struct fixture *f);
void close_pool(struct fixture *f);
int pool_respawns(const struct source *s); // workers that were started again

struct job gemm_job(enum variant v);
// Submits `count` variants as one request (a race when there are several). Returns the ticket.
int64_t submit(struct fixture *f, int count, const enum variant *v, double incumbent_s);
bool drive(struct fixture *f, struct err *e); // one turn: poll, step. False: the pool gave up
// Drives until the pool gives up, and expects that it could start no worker. `e` is what it said.
void expect_no_worker(struct fixture *f, struct err *e);
struct trial_result next_result(struct fixture *f); // drives until there is one
struct trial_result measure_one(struct fixture *f, enum variant v);
// Measures it, and expects that; `reason` is a part of what it says.
void expect_trial(struct fixture *f, enum variant v, enum outcome o, enum trial_phase phase,
                  const char *reason);

#endif
