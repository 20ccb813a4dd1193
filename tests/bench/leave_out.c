#include "leave_out.h"

#include "base/median.h"
#include "bench.h"
#include "report/significance.h"
#include "search/strategy.h"
#include "simulate/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HISTORIES = 8, MOST_TRIALS = 1000, MARKS = 5, WAYS = 3 };

static const int marks[MARKS] = {10, 20, 50, 100, 200};
static const char *const way_name[WAYS] = {"alone", "with the others", "with the others, shuffled"};
#define LEVEL 0.95

struct results { // of one search
    struct config config[MOST_TRIALS];
    double fitness[MOST_TRIALS];
    int count;
};

// --- one search ---

static bool is_legal(void *context, const struct config *c)
{
    return simulate_is_trial(recording_find(context, c));
}

static void search(struct recording *r, const char *spec, const struct search_history *history,
                   int histories, uint64_t seed, int trials, struct results *out)
{
    struct err e;
    struct search_problem problem = {.space = r->space,
                                     .legal = is_legal,
                                     .context = r,
                                     .history = history,
                                     .history_count = histories};
    struct strategy *s = strategy_create(spec, &problem, seed, &e);
    if (!s)
        bench_fail("no strategy", &e);
    out->count = 0;
    while (out->count < trials) {
        struct config c;
        enum ask asked = strategy_ask(s, &c);
        if (asked == ASK_WAIT && strategy_wait(s))
            continue;
        if (asked != ASK_NEW)
            break;
        const struct record_entry *entry = recording_find(r, &c);
        bool counts = simulate_is_trial(entry), ok = counts && entry->outcome == OUTCOME_OK;
        double fitness = ok ? r->median / entry->seconds : 0;
        strategy_tell(s, &c, counts ? entry->outcome : OUTCOME_REJECTED, fitness);
        if (counts) {
            out->config[out->count] = c;
            out->fitness[out->count++] = fitness;
        }
    }
    strategy_destroy(s);
}

// --- one recording ---

struct figures { // of a way to search, of each repeat
    double *share[MARKS];
    double *reached; // trials to LEVEL; one more than there are: never
};

static void take(const struct recording *r, const struct results *of, int trials, int repeat,
                 struct figures *out)
{
    double optimum = r->median / r->entry[r->best].seconds, best = 0;
    out->reached[repeat] = trials + 1;
    for (int n = 1, mark = 0; n <= trials; n++) {
        if (n <= of->count)
            best = fmax(best, of->fitness[n - 1] / optimum);
        if (best >= LEVEL && out->reached[repeat] > trials)
            out->reached[repeat] = n;
        if (mark < MARKS && n == marks[mark])
            out->share[mark++][repeat] = best;
    }
}

static size_t kernel_length(const struct recording *r)
{
    return strcspn(r->name, "-");
}

static bool is_alike(const struct recording *a, const struct recording *b)
{
    size_t length = kernel_length(a);
    return a != b && length == kernel_length(b) && strncmp(a->name, b->name, length) == 0;
}

static void shuffle(double *fitness, int count, struct rng *r)
{
    for (int i = count - 1; i > 0; i--) {
        int k = (int)rng_below(r, (uint64_t)i + 1);
        double kept = fitness[i];
        fitness[i] = fitness[k];
        fitness[k] = kept;
    }
}

static void run_repeat(struct recording *const *recording, int count, struct recording *r,
                       const char *spec, int trials, int repeat, struct figures *out)
{
    static struct results other[MOST_HISTORIES], own;
    struct search_history history[MOST_HISTORIES];
    struct rng rng;
    int histories = 0;
    rng_seed(&rng, (uint64_t)repeat + 1);
    uint64_t seed = rng_next(&rng);
    for (int i = 0; i < count; i++) {
        if (!is_alike(recording[i], r) || histories == MOST_HISTORIES)
            continue;
        struct results *o = &other[histories];
        search(recording[i], spec, NULL, 0, rng_next(&rng), trials, o);
        history[histories++] = (struct search_history){recording[i]->name, recording[i]->space,
                                                       o->config, o->fitness, o->count};
    }
    for (int way = 0; way < WAYS; way++) {
        if (way == 2)
            for (int i = 0; i < histories; i++)
                shuffle(other[i].fitness, other[i].count, &rng);
        search(r, spec, history, way ? histories : 0, seed, trials, &own);
        take(r, &own, trials, repeat, &out[way]);
    }
}

static double mean_of(const double *list, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += list[i];
    return sum / count;
}

static void print_way(const struct recording *r, int way, const struct figures *of, int trials,
                      int repeats, double *total)
{
    printf("| %s | %s |", r->name, way_name[way]);
    for (int m = 0; m < MARKS && marks[m] <= trials; m++) {
        double p = way ? significance_wilcoxon(of[0].share[m], of[way].share[m], repeats) : 1;
        printf(" %.4f%s |", mean_of(of[way].share[m], repeats), p < 0.05 ? "*" : "");
        total[m] += mean_of(of[way].share[m], repeats);
    }
    double p = way ? significance_wilcoxon(of[0].reached, of[way].reached, repeats) : 1;
    total[MARKS] += mean_of(of[way].reached, repeats);
    printf(" %.1f%s |", mean_of(of[way].reached, repeats), p < 0.05 ? "*" : "");
    double *sorted = mem_zero((size_t)repeats, sizeof *sorted);
    memcpy(sorted, of[way].reached, (size_t)repeats * sizeof *sorted);
    printf(" %.0f |\n", median_of(sorted, repeats));
    free(sorted);
}

void leave_out_print(struct recording *const *recording, int count, const char *spec, int trials,
                     int repeats)
{
    struct figures of[WAYS];
    double total[WAYS][MARKS + 1] = {{0}};
    int targets = 0;
    trials = trials < MOST_TRIALS ? trials : MOST_TRIALS;
    for (int way = 0; way < WAYS; way++) {
        for (int m = 0; m < MARKS; m++)
            of[way].share[m] = mem_zero((size_t)repeats, sizeof(double));
        of[way].reached = mem_zero((size_t)repeats, sizeof(double));
    }
    printf("%s: optimum / best after so many trials, and trials to %.2f of the optimum; %d "
           "repeats, * p < 0.05 to alone\n\n| recording | search |",
           spec, LEVEL, repeats);
    for (int m = 0; m < MARKS && marks[m] <= trials; m++)
        printf(" %d |", marks[m]);
    printf(" trials, mean | median |\n");
    for (int i = 0; i < count; i++) {
        bool alike = false;
        for (int k = 0; k < count; k++)
            alike |= is_alike(recording[i], recording[k]);
        if (!alike)
            continue;
        targets++;
        for (int k = 0; k < repeats; k++)
            run_repeat(recording, count, recording[i], spec, trials, k, of);
        for (int way = 0; way < WAYS; way++)
            print_way(recording[i], way, of, trials, repeats, total[way]);
        fflush(stdout);
    }
    for (int way = 0; way < WAYS; way++) {
        printf("| mean | %s |", way_name[way]);
        for (int m = 0; m < MARKS && marks[m] <= trials; m++)
            printf(" %.4f |", total[way][m] / targets);
        printf(" %.1f | |\n", total[way][MARKS] / targets);
        for (int m = 0; m < MARKS; m++)
            free(of[way].share[m]);
        free(of[way].reached);
    }
}
