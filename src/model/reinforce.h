// REINFORCE (Williams 1992) with a moving baseline, an entropy bonus and Adam: how a policy over
// sequences learns from rewards.
//
//     struct reinforce r;
//     reinforce_init(&r, steps, values, &settings, seed);
//     ...draw sequences from r.policy (sequence_step), find what each is worth...
//     reinforce_update(&r, count, samples);
//     reinforce_finish(&r);
//
// An update goes uphill on mean over samples of [log pi(sample) (R - b)] + entropy * mean over all
// their decisions of H. The baseline b is the mean reward of the first batch, later the moving
// average of the means of the batches before: no reward counts against itself. Rewards are about 0
// to 1.
#ifndef TILEWALK_MODEL_REINFORCE_H
#define TILEWALK_MODEL_REINFORCE_H

#include "model/adam.h"
#include "model/sequence.h"

struct reinforce_settings {
    int hidden, embedding;
    double rate, range;    // of Adam; of the first weights
    double decay, entropy; // of the baseline; weight of the bonus
    double clip;           // longest gradient
};

struct reinforce {
    struct reinforce_settings settings;
    struct sequence policy;
    struct adam adam;
    bool started; // the baseline is set
    double baseline;
};

struct reinforce_sample {
    const int *choice;   // of every decision
    const bool *allowed; // of all decisions, one after the other
    double reward;
    int times; // it was drawn, >= 1
};

// `values` outlives `r`.
void reinforce_init(struct reinforce *r, int steps, const int *values,
                    const struct reinforce_settings *settings, uint64_t seed);
void reinforce_finish(struct reinforce *r);
void reinforce_update(struct reinforce *r, int count, const struct reinforce_sample *sample);

#endif
