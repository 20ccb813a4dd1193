// The clocks of os.h: all of them are POSIX.
#include "base/os.h"

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
    bool is_known = clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &t) == 0;
    return is_known ? (int64_t)t.tv_sec * 1000000000 + t.tv_nsec : 0;
}

double os_unix_time(void)
{
    return (double)clock_ns(CLOCK_REALTIME) * 1e-9;
}
