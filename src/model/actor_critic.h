// The two heads of an advantage actor-critic on one hidden layer: how good a state is, and which
// action to take there.
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
// Weights begin uniform in +-1/sqrt(inputs of the layer), as PyTorch's do. Double precision, one
// thread, the same numbers on every run.
#ifndef TILEWALK_MODEL_ACTOR_CRITIC_H
#define TILEWALK_MODEL_ACTOR_CRITIC_H

#include "base/rng.h"
#include "model/adam.h"

#include <stdbool.h>

struct actor_critic {
    size_t inputs, hidden, actions;
    size_t count;              // of all weights; in the order W1 b1 w2 b2 W3 b3,
    double *weight, *gradient; // matrices a row for each input of the layer
    struct adam adam;
    double *h, *by_h; // of the last forward; the loss by h
};

void actor_critic_init(struct actor_critic *n, size_t inputs, size_t hidden, size_t actions,
                       struct rng *r);
void actor_critic_finish(struct actor_critic *n);

// `x`: `inputs` numbers. `legal`: of each action, NULL: all are. Fills `policy` (`actions` numbers,
// 0 for what is illegal; all are 0 when nothing is legal); returns the value.
double actor_critic_forward(struct actor_critic *n, const double *x, const bool *legal,
                            double *policy);

// Adds to the gradient for the sample of the last forward, given the loss by V and by each z.
void actor_critic_backward(struct actor_critic *n, const double *x, double by_value,
                           const double *by_logit);

// One step of Adam on the mean over `samples` of what was added, clipped to the norm `clip`
// (INFINITY: not). Clears the gradient.
void actor_critic_step(struct actor_critic *n, double rate, int samples, double clip);

// What one step taught.
struct actor_critic_sample {
    size_t action;
    double value;  // V, of the last forward
    double goal;   // R
    double weight; // of the actor's part; the published loss has none
};

// The derivatives of the losses: fill `by_logit` (`actions` numbers; may be `policy`), return that
// by V.
double actor_critic_sound_loss(size_t actions, const double *policy,
                               const struct actor_critic_sample *s, double beta, double *by_logit);
double actor_critic_published_loss(size_t actions, const double *policy,
                                   const struct actor_critic_sample *s, double *by_logit);

#endif
