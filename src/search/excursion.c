#include "search/excursion.h"

#include <float.h>
#include <math.h>

#define DECAY    0.95 // of what was promised and gained, a trial
#define FADE     0.8  // of the largest promise, a trial
#define PRIOR    0.01 // promised and gained before there is anything to learn from
#define WORTH_IT 1e-3 // a gain, as a share, that is one
#define STILL    0.6  // of the surprise that is followed at once, what a follower must be above
enum { PROBES = 8, PATIENCE = 16, LEAST_IDLE = 10, AT_HOME_AGAIN = 2 };

// Of the most surprising of the probes that are not followed at once.
#define LEAST_SURPRISE 1.5
#define LEAST_ALONE    1.0 // the same where `surprise` is 0
#define PATIENCE_EACH  4.0 // for each deviation of surprise
enum { MOST_PATIENCE = 24 };

static double trust(const struct excursion *e)
{
    return (e->gained + PRIOR) / (e->promised + PRIOR);
}

enum excursion_trial excursion_next(struct excursion *e)
{
    if (e->phase == EXCURSION_HOME && e->idle >= LEAST_IDLE && e->promise * trust(e) < e->least) {
        e->phase = EXCURSION_PROBES_OUT;
        e->asked = e->told = e->most.ask = 0;
    }
    if (e->phase == EXCURSION_PROBES_OUT && e->asked < PROBES)
        return TRIAL_PROBE;
    return e->phase == EXCURSION_FOLLOWS ? TRIAL_FOLLOWS : TRIAL_HOME;
}

void excursion_promise(struct excursion *e, double gain)
{
    e->promise = fmax(gain, FADE * e->promise);
    e->promised = DECAY * e->promised + gain;
    e->gained *= DECAY;
}

static struct excursion_expected *expected_at(struct excursion *e, int index)
{
    return &e->expected[index % EXCURSION_OPEN];
}

void excursion_follower(struct excursion *e, int index, double mean, double deviation)
{
    *expected_at(e, index) = (struct excursion_expected){index + 1, mean, deviation, 0};
}

void excursion_probe(struct excursion *e, int index, double mean, double deviation)
{
    if (e->asked++ == 0)
        e->first = index;
    excursion_follower(e, index, mean, deviation);
}

int excursion_known(const struct excursion *e, int results)
{
    return e->phase == EXCURSION_FOLLOWS && e->found < results ? e->found : results;
}

void excursion_end(struct excursion *e)
{
    e->phase = EXCURSION_HOME;
    e->idle = LEAST_IDLE - AT_HOME_AGAIN;
}

static void own(struct excursion *e, int index, double fitness)
{
    int place = e->owned;
    while (place > 0 && e->own_fitness[place - 1] < fitness)
        place--;
    if (place == EXCURSION_OWN)
        return;
    e->owned += e->owned < EXCURSION_OWN;
    for (int i = e->owned - 1; i > place; i--) {
        e->own[i] = e->own[i - 1];
        e->own_fitness[i] = e->own_fitness[i - 1];
    }
    e->own[place] = index;
    e->own_fitness[place] = fitness;
}

static double surprise_of(const struct excursion_expected *x)
{
    return x->fitness > 0 ? (x->fitness - x->mean) / fmax(x->deviation, DBL_MIN) : -INFINITY;
}

static bool is_followed_at_once(const struct excursion *e, const struct excursion_expected *x)
{
    return e->surprise > 0 && surprise_of(x) >= e->surprise;
}

static void follow(struct excursion *e, const struct excursion_expected *probe, int asked)
{
    e->phase = EXCURSION_FOLLOWS;
    e->strict = is_followed_at_once(e, probe);
    e->begun = asked;
    e->found = probe->ask - 1;
    e->owned = e->vain = 0;
    e->patience =
        e->strict ? PATIENCE : (int)fmin(PATIENCE_EACH * surprise_of(probe), MOST_PATIENCE);
    own(e, probe->ask - 1, probe->fitness);
}

static void take_probe(struct excursion *e, const struct excursion_expected *x, int asked)
{
    e->told++;
    if (is_followed_at_once(e, x)) {
        follow(e, x, asked);
        return;
    }
    double least = e->surprise > 0 ? LEAST_SURPRISE : LEAST_ALONE;
    if (surprise_of(x) > (e->most.ask ? surprise_of(&e->most) : least))
        e->most = *x;
    if (e->told < PROBES)
        return;
    if (e->most.ask)
        follow(e, &e->most, asked);
    else
        excursion_end(e);
}

// Also takes the probes that were out when it began to follow.
static void take_strict_follower(struct excursion *e, const struct excursion_expected *x)
{
    bool above = surprise_of(x) >= STILL * e->surprise;
    if (x->ask > e->begun)
        e->vain = above && x->fitness > e->own_fitness[0] ? 0 : e->vain + 1;
    else
        e->told++;
    if (above)
        own(e, x->ask - 1, x->fitness);
    if (e->vain < e->patience)
        return;
    if (e->told < PROBES)
        e->phase = EXCURSION_PROBES_OUT;
    else
        excursion_end(e);
}

static void take_any_follower(struct excursion *e, int index, double fitness)
{
    e->vain = fitness > e->own_fitness[0] ? 0 : e->vain + 1;
    own(e, index, fitness);
    if (e->vain >= e->patience)
        excursion_end(e);
}

void excursion_told(struct excursion *e, int index, double fitness, int asked)
{
    struct excursion_expected *x = expected_at(e, index);
    bool is_expected = x->ask == index + 1 && index >= e->first;
    x->fitness = fitness;
    e->idle++;
    if (fitness > e->best * (1 + WORTH_IT)) {
        if (e->best > 0 && e->phase == EXCURSION_HOME)
            e->gained += fitness / e->best - 1;
        e->best = fitness;
        e->idle = 0;
        e->phase = EXCURSION_HOME;
    } else if (e->phase == EXCURSION_PROBES_OUT && is_expected)
        take_probe(e, x, asked);
    else if (e->phase == EXCURSION_FOLLOWS && e->strict && is_expected)
        take_strict_follower(e, x);
    else if (e->phase == EXCURSION_FOLLOWS && !e->strict && index >= e->begun)
        take_any_follower(e, index, fitness);
}
