#include "model/reinforce.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t lstm_weights(const struct lstm *l)
{
    return (size_t)(l->inputs + l->hidden + 1) * 4 * (size_t)l->hidden;
}

void lstm_forward(const struct lstm *l, const double *w, const double *x, const double *before,
                  double *after)
{
    size_t hidden = (size_t)l->hidden, inputs = (size_t)l->inputs, gates = 4 * hidden;
    double *h = after, *c = h + hidden, *gate = c + hidden, *squashed = gate + gates;
    const double *recurrent = w + inputs * gates, *bias = recurrent + hidden * gates;

    memcpy(gate, bias, gates * sizeof *gate);
    dense_forward(inputs, gates, w, x, gate);
    dense_forward(hidden, gates, recurrent, before, gate);
    for (size_t k = 0; k < 3 * hidden; k++)
        gate[k] = 1 / (1 + exp(-gate[k]));
    for (size_t k = 0; k < hidden; k++) {
        double in = gate[k], forget = gate[hidden + k], out = gate[2 * hidden + k];
        double g = gate[3 * hidden + k] = tanh(gate[3 * hidden + k]);
        c[k] = forget * before[hidden + k] + in * g;
        squashed[k] = tanh(c[k]);
        h[k] = out * squashed[k];
    }
}

void lstm_backward(const struct lstm *l, const double *w, const struct lstm_step *step,
                   const struct lstm_gradient *by)
{
    size_t hidden = (size_t)l->hidden, inputs = (size_t)l->inputs, gates = 4 * hidden;
    const double *before = step->before, *gate = step->after + 2 * hidden, *squashed = gate + gates;
    double *dgate = by->by_gates; // by the gates before sigmoid and tanh
    for (size_t k = 0; k < hidden; k++) {
        double in = gate[k], forget = gate[hidden + k], out = gate[2 * hidden + k];
        double g = gate[3 * hidden + k], dh = by->h[k];
        double by_c = by->c[k] + dh * out * (1 - squashed[k] * squashed[k]);
        dgate[k] = by_c * g * in * (1 - in);
        dgate[hidden + k] = by_c * before[hidden + k] * forget * (1 - forget);
        dgate[2 * hidden + k] = dh * squashed[k] * out * (1 - out);
        dgate[3 * hidden + k] = by_c * in * (1 - g * g);
        by->c[k] = by_c * forget;
    }

    size_t recurrent = inputs * gates, bias = recurrent + hidden * gates;
    dense_gradient(inputs, gates, step->x, dgate, by->w);
    dense_gradient(hidden, gates, before, dgate, by->w + recurrent);
    for (size_t k = 0; k < gates; k++)
        by->w[bias + k] += dgate[k];
    dense_backward(inputs, gates, w, dgate, by->x);
    memset(by->h, 0, hidden * sizeof *by->h);
    dense_backward(hidden, gates, w + recurrent, dgate, by->h);
}

// --- the policy ---

static size_t values_of(const struct sequence *s, int t)
{
    return (size_t)s->values[t];
}

void sequence_init(struct sequence *s, int steps, const int *values, int embedding, int hidden)
{
    *s = (struct sequence){
        .steps = steps,
        .values = values,
        .lstm = {.inputs = embedding, .hidden = hidden},
        .at_embedding = mem_zero((size_t)steps, sizeof *s->at_embedding),
        .at_output = mem_zero((size_t)steps, sizeof *s->at_output),
    };
    size_t inputs = (size_t)s->lstm.inputs, at = inputs; // behind the start token
    for (int t = 0; t < s->steps; t++) {
        s->at_embedding[t] = at;
        at += values_of(s, t) * inputs;
    }
    s->at_lstm = at;
    at += lstm_weights(&s->lstm);
    for (int t = 0; t < s->steps; t++) {
        s->at_output[t] = at;
        at += ((size_t)s->lstm.hidden + 1) * values_of(s, t);
    }
    s->weights = at;
    s->weight = mem_zero(s->weights, sizeof *s->weight);
    s->gradient = mem_zero(s->weights, sizeof *s->gradient);
    s->row = mem_zero((size_t)(steps + 1) * 7 * (size_t)s->lstm.hidden, sizeof *s->row);
    size_t all = 0, widest = 0;
    for (int t = 0; t < steps; t++) {
        all += values_of(s, t);
        widest = values_of(s, t) > widest ? values_of(s, t) : widest;
    }
    s->probability = mem_zero(all, sizeof *s->probability);
    s->scratch = mem_zero(6 * (size_t)s->lstm.hidden + widest, sizeof *s->scratch);
}

void sequence_finish(struct sequence *s)
{
    free(s->probability);
    free(s->at_embedding);
    free(s->at_output);
    free(s->weight);
    free(s->gradient);
    free(s->row);
    free(s->scratch);
    *s = (struct sequence){0};
}

void sequence_randomise(struct sequence *s, double range, struct rng *r)
{
    size_t hidden = (size_t)s->lstm.hidden,
           forget = s->at_lstm + lstm_weights(&s->lstm) - 3 * hidden;
    weights_draw(s->weight, s->weights, range, r);
    for (size_t k = 0; k < hidden; k++)
        s->weight[forget + k] += 1;
}

size_t sequence_state(const struct sequence *s)
{
    return 2 * (size_t)s->lstm.hidden;
}

// Returns the offset of the input of decision t among the weights.
static size_t input(const struct sequence *s, int t, int choice)
{
    return t == 0 ? 0 : s->at_embedding[t - 1] + (size_t)choice * (size_t)s->lstm.inputs;
}

static double *row(const struct sequence *s, int t)
{
    return s->row + (size_t)t * 7 * (size_t)s->lstm.hidden;
}

const double *sequence_step(struct sequence *s, int t, int choice, const double *before,
                            const bool *allowed, double *probability)
{
    size_t values = values_of(s, t);
    const double *output = s->weight + s->at_output[t];
    double *after = row(s, t + 1);
    lstm_forward(&s->lstm, s->weight + s->at_lstm, s->weight + input(s, t, choice),
                 before ? before : row(s, 0), after);
    memcpy(probability, output + (size_t)s->lstm.hidden * values, values * sizeof *probability);
    dense_forward((size_t)s->lstm.hidden, values, output, after, probability);
    softmax(values, allowed, probability);
    return after;
}

double sequence_gradient(struct sequence *s, const int *choice, const bool *allowed, double praise,
                         double entropy)
{
    double loss = 0, *p = s->probability;
    for (int t = 0; t < s->steps; t++) {
        size_t values = values_of(s, t);
        sequence_step(s, t, t ? choice[t - 1] : 0, row(s, t), allowed, p);
        loss -= praise * log(p[choice[t]]) + entropy * choice_entropy(values, p);
        allowed += values;
        p += values;
    }
    size_t hidden = (size_t)s->lstm.hidden;
    struct lstm_gradient by = {
        .h = s->scratch, .c = s->scratch + hidden, .by_gates = s->scratch + 2 * hidden};
    double *dlogit = s->scratch + 6 * hidden;
    memset(s->scratch, 0, 2 * hidden * sizeof *s->scratch);
    for (int t = s->steps - 1; t >= 0; t--) {
        size_t values = values_of(s, t);
        p -= values;
        // The derivative by pi(a) is the usual one of a softmax; that of the entropy H is dH/dz_i =
        // -p_i (log p_i + H).
        double h = choice_entropy(values, p);
        for (size_t i = 0; i < values; i++)
            dlogit[i] = praise * p[i] + entropy * (p[i] * log_or_0(p[i]) + p[i] * h);
        dlogit[choice[t]] -= praise;
        size_t at = s->at_output[t], x = input(s, t, t ? choice[t - 1] : 0);
        const struct lstm_step step = {s->weight + x, row(s, t), row(s, t + 1)};
        dense_gradient(hidden, values, step.after, dlogit, s->gradient + at);
        for (size_t i = 0; i < values; i++)
            s->gradient[at + hidden * values + i] += dlogit[i];
        dense_backward(hidden, values, s->weight + at, dlogit, by.h);
        by.x = s->gradient + x;
        by.w = s->gradient + s->at_lstm;
        lstm_backward(&s->lstm, s->weight + s->at_lstm, &step, &by);
    }
    return loss;
}

// --- REINFORCE ---

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
