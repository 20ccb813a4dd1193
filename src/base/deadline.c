#include "base/deadline.h"

#include "base/os.h"

enum { MOST_PATIENCE = 4, SELDOM = 20 };
#define NEXT_TO_NOTHING_NS ((int64_t)20000000)

void deadline_set(struct deadline *d, pid_t pid, double seconds, int64_t now_ns)
{
    d->begin_ns = now_ns;
    d->limit_ns = (int64_t)(seconds * 1e9);
    d->cpu_ns = os_process_cpu_ns(pid);
    d->at_ns = now_ns + d->limit_ns;
}

bool deadline_is_over(struct deadline *d, pid_t pid, int64_t now_ns)
{
    if (!d->at_ns || now_ns < d->at_ns)
        return false;
    int64_t gone_ns = now_ns - d->begin_ns, spent_ns = os_process_cpu_ns(pid) - d->cpu_ns;
    int64_t left_ns = d->limit_ns - spent_ns;
    bool works = spent_ns > gone_ns / SELDOM && left_ns > NEXT_TO_NOTHING_NS;
    if (!works || gone_ns > MOST_PATIENCE * d->limit_ns)
        return true;
    d->at_ns = now_ns + left_ns;
    return false;
}
