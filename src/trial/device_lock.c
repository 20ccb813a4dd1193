#include "trial/device_lock.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

void device_lock_init(struct device_lock *l, const struct device_lock_options *o)
{
    *l = (struct device_lock){.is_cpu = o->is_cpu,
                              .workers = o->workers,
                              .most_compiling = o->is_cpu ? o->cores : o->workers,
                              .cards = o->is_cpu ? 1 : o->cards,
                              .first_warmer = o->workers - o->warmers,
                              .state = mem_zero((size_t)o->workers, sizeof *l->state),
                              .place = mem_zero((size_t)o->workers, sizeof *l->place)};
}

void device_lock_finish(struct device_lock *l)
{
    free(l->state);
    free(l->place);
    *l = (struct device_lock){0};
}

static int count(const struct device_lock *l, enum lock_state state)
{
    int n = 0;
    for (int i = 0; i < l->workers; i++)
        n += l->state[i] == state;
    return n;
}

bool device_lock_on_card(const struct device_lock *l, int worker, enum lock_state state)
{
    int first = l->first_warmer, place = worker < first ? worker : worker - first;
    for (int i = 0; i < l->workers; i++)
        if (l->state[i] == state && ((i < first ? i : i - first) - place) % l->cards == 0)
            return true;
    return false;
}

bool device_lock_may_compile(const struct device_lock *l)
{
    if (count(l, LOCK_COMPILING) >= l->most_compiling)
        return false;
    return !l->is_cpu || (count(l, LOCK_DEVICE) == 0 && l->late_compiles < 2 * l->workers);
}

void device_lock_compile(struct device_lock *l, int worker)
{
    assert(device_lock_may_compile(l) && l->state[worker] == LOCK_NONE);
    l->late_compiles += count(l, LOCK_WAITING) > 0;
    l->state[worker] = LOCK_COMPILING;
}

void device_lock_wait(struct device_lock *l, int worker)
{
    l->state[worker] = LOCK_WAITING;
    l->place[worker] = l->next_place++;
}

int device_lock_grant(struct device_lock *l)
{
    int worker = -1;
    if (l->is_cpu && count(l, LOCK_COMPILING) > 0)
        return -1;
    for (int i = 0; i < l->workers; i++)
        if (l->state[i] == LOCK_WAITING && !device_lock_on_card(l, i, LOCK_DEVICE) &&
            (worker < 0 || l->place[i] < l->place[worker]))
            worker = i;
    if (worker < 0)
        return -1;
    l->state[worker] = LOCK_DEVICE;
    l->late_compiles = 0;
    return worker;
}

void device_lock_release(struct device_lock *l, int worker)
{
    l->state[worker] = LOCK_NONE;
    if (count(l, LOCK_WAITING) == 0)
        l->late_compiles = 0;
}

bool device_lock_warm(struct device_lock *l, int warmer)
{
    bool is_free = !device_lock_on_card(l, warmer, LOCK_DEVICE) &&
                   !device_lock_on_card(l, warmer, LOCK_WAITING);
    if (is_free)
        l->state[warmer] = LOCK_DEVICE;
    return is_free;
}
