#include "report/score.h"

#include "base/mem.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>

// --- random search ---

// Returns the mean over all draws without repetition of the best time, which is the worst valid one
// where all draws failed, or of the share of the optimum, which is 0 there.
static double random_mean(const double *time, int64_t valid, int64_t size, int64_t trials,
                          bool is_share)
{
    int64_t draws = trials < size ? trials : size;
    double p = (double)draws / (double)size; // the chance that the best is time[i]
    double left = 1, sum = 0;                // the chance that it is none of those before
    for (int64_t i = 0; i < valid && p > 0; i++) {
        int64_t rest = size - 1 - i;
        sum += (is_share ? time[0] / time[i] : time[i]) * p;
        left -= p;
        p = rest > 0 ? p * (double)(rest + 1 - draws) / (double)rest : 0;
    }
    return is_share ? sum : sum + fmax(left, 0) * time[valid - 1];
}

double score_random_fraction(const double *time, int64_t valid, int64_t size, int64_t trials)
{
    return random_mean(time, valid, size, trials, true);
}

double score_random_time(const double *time, int64_t valid, int64_t size, int64_t trials)
{
    return random_mean(time, valid, size, trials, false);
}

// --- trials that count ---

int64_t score_trials_to(const double *time, int64_t valid, double p)
{
    double target = time[0] + (median_sorted(time, valid) - time[0]) * (1 - p);
    int64_t slower = 0; // times above the target
    while (slower < valid && time[valid - 1 - slower] > target)
        slower++;
    return valid / (valid + 1 - slower); // slower / (valid + 1 - slower), rounded up
}

// --- the score ---

bool score_init(struct score *s, const double *time, int64_t valid, int64_t size)
{
    *s = (struct score){0};
    if (valid < 2 || !(time[valid - 1] > time[0]))
        return false;
    int64_t first = score_trials_to(time, valid, 0.01), end = score_trials_to(time, valid, 0.95);
    s->first = first > 1 ? first : 1;
    s->last = end > s->first ? end - 1 : s->first;
    s->best = time[0];
    s->worst = time[valid - 1];
    s->baseline = mem_zero((size_t)(s->last - s->first + 1), sizeof *s->baseline);
    for (int64_t x = s->first; x <= s->last; x++)
        s->baseline[x - s->first] = score_random_time(time, valid, size, x);
    return true;
}

void score_finish(struct score *s)
{
    free(s->baseline);
    *s = (struct score){0};
}

double score_of(const struct score *s, const double *mean_time, int64_t count)
{
    double sum = 0;
    if (!s->baseline)
        return NAN;
    for (int64_t x = s->first; x <= s->last; x++) {
        double base = s->baseline[x - s->first];
        double reached = mean_time[(x < count ? x : count) - 1];
        sum += (reached - base) / (s->best - base);
    }
    return sum / (double)(s->last - s->first + 1);
}
