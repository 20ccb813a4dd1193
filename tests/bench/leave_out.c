#include "leave_out.h"

#include "bench.h"
#include "search/strategy.h"
#include "simulate/simulate.h"
#include "ways.h"

#include <math.h>
#include <string.h>

enum { MOST_HISTORIES = 8, MOST_TRIALS = 1000, WAYS = 3 };

static const char *const way_name[WAYS] = {"alone", "with the others", "with the others, shuffled"};

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

static void take(struct ways *w, int way, int repeat, const struct recording *r,
                 const struct results *of)
{
    static double share[MOST_TRIALS];
    double optimum = r->median / r->entry[r->best].seconds, best = 0;
    for (int n = 0; n < of->count; n++)
        share[n] = best = fmax(best, of->fitness[n] / optimum);
    ways_take(w, way, repeat, share, of->count);
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
                       const char *spec, int repeat, struct ways *w)
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
        search(recording[i], spec, NULL, 0, rng_next(&rng), w->trials, o);
        history[histories++] = (struct search_history){recording[i]->name, recording[i]->space,
                                                       o->config, o->fitness, o->count};
    }
    for (int way = 0; way < WAYS; way++) {
        if (way == 2)
            for (int i = 0; i < histories; i++)
                shuffle(other[i].fitness, other[i].count, &rng);
        search(r, spec, history, way ? histories : 0, seed, w->trials, &own);
        take(w, way, repeat, r, &own);
    }
}

static bool has_alike(struct recording *const *recording, int count, const struct recording *r)
{
    for (int i = 0; i < count; i++)
        if (is_alike(r, recording[i]))
            return true;
    return false;
}

void leave_out_print(struct recording *const *recording, int count, const char *spec, int trials,
                     int repeats)
{
    struct ways w;
    ways_init(&w, way_name, WAYS, trials < MOST_TRIALS ? trials : MOST_TRIALS, repeats);
    printf("%s: ", spec);
    ways_print_head(&w, "recording");
    for (int i = 0; i < count; i++) {
        if (!has_alike(recording, count, recording[i]))
            continue;
        for (int k = 0; k < repeats; k++)
            run_repeat(recording, count, recording[i], spec, k, &w);
        ways_print(&w, recording[i]->name);
    }
    ways_print_mean(&w);
    ways_finish(&w);
}
