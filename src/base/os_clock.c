// The clocks of os.h: all of them are POSIX.
#include "base/os.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t os_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

int64_t os_cpu_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t os_thread_cpu_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

int64_t os_process_cpu_ns(pid_t pid)
{
    clockid_t clock;
    struct timespec t;
    bool is_known =
        pid > 0 && clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &t) == 0;
    return is_known ? (int64_t)t.tv_sec * 1000000000 + t.tv_nsec : 0;
}

// For tests: "AT:BY", from os_now_ns AT seconds on the time of day is BY seconds further.
static double stepped_s(void)
{
    const char *step = getenv("TILEWALK_CLOCK_STEP"), *by = step ? strchr(step, ':') : NULL;
    return by && (double)os_now_ns() * 1e-9 >= strtod(step, NULL) ? strtod(by + 1, NULL) : 0;
}

double os_unix_time(void)
{
    return (double)clock_ns(CLOCK_REALTIME) * 1e-9 + stepped_s();
}
