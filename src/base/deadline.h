// Deadlines of processes, on machines that others use as well.
//
//     deadline_set(&d, pid, 10, now_ns);
//     if (deadline_is_over(&d, pid, now_ns)) ...    else look again at d.at_ns
//
// Time in which the process stood in line for a processor does not count, as far as its own CPU
// time tells: what gets one seldom has up to four times as long, what sleeps does not. The clock is
// os_now_ns.
#ifndef TILEWALK_BASE_DEADLINE_H
#define TILEWALK_BASE_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct deadline {
    int64_t at_ns; // when it is to be looked at; 0: there is none
    int64_t begin_ns, limit_ns, cpu_ns;
};

void deadline_set(struct deadline *d, pid_t pid, double seconds,
                  int64_t now_ns); // pid 0: all time counts
bool deadline_is_over(struct deadline *d, pid_t pid, int64_t now_ns);

#endif
