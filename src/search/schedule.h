// A scheduler: gives rounds of trials to the tasks of a network.
//
//     struct schedule_problem problem = {.task = tasks, .tasks = n};
//     struct schedule *s = schedule_create("gradient", &problem, seed, e);
//     while ((i = schedule_next(s)) >= 0) {
//         ...a round of trials for task i...
//         schedule_tell(s, i, seconds of its best kernel, true if it can go on);
//     }
//     schedule_destroy(s);
//
// A schedule minimizes an objective f of the tasks' best times g_i. Network j uses task i w_ij
// times, and its latency is l_j = sum of w_ij g_i (Ansor, Zheng et al. 2020, section 6.2):
//
//     sum        f = sum of l_j
//     deadline   f = sum of max(l_j, L_j): a network that is fast enough gets no more rounds
//     speedup    f = -(product of B_j / l_j)^(1/m), B_j being the latencies of today
//     idle       sum over the tasks that gained in their last five rounds; the others get no more
//
// The derivatives come from formulas, not from differences: a step of fixed size would be longer
// than most kernels run. A task without a valid kernel has no time for a formula; it gets its r-th
// round when all others together have had r rounds each. So it neither blocks the others nor is it
// given up.
//
// A schedule is a deterministic function of its spec, problem and seed and of the observed times,
// so a resumed network can repeat them. No clock, no files; one thread at a time.
#ifndef TILEWALK_SEARCH_SCHEDULE_H
#define TILEWALK_SEARCH_SCHEDULE_H

#include "search/spec.h"

struct schedule_task {
    double work;      // FLOP of a run; 0: not known
    const char *kind; // tasks of one kind may run at similar speeds; NULL: unlike any other
};

struct schedule_problem {
    const struct schedule_task *task;
    int tasks;
    int networks;             // 0: one
    const double *uses;       // [networks * tasks]: w_ij; NULL: each once
    const double *deadline_s; // [networks]: L_j; NULL: none
    const double *today_s;    // [networks]: B_j; NULL: the latencies when all tasks have a kernel
};

struct schedule_kind {
    const char *name, *help;
    const struct spec_option *options; // ends with a NULL name
};

struct schedule;

// The kinds; the last one has no name.
extern const struct schedule_kind schedule_kinds[];

// Creates a schedule; the problem outlives it. NULL: the spec is invalid (search/spec.h).
struct schedule *schedule_create(const char *spec, const struct schedule_problem *problem,
                                 uint64_t seed, struct err *e);
void schedule_destroy(struct schedule *s);
char *schedule_canonical(const char *spec, struct err *e); // heap, the caller's; NULL: as above

// Returns the task of the next round, the same until it is told; -1: none can go on or gain.
int schedule_next(struct schedule *s);
// Tells the result of a round: the task's best time so far in seconds, 0 while nothing is valid;
// `more` is true if its search can go on. Rounds are told in their order.
void schedule_tell(struct schedule *s, int task, double seconds, bool more);

#endif
