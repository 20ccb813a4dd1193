#include "model/tree_gru.h"

#include "base/mem.h"
#include "model/neural.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Offsets of the layers' weights.
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

// The state of a node: the results of forward, then the derivatives of the loss by some of them.
struct node {
    double *gate;          // z, r, n before sigmoid and tanh; r without the part of the child
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

void tree_net_init(struct tree_net *n, size_t inputs, size_t hidden, struct rng *r)
{
    *n = (struct tree_net){.inputs = inputs, .hidden = hidden};
    struct layers l = layers_of(n);
    n->count = l.end;
    n->weight = mem_zero(n->count, sizeof *n->weight);
    n->gradient = mem_zero(n->count, sizeof *n->gradient);
    weights_draw(n->weight, l.bias, 1 / sqrt((double)inputs), r);
    weights_draw(n->weight + l.update, l.constant - l.update, 1 / sqrt((double)hidden), r);
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

// Returns r_k of unit i: the share of a child's Un h that counts.
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
        if (i > 0) { // the derivative by h, from those of the parent
            struct node above = node_at(n, state, parent[i]);
            for (size_t k = 0; k < h; k++) {
                double r = openness(&above, &node, h, k), by_n = above.by_gate[2 * h + k];
                double by_r = by_n * node.child[h + k] * r * (1 - r);
                node.by_child[k] = by_r;
                node.by_child[h + k] = by_n * r;
                above.by_gate[h + k] += by_r;
                node.by_h[k] = above.by_sum[k];
            }
            dense_backward(h, 2 * h, n->weight + l.children, node.by_child, node.by_h);
            dense_gradient(h, 2 * h, node.h, node.by_child, n->gradient + l.children);
        }
        for (size_t k = 0; k < h; k++) {
            double z = node.z[k], by_h = node.by_h[k];
            node.by_gate[k] = by_h * (node.sum[k] - node.n[k]) * z * (1 - z);
            node.by_gate[h + k] = 0; // the children add to it
            node.by_gate[2 * h + k] = by_h * (1 - z) * (1 - node.n[k] * node.n[k]);
            node.by_sum[k] = by_h * z;
        }
        dense_backward(h, h, n->weight + l.update, node.by_gate, node.by_sum);
        dense_gradient(h, h, node.sum, node.by_gate, n->gradient + l.update);
    }
    for (int i = 0; i < nodes; i++) {
        struct node node = node_at(n, state, i);
        dense_gradient(n->inputs, 3 * h, x + (size_t)i * n->inputs, node.by_gate, n->gradient);
        for (size_t k = 0; k < 3 * h; k++)
            n->gradient[l.bias + k] += node.by_gate[k];
    }
}

// --- scores of programs ---

struct tree_gru {
    struct tree_net net;
    double *mean, *scale; // of each column: x becomes (x - mean) * scale
};

// Memory for the nodes of several programs.
struct nodes {
    int *parent;
    double *x, *state;
};

static struct nodes nodes_create(const struct tree_gru *t, int nodes)
{
    size_t count = (size_t)nodes;
    return (struct nodes){.parent = mem_zero(count, sizeof(int)),
                          .x = mem_zero(count * t->net.inputs, sizeof(double)),
                          .state = mem_zero(count * tree_net_state(&t->net), sizeof(double))};
}

static void nodes_destroy(struct nodes *f)
{
    free(f->parent);
    free(f->x);
    free(f->state);
}

// Returns the part of the memory from node `from` on.
static struct nodes nodes_at(const struct nodes *f, const struct tree_gru *t, int from)
{
    return (struct nodes){.parent = f->parent + from,
                          .x = f->x + (size_t)from * t->net.inputs,
                          .state = f->state + (size_t)from * tree_net_state(&t->net)};
}

// Scores a program. Each of its rows is the parent, then the context.
static double score_of(const struct tree_gru *t, const float *rows, int nodes,
                       const struct nodes *f)
{
    double *x = f->x;
    if (nodes == 0)
        return 0;
    for (int i = 0; i < nodes; i++) {
        f->parent[i] = (int)*rows++;
        for (size_t j = 0; j < t->net.inputs; j++)
            *x++ = (*rows++ - t->mean[j]) * t->scale[j];
    }
    return tree_net_forward(&t->net, nodes, f->parent, f->x, f->state);
}

void tree_gru_predict(const struct tree_gru *t, const float *x, const int *first, int programs,
                      float *out)
{
    int most = 0;
    for (int i = 0; i < programs; i++)
        most = first[i + 1] - first[i] > most ? first[i + 1] - first[i] : most;
    struct nodes tree = nodes_create(t, most);
    for (int i = 0; i < programs; i++)
        out[i] = (float)score_of(t, x + (size_t)(first[i] - first[0]) * (t->net.inputs + 1),
                                 first[i + 1] - first[i], &tree);
    nodes_destroy(&tree);
}

double tree_gru_loss(bool rank, int count, const double *score, const float *y, double *by_score)
{
    double loss = 0;
    int pairs = 0;
    memset(by_score, 0, (size_t)count * sizeof *by_score);
    for (int i = 0; i < count && !rank; i++) {
        double error = score[i] - y[i];
        loss += error * error / count;
        by_score[i] = 2 * error / count;
    }
    for (int i = 0; i < count && rank; i++)
        for (int j = 0; j < count; j++) {
            if (y[i] <= y[j])
                continue;
            double wrong = score[j] - score[i]; // i is the better one
            double share = 1 / (1 + exp(-wrong));
            loss += wrong > 0 ? wrong + log1p(exp(-wrong)) : log1p(exp(wrong));
            by_score[i] -= share;
            by_score[j] += share;
            pairs++;
        }
    for (int i = 0; i < count && pairs > 0; i++)
        by_score[i] /= pairs;
    return pairs > 0 ? loss / pairs : loss;
}

struct fit {
    struct tree_gru *model;
    const struct booster_rows *rows;
    struct tree_gru_options options;
    struct adam adam;
    struct rng rng;
    struct nodes nodes; // nodes of a batch
    int *order;         // the programs, shuffled
    double *score, *by_score;
    float *y;
};

void tree_gru_destroy(struct tree_gru *t)
{
    if (!t)
        return;
    tree_net_finish(&t->net);
    free(t->mean);
    free(t->scale);
    free(t);
}

size_t tree_gru_bytes(const struct tree_gru *t)
{
    return (t->net.count + 2 * t->net.inputs) * sizeof(double);
}

// --- the fit ---

// Brings each column to mean 0 and deviation 1.
static void standardise(struct tree_gru *t, const struct booster_rows *r)
{
    for (size_t j = 0; j < t->net.inputs; j++) {
        double sum = 0, squares = 0;
        for (int i = 0; i < r->rows; i++)
            sum += r->x[(size_t)i * (size_t)r->width + 1 + j];
        t->mean[j] = sum / r->rows;
        for (int i = 0; i < r->rows; i++) {
            double off = r->x[(size_t)i * (size_t)r->width + 1 + j] - t->mean[j];
            squares += off * off;
        }
        t->scale[j] = squares > 0 ? 1 / sqrt(squares / r->rows) : 0;
    }
}

// Takes one step on a batch of programs.
static void learn(struct fit *f, const int *program, int count)
{
    const struct booster_rows *r = f->rows;
    struct tree_net *net = &f->model->net;
    int nodes;
    for (int k = 0, at = 0; k < count; k++, at += nodes) {
        int from = r->first[program[k]];
        struct nodes tree = nodes_at(&f->nodes, f->model, at);
        nodes = r->first[program[k] + 1] - from;
        f->y[k] = r->y[program[k]];
        f->score[k] = (r->margin ? r->margin[program[k]] : 0) +
                      score_of(f->model, r->x + (size_t)(from - r->first[0]) * (size_t)r->width,
                               nodes, &tree);
    }
    tree_gru_loss(f->options.rank, count, f->score, f->y, f->by_score);
    memset(net->gradient, 0, net->count * sizeof *net->gradient);
    for (int k = 0, at = 0; k < count; k++, at += nodes) {
        struct nodes tree = nodes_at(&f->nodes, f->model, at);
        nodes = r->first[program[k] + 1] - r->first[program[k]];
        if (nodes > 0)
            tree_net_backward(net, nodes, tree.parent, tree.x, tree.state, f->by_score[k]);
    }
    adam_step(&f->adam, f->options.rate, net->weight, net->gradient);
}

// Runs all epochs. False: `stop` was set.
static bool run(struct fit *f, const atomic_bool *stop)
{
    int programs = f->rows->programs, batch = f->options.batch;
    for (int epoch = 0; epoch < f->options.epochs; epoch++) {
        for (int i = programs - 1; i > 0; i--) {
            int j = (int)rng_below(&f->rng, (uint64_t)i + 1), kept = f->order[i];
            f->order[i] = f->order[j];
            f->order[j] = kept;
        }
        for (int i = 0; i < programs; i += batch) {
            if (stop && atomic_load(stop))
                return false;
            learn(f, f->order + i, programs - i < batch ? programs - i : batch);
        }
    }
    return true;
}

struct tree_gru *tree_gru_fit(const struct tree_gru_options *given, const struct booster_rows *r,
                              const atomic_bool *stop, struct err *e)
{
    struct tree_gru_options o = *given;
    int usual = 25000 / r->programs, most = 0;
    o.hidden = o.hidden ? o.hidden : 32;
    o.epochs = o.epochs ? o.epochs : usual > 200 ? 200 : usual < 10 ? 10 : usual;
    o.batch = o.batch ? o.batch : 32;
    o.rate = o.rate > 0 ? o.rate : 3e-3;
    struct tree_gru *t = mem_zero(1, sizeof *t);
    size_t inputs = (size_t)r->width - 1, batch = (size_t)o.batch;
    *t = (struct tree_gru){.net = {.inputs = inputs, .hidden = (size_t)o.hidden},
                           .mean = mem_zero(inputs, sizeof *t->mean),
                           .scale = mem_zero(inputs, sizeof *t->scale)};
    standardise(t, r);
    struct fit f = {.model = t, .rows = r, .options = o};
    f.order = mem_zero((size_t)r->programs, sizeof *f.order);
    f.score = mem_zero(batch, sizeof *f.score);
    f.by_score = mem_zero(batch, sizeof *f.by_score);
    f.y = mem_zero(batch, sizeof *f.y);
    for (int i = 0; i < r->programs; i++) {
        int nodes = r->first[i + 1] - r->first[i];
        f.order[i] = i;
        most = nodes > most ? nodes : most;
    }
    f.nodes = nodes_create(t, o.batch * most);
    rng_seed(&f.rng, o.seed);
    tree_net_init(&t->net, inputs, t->net.hidden, &f.rng);
    adam_init(&f.adam, t->net.count);
    bool done = run(&f, stop);
    nodes_destroy(&f.nodes);
    adam_finish(&f.adam);
    free(f.order);
    free(f.score);
    free(f.by_score);
    free(f.y);
    if (done)
        return t;
    err_set(e, "stopped");
    tree_gru_destroy(t);
    return NULL;
}
