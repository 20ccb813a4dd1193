#include "search/climb.h"

enum { MOST_STEPS = 32 };

void climbs_begin(struct climbs *k)
{
    k->count = 0;
}

// Puts a peak into its place among the first `count`, of which there is room for one more.
static void insert(struct climbs *k, int count, struct peak peak)
{
    int rank = count;
    for (; rank > 0 && k->peak[rank - 1].value < peak.value; rank--)
        k->peak[rank] = k->peak[rank - 1];
    k->peak[rank] = peak;
}

void climbs_add(struct climbs *k, const struct candidate *start, double value)
{
    bool is_full = k->count == k->most;
    if (is_full && k->peak[k->count - 1].value >= value)
        return;
    for (int i = 0; i < k->count; i++)
        if (config_equal(&k->peak[i].at.config, &start->config))
            return;
    k->count -= is_full;
    insert(k, k->count++, (struct peak){*start, value});
}

static void climb(struct peak *peak, struct candidates *c, climbs_best *best, void *self)
{
    for (int step = 0; step < MOST_STEPS; step++) {
        candidates_begin(c);
        candidates_add_moves(c, &peak->at);
        int chosen = best(self, &peak->value);
        if (chosen < 0)
            return;
        peak->at = c->candidate[chosen];
    }
}

void climbs_run(struct climbs *k, struct candidates *c, climbs_best *best, void *self)
{
    for (int i = 0; i < k->count; i++) {
        struct peak peak = k->peak[i];
        climb(&peak, c, best, self);
        insert(k, i, peak);
    }
}
