// Kernels of one problem, C = A B in fp32, N = M = K = 256, timed against each other in one
// process.
//
//     struct race *r = race_create(device);
//     race_add(r, "name", pass, passes); ...
//     race_run(r, rounds);
//     race_seconds(r, 0) ...
//     race_destroy(r);
//
// A round times every kernel once, in turns: a neighbour who disturbs one round slows all of them
// down, and the best of all rounds is what counts. A kernel has to compute the right product to
// take part. What fails ends the benchmark (bench.h).
#ifndef TILEWALK_TESTS_RACE_H
#define TILEWALK_TESTS_RACE_H

#include <stdint.h>

enum { RACE_SIZE = 256, RACE_MOST = 16, RACE_MOST_PASSES = 4 };

struct race_pass {
    const char *glsl_path;
    uint32_t groups[3];
};

struct race;
struct race *race_create(int device); // as gpu_list numbers it
void race_destroy(struct race *r);

// Compiles a kernel and compares what it computes. `name` is copied.
void race_add(struct race *r, const char *name, const struct race_pass *pass, int passes);
void race_run(struct race *r, int rounds);

int race_count(const struct race *r); // kernels, in the order in which they were added
const char *race_name(const struct race *r, int i);
double race_seconds(const struct race *r, int i); // of one run, the best of all rounds

#endif
