#include "model/trees.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

struct place {
    float value;
    int index;
};

static int recall_best_first(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

// Sorts the values, the best first. The list is the caller's.
static struct place *sorted(int count, const float *value)
{
    struct place *list = mem_alloc((size_t)count * sizeof *list);
    for (int i = 0; i < count; i++)
        list[i] = (struct place){value[i], i};
    qsort(list, (size_t)count, sizeof *list, recall_best_first);
    return list;
}

// Returns the true ranks in the order of the predictions, the best first. The list is the caller's.
static int *ranks_as_predicted(int count, const float *label, const float *predicted)
{
    struct place *by_label = sorted(count, label), *by_prediction = sorted(count, predicted);
    int *rank = mem_alloc((size_t)count * sizeof *rank),
        *out = mem_alloc((size_t)count * sizeof *out);
    for (int i = 0; i < count; i++)
        rank[by_label[i].index] = i;
    for (int i = 0; i < count; i++)
        out[i] = rank[by_prediction[i].index];
    free(by_label);
    free(by_prediction);
    free(rank);
    return out;
}

double recall_at(int count, const float *label, const float *predicted, int k)
{
    int *rank = ranks_as_predicted(count, label, predicted), found = 0;
    for (int i = 0; i < k; i++)
        found += rank[i] < k;
    free(rank);
    return (double)found / k;
}

double recall_average(int count, const float *label, const float *predicted, int n)
{
    int *rank = ranks_as_predicted(count, label, predicted);
    double sum = 0;
    n = n < count ? n : count;
    for (int i = 0; i < n; i++) {
        int found = 0;
        for (int j = 0; j < i; j++)
            found += rank[j] <= i;
        sum += (double)found / (i + 1);
    }
    free(rank);
    return n ? sum / n : 0;
}

// Returns the ranks, equals having the mean of theirs. The list is the caller's.
static double *mean_ranks(int count, const float *value)
{
    struct place *list = sorted(count, value);
    double *rank = mem_alloc((size_t)count * sizeof *rank);
    for (int from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && list[to].value == list[from].value;)
            to++;
        for (int i = from; i < to; i++)
            rank[list[i].index] = (from + to - 1) / 2.0;
    }
    free(list);
    return rank;
}

double rank_correlation(int count, const float *a, const float *b)
{
    double *x = mean_ranks(count, a), *y = mean_ranks(count, b), middle = (count - 1) / 2.0;
    double xx = 0, yy = 0, xy = 0;
    for (int i = 0; i < count; i++) {
        double dx = x[i] - middle, dy = y[i] - middle;
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    free(x);
    free(y);
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}
