// Which task of a network gets the next round of trials.
//
//     struct schedule_problem problem = {.task = tasks, .tasks = n};
//     struct schedule *s = schedule_create("gradient", &problem, seed, e);
//     while ((i = schedule_next(s)) >= 0) {
//         ...a round of trials for task i...
//         schedule_tell(s, i, seconds of its best kernel, whether it can go on);
//     }
//     schedule_destroy(s);
//
// A schedule minimizes an objective f of the tasks' best times g_i. Network j uses task i w_ij
// times, and its latency is l_j = sum of w_ij g_i (Ansor, Zheng et al. 2020, section 6.2):
//
//     sum        f = sum of l_j
//     deadline   f = sum of max(l_j, L_j): a network that is fast enough gets no more
//     speedup    f = -(product of B_j / l_j)^(1/m), B_j being the latencies of today
//     idle       sum, of the tasks that still gain: one without a gain for five rounds gets no more
//
// Their derivatives are taken by formula, not by differences: a step of fixed size is longer than
// most kernels run. A task without a valid kernel has no time that a formula could use; its r-th
// round comes when all others together have had r rounds each, so it starves nobody and is not
// given up either.
//
// A schedule is a deterministic function of its spec, problem and seed and of what it was told: a
// network that is resumed tells it the same again. No clock, no files; one thread at a time.
#ifndef TILEWALK_SEARCH_SCHEDULE_H
#define TILEWALK_SEARCH_SCHEDULE_H

#include "search/spec.h"

struct schedule_task {
    double work;      // FLOP of a run; 0: not known
    const char *kind; // tasks of one kind may run at like speeds; NULL: unlike any other
};

struct schedule_problem {
    const struct schedule_task *task;
    int tasks;
    int networks;             // 0: one
    const double *uses;       // [networks * tasks]: w_ij; NULL: each once
    const double *deadline_s; // [networks]: L_j; NULL: none
    const double *today_s;    // [networks]: B_j; NULL: as they are when all tasks have a kernel
};

struct schedule_kind {
    const char *name, *help;
    const struct spec_option *options; // ends with a NULL name
};

struct schedule;

// All kinds; the last has no name.
extern const struct schedule_kind schedule_kinds[];

// The problem outlives the schedule. NULL: the spec is not understood (search/spec.h).
struct schedule *schedule_create(const char *spec, const struct schedule_problem *problem,
                                 uint64_t seed, struct err *e);
void schedule_destroy(struct schedule *s);
char *schedule_canonical(const char *spec, struct err *e); // heap, the caller's; NULL: as above

// The task whose round is next; -1: none can go on, or nothing would be gained. Asking again
// without telling gives the same.
int schedule_next(struct schedule *s);
// After a round of that task: its best time so far in seconds, 0 while nothing is valid; and
// whether its search has more. Rounds are told in the order in which they were given.
void schedule_tell(struct schedule *s, int task, double seconds, bool more);

#endif
