#include "model/tree_gru.h"

#include "base/mem.h"
#include "model/adam.h"
#include "model/tree_net.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static void find_scales(struct tree_gru *t, const struct booster_rows *r)
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

static const float *rows_of(const struct booster_rows *r, int program)
{
    return r->x + (size_t)(r->first[program] - r->first[0]) * (size_t)r->width;
}

static double score_in(const struct fit *f, int program, const struct forest *tree)
{
    const struct booster_rows *r = f->rows;
    double start = r->margin ? r->margin[program] : 0;
    return start + score_of(f->model, rows_of(r, program), nodes_of(r, program), tree);
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

static void fit_finish(struct fit *f)
{
    forest_finish(&f->forest);
    adam_finish(&f->adam);
    free(f->order);
    free(f->score);
    free(f->by_score);
    free(f->y);
}

static void learn_batch(struct fit *f, const int *program, int count)
{
    struct tree_net *net = &f->model->net;
    for (int i = 0, at = 0; i < count; at += nodes_of(f->rows, program[i++])) {
        struct forest tree = forest_at(&f->forest, f->model, at);
        f->y[i] = f->rows->y[program[i]];
        f->score[i] = score_in(f, program[i], &tree);
    }
    tree_gru_loss(f->options.rank, count, f->score, f->y, f->by_score);
    memset(net->gradient, 0, net->count * sizeof *net->gradient);
    for (int i = 0, at = 0; i < count; at += nodes_of(f->rows, program[i++])) {
        struct forest tree = forest_at(&f->forest, f->model, at);
        int nodes = nodes_of(f->rows, program[i]);
        if (nodes > 0)
            tree_net_backward(net, nodes, tree.parent, tree.x, tree.state, f->by_score[i]);
    }
    adam_step(&f->adam, f->options.rate, net->weight, net->gradient);
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
            learn_batch(f, f->order + i, programs - i < batch ? programs - i : batch);
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
    find_scales(t, r);
    struct fit f;
    fit_init(&f, t, r, &o);
    bool done = learn(&f, stop);
    fit_finish(&f);
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
