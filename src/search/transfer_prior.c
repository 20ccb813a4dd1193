#include "search/transfer_prior.h"

#include "base/mem.h"
#include "space/nearest.h"

#include <math.h>
#include <stdlib.h>

#define NEW_BEST 1.001 // relative speed that counts as a new best
#define PATIENCE 3.0   // failed streak after which half of the trials are guided
enum {
    TRIES = 60, // weights tried for the process of a source
    SWEEPS = 50 // over the equations: by far enough
};

// --- one source ---

struct mapped { // a result of a history, mapped to this space
    struct config config;
    double fitness;
    int index;
};

static int fastest_first(const void *a, const void *b)
{
    const struct mapped *x = a, *y = b;
    if (x->fitness != y->fitness)
        return x->fitness > y->fitness ? -1 : 1;
    return x->index - y->index;
}

// Fits the process of a source. Three quarters of its points are the best results, the others are
// spread over the rest. A failure counts as the lower quartile of the other results.
static void fit_source(struct gp *g, struct coordinates *coordinates, const struct mapped *mapped,
                       int count, struct rng *r)
{
    double x[COORDINATES_MOST], best = mapped[0].fitness;
    int valid = 0, points = count < PRIOR_POINTS ? count : PRIOR_POINTS;
    int first = points == count ? points : points * 3 / 4, rest = points - first;
    while (valid < count && mapped[valid].fitness > 0)
        valid++;
    gp_init(g, coordinates->count, points, 1);
    for (int i = 0; i < points; i++) {
        int at = i < first ? i : first + (int)((int64_t)(i - first) * (count - first) / rest);
        double fitness = at < valid ? mapped[at].fitness : mapped[valid * 3 / 4].fitness;
        coordinates_of(coordinates, &mapped[at].config, x);
        gp_add(g, x, fitness / best);
    }
    gp_fit(g, TRIES, r);
}

static void add_source(struct transfer_prior *t, const struct search_problem *p,
                       const struct search_history *h, struct rng *r)
{
    struct mapped *mapped = mem_zero((size_t)h->count + 1, sizeof *mapped);
    int count = 0;
    for (int i = 0; i < h->count; i++) {
        mapped[count] = (struct mapped){.fitness = h->fitness[i], .index = i};
        count +=
            space_nearest_like(p->space, h->space, &h->config[i], false, &mapped[count].config);
    }
    if (count > 0)
        qsort(mapped, (size_t)count, sizeof *mapped, fastest_first);
    if (count > 1 && mapped[0].fitness > 0) {
        struct prior_source *s = &t->source[t->count++];
        struct config_set taken = {.slots = p->space->slots};
        for (int i = 0; i < count && mapped[i].fitness > 0 && s->best_count < PRIOR_BEST; i++) {
            struct config c = mapped[i].config;
            bool is_new;
            if (!search_nearest_legal(p, &c))
                continue;
            config_set_add(&taken, &c, &is_new);
            if (is_new)
                s->best[s->best_count++] = c;
        }
        config_set_finish(&taken);
        fit_source(&s->model, t->coordinates, mapped, count, r);
    }
    free(mapped);
}

void transfer_prior_init(struct transfer_prior *t, const struct search_problem *problem,
                         struct coordinates *coordinates, int starts, uint64_t seed)
{
    struct rng r;
    int first = problem->history_count - PRIOR_SOURCES;
    *t = (struct transfer_prior){.coordinates = coordinates, .starts = starts};
    if (problem->history_count == 0)
        return;
    rng_seed(&r, seed);
    t->source = mem_zero(PRIOR_SOURCES, sizeof *t->source);
    for (int i = first > 0 ? first : 0; i < problem->history_count; i++)
        add_source(t, problem, &problem->history[i], &r);
    for (int k = 0; k < t->count; k++)
        t->source[k].weight = 1.0 / t->count;
    if (t->count && starts > PRIOR_STARTS)
        t->starts = PRIOR_STARTS;
    t->to_draw = starts - t->starts;
}

void transfer_prior_finish(struct transfer_prior *t)
{
    for (int k = 0; k < t->count; k++)
        gp_finish(&t->source[k].model);
    free(t->source);
    free(t->predicted);
}

// --- the weighted sum ---

double transfer_prior_mean(void *self, const double *x)
{
    struct transfer_prior *t = self;
    double sum = 0;
    for (int k = 0; k < t->count && t->guided; k++)
        if (t->source[k].weight > 0)
            sum += t->source[k].weight * gp_mean(&t->source[k].model, x, NULL);
    return sum;
}

struct equations { // the normal equations, of deviations from the means
    double own[PRIOR_SOURCES][PRIOR_SOURCES], with[PRIOR_SOURCES];
};

static void set_equations(const struct transfer_prior *t, const struct batches *b, double best,
                          struct equations *q)
{
    double mean[PRIOR_SOURCES] = {0}, level = 0;
    int valid = 0;
    for (int i = 0; i < t->results; i++) {
        if (b->fitness[i] <= 0)
            continue;
        valid++;
        level += b->fitness[i] / best;
        for (int k = 0; k < t->count; k++)
            mean[k] += t->predicted[i * t->count + k];
    }
    for (int i = 0; i < t->results; i++)
        for (int k = 0; k < t->count && b->fitness[i] > 0; k++) {
            const double *predicted = t->predicted + i * t->count;
            double by = predicted[k] - mean[k] / valid;
            q->with[k] += by * (b->fitness[i] / best - level / valid);
            for (int l = 0; l < t->count; l++)
                q->own[k][l] += by * (predicted[l] - mean[l] / valid);
        }
    for (int k = 0; k < t->count; k++) { // the regularisation
        double scale = t->source[k].model.now.scale, by = PRIOR_HOLD * scale * scale;
        q->own[k][k] += by;
        q->with[k] += by / t->count;
    }
}

bool transfer_prior_weigh(struct transfer_prior *t, const struct batches *b, int observed,
                          double best, struct rng *rng)
{
    struct equations q = {0};
    if (t->count == 0)
        return false;
    if (observed > t->capacity) {
        t->capacity = 2 * observed;
        t->predicted =
            mem_resize(t->predicted, (size_t)(t->capacity * t->count), sizeof *t->predicted);
    }
    for (; t->results < observed; t->results++) {
        double x[COORDINATES_MOST];
        struct config c;
        config_set_get(&b->archive.given, t->results, &c);
        coordinates_of(t->coordinates, &c, x);
        for (int k = 0; k < t->count; k++)
            t->predicted[t->results * t->count + k] = gp_mean(&t->source[k].model, x, NULL);
    }
    set_equations(t, b, best, &q);
    // One weight after the other becomes the best one, with the others as they are.
    for (int n = 0; n < SWEEPS; n++)
        for (int k = 0; k < t->count; k++) {
            double left = q.with[k];
            for (int l = 0; l < t->count; l++)
                left -= l == k ? 0 : q.own[k][l] * t->source[l].weight;
            t->source[k].weight = fmax(0, left / q.own[k][k]);
        }
    t->failed_streak += t->guided;
    if (best > t->best * NEW_BEST) {
        t->best = best;
        t->failed_streak = 0;
    }
    double streak = t->failed_streak / PATIENCE;
    t->guided = rng_real(rng) < 1 / (1 + streak * streak);
    bool draws = !t->guided && t->to_draw > 0;
    t->to_draw -= draws;
    return draws;
}

// --- candidates ---

void transfer_prior_propose(const struct transfer_prior *t, struct candidates *c)
{
    for (int k = 0; k < t->count && t->guided; k++)
        for (int i = 0; i < t->source[k].best_count; i++) {
            struct candidate best = {.config = t->source[k].best[i]};
            if (archive_allows(&c->batches->archive, &best.config))
                candidates_add(c, &best);
        }
}
