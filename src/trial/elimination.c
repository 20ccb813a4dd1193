#include "trial/elimination.h"

#include <math.h>

#define Z             2.0
#define LEAST_LIKE    4
#define LEAST_FREEDOM 8

static bool has_references(const struct shapes_goal *g)
{
    for (int i = 0; i < g->count; i++)
        if (g->reference_s[i] <= 0)
            return false;
    return true;
}

void shapes_goal_refer(struct shapes_goal *g, const double seconds[])
{
    for (int i = 0; i < g->count; i++)
        if (g->reference_s[i] <= 0 || seconds[i] < g->reference_s[i])
            g->reference_s[i] = seconds[i];
}

static double sum(const struct shapes_goal *g, const double seconds[])
{
    double all = 0;
    for (int i = 0; i < g->count; i++)
        all += g->weight[i] * seconds[i];
    return all;
}

int shapes_goal_worst(const struct shapes_goal *g, const double seconds[])
{
    int worst = 0;
    if (!has_references(g))
        return -1;
    for (int i = 1; i < g->count; i++)
        if (seconds[i] * g->reference_s[worst] > seconds[worst] * g->reference_s[i])
            worst = i;
    return worst;
}

double shapes_goal_seconds(const struct shapes_goal *g, const double seconds[])
{
    int worst = g->by_worst ? shapes_goal_worst(g, seconds) : -1;
    return worst < 0 ? sum(g, seconds)
                     : seconds[worst] / g->reference_s[worst] * sum(g, g->reference_s);
}

static bool has_incumbent(const struct elimination *l)
{
    return l->incumbent_s[0] > 0;
}

// What a shape contributes to the incumbent's goal.
static double share(const struct elimination *l, int i)
{
    const struct shapes_goal *g = &l->goal;
    if (!has_incumbent(l))
        return 0;
    return l->incumbent_s[i] *
           (g->by_worst && has_references(g) ? 1 / g->reference_s[i] : g->weight[i]);
}

int elimination_next(const struct elimination *l, const double seconds[])
{
    int next = -1;
    for (int i = 0; i < l->goal.count; i++)
        if (seconds[i] <= 0 && (next < 0 || share(l, i) > share(l, next)))
            next = i;
    return next;
}

// Of the logarithms of its ratios to the incumbent: how many, their mean, the squares around it.
static int measure(const struct elimination *l, const double seconds[], double *mean,
                   double *squares)
{
    int count = 0;
    *mean = *squares = 0;
    for (int i = 0; i < l->goal.count; i++) {
        if (seconds[i] <= 0)
            continue;
        double ratio = log(seconds[i] / l->incumbent_s[i]), off = ratio - *mean;
        *mean += off / ++count;
        *squares += off * (ratio - *mean);
    }
    return count;
}

// The factor below which one more ratio is not; 0 where that is not known.
static double lowest_ratio(const struct elimination *l, const double seconds[])
{
    double mean, squares;
    int count = measure(l, seconds, &mean, &squares);
    if (!count || l->like < LEAST_LIKE || l->freedom < LEAST_FREEDOM)
        return 0;
    return exp(mean - Z * sqrt(l->squares / l->freedom * (1 + 1.0 / count)));
}

bool elimination_is_over(const struct elimination *l, const double seconds[], const double least[])
{
    double low[TRIAL_MAX_SHAPES];
    if (!has_incumbent(l))
        return false;
    double ratio = lowest_ratio(l, seconds);
    for (int i = 0; i < l->goal.count; i++)
        low[i] = seconds[i] > 0 ? least[i] : ratio * l->incumbent_s[i];
    return shapes_goal_seconds(&l->goal, low) > shapes_goal_seconds(&l->goal, l->incumbent_s);
}

void elimination_expect(const struct elimination *l, double seconds[])
{
    double mean, squares;
    measure(l, seconds, &mean, &squares);
    for (int i = 0; i < l->goal.count; i++)
        if (seconds[i] <= 0)
            seconds[i] = l->incumbent_s[i] * exp(mean);
}

void elimination_learn(struct elimination *l, const double seconds[])
{
    const struct shapes_goal *g = &l->goal;
    double mean, squares;
    int count = has_incumbent(l) ? measure(l, seconds, &mean, &squares) : 0;
    if (count > 1) {
        l->squares += squares;
        l->freedom += count - 1;
        l->like++;
    }
    if (elimination_next(l, seconds) >= 0 ||
        (has_incumbent(l) &&
         shapes_goal_seconds(g, seconds) >= shapes_goal_seconds(g, l->incumbent_s)))
        return;
    for (int i = 0; i < g->count; i++)
        l->incumbent_s[i] = seconds[i];
}
