// What the benchmarks share: their options, the program that they drive, and how a figure and its
// target are printed.
//
//     bench_options(argc, argv, options, COUNT);
//     struct bench_child c;
//     bench_start(&c, (const char *const[]){"check", "mm1", NULL});
//     while (fgets(line, sizeof line, c.out)) ...
//     double cpu_s = bench_end(&c);
//     bench_figure("CPU time", 1e3 * cpu_s, "ms", UNDER, 50);
//
// What goes wrong ends a benchmark with one line and exit code 1, what is missing with 77, so that
// nothing here returns an error. A target that is missed changes no exit code: machines differ.
#ifndef TILEWALK_TESTS_BENCH_H
#define TILEWALK_TESTS_BENCH_H

#include "base/err.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

_Noreturn void bench_fail(const char *what, const struct err *e); // `e` may be NULL
_Noreturn void bench_skip(const char *why);

// `--NAME N` sets `*value`, N within 1 .. most; where that is 0, `--NAME` sets it to 1. With `text`
// `--NAME TEXT` sets that.
struct bench_option {
    const char *name;
    int *value, most;
    const char **text;
};
void bench_options(int argc, char **argv, const struct bench_option *options, int count);

// The sizes of a product of square matrices, as settings: "N=256", ..., NULL.
struct bench_cube {
    char text[3][16];
    const char *set[4];
};
void bench_cube_init(struct bench_cube *out, int size);

char *bench_program(void); // path of build/tilewalk, or $TILEWALK_PROGRAM; heap

// A run of it, its stdout to be read from `out`. bench_end waits for it and returns the CPU seconds
// of it and its workers; bench_wait only says whether it ended well.
struct bench_child {
    pid_t pid;
    FILE *out;
    double cpu_before;
};
void bench_start(struct bench_child *c, const char *const *arguments);
double bench_end(struct bench_child *c);
double bench_cpu_s(void); // of all children that have been waited for so far, and of theirs
double bench_peak_mebibytes(void); // the largest resident set of this process so far
bool bench_wait(struct bench_child *c);

// A run that prints one JSON value. Owned by the caller.
cJSON *bench_json(const char *const *arguments);
double bench_number(const cJSON *object, const char *name);    // NAN when it is none
const char *bench_text(const cJSON *object, const char *name); // "" when it is none

// Returns the CPU time of a step of the calibration loop, dependent steps of the random generator:
// how fast the machine is.
double bench_step_ns(void);

enum bench_goal { AT_LEAST, UNDER };
void bench_figure(const char *what, double value, const char *unit, enum bench_goal goal,
                  double target);

#endif
