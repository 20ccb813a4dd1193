// Kernels of one operation, timed against each other in one process.
//
//     struct race *r = race_create(device, &operation);
//     race_add(r, "name", pass, passes, scratch_bytes); ...
//     race_run(r, rounds);
//     race_seconds(r, 0) ...
//     race_destroy(r);
//
// A round times every kernel once, in turns: a neighbour who disturbs one round slows all of them
// down, and the best of all rounds is what counts. A kernel has to compute the right result, in
// full and on inputs for which there is only one, to take part. What fails ends the benchmark
// (bench.h).
#ifndef TILEWALK_TESTS_RACE_H
#define TILEWALK_TESTS_RACE_H

#include "space/operation.h"

#include <stdint.h>

enum { RACE_MOST = 20, RACE_MOST_PASSES = 8 };

struct race_pass {
    const char *glsl;
    uint32_t groups[3];
    bool once; // it packs inputs for those behind it, and is not timed
};

struct race;
struct race *race_create(int device, const struct operation *o); // as gpu_list numbers it
void race_destroy(struct race *r);

// Compiles a kernel and compares what it computes. `name` is copied. Its scratch buffer, if any, is
// bound behind the operation's.
void race_add(struct race *r, const char *name, const struct race_pass *pass, int passes,
              uint64_t scratch_bytes);
void race_run(struct race *r, int rounds);

int race_count(const struct race *r); // kernels, in the order in which they were added
const char *race_name(const struct race *r, int i);
double race_seconds(const struct race *r, int i); // of one run, the best of all rounds

#endif
