#include "ways.h"

#include "base/mem.h"
#include "base/number.h"
#include "report/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int marks[WAYS_MARKS] = {10, 20, 50, 100, 200};
#define LEVEL 0.95

void ways_init(struct ways *w, const char *const *name, int count, int trials, int repeats)
{
    *w = (struct ways){.name = name, .count = count, .trials = trials, .repeats = repeats};
    for (int way = 0; way < count; way++) {
        for (int m = 0; m < WAYS_MARKS; m++)
            w->of[way].share[m] = mem_zero((size_t)repeats, sizeof(double));
        w->of[way].reached = mem_zero((size_t)repeats, sizeof(double));
    }
}

void ways_finish(struct ways *w)
{
    for (int way = 0; way < w->count; way++) {
        for (int m = 0; m < WAYS_MARKS; m++)
            free(w->of[way].share[m]);
        free(w->of[way].reached);
    }
}

void ways_print_head(const struct ways *w, const char *what)
{
    printf("optimum / best after so many trials, and trials to %.2f of the optimum; %d repeats, "
           "* p < 0.05 to %s\n\n| %s | search |",
           LEVEL, w->repeats, w->name[0], what);
    for (int m = 0; m < WAYS_MARKS && marks[m] <= w->trials; m++)
        printf(" %d |", marks[m]);
    printf(" trials, mean | median |\n|---|---|");
    for (int m = 0; m < WAYS_MARKS && marks[m] <= w->trials; m++)
        printf("---:|");
    printf("---:|---:|\n");
}

void ways_take(struct ways *w, int way, int repeat, const double *share, int count)
{
    struct way_figures *of = &w->of[way];
    double best = 0;
    of->reached[repeat] = w->trials + 1;
    for (int n = 1, mark = 0; n <= w->trials; n++) {
        if (n <= count)
            best = share[n - 1];
        if (best >= LEVEL && of->reached[repeat] > w->trials)
            of->reached[repeat] = n;
        if (mark < WAYS_MARKS && n == marks[mark])
            of->share[mark++][repeat] = best;
    }
}

static double mean_of(const double *list, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += list[i];
    return sum / count;
}

static const char *star(const struct ways *w, int way, const double *first, const double *list)
{
    return way && significance_wilcoxon(first, list, w->repeats) < 0.05 ? "*" : "";
}

static void print_way(struct ways *w, const char *space, int way)
{
    const struct way_figures *of = &w->of[way];
    printf("| %s | %s |", space, w->name[way]);
    for (int m = 0; m < WAYS_MARKS && marks[m] <= w->trials; m++) {
        double mean = mean_of(of->share[m], w->repeats);
        printf(" %.4f%s |", mean, star(w, way, w->of[0].share[m], of->share[m]));
        w->total[way][m] += mean;
    }
    double mean = mean_of(of->reached, w->repeats);
    w->total[way][WAYS_MARKS] += mean;
    printf(" %.1f%s |", mean, star(w, way, w->of[0].reached, of->reached));
    double *sorted = mem_zero((size_t)w->repeats, sizeof *sorted);
    memcpy(sorted, of->reached, (size_t)w->repeats * sizeof *sorted);
    printf(" %.0f |\n", median_of(sorted, w->repeats));
    free(sorted);
}

void ways_print(struct ways *w, const char *space)
{
    for (int way = 0; way < w->count; way++)
        print_way(w, space, way);
    w->spaces++;
    fflush(stdout);
}

void ways_print_mean(const struct ways *w)
{
    for (int way = 0; way < w->count; way++) {
        printf("| mean | %s |", w->name[way]);
        for (int m = 0; m < WAYS_MARKS && marks[m] <= w->trials; m++)
            printf(" %.4f |", w->total[way][m] / w->spaces);
        printf(" %.1f | |\n", w->total[way][WAYS_MARKS] / w->spaces);
    }
}
