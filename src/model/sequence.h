// A policy over sequences of decisions: an LSTM that is fed its own choices (Zoph, Le 2016).
//
//     struct sequence s;
//     sequence_init(&s, steps, values, embedding, hidden); // decision t has values[t] values
//     sequence_randomise(&s, 0.08, &rng);
//     for (int t = 0; t < steps; t++)                      // to draw one
//         state = sequence_step(&s, t, t ? choice[t - 1] : 0, state, allowed, probability);
//     sequence_gradient(&s, choice, allowed, ...);         // to learn from one
//     sequence_finish(&s);
//
// Decision t reads the embedding of the choice before it (the first one a start token), and has an
// output layer of its own: logits = U_t h + b_t, of which only the allowed ones enter the softmax;
// the others have probability 0. What is allowed may depend on the choices before.
//
// All weights are one array, their gradient another of the same shape: start token, embeddings,
// the LSTM, output layers. The struct has room for one pass: one thread.
#ifndef TILEWALK_MODEL_SEQUENCE_H
#define TILEWALK_MODEL_SEQUENCE_H

#include "base/rng.h"
#include "model/lstm.h"

#include <stdbool.h>

struct sequence {
    int steps;
    const int *values; // the caller's, outlives the sequence; each >= 1
    struct lstm lstm;  // inputs = width of the embedding

    size_t weights;
    double *weight, *gradient;
    size_t at_lstm;
    size_t *at_embedding; // of decision t: values[t] rows of lstm.inputs
    size_t *at_output;    // of decision t: lstm.hidden + 1 rows of values[t], the last one b_t

    double *row;         // steps + 1 states, the first of them zeros
    double *probability; // of all values of all decisions, one after the other
    double *scratch;
};

void sequence_init(struct sequence *s, int steps, const int *values, int embedding, int hidden);
void sequence_finish(struct sequence *s);
// All weights uniform in [-range, range), then 1 more on the biases of the forget gate.
void sequence_randomise(struct sequence *s, double range, struct rng *r);

size_t sequence_state(const struct sequence *s); // numbers of one state: h and c

// Decision t after `choice` (ignored for t = 0) in state `before` (NULL for t = 0): the probability
// of each of its values, of which at least one is allowed. The result is the state after, which is
// that of `s` until its next step t or gradient.
const double *sequence_step(struct sequence *s, int t, int choice, const double *before,
                            const bool *allowed, double *probability);

// A loss of one sequence: -praise * log of its probability - entropy * the sum over its decisions
// of their entropy. `allowed` holds the values of all decisions, one after the other. Adds to
// s->gradient, and returns the loss.
double sequence_gradient(struct sequence *s, const int *choice, const bool *allowed, double praise,
                         double entropy);

#endif
