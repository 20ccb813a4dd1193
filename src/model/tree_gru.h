// AutoTVM's neural cost model (Chen et al., NeurIPS 2018): a network over the loop tree of a
// program, with the context of every loop as input (FEATURES_TREE).
//
//     struct tree_gru *t = tree_gru_fit(&options, &rows, &stop, e);
//     tree_gru_predict(t, x, first, 128, score);
//     tree_gru_destroy(t);
//
// The published network has states of 128 and an embedding of 128 before them. Here contexts go
// into the gates directly (a linear layer before a linear layer adds nothing). A state of 32 and 25
// 000 programs in 10 to 200 epochs take two seconds with 20 loops per program, which is short
// enough for a search. Columns are brought to mean 0 and deviation 1 first. Adam learns at 3e-3, in
// batches of 32 programs drawn anew in every epoch (with a few hundred programs the usual 64 and
// 1e-3 make too few steps). The loss of a batch is the mean of
//
//     squared   (f - y)^2
//     rank      log(1 + exp(f_worse - f_better)), over all pairs with different labels
//
// The same rows, options and seed give the same model.
#ifndef TILEWALK_MODEL_TREE_GRU_H
#define TILEWALK_MODEL_TREE_GRU_H

#include "base/rng.h"
#include "model/trees.h"

#include <stdbool.h>
#include <stddef.h>

struct tree_gru_options {
    bool rank;
    int hidden, epochs, batch; // 0: 32, as above, 32
    double rate;               // 0: 3e-3
    uint64_t seed;
};

struct tree_gru;

// `r` has the rows of FEATURES_TREE, and at least one program. `first` is set, `x` begins with row
// first[0]; `margin` is the score that each program starts from, NULL: 0. Returns NULL if `stop`
// (may be NULL) became true.
struct tree_gru *tree_gru_fit(const struct tree_gru_options *o, const struct booster_rows *r,
                              const atomic_bool *stop, struct err *e);
void tree_gru_destroy(struct tree_gru *t); // NULL is fine

// Scores programs; larger is faster. `x` begins with the first[1] - first[0] rows of the first one,
// and so on. Margins are not part of the score: the caller adds them.
void tree_gru_predict(const struct tree_gru *t, const float *x, const int *first, int programs,
                      float *out);
size_t tree_gru_bytes(const struct tree_gru *t);

// Computes the loss of a batch and its derivative by each score.
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
// For a node with context x and children k, whose states are h_k:
//
//     h' = sum of h_k                       z = sigmoid(Wz x + Uz h')
//     r_k = sigmoid(Wr x + Ur h_k)          n = tanh(Wn x + sum of r_k (Un h_k))
//     h = (1 - z) n + z h'                  score = w h_root + c
//
// with biases beside Wz, Wr, Wn. Node 0 is the root, and every node comes after its parent. The
// state of a node is the caller's memory: forward fills it, backward needs it unchanged. Any number
// of threads may go forward at once.

struct tree_net {
    size_t inputs, hidden;
    size_t
        count; // number of all weights: W (z, r, n side by side), its biases, Uz, U (r, n side by
               // side), w, c; matrices have a row for each input
    double *weight, *gradient;
};

// The first weights are uniform in +-1/sqrt(inputs of the layer), biases 0.
void tree_net_init(struct tree_net *n, size_t inputs, size_t hidden, struct rng *r);
void tree_net_finish(struct tree_net *n);

size_t tree_net_state(const struct tree_net *n); // numbers for each node

// `x` has `inputs` numbers for each node, `parent` the parent of each, -1 for the first. nodes >=
// 1.
double tree_net_forward(const struct tree_net *n, int nodes, const int *parent, const double *x,
                        double *state);
void tree_net_backward(struct tree_net *n, int nodes, const int *parent, const double *x,
                       double *state, double by_score);

#endif
