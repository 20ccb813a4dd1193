#include "report/significance.h"

#include "base/mem.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MOST_EXACT = 40 };

// --- Wilcoxon ---

static int by_size(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x > y) - (x < y);
}

// The end of the run of equal sizes that begins at `first`.
static int end_of_tie(const double *sorted, int n, int first)
{
    int end = first + 1;
    while (end < n && fabs(sorted[end]) <= fabs(sorted[first]))
        end++;
    return end;
}

// Twice the ranks of sorted differences, which makes mean ranks whole: 2, 4, 6 or 3, 3, 6. Returns
// the sum of (t^3 - t) over ties of t.
static double double_ranks(const double *sorted, int n, int *rank)
{
    double ties = 0;
    for (int first = 0; first < n;) {
        int end = end_of_tie(sorted, n, first);
        double t = end - first;
        ties += t * t * t - t;
        for (int i = first; i < end; i++)
            rank[i] = first + 1 + end; // twice the mean of first + 1 .. end
        first = end;
    }
    return ties;
}

// The chance that ranks with random signs add up to `sum` or less on the positive side.
static double chance_of_sum(const int *rank, int n, int sum)
{
    double *chance = mem_zero((size_t)sum + 1, sizeof *chance), total = 0;
    chance[0] = 1;
    for (int i = 0; i < n; i++)
        for (int s = sum; s >= 0; s--)
            chance[s] = (chance[s] + (s >= rank[i] ? chance[s - rank[i]] : 0)) / 2;
    for (int s = 0; s <= sum; s++)
        total += chance[s];
    free(chance);
    return total;
}

static double normal_chance(double smaller_sum, int n, double ties)
{
    double mean = n * (n + 1.0) / 4, variance = n * (n + 1.0) * (2 * n + 1) / 24 - ties / 48;
    double off = fmax(mean - smaller_sum - 0.5, 0); // continuity
    return erfc(off / sqrt(2 * variance)) / 2;
}

double significance_wilcoxon(const double *a, const double *b, int n)
{
    double *difference = mem_zero((size_t)n + 1, sizeof *difference);
    int *rank = mem_zero((size_t)n + 1, sizeof *rank);
    int different = 0;
    for (int i = 0; i < n; i++)
        if (a[i] < b[i] || a[i] > b[i])
            difference[different++] = a[i] - b[i];
    qsort(difference, (size_t)different, sizeof *difference, by_size);
    double ties = double_ranks(difference, different, rank);
    double plus = 0, minus = 0;
    for (int i = 0; i < different; i++)
        *(difference[i] > 0 ? &plus : &minus) += rank[i];
    double smaller = fmin(plus, minus);
    double chance = different <= MOST_EXACT ? chance_of_sum(rank, different, (int)smaller)
                                            : normal_chance(smaller / 2, different, ties);
    free(difference);
    free(rank);
    return fmin(2 * chance, 1);
}

// --- Holm ---

static int by_value(const void *a, const void *b)
{
    double x = **(double *const *)a, y = **(double *const *)b;
    return (x > y) - (x < y);
}

void significance_holm(double *p, int n)
{
    double **sorted = mem_zero((size_t)n + 1, sizeof *sorted), least = 0;
    for (int i = 0; i < n; i++)
        sorted[i] = &p[i];
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    for (int i = 0; i < n; i++) {
        least = fmax(least, fmin((n - i) * *sorted[i], 1)); // never below one that is smaller
        *sorted[i] = least;
    }
    free(sorted);
}

// --- ranks ---

static double rank_among(const double *value, int searches, double own)
{
    int higher = 0, equal = 0;
    for (int s = 0; s < searches; s++) {
        higher += value[s] > own;
        equal += !(value[s] > own) && !(value[s] < own);
    }
    return higher + (equal + 1) / 2.0;
}

static bool all_known(const double *value, int searches)
{
    for (int s = 0; s < searches; s++)
        if (isnan(value[s]))
            return false;
    return true;
}

void significance_ranks(const double *value, int cases, int searches, double *rank)
{
    int counted = 0;
    for (int s = 0; s < searches; s++)
        rank[s] = 0;
    for (int i = 0; i < cases; i++) {
        const double *row = value + (long)i * searches;
        if (!all_known(row, searches))
            continue;
        counted++;
        for (int s = 0; s < searches; s++)
            rank[s] += rank_among(row, searches, row[s]);
    }
    for (int s = 0; s < searches; s++)
        rank[s] = counted ? rank[s] / counted : NAN;
}
