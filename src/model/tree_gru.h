// AutoTVM's neural cost model (Chen et al., NeurIPS 2018): a network over the loop tree of a
// program, in which every loop is described by its context (FEATURES_TREE).
//
//     struct tree_gru *t = tree_gru_fit(&options, &rows, &stop, e);
//     tree_gru_predict(t, x, first, 128, score);
//     tree_gru_destroy(t);
//
// The network is tree_net.h's. The published one has states of 128 and an embedding of 128 before
// them; here contexts go into the gates directly (a linear layer before a linear layer says no
// more), and a state of 32 and as many epochs as make 25 000 programs (but 10 to 200) are what a
// search can wait for: two seconds with 20 loops a program. Columns are brought to mean 0 and
// deviation 1 first. Adam at 3e-3, in batches of 32 programs drawn anew in every epoch (a few
// hundred programs are too few steps at the usual 64 and 1e-3); the loss is, of each batch, the
// mean of
//
//     squared   (f - y)^2
//     rank      log(1 + exp(f_worse - f_better)), over all pairs with different labels
//
// The same rows, options and seed give the same model.
#ifndef TILEWALK_MODEL_TREE_GRU_H
#define TILEWALK_MODEL_TREE_GRU_H

#include "base/rng.h"
#include "model/booster.h"

#include <stdbool.h>
#include <stddef.h>

struct tree_gru_options {
    bool rank;
    int hidden, epochs, batch; // 0: 32, as said above, 32
    double rate;               // 0: 3e-3
    uint64_t seed;
};

struct tree_gru;

// `r` has the rows of FEATURES_TREE, and at least one program. `first` is set, `x` begins with row
// first[0]; `margin` is where the score of each program begins, NULL: at 0. NULL: `stop` (may be
// NULL) became true, `e` says so.
struct tree_gru *tree_gru_fit(const struct tree_gru_options *o, const struct booster_rows *r,
                              const atomic_bool *stop, struct err *e);
void tree_gru_destroy(struct tree_gru *t); // NULL is fine

// Scores of `programs`; larger is faster. `x` begins with the rows of the first one, which are
// first[1] - first[0], and so on. Margins are not part of the score: a caller that fitted with
// margins adds those of these programs.
void tree_gru_predict(const struct tree_gru *t, const float *x, const int *first, int programs,
                      float *out);
size_t tree_gru_bytes(const struct tree_gru *t);

// The loss of a batch and its derivative by each score. (For the gradient's test, too.)
double tree_gru_loss(bool rank, int count, const double *score, const float *y, double *by_score);

// A gated recurrent network over trees, from the leaves to the root, in double precision, with the
// backward step by hand: child-sum units as in Tai, Socher, Manning 2015, with the gates of Cho
// 2014.
//
//     struct tree_net n;
//     tree_net_init(&n, inputs, hidden, &rng);
//     double *state = mem_zero(nodes * tree_net_state(&n), sizeof *state);
//     double score = tree_net_forward(&n, nodes, parent, x, state);
//     tree_net_backward(&n, nodes, parent, x, state, by_score);    // adds to n.gradient
//     tree_net_finish(&n);
//
// Of a node with context x and children k, whose states are h_k:
//
//     h' = sum of h_k                       z = sigmoid(Wz x + Uz h')
//     r_k = sigmoid(Wr x + Ur h_k)          n = tanh(Wn x + sum of r_k (Un h_k))
//     h = (1 - z) n + z h'                  score = w h_root + c
//
// with biases beside Wz, Wr, Wn. Node 0 is the root, and every node stands behind its parent. The
// state of a node is the caller's memory: forward fills it, backward needs it as forward left it.
// Plain loops in a fixed order; any number of threads may go forward at once.

struct tree_net {
    size_t inputs, hidden;
    size_t count; // of all weights, matrices a row for each input: W (z, r, n side by side), its
                  // biases, Uz, U (r, n side by side), w, c
    double *weight, *gradient;
};

// Weights uniform in +-1/sqrt(inputs of the layer), biases 0.
void tree_net_init(struct tree_net *n, size_t inputs, size_t hidden, struct rng *r);
void tree_net_finish(struct tree_net *n);

size_t tree_net_state(const struct tree_net *n); // numbers for each node

// `x`: `inputs` numbers for each node. `parent`: of each, -1 for the first. nodes >= 1.
double tree_net_forward(const struct tree_net *n, int nodes, const int *parent, const double *x,
                        double *state);
void tree_net_backward(struct tree_net *n, int nodes, const int *parent, const double *x,
                       double *state, double by_score);

#endif
