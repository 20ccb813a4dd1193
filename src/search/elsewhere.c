#include "search/elsewhere.h"

#include "base/mem.h"
#include "space/nearest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORTH_IT 1.001 // times as fast: a new best
#define PATIENCE 3.0   // trials in vain after which half of them heed the histories
enum {
    TRIES = 60, // weights of a history's process that are tried
    SWEEPS = 50 // over the equations: by far enough
};

// --- one history ---

struct known { // of a history, what is there here too
    struct config config;
    double fitness;
    int index;
};

static int by_fitness(const void *a, const void *b)
{
    const struct known *x = a, *y = b;
    if (x->fitness != y->fitness)
        return x->fitness > y->fitness ? -1 : 1;
    return x->index - y->index;
}

static void add(struct elsewhere *e, const struct search_problem *p, const struct search_history *h,
                struct rng *r)
{
    struct known *known = mem_zero((size_t)h->count + 1, sizeof *known);
    // Returns how many of it have a like here, the fastest first; `out` is [h->count].
    int count = 0;
    for (int i = 0; i < h->count; i++) {
        known[count] = (struct known){.fitness = h->fitness[i], .index = i};
        count += space_nearest_like(p->space, h->space, &h->config[i], &known[count].config);
    }
    if (count > 0)
        qsort(known, (size_t)count, sizeof *known, by_fitness);
    if (count > 1 && known[0].fitness > 0) {
        struct elsewhere_history *o = &e->history[e->count++];
        struct config_set taken = {.slots = p->space->slots};
        for (int i = 0; i < count && known[i].fitness > 0 && o->best_count < ELSEWHERE_BEST; i++) {
            struct config c = known[i].config;
            bool is_new;
            if (p->legal && !space_nearest_legal(p->space, p->legal, p->context, &c))
                continue;
            config_set_add(&taken, &c, &is_new);
            if (is_new)
                o->best[o->best_count++] = c;
        }
        config_set_finish(&taken);
        // Three quarters of its points are the best, the others are spread over the rest. What
        // failed counts as the lower quartile of what did not.
        double x[COORDINATES_MOST], best = known[0].fitness;
        int valid = 0, points = count < ELSEWHERE_POINTS ? count : ELSEWHERE_POINTS;
        int first = points == count ? points : points * 3 / 4, rest = points - first;
        while (valid < count && known[valid].fitness > 0)
            valid++;
        gp_init(&o->model, e->coordinates->count, points, 1);
        for (int i = 0; i < points; i++) {
            int at = i < first ? i : first + (int)((int64_t)(i - first) * (count - first) / rest);
            double fitness = at < valid ? known[at].fitness : known[valid * 3 / 4].fitness;
            coordinates_of(e->coordinates, &known[at].config, x);
            gp_add(&o->model, x, fitness / best);
        }
        gp_fit(&o->model, TRIES, r);
    }
    free(known);
}

void elsewhere_init(struct elsewhere *e, const struct search_problem *problem,
                    struct coordinates *coordinates, int starts, uint64_t seed)
{
    struct rng r;
    int first = problem->history_count - ELSEWHERE_MOST;
    *e = (struct elsewhere){.coordinates = coordinates, .starts = starts};
    if (problem->history_count == 0)
        return;
    rng_seed(&r, seed);
    e->history = mem_zero(ELSEWHERE_MOST, sizeof *e->history);
    for (int i = first > 0 ? first : 0; i < problem->history_count; i++)
        add(e, problem, &problem->history[i], &r);
    for (int k = 0; k < e->count; k++)
        e->history[k].weight = 1.0 / e->count;
    if (e->count && starts > ELSEWHERE_STARTS)
        e->starts = ELSEWHERE_STARTS;
    e->to_draw = starts - e->starts;
}

void elsewhere_finish(struct elsewhere *e)
{
    for (int k = 0; k < e->count; k++)
        gp_finish(&e->history[k].model);
    free(e->history);
    free(e->said);
}

// --- what they say together ---

static double trend(void *self, const double *x)
{
    struct elsewhere *e = self;
    double sum = 0;
    for (int k = 0; k < e->count && e->heeded; k++)
        if (e->history[k].weight > 0)
            sum += e->history[k].weight * gp_mean(&e->history[k].model, x);
    return sum;
}

void elsewhere_attach(struct elsewhere *e, struct gp *g)
{
    g->trend = e->count ? trend : NULL;
    g->context = e;
}

// --- weights ---

struct equations { // normal ones, of deviations from the means
    int count;
    double own[ELSEWHERE_MOST][ELSEWHERE_MOST], with[ELSEWHERE_MOST];
};

static void hold(const struct elsewhere *e, struct equations *q)
{
    for (int k = 0; k < e->count; k++) {
        double scale = e->history[k].model.now.scale, by = ELSEWHERE_HOLD * scale * scale;
        q->own[k][k] += by;
        q->with[k] += by / e->count;
    }
}

// One weight after the other, each the best with the others as they are.
static void solve(struct elsewhere *e, const struct equations *q)
{
    for (int n = 0; n < SWEEPS; n++)
        for (int k = 0; k < e->count; k++) {
            double left = q->with[k];
            for (int l = 0; l < e->count; l++)
                left -= l == k ? 0 : q->own[k][l] * e->history[l].weight;
            e->history[k].weight = fmax(0, left / q->own[k][k]);
        }
}

// Whether the trial that is due heeds the histories.
static bool heeds(struct elsewhere *e, double best, struct rng *rng)
{
    e->vain += e->heeded;
    if (best > e->best * WORTH_IT) {
        e->best = best;
        e->vain = 0;
    }
    double vain = e->vain / PATIENCE;
    return rng_real(rng) < 1 / (1 + vain * vain);
}

bool elsewhere_weigh(struct elsewhere *e, const struct rounds *r, int told, double best,
                     struct rng *rng)
{
    struct equations q;
    if (e->count == 0)
        return false;
    // What each says of the results that are new.
    double x[COORDINATES_MOST];
    struct config c;
    if (told > e->capacity) {
        e->capacity = 2 * told;
        e->said = mem_resize(e->said, (size_t)(e->capacity * e->count), sizeof *e->said);
    }
    for (; e->results < told; e->results++) {
        config_set_get(&r->visited.given, e->results, &c);
        coordinates_of(e->coordinates, &c, x);
        for (int k = 0; k < e->count; k++)
            e->said[e->results * e->count + k] = gp_mean(&e->history[k].model, x);
    }
    double mean[ELSEWHERE_MOST] = {0}, level = 0;
    int valid = 0;
    q = (struct equations){.count = e->count};
    for (int i = 0; i < e->results; i++) {
        if (r->fitness[i] <= 0)
            continue;
        valid++;
        level += r->fitness[i] / best;
        for (int k = 0; k < e->count; k++)
            mean[k] += e->said[i * e->count + k];
    }
    for (int i = 0; i < e->results; i++)
        for (int k = 0; k < e->count && r->fitness[i] > 0; k++) {
            const double *said = e->said + i * e->count;
            double by = said[k] - mean[k] / valid;
            q.with[k] += by * (r->fitness[i] / best - level / valid);
            for (int l = 0; l < e->count; l++)
                q.own[k][l] += by * (said[l] - mean[l] / valid);
        }
    hold(e, &q);
    solve(e, &q);
    e->heeded = heeds(e, best, rng);
    bool draws = !e->heeded && e->to_draw > 0;
    e->to_draw -= draws;
    return draws;
}

// --- proposals ---

int elsewhere_most(const struct elsewhere *e)
{
    return e->count * ELSEWHERE_BEST;
}

void elsewhere_propose(const struct elsewhere *e, struct proposals *p)
{
    for (int k = 0; k < e->count && e->heeded; k++)
        for (int i = 0; i < e->history[k].best_count; i++) {
            struct candidate c = {.config = e->history[k].best[i]};
            if (visited_allows(&p->rounds->visited, &c.config))
                proposals_add(p, &c);
        }
}
