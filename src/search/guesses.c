#include "search/guesses.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

void guesses_init(struct guesses *g, const struct batches *batches, struct coordinates *coordinates)
{
    int count = batches->problem.guess_count;
    *g = (struct guesses){.batches = batches,
                          .coordinates = coordinates,
                          .used = mem_zero((size_t)count + 1, sizeof *g->used),
                          .report = {.count = count, .left = count}};
}

void guesses_finish(struct guesses *g)
{
    free(g->used);
}

bool guesses_are_due(const struct guesses *g, int index)
{
    return g->report.left > 0 && index % 2 == 1;
}

static void use(struct guesses *g, int guess)
{
    g->used[guess] = true;
    g->report.left--;
}

// Returns true if the guess may be proposed. One that the search has proposed itself is used.
static bool is_left(struct guesses *g, int guess)
{
    if (!g->used[guess] && !archive_allows(&g->batches->archive, &g->batches->problem.guess[guess]))
        use(g, guess);
    return !g->used[guess];
}

static bool propose(struct guesses *g, int guess, struct config *out)
{
    if (guess < 0)
        return false;
    *out = g->batches->problem.guess[guess];
    use(g, guess);
    return true;
}

bool guesses_take(struct guesses *g, struct config *out)
{
    int first = 0;
    while (first < g->report.count && !is_left(g, first))
        first++;
    return propose(g, first < g->report.count ? first : -1, out);
}

// Returns the chance that a normally distributed value is above 1.
static double chance_above_one(double mean, double deviation)
{
    const double sqrt_half = 0.70710678118654752, least = 1e-12;
    return 0.5 * erfc((1 - mean) / (deviation + least) * sqrt_half);
}

bool guesses_choose(struct guesses *g, struct gp *model, struct config *out)
{
    double largest = -INFINITY;
    int best = -1;
    for (int i = 0; i < g->report.count; i++) {
        double x[COORDINATES_MOST], mean, deviation;
        if (!is_left(g, i))
            continue;
        coordinates_of(g->coordinates, &g->batches->problem.guess[i], x);
        gp_predict(model, x, 1, &mean, &deviation);
        if (chance_above_one(mean, deviation) < GUESS_CHANCE) {
            use(g, i);
            g->report.dropped++;
            continue;
        }
        double gain = gp_expected_improvement(mean, deviation, 1);
        if (gain > largest) {
            largest = gain;
            best = i;
        }
    }
    return propose(g, best, out);
}
