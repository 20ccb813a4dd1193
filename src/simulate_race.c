#include "simulate_race.h"

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

// Of the `count` sums the smallest one that is not `taken` yet.
static int fastest(const double *sum, const bool *taken, int count)
{
    int best = -1;
    for (int i = 0; i < count; i++)
        if (!taken[i] && (best < 0 || sum[i] < sum[best]))
            best = i;
    return best;
}

const struct record_entry *simulated_race_winner(
    const struct simulated_race *r,
    double (*measure)(void *context, const struct record_entry *entry), void *context)
{
    double sum[SIMULATED_RACERS], total[SIMULATED_FINALISTS];
    bool taken[SIMULATED_RACERS] = {false}, none[SIMULATED_FINALISTS] = {false};
    int finalist[SIMULATED_FINALISTS], finalists = 0;
    for (int i = 0; i < r->count; i++)
        sum[i] = measure(context, r->racer[i]);
    for (; finalists < SIMULATED_FINALISTS && finalists < r->count; finalists++) {
        int i = fastest(sum, taken, r->count);
        taken[i] = true;
        finalist[finalists] = i;
        total[finalists] = sum[i];
    }
    for (int round = 0; round < SIMULATED_FINAL; round++)
        for (int i = 0; i < finalists; i++)
            total[i] += measure(context, r->racer[finalist[i]]);
    return finalists ? r->racer[finalist[fastest(total, none, finalists)]] : NULL;
}
