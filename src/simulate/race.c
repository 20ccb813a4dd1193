#include "simulate/race.h"

#include <math.h>

void simulated_race_enter(struct simulated_race *r, const struct record_entry *entry,
                          double seconds)
{
    int place = r->count;
    while (place > 0 && seconds < r->seconds[place - 1])
        place--;
    if (place == SIMULATED_RACERS)
        return;
    if (r->count < SIMULATED_RACERS)
        r->count++;
    for (int i = r->count - 1; i > place; i--) {
        r->racer[i] = r->racer[i - 1];
        r->seconds[i] = r->seconds[i - 1];
    }
    r->racer[place] = entry;
    r->seconds[place] = seconds;
}

static int fastest(const double *sum, int count)
{
    int best = 0;
    for (int i = 1; i < count; i++)
        if (sum[i] < sum[best])
            best = i;
    return best;
}

const struct record_entry *simulated_race_winner(
    const struct simulated_race *r,
    double (*measure)(void *context, const struct record_entry *entry), void *context)
{
    double sum[SIMULATED_RACERS], total[SIMULATED_FINALISTS];
    int finalist[SIMULATED_FINALISTS], finalists = 0;
    for (int i = 0; i < r->count; i++)
        sum[i] = measure(context, r->racer[i]);
    for (; finalists < SIMULATED_FINALISTS && finalists < r->count; finalists++) {
        int i = fastest(sum, r->count);
        finalist[finalists] = i;
        total[finalists] = sum[i];
        sum[i] = INFINITY; // not again
    }
    for (int round = 0; round < SIMULATED_FINAL; round++)
        for (int i = 0; i < finalists; i++)
            total[i] += measure(context, r->racer[finalist[i]]);
    return finalists ? r->racer[finalist[fastest(total, finalists)]] : NULL;
}
