// One layer of long short-term memory (Hochreiter, Schmidhuber 1997; forget gate of Gers 2000), in
// double precision, with the backward step by hand.
//
//     struct lstm l = {.inputs = 32, .hidden = 64};
//     double *w = ...lstm_weights(&l) doubles...
//     lstm_forward(&l, w, x, row[t], row[t + 1]);              // for each t
//     lstm_backward(&l, w, &step, &gradient);                  // for each t, last first
//
//     i, f, o = sigmoid, g = tanh of Wx x + Wh h + b;   c' = f c + i g;   h' = o tanh(c')
//
// Weights are inputs + hidden + 1 rows (each input, each of h, the bias) of 4 hidden numbers: those
// of i, f, o, g. A row of state is lstm_row numbers: h, c (these two are all that the next step
// needs), then the gates and tanh(c), which only the backward step reads. All memory is the
// caller's; row 0 is zeros.
#ifndef TILEWALK_MODEL_LSTM_H
#define TILEWALK_MODEL_LSTM_H

#include <stddef.h>

struct lstm {
    int inputs, hidden;
};

size_t lstm_weights(const struct lstm *l);
size_t lstm_bias_forget(const struct lstm *l); // where the `hidden` biases of the forget gate begin
size_t lstm_row(const struct lstm *l);         // 7 hidden; of these h and c are the first 2 hidden

// From the state `before` (h and c) to `after` (a whole row) under input x.
void lstm_forward(const struct lstm *l, const double *w, const double *x, const double *before,
                  double *after);

// What one lstm_forward was given and what it made.
struct lstm_step {
    const double *x, *before, *after;
};

// The derivatives of a loss, and room to compute them.
struct lstm_gradient {
    double *h, *c;    // by those of `after`; lstm_backward makes them those by `before`
    double *x, *w;    // lstm_backward adds to them
    double *by_gates; // 4 hidden, of no meaning between two calls
};

void lstm_backward(const struct lstm *l, const double *w, const struct lstm_step *step,
                   const struct lstm_gradient *by);

#endif
