#include "search/excursion.h"

#include <math.h>

#define DECAY    0.95 // of what was promised and gained, a trial
#define FADE     0.8  // of the largest promise, a trial
#define PRIOR    0.01 // promised and gained before there is anything to learn from
#define SURPRISE 1.0  // deviations above the model that are worth following
#define WORTH_IT 1e-3 // a gain, as a share, that is one
#define PATIENCE 4.0  // results in a row without a gain, for each deviation of surprise
enum { LEAST_IDLE = 10, AT_HOME_AGAIN = 2, MOST_PATIENCE = 24 };

static double trust(const struct excursion *e)
{
    return (e->gained + PRIOR) / (e->promised + PRIOR);
}

enum excursion_trial excursion_next(struct excursion *e)
{
    if (e->phase == EXCURSION_HOME && e->idle >= LEAST_IDLE && e->promise * trust(e) < e->least) {
        e->phase = EXCURSION_PROBES_OUT;
        e->asked = e->told = 0;
    }
    if (e->phase == EXCURSION_PROBES_OUT && e->asked < EXCURSION_PROBES)
        return TRIAL_PROBE;
    return e->phase == EXCURSION_FOLLOWS ? TRIAL_FOLLOWS : TRIAL_HOME;
}

void excursion_promise(struct excursion *e, double gain)
{
    e->promise = fmax(gain, FADE * e->promise);
    e->promised = DECAY * e->promised + gain;
    e->gained *= DECAY;
}

void excursion_probe(struct excursion *e, int index, double mean, double deviation)
{
    e->probe[e->asked].index = index;
    e->probe[e->asked].mean = mean;
    e->probe[e->asked++].deviation = deviation;
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

// The most surprising probe, if any is.
static void follow(struct excursion *e, int asked)
{
    int most = -1;
    double surprise = SURPRISE;
    for (int i = 0; i < EXCURSION_PROBES; i++) {
        double above = (e->probe[i].fitness - e->probe[i].mean) / e->probe[i].deviation;
        if (e->probe[i].fitness > 0 && above > surprise) {
            surprise = above;
            most = i;
        }
    }
    if (most < 0) {
        excursion_end(e);
        return;
    }
    e->phase = EXCURSION_FOLLOWS;
    e->begun = asked;
    e->owned = e->vain = 0;
    e->patience = (int)fmin(PATIENCE * surprise, MOST_PATIENCE);
    own(e, e->probe[most].index, e->probe[most].fitness);
}

static void take_probe(struct excursion *e, int index, double fitness, int asked)
{
    for (int i = 0; i < e->asked; i++)
        if (e->probe[i].index == index) {
            e->probe[i].fitness = fitness;
            e->told++;
        }
    if (e->told == EXCURSION_PROBES)
        follow(e, asked);
}

static void take_follower(struct excursion *e, int index, double fitness)
{
    e->vain = fitness > e->own_fitness[0] ? 0 : e->vain + 1;
    own(e, index, fitness);
    if (e->vain >= e->patience)
        excursion_end(e);
}

void excursion_told(struct excursion *e, int index, double fitness, int asked)
{
    e->idle++;
    if (fitness > e->best * (1 + WORTH_IT)) {
        if (e->best > 0 && e->phase == EXCURSION_HOME)
            e->gained += fitness / e->best - 1;
        e->best = fitness;
        e->idle = 0;
        e->phase = EXCURSION_HOME;
    } else if (e->phase == EXCURSION_PROBES_OUT)
        take_probe(e, index, fitness, asked);
    else if (e->phase == EXCURSION_FOLLOWS && index >= e->begun)
        take_follower(e, index, fitness);
}
