#include "model/sequence.h"

#include "base/mem.h"
#include "model/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t hidden_of(const struct sequence *s)
{
    return (size_t)s->lstm.hidden;
}

static size_t values_of(const struct sequence *s, int t)
{
    return (size_t)s->values[t];
}

static void lay_out(struct sequence *s)
{
    size_t inputs = (size_t)s->lstm.inputs, at = inputs; // behind the start token
    for (int t = 0; t < s->steps; t++) {
        s->at_embedding[t] = at;
        at += values_of(s, t) * inputs;
    }
    s->at_lstm = at;
    at += lstm_weights(&s->lstm);
    for (int t = 0; t < s->steps; t++) {
        s->at_output[t] = at;
        at += (hidden_of(s) + 1) * values_of(s, t);
    }
    s->weights = at;
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
    lay_out(s);
    s->weight = mem_zero(s->weights, sizeof *s->weight);
    s->gradient = mem_zero(s->weights, sizeof *s->gradient);
    s->row = mem_zero((size_t)(steps + 1) * lstm_row(&s->lstm), sizeof *s->row);
    size_t all = 0, widest = 0;
    for (int t = 0; t < steps; t++) {
        all += values_of(s, t);
        widest = values_of(s, t) > widest ? values_of(s, t) : widest;
    }
    s->probability = mem_zero(all, sizeof *s->probability);
    s->scratch = mem_zero(6 * hidden_of(s) + widest, sizeof *s->scratch);
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
    for (size_t i = 0; i < s->weights; i++)
        s->weight[i] = range * (2 * rng_real(r) - 1);
    for (size_t k = 0; k < hidden_of(s); k++)
        s->weight[s->at_lstm + lstm_bias_forget(&s->lstm) + k] += 1;
}

size_t sequence_state(const struct sequence *s)
{
    return 2 * hidden_of(s);
}

// Where among the weights the input of decision t is.
static size_t input(const struct sequence *s, int t, int choice)
{
    return t == 0 ? 0 : s->at_embedding[t - 1] + (size_t)choice * (size_t)s->lstm.inputs;
}

static double *row(const struct sequence *s, int t)
{
    return s->row + (size_t)t * lstm_row(&s->lstm);
}

// Logits to probabilities, in place.
static void softmax(size_t n, const bool *allowed, double *p)
{
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++)
        if (allowed[i] && p[i] > most)
            most = p[i];
    for (size_t i = 0; i < n; i++)
        sum += p[i] = allowed[i] ? exp(p[i] - most) : 0;
    for (size_t i = 0; i < n; i++)
        p[i] /= sum;
}

const double *sequence_step(struct sequence *s, int t, int choice, const double *before,
                            const bool *allowed, double *probability)
{
    size_t values = values_of(s, t);
    const double *output = s->weight + s->at_output[t];
    double *after = row(s, t + 1);
    lstm_forward(&s->lstm, s->weight + s->at_lstm, s->weight + input(s, t, choice),
                 before ? before : row(s, 0), after);
    memcpy(probability, output + hidden_of(s) * values, values * sizeof *probability);
    dense_forward(hidden_of(s), values, output, after, probability);
    softmax(values, allowed, probability);
    return after;
}

// p log p, which is 0 for what is not allowed or has become impossible.
static double p_log_p(double p)
{
    return p > 0 ? p * log(p) : 0;
}

static double entropy_of(size_t n, const double *p)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum -= p_log_p(p[i]);
    return sum;
}

// The loss by the logits of one decision; the loss by pi(a) is the usual one of a softmax, and the
// entropy H has dH/dz_i = -p_i (log p_i + H).
static void by_logits(size_t n, const double *p, int choice, double praise, double entropy,
                      double *out)
{
    double h = entropy_of(n, p);
    for (size_t i = 0; i < n; i++)
        out[i] = praise * p[i] + entropy * (p_log_p(p[i]) + p[i] * h);
    out[choice] -= praise;
}

// Fills rows and probabilities; returns the loss.
static double forward(struct sequence *s, const int *choice, const bool *allowed, double praise,
                      double entropy)
{
    double loss = 0, *p = s->probability;
    for (int t = 0; t < s->steps; t++) {
        size_t values = values_of(s, t);
        sequence_step(s, t, t ? choice[t - 1] : 0, row(s, t), allowed, p);
        loss -= praise * log(p[choice[t]]) + entropy * entropy_of(values, p);
        allowed += values;
        p += values;
    }
    return loss;
}

// Of decision t, given the loss by the state behind it, which becomes that before it.
static void backward(struct sequence *s, int t, const int *choice, const double *dlogit,
                     struct lstm_gradient *by)
{
    size_t hidden = hidden_of(s), values = values_of(s, t), at = s->at_output[t];
    dense_gradient(hidden, values, row(s, t + 1), dlogit, s->gradient + at);
    for (size_t i = 0; i < values; i++)
        s->gradient[at + hidden * values + i] += dlogit[i];
    dense_backward(hidden, values, s->weight + at, dlogit, by->h);

    size_t x = input(s, t, t ? choice[t - 1] : 0);
    by->x = s->gradient + x;
    by->w = s->gradient + s->at_lstm;
    lstm_backward(&s->lstm, s->weight + s->at_lstm,
                  &(struct lstm_step){s->weight + x, row(s, t), row(s, t + 1)}, by);
}

double sequence_gradient(struct sequence *s, const int *choice, const bool *allowed, double praise,
                         double entropy)
{
    double loss = forward(s, choice, allowed, praise, entropy);
    size_t hidden = hidden_of(s);
    struct lstm_gradient by = {
        .h = s->scratch, .c = s->scratch + hidden, .by_gates = s->scratch + 2 * hidden};
    double *dlogit = s->scratch + 6 * hidden;
    memset(s->scratch, 0, 2 * hidden * sizeof *s->scratch);
    const double *p = s->probability;
    for (int t = 0; t < s->steps; t++)
        p += s->values[t];
    for (int t = s->steps - 1; t >= 0; t--) {
        p -= s->values[t];
        by_logits(values_of(s, t), p, choice[t], praise, entropy, dlogit);
        backward(s, t, choice, dlogit, &by);
    }
    return loss;
}
