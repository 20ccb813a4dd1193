#include "search/shortlists.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void shortlists_init(struct shortlists *l, int most)
{
    *l = (struct shortlists){.most = most};
    l->of = mem_zero((size_t)most, sizeof *l->of);
}

void shortlists_finish(struct shortlists *l)
{
    free(l->of);
}

bool shortlists_have_room(const struct shortlists *l)
{
    return l->count == 0 || (!l->closed && l->count < l->most);
}

struct shortlist *shortlists_add(struct shortlists *l)
{
    struct shortlist *s = &l->of[l->count++];
    s->count = 0;
    s->follows = false;
    return s;
}

void shortlists_drop(struct shortlists *l)
{
    l->count--;
    l->closed &= l->count > 0;
    memmove(l->of, l->of + 1, (size_t)l->count * sizeof *l->of);
}

static bool has(const struct shortlist *s, int count, const struct config *c)
{
    for (int i = 0; i < count && i < s->count; i++)
        if (config_equal(&s->candidate[i].config, c))
            return true;
    return false;
}

static bool is_first_of_one(const struct shortlists *l, const struct config *c)
{
    for (int i = 0; i < l->count; i++)
        if (has(&l->of[i], 1, c))
            return true;
    return false;
}

static bool is_taken(const struct shortlist *s, const struct shortlists *l, const struct config *c)
{
    return has(s, s->count, c) || is_first_of_one(l, c);
}

static int first_left(const struct shortlist *s, const struct shortlists *l,
                      const struct proposals *p)
{
    for (int i = 0; i < p->count; i++)
        if (!is_taken(s, l, &p->candidate[i].config))
            return i;
    return -1;
}

void shortlist_fill(struct shortlist *s, const struct shortlists *l, const struct proposals *p,
                    const double *promise, int most)
{
    while (s->count < most) {
        double largest = -INFINITY;
        int chosen = -1;
        for (int i = 0; i < p->count; i++)
            if (promise[i] > largest && !is_taken(s, l, &p->candidate[i].config)) {
                largest = promise[i];
                chosen = i;
            }
        if (chosen < 0 && s->count == 0)
            chosen = first_left(s, l, p);
        if (chosen < 0)
            return;
        s->candidate[s->count++] = p->candidate[chosen];
    }
}

void shortlist_choose(struct shortlist *s, int chosen)
{
    s->count = chosen >= 0;
    if (chosen <= 0)
        return;
    s->candidate[0] = s->candidate[chosen];
    s->mean[0] = s->mean[chosen];
    s->deviation[0] = s->deviation[chosen];
}
