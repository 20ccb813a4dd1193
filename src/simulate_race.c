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

const struct record_entry *simulated_race_winner(
    const struct simulated_race *r,
    double (*measure)(void *context, const struct record_entry *entry), void *context)
{
    double sum[SIMULATED_RACERS] = {0};
    int best = 0;
    for (int round = 0; round < SIMULATED_ROUNDS; round++)
        for (int i = 0; i < r->count; i++)
            sum[i] += measure(context, r->racer[i]);
    for (int i = 1; i < r->count; i++)
        if (sum[i] < sum[best])
            best = i;
    return r->count ? r->racer[best] : NULL;
}
