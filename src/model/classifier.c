#include "model/classifier.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

struct node {
    int column; // -1: a leaf
    int32_t at; // left where x <= at
    int left;   // the right one follows it
    double probability;
};

struct classifier {
    int trees, width;
    int *root; // [trees]
    struct node *node;
    int nodes, capacity;
};

enum { NARROW = 256 }; // values within such a range are sorted by counting them

struct growth { // a tree that is being grown
    struct classifier *forest;
    const struct classifier_rows *of;
    int *sample; // [rows]: row numbers, sorted by node
    int *column; // [width], shuffled
    struct value {
        int32_t x;
        double weight, good;
    } * value, *sorted; // [rows]: the values of a node in one column
    struct rng *rng;
};

struct split {
    int column;
    int32_t at;
    double loss;
};

static double entropy(double good, double all)
{
    double p = good / all;
    return p <= 0 || p >= 1 ? 0 : -all * (p * log(p) + (1 - p) * log(1 - p));
}

static int by_x(const void *a, const void *b)
{
    const struct value *x = a, *y = b;
    return (x->x > y->x) - (x->x < y->x);
}

// Sorts g->value. Equal values keep their order, so that sums over them do not depend on the
// method.
static void sort(struct growth *g, int count)
{
    int32_t least = g->value[0].x, most = least;
    int begin[NARROW + 1] = {0};
    for (int i = 1; i < count; i++) {
        least = g->value[i].x < least ? g->value[i].x : least;
        most = g->value[i].x > most ? g->value[i].x : most;
    }
    if ((int64_t)most - least >= NARROW) {
        qsort(g->value, (size_t)count, sizeof *g->value, by_x);
        return;
    }
    for (int i = 0; i < count; i++)
        begin[g->value[i].x - least + 1]++;
    for (int k = 0; k < most - least; k++)
        begin[k + 1] += begin[k];
    for (int i = 0; i < count; i++)
        g->sorted[begin[g->value[i].x - least]++] = g->value[i];
    struct value *former = g->value;
    g->value = g->sorted;
    g->sorted = former;
}

// Finds the best split of a node. Looks at more columns than wanted if none of these can be split.
static struct split find_split(struct growth *g, int first, int count)
{
    int width = g->forest->width, wanted = (int)ceil(sqrt(width));
    struct split best = {.column = -1, .loss = INFINITY};
    for (int i = 0; i < width && (i < wanted || best.column < 0); i++) {
        int k = i + (int)rng_below(g->rng, (uint64_t)(width - i)), column = g->column[k];
        g->column[k] = g->column[i];
        g->column[i] = column;
        double all = 0, good = 0, left = 0, left_good = 0;
        for (int j = 0; j < count; j++) {
            int row = g->sample[first + j];
            double w = g->of->weight[row];
            g->value[j] =
                (struct value){g->of->x[row * width + column], w, g->of->good[row] ? w : 0};
            all += w;
            good += g->value[j].good;
        }
        sort(g, count);
        for (int j = 0; j + 1 < count; j++) {
            left += g->value[j].weight;
            left_good += g->value[j].good;
            if (g->value[j].x == g->value[j + 1].x)
                continue;
            double loss = entropy(left_good, left) + entropy(good - left_good, all - left);
            if (loss < best.loss)
                best = (struct split){column, g->value[j].x, loss};
        }
    }
    return best;
}

static int add_nodes(struct classifier *f, int count)
{
    int first = f->nodes;
    for (; count > 0; count--) {
        MEM_GROW(f->node, f->nodes, f->capacity);
        f->node[f->nodes++] = (struct node){.column = -1};
    }
    return first;
}

static void grow(struct growth *g, int at, int first, int count)
{
    struct classifier *f = g->forest;
    double all = 0, good = 0;
    for (int i = 0; i < count; i++) {
        int row = g->sample[first + i];
        all += g->of->weight[row];
        good += g->of->good[row] ? g->of->weight[row] : 0;
    }
    double probability = f->node[at].probability = (good / all);
    if (probability <= 0 || probability >= 1)
        return;
    struct split s = find_split(g, first, count);
    if (s.column < 0)
        return;
    int left = 0; // the rows of the left side come first
    for (int i = first; i < first + count; i++) {
        int row = g->sample[i];
        if (g->of->x[row * f->width + s.column] > s.at)
            continue;
        g->sample[i] = g->sample[first + left];
        g->sample[first + left++] = row;
    }
    int child = add_nodes(f, 2);
    f->node[at] = (struct node){s.column, s.at, child, probability};
    grow(g, child, first, left);
    grow(g, child + 1, first + left, count - left);
}

struct classifier *classifier_fit(const struct classifier_rows *rows, int trees, struct rng *r)
{
    struct classifier *f = mem_zero(1, sizeof *f);
    struct growth g = {.forest = f, .of = rows, .rng = r};
    f->trees = trees;
    f->width = rows->width;
    f->root = mem_zero((size_t)trees, sizeof *f->root);
    g.sample = mem_zero((size_t)rows->count, sizeof *g.sample);
    g.column = mem_zero((size_t)rows->width, sizeof *g.column);
    g.value = mem_zero((size_t)rows->count, sizeof *g.value);
    g.sorted = mem_zero((size_t)rows->count, sizeof *g.sorted);
    for (int i = 0; i < rows->width; i++)
        g.column[i] = i;
    for (int t = 0; t < trees; t++) {
        for (int i = 0; i < rows->count; i++)
            g.sample[i] = (int)rng_below(r, (uint64_t)rows->count);
        f->root[t] = add_nodes(f, 1);
        grow(&g, f->root[t], 0, rows->count);
    }
    free(g.sample);
    free(g.column);
    free(g.value);
    free(g.sorted);
    return f;
}

void classifier_destroy(struct classifier *f)
{
    if (!f)
        return;
    free(f->root);
    free(f->node);
    free(f);
}

double classifier_vote(const struct classifier *f, int tree, const int32_t *x, int *leaf)
{
    const struct node *n = &f->node[f->root[tree]];
    while (n->column >= 0)
        n = &f->node[n->left + (x[n->column] > n->at)];
    if (leaf)
        *leaf = (int)(n - f->node);
    return n->probability;
}

double classifier_probability(const struct classifier *f, const int32_t *x)
{
    double sum = 0;
    for (int t = 0; t < f->trees; t++)
        sum += classifier_vote(f, t, x, NULL);
    return sum / f->trees;
}

int classifier_path(const struct classifier *f, int tree, const int32_t *x, int *column)
{
    int count = 0;
    const struct node *n = &f->node[f->root[tree]];
    for (; n->column >= 0; n = &f->node[n->left + (x[n->column] > n->at)]) {
        bool known = false;
        for (int i = 0; i < count && !known; i++)
            known = column[i] == n->column;
        if (!known)
            column[count++] = n->column;
    }
    return count;
}
