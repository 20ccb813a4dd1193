// An advantage actor-critic with one hidden layer and two heads: the value of a state, and the
// policy over its actions.
//
//     struct actor_critic n;
//     actor_critic_init(&n, inputs, hidden, actions, &rng);
//     double value = actor_critic_forward(&n, x, legal, policy);
//     ...for each sample of a batch: forward, the loss's derivatives, then
//     actor_critic_backward(&n, x, by_value, by_logit);
//     actor_critic_step(&n, rate, samples, clip);
//     actor_critic_finish(&n);
//
//     h = relu(W1 x + b1);   V = w2 h + b2;   z = W3 h + b3;   policy = softmax of the legal z
//
// The losses, with R the return of taking action a and A = R - V the advantage:
//
//     sound      - weight A log policy(a) + 1/2 (R - V)^2 - beta H(policy),   A held constant
//     published  + A log policy(a) + A^2,   A not constant (NNI 2.0: the actor unlearns what pays)
//
// The first weights are uniform in +-1/sqrt(inputs of the layer), as in PyTorch.
#ifndef TILEWALK_MODEL_ACTOR_CRITIC_H
#define TILEWALK_MODEL_ACTOR_CRITIC_H

#include "base/rng.h"
#include "model/neural.h"

#include <stdbool.h>

struct actor_critic {
    size_t inputs, hidden, actions;
    size_t count;              // number of all weights, in the order W1 b1 w2 b2 W3 b3;
    double *weight, *gradient; // matrices have a row for each input of the layer
    struct adam adam;
    double *h, *by_h; // h of the last forward; derivative of the loss by h
};

void actor_critic_init(struct actor_critic *n, size_t inputs, size_t hidden, size_t actions,
                       struct rng *r);
void actor_critic_finish(struct actor_critic *n);

// `x` has `inputs` numbers; `legal` a flag for each action, NULL: all are legal. Fills `policy`
// (`actions` numbers, 0 for illegal actions); returns the value.
double actor_critic_forward(struct actor_critic *n, const double *x, const bool *legal,
                            double *policy);

// Adds the gradient for the sample of the last forward, given the derivatives of the loss by V and
// by each z.
void actor_critic_backward(struct actor_critic *n, const double *x, double by_value,
                           const double *by_logit);

// Takes a step of Adam on the mean gradient of `samples` samples, clipped to the norm `clip`
// (INFINITY: not clipped). Clears the gradient.
void actor_critic_step(struct actor_critic *n, double rate, int samples, double clip);

// One step to learn from.
struct actor_critic_sample {
    size_t action;
    double value;  // V, of the last forward
    double goal;   // R
    double weight; // of the actor's part; not used by the published loss
};

// The derivatives of the losses: fill in those by z (`actions` numbers; `by_logit` may be
// `policy`), and return that by V.
double actor_critic_sound_loss(size_t actions, const double *policy,
                               const struct actor_critic_sample *s, double beta, double *by_logit);
double actor_critic_published_loss(size_t actions, const double *policy,
                                   const struct actor_critic_sample *s, double *by_logit);

#endif
