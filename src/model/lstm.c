#include "model/lstm.h"

#include "model/dense.h"

#include <math.h>
#include <string.h>

size_t lstm_weights(const struct lstm *l)
{
    return (size_t)(l->inputs + l->hidden + 1) * 4 * (size_t)l->hidden;
}

size_t lstm_bias_forget(const struct lstm *l)
{
    return lstm_weights(l) - 3 * (size_t)l->hidden;
}

size_t lstm_row(const struct lstm *l)
{
    return 7 * (size_t)l->hidden;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
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
        gate[k] = sigmoid(gate[k]);
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
