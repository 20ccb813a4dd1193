#include "guessed.h"

#include "base/mem.h"
#include "bench.h"
#include "search/strategy.h"
#include "simulate/simulate.h"

#include <math.h>
#include <stdlib.h>

enum { BAD = 20, GOOD = 20, WAYS = 3, MARKS = 5 };
static const int mark[MARKS] = {20, 50, 100, 190, 200};
static const char *const way_name[WAYS] = {"without guesses", "20 bad ones",
                                           "20 good ones among 20 bad ones"};

struct sums {
    double share[MARKS];
    int dropped, runs;
};

static bool is_recorded(void *context, const struct config *c)
{
    return simulate_is_trial(recording_find(context, c));
}

static double share_of(const struct recording *r, const struct record_entry *entry)
{
    return entry->outcome == OUTCOME_OK ? r->entry[r->best].seconds / entry->seconds : 0;
}

static int fastest_first(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

// Returns the share of the optimum that so many of the valid configurations reach.
static double quantile(const struct recording *r, double of_valid)
{
    double *share = mem_zero((size_t)r->count, sizeof *share);
    int valid = 0;
    for (int i = 0; i < r->count; i++)
        if (r->entry[i].outcome == OUTCOME_OK)
            share[valid++] = share_of(r, &r->entry[i]);
    qsort(share, (size_t)valid, sizeof *share, fastest_first);
    double at = share[(int)(of_valid * (valid - 1))];
    free(share);
    return at;
}

// Draws configurations that reach a share of the optimum between two bounds.
static int draw(const struct recording *r, double low, double high, int wanted, struct rng *rng,
                struct config *out)
{
    int count = 0;
    for (int tries = 0; count < wanted && tries < 100000; tries++) {
        int i = (int)rng_below(rng, (uint64_t)r->count);
        double share = share_of(r, &r->entry[i]);
        if (share > 0 && share >= low && share <= high)
            config_set_get(&r->configs, i, &out[count++]);
    }
    return count;
}

static void shuffle(struct config *list, int count, struct rng *rng)
{
    for (int i = count - 1; i > 0; i--) {
        int k = (int)rng_below(rng, (uint64_t)i + 1);
        struct config c = list[i];
        list[i] = list[k];
        list[k] = c;
    }
}

static void run(struct recording *r, const struct config *guess, int guesses, uint64_t seed,
                struct sums *out)
{
    struct err e;
    struct config c;
    const struct search_problem problem = {.space = r->space,
                                           .legal = is_recorded,
                                           .context = r,
                                           .guess = guess,
                                           .guess_count = guesses};
    struct strategy *s = strategy_create("walk", &problem, seed, &e);
    double best = 0;
    if (!s)
        bench_fail("no strategy", &e);
    for (int n = 1, at = 0; at < MARKS && strategy_ask(s, &c) == ASK_NEW; n++) {
        const struct record_entry *entry = recording_find(r, &c);
        double share = share_of(r, entry);
        strategy_tell(s, &c, entry->outcome, share);
        best = fmax(best, share);
        if (n == mark[at])
            out->share[at++] += best;
    }
    out->dropped += strategy_guesses(s).dropped;
    out->runs++;
    strategy_destroy(s);
}

void guessed_on_recordings(struct recording *const *recording, int recordings, int repeats)
{
    struct sums sums[WAYS] = {0};
    for (int i = 0; i < recordings; i++) {
        struct recording *r = recording[i];
        double slow = quantile(r, 0.5), fast = quantile(r, 0.05);
        for (int k = 1; k <= repeats; k++) {
            struct config guess[BAD + GOOD];
            struct rng rng;
            rng_seed(&rng, (uint64_t)k);
            int bad = draw(r, 0, slow, BAD, &rng, guess);
            int good = draw(r, fast, 0.99, GOOD, &rng, guess + bad);
            run(r, guess, 0, (uint64_t)k, &sums[0]);
            run(r, guess, bad, (uint64_t)k, &sums[1]);
            shuffle(guess, bad + good, &rng);
            run(r, guess, bad + good, (uint64_t)k, &sums[2]);
        }
    }
    printf("\n| walk, %d runs on each of %d | 20 | 50 | 100 | 190 | 200 | dropped |\n"
           "|---|---:|---:|---:|---:|---:|---:|\n",
           repeats, recordings);
    for (int w = 0; w < WAYS; w++) {
        int n = sums[w].runs;
        printf("| %s |", way_name[w]);
        for (int at = 0; at < MARKS; at++)
            printf(" %.4f |", sums[w].share[at] / n);
        printf(" %.1f |\n", (double)sums[w].dropped / n);
    }
}
