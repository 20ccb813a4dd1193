#include "model/reinforce.h"

#include <string.h>

void reinforce_init(struct reinforce *r, int steps, const int *values,
                    const struct reinforce_settings *settings, uint64_t seed)
{
    *r = (struct reinforce){.settings = *settings};
    struct rng rng;
    rng_seed(&rng, seed);
    sequence_init(&r->policy, steps, values, settings->embedding, settings->hidden);
    sequence_randomise(&r->policy, settings->range, &rng);
    adam_init(&r->adam, r->policy.weights);
}

void reinforce_finish(struct reinforce *r)
{
    adam_finish(&r->adam);
    sequence_finish(&r->policy);
}

void reinforce_update(struct reinforce *r, int count, const struct reinforce_sample *sample)
{
    double draws = 0, mean = 0;
    for (int i = 0; i < count; i++) {
        draws += sample[i].times;
        mean += sample[i].times * sample[i].reward;
    }
    if (draws == 0 || r->policy.steps == 0)
        return;
    mean /= draws;
    if (!r->started)
        r->baseline = mean;

    struct sequence *p = &r->policy;
    memset(p->gradient, 0, p->weights * sizeof *p->gradient);
    for (int i = 0; i < count; i++) {
        double share = sample[i].times / draws;
        sequence_gradient(p, sample[i].choice, sample[i].allowed,
                          share * (sample[i].reward - r->baseline),
                          share * r->settings.entropy / p->steps);
    }
    adam_clip(p->weights, p->gradient, r->settings.clip);
    adam_step(&r->adam, r->settings.rate, p->weight, p->gradient);

    double decay = r->started ? r->settings.decay : 0;
    r->baseline = decay * r->baseline + (1 - decay) * mean;
    r->started = true;
}
