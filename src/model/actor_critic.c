#include "model/actor_critic.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Offsets of the layers' weights and biases in the flat arrays.
struct layout {
    size_t body, body_bias, value, value_bias, policy, policy_bias, end;
};

static struct layout layout_of(const struct actor_critic *n)
{
    struct layout l = {0};
    l.body_bias = l.body + n->inputs * n->hidden;
    l.value = l.body_bias + n->hidden;
    l.value_bias = l.value + n->hidden;
    l.policy = l.value_bias + 1;
    l.policy_bias = l.policy + n->hidden * n->actions;
    l.end = l.policy_bias + n->actions;
    return l;
}

void actor_critic_init(struct actor_critic *n, size_t inputs, size_t hidden, size_t actions,
                       struct rng *r)
{
    *n = (struct actor_critic){.inputs = inputs, .hidden = hidden, .actions = actions};
    struct layout l = layout_of(n);
    n->count = l.end;
    n->weight = mem_zero(n->count, sizeof *n->weight);
    n->gradient = mem_zero(n->count, sizeof *n->gradient);
    n->h = mem_zero(hidden, sizeof *n->h);
    n->by_h = mem_zero(hidden, sizeof *n->by_h);
    adam_init(&n->adam, n->count);
    weights_draw(n->weight, l.value, 1 / sqrt((double)inputs), r);
    weights_draw(n->weight + l.value, l.end - l.value, 1 / sqrt((double)hidden), r);
}

void actor_critic_finish(struct actor_critic *n)
{
    adam_finish(&n->adam);
    free(n->weight);
    free(n->gradient);
    free(n->h);
    free(n->by_h);
}

double actor_critic_forward(struct actor_critic *n, const double *x, const bool *legal,
                            double *policy)
{
    struct layout l = layout_of(n);
    const double *w = n->weight;
    memcpy(n->h, w + l.body_bias, n->hidden * sizeof *n->h);
    dense_forward(n->inputs, n->hidden, w + l.body, x, n->h);
    for (size_t i = 0; i < n->hidden; i++)
        n->h[i] = fmax(n->h[i], 0);

    double value = w[l.value_bias];
    dense_forward(n->hidden, 1, w + l.value, n->h, &value);
    memcpy(policy, w + l.policy_bias, n->actions * sizeof *policy);
    dense_forward(n->hidden, n->actions, w + l.policy, n->h, policy);
    softmax(n->actions, legal, policy);
    return value;
}

void actor_critic_backward(struct actor_critic *n, const double *x, double by_value,
                           const double *by_logit)
{
    struct layout l = layout_of(n);
    const double *w = n->weight;
    double *g = n->gradient;
    memset(n->by_h, 0, n->hidden * sizeof *n->by_h);

    dense_gradient(n->hidden, n->actions, n->h, by_logit, g + l.policy);
    dense_gradient(1, n->actions, &(double){1}, by_logit, g + l.policy_bias);
    dense_backward(n->hidden, n->actions, w + l.policy, by_logit, n->by_h);
    dense_gradient(n->hidden, 1, n->h, &by_value, g + l.value);
    g[l.value_bias] += by_value;
    dense_backward(n->hidden, 1, w + l.value, &by_value, n->by_h);

    for (size_t i = 0; i < n->hidden; i++)
        if (n->h[i] <= 0)
            n->by_h[i] = 0;
    dense_gradient(n->inputs, n->hidden, x, n->by_h, g + l.body);
    dense_gradient(1, n->hidden, &(double){1}, n->by_h, g + l.body_bias);
}

void actor_critic_step(struct actor_critic *n, double rate, int samples, double clip)
{
    for (size_t i = 0; i < n->count; i++)
        n->gradient[i] /= samples;
    adam_clip(n->count, n->gradient, clip);
    adam_step(&n->adam, rate, n->weight, n->gradient);
    memset(n->gradient, 0, n->count * sizeof *n->gradient);
}

double actor_critic_sound_loss(size_t actions, const double *policy,
                               const struct actor_critic_sample *s, double beta, double *by_logit)
{
    double advantage = s->goal - s->value, entropy = choice_entropy(actions, policy);
    for (size_t k = 0; k < actions; k++) {
        double p = policy[k];
        by_logit[k] =
            s->weight * advantage * (p - (k == s->action)) + beta * p * (log_or_0(p) + entropy);
    }
    return s->value - s->goal;
}

double actor_critic_published_loss(size_t actions, const double *policy,
                                   const struct actor_critic_sample *s, double *by_logit)
{
    double advantage = s->goal - s->value;
    double log_chosen = log_or_0(policy[s->action]);
    for (size_t k = 0; k < actions; k++)
        by_logit[k] = advantage * ((k == s->action) - policy[k]);
    return -log_chosen - 2 * advantage;
}
