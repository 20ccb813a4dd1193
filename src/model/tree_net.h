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
#ifndef TILEWALK_MODEL_TREE_NET_H
#define TILEWALK_MODEL_TREE_NET_H

#include "base/rng.h"

#include <stddef.h>

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
