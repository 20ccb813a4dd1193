#include "search/past.h"

#include <inttypes.h>
#include <stdlib.h>

#define WIDEST_GAP 65536 // between known asks: far more than are ever open at once

struct past {
    struct past_trial *trial; // trial[ask - 1]; ask 0: not known
    int64_t count, capacity;
    int64_t *tell; // asks in the order told
    int64_t told;
};

struct past *past_create(void)
{
    return mem_zero(1, sizeof(struct past));
}

static void make_room(struct past *p, int64_t count)
{
    if (count > p->capacity) {
        p->capacity = count > 2 * p->capacity ? count : 2 * p->capacity;
        p->trial = mem_resize(p->trial, (size_t)p->capacity, sizeof *p->trial);
    }
    while (p->count < count)
        p->trial[p->count++].ask = 0;
}

bool past_add(struct past *p, const struct past_trial *t, struct err *e)
{
    if (t->ask - p->count > WIDEST_GAP)
        return err_set(e, "ask %" PRId64 " follows ask %" PRId64 ": trials are missing", t->ask,
                       p->count);
    make_room(p, t->ask);
    p->trial[t->ask - 1] = *t;
    p->told += t->answered;
    return true;
}

bool past_close(struct past *p)
{
    p->tell = mem_zero((size_t)p->told + 1, sizeof *p->tell);
    for (int64_t i = 0; i < p->count; i++) {
        const struct past_trial *t = &p->trial[i];
        if (!t->ask || !t->answered)
            continue;
        if (t->told < 1 || t->told > p->told || p->tell[t->told - 1])
            return false;
        p->tell[t->told - 1] = t->ask;
    }
    return true;
}

void past_destroy(struct past *p)
{
    if (!p)
        return;
    free(p->trial);
    free(p->tell);
    free(p);
}

const struct past_trial *past_find(const struct past *p, int64_t ask)
{
    return p && ask <= p->count && p->trial[ask - 1].ask ? &p->trial[ask - 1] : NULL;
}

bool past_is_over(const struct past *p, int64_t told)
{
    return !p || told >= p->told;
}

bool past_may_ask(const struct past *p, int64_t ask, int64_t told)
{
    const struct past_trial *t = past_find(p, ask);
    return !t || told >= t->asked_after;
}

bool past_may_tell(const struct past *p, int64_t ask, int64_t asked, int64_t told)
{
    const struct past_trial *next_ask = past_find(p, asked + 1);
    if (next_ask && told >= next_ask->asked_after)
        return false; // that ask came first
    return past_is_over(p, told) || p->tell[told] == ask;
}
