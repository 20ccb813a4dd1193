#include "search/diversity.h"

#include <stdlib.h>
#include <string.h>

static bool same_value(const struct param *p, const struct config *a, const struct config *b)
{
    return memcmp(a->slot + p->offset, b->slot + p->offset, (size_t)p->width * sizeof *a->slot) ==
           0;
}

// Bit i: parameter i has a value in `c` that none of those picked has.
static uint32_t without_known(const struct space *s, uint32_t new, const struct config *c,
                              const struct config *picked)
{
    for (int i = 0; i < s->param_count; i++)
        if (same_value(&s->param[i], c, picked))
            new &= ~(UINT32_C(1) << i);
    return new;
}

static int bits(uint32_t set)
{
    int count = 0;
    for (; set; set &= set - 1)
        count++;
    return count;
}

int diversity_pick(const struct space *s, const struct scored *candidate, int count, double alpha,
                   int most, int *pick)
{
    uint32_t *new = mem_alloc((size_t)count * sizeof *new);
    bool *taken = mem_zero((size_t)count, sizeof *taken);
    int picked = 0;
    for (int i = 0; i < count; i++)
        new[i] = UINT32_MAX >> (32 - s->param_count);
    for (; picked < most && picked < count; picked++) {
        int best = -1;
        double best_gain = 0;
        for (int i = 0; i < count; i++) {
            double gain = (double)candidate[i].score + alpha * bits(new[i]);
            if (!taken[i] && (best < 0 || gain > best_gain)) {
                best = i;
                best_gain = gain;
            }
        }
        pick[picked] = best;
        taken[best] = true;
        for (int i = 0; i < count; i++)
            new[i] = without_known(s, new[i], &candidate[i].config, &candidate[best].config);
    }
    free(new);
    free(taken);
    return picked;
}
