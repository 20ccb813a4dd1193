#include "model/tree_net.h"

#include "base/mem.h"
#include "model/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Where each layer's weights begin.
struct layers {
    size_t context, bias, update, children, score, constant, end;
};

static struct layers layers_of(const struct tree_net *n)
{
    size_t h = n->hidden;
    struct layers l = {.bias = n->inputs * 3 * h};
    l.update = l.bias + 3 * h;
    l.children = l.update + h * h;
    l.score = l.children + h * 2 * h;
    l.constant = l.score + h;
    l.end = l.constant + 1;
    return l;
}

// A node's state: what forward computes, then the loss by some of it.
struct node {
    double *gate;          // z, r, n before they are squashed; r without its child's part
    double *sum;           // h'
    double *z, *n, *h;     //
    double *child;         // Ur h, Un h, for the parent
    double *by_gate;       // 3
    double *by_sum, *by_h; //
    double *by_child;      // 2
};
enum { NODE_ROWS = 3 + 1 + 3 + 2 + 3 + 2 + 2 };

static struct node node_at(const struct tree_net *n, double *state, int index)
{
    size_t h = n->hidden;
    double *at = state + (size_t)index * NODE_ROWS * h;
    return (struct node){.gate = at,
                         .sum = at + 3 * h,
                         .z = at + 4 * h,
                         .n = at + 5 * h,
                         .h = at + 6 * h,
                         .child = at + 7 * h,
                         .by_gate = at + 9 * h,
                         .by_sum = at + 12 * h,
                         .by_h = at + 13 * h,
                         .by_child = at + 14 * h};
}

size_t tree_net_state(const struct tree_net *n)
{
    return NODE_ROWS * n->hidden;
}

static void draw(double *w, size_t count, size_t inputs, struct rng *r)
{
    double range = 1 / sqrt((double)inputs);
    for (size_t i = 0; i < count; i++)
        w[i] = range * (2 * rng_real(r) - 1);
}

void tree_net_init(struct tree_net *n, size_t inputs, size_t hidden, struct rng *r)
{
    *n = (struct tree_net){.inputs = inputs, .hidden = hidden};
    struct layers l = layers_of(n);
    n->count = l.end;
    n->weight = mem_zero(n->count, sizeof *n->weight);
    n->gradient = mem_zero(n->count, sizeof *n->gradient);
    draw(n->weight, l.bias, inputs, r);
    draw(n->weight + l.update, l.constant - l.update, hidden, r);
}

void tree_net_finish(struct tree_net *n)
{
    free(n->weight);
    free(n->gradient);
    *n = (struct tree_net){0};
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

// How much of a child's Un h counts, unit i.
static double openness(const struct node *parent, const struct node *child, size_t hidden, size_t i)
{
    return sigmoid(parent->gate[hidden + i] + child->child[i]);
}

double tree_net_forward(const struct tree_net *n, int nodes, const int *parent, const double *x,
                        double *state)
{
    struct layers l = layers_of(n);
    size_t h = n->hidden;
    for (int i = 0; i < nodes; i++) {
        struct node node = node_at(n, state, i);
        memcpy(node.gate, n->weight + l.bias, 3 * h * sizeof *node.gate);
        dense_forward(n->inputs, 3 * h, n->weight, x + (size_t)i * n->inputs, node.gate);
        memset(node.sum, 0, h * sizeof *node.sum);
    }
    for (int i = nodes - 1; i >= 0; i--) {
        struct node node = node_at(n, state, i);
        dense_forward(h, h, n->weight + l.update, node.sum, node.gate);
        for (size_t k = 0; k < h; k++) {
            node.z[k] = sigmoid(node.gate[k]);
            node.n[k] = tanh(node.gate[2 * h + k]);
            node.h[k] = (1 - node.z[k]) * node.n[k] + node.z[k] * node.sum[k];
        }
        if (i == 0)
            break;
        struct node above = node_at(n, state, parent[i]);
        memset(node.child, 0, 2 * h * sizeof *node.child);
        dense_forward(h, 2 * h, n->weight + l.children, node.h, node.child);
        for (size_t k = 0; k < h; k++) {
            above.sum[k] += node.h[k];
            above.gate[2 * h + k] += openness(&above, &node, h, k) * node.child[h + k];
        }
    }
    const double *root = node_at(n, state, 0).h, *w = n->weight + l.score;
    double score = n->weight[l.constant];
    for (size_t k = 0; k < h; k++)
        score += w[k] * root[k];
    return score;
}

// The loss by a node's h, from what is known of its parent.
static void come_from_parent(struct tree_net *n, const struct layers *l, const struct node *node,
                             const struct node *above)
{
    size_t h = n->hidden;
    for (size_t k = 0; k < h; k++) {
        double r = openness(above, node, h, k), by_n = above->by_gate[2 * h + k];
        double by_r = by_n * node->child[h + k] * r * (1 - r);
        node->by_child[k] = by_r;
        node->by_child[h + k] = by_n * r;
        above->by_gate[h + k] += by_r;
        node->by_h[k] = above->by_sum[k];
    }
    dense_backward(h, 2 * h, n->weight + l->children, node->by_child, node->by_h);
    dense_gradient(h, 2 * h, node->h, node->by_child, n->gradient + l->children);
}

static void go_through(struct tree_net *n, const struct layers *l, const struct node *node)
{
    size_t h = n->hidden;
    for (size_t k = 0; k < h; k++) {
        double z = node->z[k], by_h = node->by_h[k];
        node->by_gate[k] = by_h * (node->sum[k] - node->n[k]) * z * (1 - z);
        node->by_gate[h + k] = 0; // the children add to it
        node->by_gate[2 * h + k] = by_h * (1 - z) * (1 - node->n[k] * node->n[k]);
        node->by_sum[k] = by_h * z;
    }
    dense_backward(h, h, n->weight + l->update, node->by_gate, node->by_sum);
    dense_gradient(h, h, node->sum, node->by_gate, n->gradient + l->update);
}

void tree_net_backward(struct tree_net *n, int nodes, const int *parent, const double *x,
                       double *state, double by_score)
{
    struct layers l = layers_of(n);
    size_t h = n->hidden;
    struct node root = node_at(n, state, 0);
    for (size_t k = 0; k < h; k++) {
        root.by_h[k] = by_score * n->weight[l.score + k];
        n->gradient[l.score + k] += by_score * root.h[k];
    }
    n->gradient[l.constant] += by_score;
    for (int i = 0; i < nodes; i++) {
        struct node node = node_at(n, state, i);
        if (i > 0) {
            struct node above = node_at(n, state, parent[i]);
            come_from_parent(n, &l, &node, &above);
        }
        go_through(n, &l, &node);
    }
    for (int i = 0; i < nodes; i++) {
        struct node node = node_at(n, state, i);
        dense_gradient(n->inputs, 3 * h, x + (size_t)i * n->inputs, node.by_gate, n->gradient);
        for (size_t k = 0; k < 3 * h; k++)
            n->gradient[l.bias + k] += node.by_gate[k];
    }
}
