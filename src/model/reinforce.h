// REINFORCE (Williams 1992) with a moving baseline, an entropy bonus and Adam: a policy over
// sequences learns from rewards.
//
//     struct reinforce r;
//     reinforce_init(&r, steps, values, &settings, seed);
//     ...draw sequences from r.policy (sequence_step), get the reward of each...
//     reinforce_update(&r, count, samples);
//     reinforce_finish(&r);
//
// An update climbs the mean over samples of [log pi(sample) (R - b)] + entropy * the mean over all
// their decisions of H. The baseline b is the mean reward of the first batch, later the moving
// average over the batches before, so that no reward counts against itself. Rewards are about 0 to
// 1.
#ifndef TILEWALK_MODEL_REINFORCE_H
#define TILEWALK_MODEL_REINFORCE_H

#include "base/rng.h"
#include "model/neural.h"

#include <stdbool.h>
#include <stddef.h>

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
// The weights have inputs + hidden + 1 rows (each input, each of h, the bias) of 4 hidden numbers:
// those of i, f, o, g. A state is a row of 7 hidden numbers: h and c, which the next step needs,
// then the gates and tanh(c), which only the backward step reads. All memory is the caller's; row 0
// is zeros.

struct lstm {
    int inputs, hidden;
};

size_t lstm_weights(const struct lstm *l);

// Computes the state `after` (a whole row) from `before` (h and c) and the input x.
void lstm_forward(const struct lstm *l, const double *w, const double *x, const double *before,
                  double *after);

// Input, state and result of one lstm_forward.
struct lstm_step {
    const double *x, *before, *after;
};

// The derivatives of a loss, with scratch memory.
struct lstm_gradient {
    double *h, *c;    // by those of `after`; lstm_backward turns them into those by `before`
    double *x, *w;    // lstm_backward adds to them
    double *by_gates; // 4 hidden, scratch
};

void lstm_backward(const struct lstm *l, const double *w, const struct lstm_step *step,
                   const struct lstm_gradient *by);

// A policy over sequences of decisions: an LSTM whose inputs are its own choices (Zoph, Le 2016).
//
//     struct sequence s;
//     sequence_init(&s, steps, values, embedding, hidden); // decision t has values[t] values
//     sequence_randomise(&s, 0.08, &rng);
//     for (int t = 0; t < steps; t++)                      // to draw one
//         state = sequence_step(&s, t, t ? choice[t - 1] : 0, state, allowed, probability);
//     sequence_gradient(&s, choice, allowed, ...);         // to learn from one
//     sequence_finish(&s);
//
// The input of decision t is the embedding of the choice before it (of a start token for the first
// one). Each decision has its own output layer: logits = U_t h + b_t. Only the allowed ones enter
// the softmax; the others have probability 0. The allowed ones may depend on the choices before.
//
// All weights are one array, their gradient another of the same shape: start token, embeddings, the
// LSTM, output layers. The struct has memory for one pass: one thread.

struct sequence {
    int steps;
    const int *values; // [steps], each >= 1; outlives the sequence
    struct lstm lstm;  // its inputs are the width of the embedding

    size_t weights;
    double *weight, *gradient;
    size_t at_lstm;
    size_t *at_embedding; // for decision t values[t] rows of lstm.inputs
    size_t *at_output;    // for decision t lstm.hidden + 1 rows of values[t], the last one b_t

    double *row;         // steps + 1 states, the first of them zeros
    double *probability; // of all values of all decisions, one after the other
    double *scratch;
};

void sequence_init(struct sequence *s, int steps, const int *values, int embedding, int hidden);
void sequence_finish(struct sequence *s);
// Draws all weights uniformly in [-range, range), then adds 1 to the biases of the forget gate.
void sequence_randomise(struct sequence *s, double range, struct rng *r);

size_t sequence_state(const struct sequence *s); // numbers of one state: h and c

// Computes the probabilities of the values of decision t, after `choice` (ignored for t = 0) in the
// state `before` (NULL for t = 0). At least one value is allowed. Returns the state after it, which
// is valid until the next step t or gradient.
const double *sequence_step(struct sequence *s, int t, int choice, const double *before,
                            const bool *allowed, double *probability);

// Computes a loss of one sequence: -praise * the logarithm of its probability - entropy * the sum
// of the entropies of its decisions. `allowed` has the values of all decisions, one after the
// other. Adds to s->gradient, and returns the loss.
double sequence_gradient(struct sequence *s, const int *choice, const bool *allowed, double praise,
                         double entropy);

struct reinforce_settings {
    int hidden, embedding;
    double rate, range;    // learning rate of Adam; range of the first weights
    double decay, entropy; // decay of the baseline; weight of the entropy bonus
    double clip;           // norm of the longest gradient
};

struct reinforce {
    struct reinforce_settings settings;
    struct sequence policy;
    struct adam adam;
    bool started; // true: the baseline is set
    double baseline;
};

struct reinforce_sample {
    const int *choice;   // of every decision
    const bool *allowed; // of all decisions, one after the other
    double reward;
    int times; // how often it was drawn, >= 1
};

// `values` outlives `r`.
void reinforce_init(struct reinforce *r, int steps, const int *values,
                    const struct reinforce_settings *settings, uint64_t seed);
void reinforce_finish(struct reinforce *r);
void reinforce_update(struct reinforce *r, int count, const struct reinforce_sample *sample);

#endif
