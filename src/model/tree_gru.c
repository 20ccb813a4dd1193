#include "model/tree_gru.h"

#include "base/mem.h"
#include "model/adam.h"
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

struct tree_gru {
    struct tree_net net;
    double *mean, *scale; // of each column: x becomes (x - mean) * scale
};

// Programs on their way through the network.
struct forest {
    int *parent;
    double *x, *state;
};

static void forest_init(struct forest *f, const struct tree_gru *t, int nodes)
{
    size_t count = (size_t)nodes;
    *f = (struct forest){.parent = mem_zero(count, sizeof *f->parent),
                         .x = mem_zero(count * t->net.inputs, sizeof *f->x),
                         .state = mem_zero(count * tree_net_state(&t->net), sizeof *f->state)};
}

static void forest_finish(struct forest *f)
{
    free(f->parent);
    free(f->x);
    free(f->state);
}

// The part of the forest from node `from` on.
static struct forest forest_at(const struct forest *f, const struct tree_gru *t, int from)
{
    return (struct forest){.parent = f->parent + from,
                           .x = f->x + (size_t)from * t->net.inputs,
                           .state = f->state + (size_t)from * tree_net_state(&t->net)};
}

// Rows of a program, parent first, then the context.
static double score_of(const struct tree_gru *t, const float *rows, int nodes,
                       const struct forest *f)
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

static double squared_loss(int count, const double *score, const float *y, double *by_score)
{
    double loss = 0;
    for (int i = 0; i < count; i++) {
        double error = score[i] - y[i];
        loss += error * error / count;
        by_score[i] = 2 * error / count;
    }
    return loss;
}

static double rank_loss(int count, const double *score, const float *y, double *by_score)
{
    double loss = 0;
    int pairs = 0;
    memset(by_score, 0, (size_t)count * sizeof *by_score);
    for (int i = 0; i < count; i++)
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
    return pairs > 0 ? loss / pairs : 0;
}

double tree_gru_loss(bool rank, int count, const double *score, const float *y, double *by_score)
{
    return rank ? rank_loss(count, score, y, by_score) : squared_loss(count, score, y, by_score);
}

// --- fitting ---

struct fit {
    struct tree_gru *model;
    const struct booster_rows *rows;
    struct tree_gru_options options;
    struct adam adam;
    struct rng rng;
    struct forest forest; // a batch
    int *order;           // programs
    double *score, *by_score;
    float *y;
};

static int nodes_of(const struct booster_rows *r, int program)
{
    return r->first[program + 1] - r->first[program];
}

static double score_in(const struct fit *f, int program, const struct forest *tree)
{
    const struct booster_rows *r = f->rows;
    double start = r->margin ? r->margin[program] : 0;
    return start + score_of(f->model,
                            r->x + (size_t)(r->first[program] - r->first[0]) * (size_t)r->width,
                            nodes_of(r, program), tree);
}

static void fit_init(struct fit *f, struct tree_gru *t, const struct booster_rows *r,
                     const struct tree_gru_options *o)
{
    size_t batch = (size_t)o->batch, programs = (size_t)r->programs;
    int most = 0;
    *f = (struct fit){.model = t,
                      .rows = r,
                      .options = *o,
                      .order = mem_zero(programs, sizeof *f->order),
                      .score = mem_zero(batch, sizeof *f->score),
                      .by_score = mem_zero(batch, sizeof *f->by_score),
                      .y = mem_zero(batch, sizeof *f->y)};
    for (int i = 0; i < r->programs; i++) {
        f->order[i] = i;
        most = nodes_of(r, i) > most ? nodes_of(r, i) : most;
    }
    forest_init(&f->forest, t, o->batch * most);
    rng_seed(&f->rng, o->seed);
    tree_net_init(&t->net, t->net.inputs, t->net.hidden, &f->rng);
    adam_init(&f->adam, t->net.count);
}

static bool learn(struct fit *f, const atomic_bool *stop)
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
            const int *program = f->order + i;
            int count = programs - i < batch ? programs - i : batch;
            struct tree_net *net = &f->model->net;
            for (int k = 0, at = 0; k < count; at += nodes_of(f->rows, program[k++])) {
                struct forest tree = forest_at(&f->forest, f->model, at);
                f->y[k] = f->rows->y[program[k]];
                f->score[k] = score_in(f, program[k], &tree);
            }
            tree_gru_loss(f->options.rank, count, f->score, f->y, f->by_score);
            memset(net->gradient, 0, net->count * sizeof *net->gradient);
            for (int k = 0, at = 0; k < count; at += nodes_of(f->rows, program[k++])) {
                struct forest tree = forest_at(&f->forest, f->model, at);
                int nodes = nodes_of(f->rows, program[k]);
                if (nodes > 0)
                    tree_net_backward(net, nodes, tree.parent, tree.x, tree.state, f->by_score[k]);
            }
            adam_step(&f->adam, f->options.rate, net->weight, net->gradient);
        }
    }
    return true;
}

// 25 000 programs in all.
static int usual_epochs(int programs)
{
    int epochs = 25000 / programs;
    return epochs > 200 ? 200 : epochs < 10 ? 10 : epochs;
}

struct tree_gru *tree_gru_fit(const struct tree_gru_options *given, const struct booster_rows *r,
                              const atomic_bool *stop, struct err *e)
{
    struct tree_gru_options o = *given;
    o.hidden = o.hidden ? o.hidden : 32;
    o.epochs = o.epochs ? o.epochs : usual_epochs(r->programs);
    o.batch = o.batch ? o.batch : 32;
    o.rate = o.rate > 0 ? o.rate : 3e-3;

    struct tree_gru *t = mem_zero(1, sizeof *t);
    size_t inputs = (size_t)r->width - 1;
    *t = (struct tree_gru){.net = {.inputs = inputs, .hidden = (size_t)o.hidden},
                           .mean = mem_zero(inputs, sizeof *t->mean),
                           .scale = mem_zero(inputs, sizeof *t->scale)};
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
    struct fit f;
    fit_init(&f, t, r, &o);
    bool done = learn(&f, stop);
    forest_finish(&f.forest);
    adam_finish(&f.adam);
    free(f.order);
    free(f.score);
    free(f.by_score);
    free(f.y);
    if (!done) {
        err_set(e, "stopped");
        tree_gru_destroy(t);
        return NULL;
    }
    return t;
}

void tree_gru_destroy(struct tree_gru *t)
{
    if (!t)
        return;
    tree_net_finish(&t->net);
    free(t->mean);
    free(t->scale);
    free(t);
}

void tree_gru_predict(const struct tree_gru *t, const float *x, const int *first, int programs,
                      float *out)
{
    struct forest tree;
    int most = 0;
    for (int i = 0; i < programs; i++)
        most = first[i + 1] - first[i] > most ? first[i + 1] - first[i] : most;
    forest_init(&tree, t, most);
    for (int i = 0; i < programs; i++)
        out[i] = (float)score_of(t, x + (size_t)(first[i] - first[0]) * (t->net.inputs + 1),
                                 first[i + 1] - first[i], &tree);
    forest_finish(&tree);
}

size_t tree_gru_bytes(const struct tree_gru *t)
{
    return (t->net.count + 2 * t->net.inputs) * sizeof(double);
}
