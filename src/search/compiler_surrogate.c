#include "search/compiler_surrogate.h"

#include <math.h>

// --- the candidate batches ---

// Returns true if the configuration is in the batch, or the first one of a batch in the queue.
static bool is_taken(const struct candidate_batch *b, const struct candidate_queue *q,
                     const struct config *c)
{
    for (int i = 0; i < b->count; i++)
        if (config_equal(&b->candidate[i].config, c))
            return true;
    for (int i = 0; i < q->count; i++)
        if (q->batch[i].count && config_equal(&q->batch[i].candidate[0].config, c))
            return true;
    return false;
}

void candidate_batch_fill(struct candidate_batch *b, const struct candidate_queue *q,
                          const struct candidates *c, const double *acquisition, int most)
{
    while (b->count < most) {
        double largest = -INFINITY;
        int chosen = -1;
        for (int i = 0; i < c->count; i++)
            if (acquisition[i] > largest && !is_taken(b, q, &c->candidate[i].config)) {
                largest = acquisition[i];
                chosen = i;
            }
        for (int i = 0; i < c->count && chosen < 0 && b->count == 0; i++)
            if (!is_taken(b, q, &c->candidate[i].config))
                chosen = i;
        if (chosen < 0)
            return;
        b->candidate[b->count++] = c->candidate[chosen];
    }
}

// --- the choice ---

void compiler_surrogate_init(struct compiler_surrogate *s, const struct batches *batches,
                             struct training_set *training, int points)
{
    s->batches = batches;
    s->training = training;
    gp_init(&s->model, training->coordinates->count + STATISTIC_KIND_COUNT, points + batches->open,
            PROBES_MOST + batches->open);
}

void compiler_surrogate_finish(struct compiler_surrogate *s)
{
    gp_finish(&s->model);
    compile_probes_finish(&s->probes);
}

bool compiler_surrogate_probe(const struct compiler_surrogate *s, const struct candidate_batch *b,
                              struct compile_probe *probe)
{
    const struct search_problem *p = &s->batches->problem;
    struct config c[PROBES_MOST];
    for (int k = 0; k < b->count; k++)
        c[k] = b->candidate[k].config;
    return p->probe(p->context, c, b->count, probe);
}

bool compiler_surrogate_choose(struct compiler_surrogate *s, struct candidate_batch *b,
                               struct rng *r)
{
    const struct config_set *given = &s->batches->archive.given;
    struct coordinates *coordinates = s->training->coordinates;
    struct compile_probe probe[PROBES_MOST];
    bool known = compile_probes_take(&s->probes, given, s->batches->handed_out);
    if (!compiler_surrogate_probe(s, b, probe) || !known)
        return false;
    s->training->plans = 0; // the planned trials have no statistics yet
    training_fit(s->training, &s->model, r);
    double x[PROBES_MOST * (COORDINATES_MOST + STATISTIC_KIND_COUNT)];
    double mean[PROBES_MOST], deviation[PROBES_MOST], largest = -INFINITY;
    double target = 1 + b->xi * s->model.now.scale;
    int width = s->model.width, chosen = -1;
    for (int k = 0; k < b->count; k++) {
        coordinates_of(coordinates, &b->candidate[k].config, x + k * width);
        compile_probe_coordinates(&probe[k], x + k * width + coordinates->count);
    }
    gp_predict(&s->model, x, b->count, mean, deviation);
    for (int k = 0; k < b->count; k++) {
        if (config_set_find(given, &b->candidate[k].config) >= 0)
            continue;
        double acquisition = gp_factor(&s->model, x + k * width, k) *
                             gp_expected_improvement(mean[k], deviation[k], target);
        if (chosen < 0)
            chosen = k;
        if (probe[k].fits && acquisition > largest) {
            largest = acquisition;
            chosen = k;
        }
    }
    b->count = chosen >= 0;
    if (chosen > 0) {
        b->candidate[0] = b->candidate[chosen];
        b->mean[0] = b->mean[chosen];
        b->deviation[0] = b->deviation[chosen];
    }
    return true;
}
