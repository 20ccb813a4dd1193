#include "search/restart.h"

#include "base/mem.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- the phases ---

#define DECAY      0.95 // of the sums of expected and actual gains, for each trial
#define FADE       0.8  // of the largest recent expected improvement, for each trial
#define PRIOR      0.01 // expected and actual gain before the first trial
#define LEAST_GAIN 1e-3 // relative gain that counts as an improvement
#define STRICT     0.6  // share of `z_at_once` that a result of a strict local search must reach
enum { PROBES = 8, PATIENCE = 16, LEAST_IDLE = 10, IDLE_AFTER_END = 2 };

#define LEAST_Z         1.5 // z-score that starts a lenient local search
#define LEAST_Z_LENIENT 1.0 // the same where `z_at_once` is 0
#define PATIENCE_PER_Z  4.0
enum { MOST_PATIENCE = 24 };

enum exploration_trial exploration_next(struct exploration *e)
{
    double correction = (e->gained_sum + PRIOR) / (e->expected_sum + PRIOR);
    if (e->phase == EXPLORATION_OFF && e->idle >= LEAST_IDLE &&
        e->expected * correction < e->least) {
        e->phase = EXPLORATION_PROBING;
        e->asked = e->observed = e->runner_up.ask = 0;
    }
    if (e->phase == EXPLORATION_PROBING && e->asked < PROBES)
        return TRIAL_PROBE;
    return e->phase == EXPLORATION_LOCAL ? TRIAL_LOCAL : TRIAL_MODEL;
}

void exploration_expect(struct exploration *e, double gain)
{
    e->expected = fmax(gain, FADE * e->expected);
    e->expected_sum = DECAY * e->expected_sum + gain;
    e->gained_sum *= DECAY;
}

void exploration_local(struct exploration *e, int index, double mean, double deviation)
{
    e->prediction[index % EXPLORATION_OPEN] =
        (struct exploration_prediction){index + 1, mean, deviation, 0};
}

void exploration_probe(struct exploration *e, int index, double mean, double deviation)
{
    if (e->asked++ == 0)
        e->first = index;
    exploration_local(e, index, mean, deviation);
}

int exploration_known(const struct exploration *e, int results)
{
    return e->phase == EXPLORATION_LOCAL && e->start < results ? e->start : results;
}

void exploration_end(struct exploration *e)
{
    e->phase = EXPLORATION_OFF;
    e->idle = LEAST_IDLE - IDLE_AFTER_END;
}

// Puts a result into the list of the best results of the local search.
static void add_local(struct exploration *e, int index, double fitness)
{
    int rank = e->local_count;
    while (rank > 0 && e->local_fitness[rank - 1] < fitness)
        rank--;
    if (rank == EXPLORATION_LOCAL_BEST)
        return;
    e->local_count += e->local_count < EXPLORATION_LOCAL_BEST;
    for (int i = e->local_count - 1; i > rank; i--) {
        e->local[i] = e->local[i - 1];
        e->local_fitness[i] = e->local_fitness[i - 1];
    }
    e->local[rank] = index;
    e->local_fitness[rank] = fitness;
}

static double z_score(const struct exploration_prediction *p)
{
    return p->fitness > 0 ? (p->fitness - p->mean) / fmax(p->deviation, DBL_MIN) : -INFINITY;
}

static void start_local(struct exploration *e, const struct exploration_prediction *probe,
                        int asked)
{
    e->phase = EXPLORATION_LOCAL;
    e->strict = e->z_at_once > 0 && z_score(probe) >= e->z_at_once;
    e->begun = asked;
    e->start = probe->ask - 1;
    e->local_count = e->failed_streak = 0;
    e->patience = e->strict ? PATIENCE : (int)fmin(PATIENCE_PER_Z * z_score(probe), MOST_PATIENCE);
    add_local(e, probe->ask - 1, probe->fitness);
}

static void observe_probe(struct exploration *e, const struct exploration_prediction *p, int asked)
{
    double least = e->z_at_once > 0 ? LEAST_Z : LEAST_Z_LENIENT;
    e->observed++;
    if (e->z_at_once > 0 && z_score(p) >= e->z_at_once) {
        start_local(e, p, asked);
        return;
    }
    if (z_score(p) > (e->runner_up.ask ? z_score(&e->runner_up) : least))
        e->runner_up = *p;
    if (e->observed < PROBES)
        return;
    if (e->runner_up.ask)
        start_local(e, &e->runner_up, asked);
    else
        exploration_end(e);
}

void exploration_observe(struct exploration *e, int index, double fitness, int asked)
{
    struct exploration_prediction *p = &e->prediction[index % EXPLORATION_OPEN];
    bool is_predicted = p->ask == index + 1 && index >= e->first;
    p->fitness = fitness;
    e->idle++;
    if (fitness > e->best * (1 + LEAST_GAIN)) {
        if (e->best > 0 && e->phase == EXPLORATION_OFF)
            e->gained_sum += fitness / e->best - 1;
        e->best = fitness;
        e->idle = 0;
        e->phase = EXPLORATION_OFF;
    } else if (e->phase == EXPLORATION_PROBING && is_predicted) {
        observe_probe(e, p, asked);
    } else if (e->phase == EXPLORATION_LOCAL && e->strict && is_predicted) {
        // A result of a strict local search, or of a probe that was open when it began.
        bool above = z_score(p) >= STRICT * e->z_at_once;
        bool improves = above && fitness > e->local_fitness[0], is_probe = p->ask <= e->begun;
        e->observed += is_probe;
        if (!is_probe)
            e->failed_streak = improves ? 0 : e->failed_streak + 1;
        if (above)
            add_local(e, index, fitness);
        if (e->failed_streak >= e->patience && e->observed < PROBES)
            e->phase = EXPLORATION_PROBING;
        else if (e->failed_streak >= e->patience)
            exploration_end(e);
    } else if (e->phase == EXPLORATION_LOCAL && !e->strict && index >= e->begun) {
        e->failed_streak = fitness > e->local_fitness[0] ? 0 : e->failed_streak + 1;
        add_local(e, index, fitness);
        if (e->failed_streak >= e->patience)
            exploration_end(e);
    }
}

// --- the maximin sampler ---

// Adds up to MAXIMIN_STEP points to the pool.
static void grow_pool(struct maximin *m, struct rng *r)
{
    const struct search_problem *p = m->problem;
    bool all = p->space->size <= (uint64_t)m->most;
    int most = all ? (int)p->space->size : m->most;
    for (int end = m->tried + MAXIMIN_STEP; m->tried < end && m->tried < most; m->tried++) {
        struct config c;
        double x[COORDINATES_MOST];
        bool is_new = false;
        if (all)
            space_point(p->space, (uint64_t)m->tried, &c);
        else if (!archive_sample(p, r, &c))
            continue;
        if (search_is_legal(p, &c))
            config_set_add(&m->points, &c, &is_new);
        if (!is_new)
            continue;
        int at = m->points.count - 1;
        coordinates_of(m->coordinates, &c, x);
        for (int k = 0; k < m->coordinates->count; k++)
            m->x[k * m->most + at] = (float)x[k];
        m->nearest[at] = INFINITY;
    }
}

// Adds the distances in one coordinate, as gp.h defines them.
static void add_distances(const float *restrict x, int count, float at, float weight,
                          float *restrict out)
{
    for (int i = 0; i < count; i++) {
        float distance = fabsf(x[i] - at);
        out[i] += weight * (distance < 1 ? distance : 1);
    }
}

bool maximin_farthest(struct maximin *m, const struct config_set *given, int count,
                      const double *weight, struct rng *r, struct config *out)
{
    if (!m->x) {
        int width = m->coordinates->count;
        size_t most = MAXIMIN_NUMBERS / (size_t)(width > 0 ? width : 1);
        m->points.slots = m->problem->space->slots;
        m->most = (int)most;
        m->x = mem_zero(most * (size_t)width + 1, sizeof *m->x);
        m->nearest = mem_zero(most, sizeof *m->nearest);
        m->distance = mem_zero(most, sizeof *m->distance);
    }
    int old = m->points.count, farthest = -1;
    grow_pool(m, r);
    // New points meet all results, old points meet the new results.
    for (int i = m->points.count > old ? 0 : m->results; i < count; i++) {
        int begin = i < m->results ? old : 0, points = m->points.count - begin;
        float *nearest = m->nearest + begin;
        struct config c;
        double x[COORDINATES_MOST];
        config_set_get(given, i, &c);
        coordinates_of(m->coordinates, &c, x);
        memset(m->distance, 0, (size_t)points * sizeof *m->distance);
        for (int k = 0; k < m->coordinates->count; k++)
            add_distances(m->x + k * m->most + begin, points, (float)x[k], (float)weight[k],
                          m->distance);
        for (int n = 0; n < points; n++)
            nearest[n] = m->distance[n] < nearest[n] ? m->distance[n] : nearest[n];
    }
    m->results = count;
    for (int i = 0; i < m->points.count; i++)
        if (m->nearest[i] > 0 && (farthest < 0 || m->nearest[i] > m->nearest[farthest]))
            farthest = i;
    if (farthest >= 0)
        config_set_get(&m->points, farthest, out);
    return farthest >= 0;
}

void maximin_finish(struct maximin *m)
{
    config_set_finish(&m->points);
    free(m->x);
    free(m->nearest);
    free(m->distance);
}

// --- the trials of a phase ---

enum { NEAREST = 64 }; // results of a local model

struct near_result {
    double distance;
    int index;
};

void restart_init(struct restart *r, const struct batches *batches, struct coordinates *coordinates,
                  struct gp *model)
{
    *r = (struct restart){.batches = batches, .coordinates = coordinates, .model = model};
    r->maximin = (struct maximin){.problem = &batches->problem, .coordinates = coordinates};
    gp_init(&r->local_model, coordinates->count, NEAREST, 1);
}

void restart_finish(struct restart *r)
{
    maximin_finish(&r->maximin);
    gp_finish(&r->local_model);
    free(r->x);
}

// Puts a result into the list of the nearest ones, the nearest first; of equals the older first.
static int add_near(struct near_result *near, int count, struct near_result result)
{
    int rank = count;
    if (count == NEAREST && near[count - 1].distance <= result.distance)
        return count;
    for (rank -= count == NEAREST; rank > 0 && near[rank - 1].distance > result.distance; rank--)
        near[rank] = near[rank - 1];
    near[rank] = result;
    return count + (count < NEAREST);
}

// Computes the coordinates of the results from `first` on that are not known yet.
static void locate_results(struct restart *r, int first, int known)
{
    int width = r->coordinates->count;
    if (!r->x)
        r->x = mem_zero((size_t)width * RESTART_ROWS + 1, sizeof *r->x);
    if (r->located < first || r->located - first > RESTART_ROWS)
        r->located = first;
    for (; r->located < known; r->located++) {
        struct config c;
        double x[COORDINATES_MOST];
        config_set_get(&r->batches->archive.given, r->located, &c);
        coordinates_of(r->coordinates, &c, x);
        for (int k = 0; k < width; k++)
            r->x[k * RESTART_ROWS + r->located % RESTART_ROWS] = x[k];
    }
}

// Adds the distances in one coordinate, as gp.h defines them.
static void add_local_distances(const double *restrict x, int count, double at, double weight,
                                double *restrict out)
{
    for (int i = 0; i < count; i++) {
        double distance = fabs(x[i] - at);
        out[i] += weight * (distance < 1 ? distance : 1);
    }
}

// Fits the local model to the results nearest to the point `at`.
static void fit_local(struct restart *r, struct restart_now now, const double *at)
{
    int known = exploration_known(&r->exploration, now.results), width = r->coordinates->count;
    int first = known > RESTART_LATEST ? known - RESTART_LATEST : 0, count = 0;
    double distance[RESTART_ROWS] = {0};
    struct near_result near[NEAREST];
    struct gp *g = &r->local_model;
    locate_results(r, first, known);
    int rows = r->located < RESTART_ROWS ? r->located : RESTART_ROWS;
    for (int k = 0; k < width; k++)
        add_local_distances(r->x + k * RESTART_ROWS, rows, at[k], r->model->weight[k], distance);
    for (int i = first; i < known; i++)
        count = add_near(near, count, (struct near_result){distance[i % RESTART_ROWS], i});
    gp_clear(g);
    for (int i = 0; i < count; i++) {
        double x[COORDINATES_MOST], fitness = r->batches->fitness[near[i].index];
        for (int k = 0; k < width; k++)
            x[k] = r->x[k * RESTART_ROWS + near[i].index % RESTART_ROWS];
        gp_add(g, x, fitness > 0 ? fitness / now.best : now.failed / now.best);
    }
    memcpy(g->weight, r->model->weight, (size_t)width * sizeof *g->weight);
    g->noise = r->model->noise;
    gp_fit(g, 0, NULL);
}

// Predicts the fitness of a configuration.
static void predict(struct restart *r, struct restart_now now, const struct config *c, double *mean,
                    double *deviation)
{
    double x[COORDINATES_MOST];
    struct gp *g = r->exploration.z_at_once > 0 ? &r->local_model : r->model;
    coordinates_of(r->coordinates, c, x);
    if (g == &r->local_model)
        fit_local(r, now, x);
    gp_predict(g, x, 1, mean, deviation);
    *mean *= now.best;
    *deviation *= now.best;
}

bool restart_probe(struct restart *r, struct restart_now now, struct rng *rng, struct config *out)
{
    int asked = r->batches->handed_out;
    double mean, deviation;
    if (!maximin_farthest(&r->maximin, &r->batches->archive.given, asked, r->model->weight, rng,
                          out))
        return false;
    predict(r, now, out, &mean, &deviation);
    exploration_probe(&r->exploration, asked, mean, deviation);
    return true;
}

void restart_local(struct restart *r, struct restart_now now, const struct config *c)
{
    double mean, deviation;
    if (r->exploration.phase != EXPLORATION_LOCAL || !r->exploration.strict)
        return;
    predict(r, now, c, &mean, &deviation);
    exploration_local(&r->exploration, r->batches->handed_out, mean, deviation);
}
