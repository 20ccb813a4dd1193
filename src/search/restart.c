#include "search/restart.h"

#include "base/mem.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DECAY    0.95 // of what was promised and gained, a trial
#define FADE     0.8  // of the largest promise, a trial
#define PRIOR    0.01 // promised and gained before there is anything to learn from
#define WORTH_IT 1e-3 // a gain, as a share, that is one
#define STILL    0.6  // of the surprise that is followed at once, what a follower must be above
enum { PROBES = 8, PATIENCE = 16, LEAST_IDLE = 10, AT_HOME_AGAIN = 2 };

// Of the most surprising of the probes that are not followed at once.
#define LEAST_SURPRISE 1.5
#define LEAST_ALONE    1.0 // the same where `surprise` is 0
#define PATIENCE_EACH  4.0 // for each deviation of surprise
enum { MOST_PATIENCE = 24 };

static double trust(const struct excursion *e)
{
    return (e->gained + PRIOR) / (e->promised + PRIOR);
}

enum excursion_trial excursion_next(struct excursion *e)
{
    if (e->phase == EXCURSION_HOME && e->idle >= LEAST_IDLE && e->promise * trust(e) < e->least) {
        e->phase = EXCURSION_PROBES_OUT;
        e->asked = e->told = e->most.ask = 0;
    }
    if (e->phase == EXCURSION_PROBES_OUT && e->asked < PROBES)
        return TRIAL_PROBE;
    return e->phase == EXCURSION_FOLLOWS ? TRIAL_FOLLOWS : TRIAL_HOME;
}

void excursion_promise(struct excursion *e, double gain)
{
    e->promise = fmax(gain, FADE * e->promise);
    e->promised = DECAY * e->promised + gain;
    e->gained *= DECAY;
}

static struct excursion_expected *expected_at(struct excursion *e, int index)
{
    return &e->expected[index % EXCURSION_OPEN];
}

void excursion_follower(struct excursion *e, int index, double mean, double deviation)
{
    *expected_at(e, index) = (struct excursion_expected){index + 1, mean, deviation, 0};
}

void excursion_probe(struct excursion *e, int index, double mean, double deviation)
{
    if (e->asked++ == 0)
        e->first = index;
    excursion_follower(e, index, mean, deviation);
}

int excursion_known(const struct excursion *e, int results)
{
    return e->phase == EXCURSION_FOLLOWS && e->found < results ? e->found : results;
}

void excursion_end(struct excursion *e)
{
    e->phase = EXCURSION_HOME;
    e->idle = LEAST_IDLE - AT_HOME_AGAIN;
}

static void own(struct excursion *e, int index, double fitness)
{
    int place = e->owned;
    while (place > 0 && e->own_fitness[place - 1] < fitness)
        place--;
    if (place == EXCURSION_OWN)
        return;
    e->owned += e->owned < EXCURSION_OWN;
    for (int i = e->owned - 1; i > place; i--) {
        e->own[i] = e->own[i - 1];
        e->own_fitness[i] = e->own_fitness[i - 1];
    }
    e->own[place] = index;
    e->own_fitness[place] = fitness;
}

static double surprise_of(const struct excursion_expected *x)
{
    return x->fitness > 0 ? (x->fitness - x->mean) / fmax(x->deviation, DBL_MIN) : -INFINITY;
}

static bool is_followed_at_once(const struct excursion *e, const struct excursion_expected *x)
{
    return e->surprise > 0 && surprise_of(x) >= e->surprise;
}

static void follow(struct excursion *e, const struct excursion_expected *probe, int asked)
{
    e->phase = EXCURSION_FOLLOWS;
    e->strict = is_followed_at_once(e, probe);
    e->begun = asked;
    e->found = probe->ask - 1;
    e->owned = e->vain = 0;
    e->patience =
        e->strict ? PATIENCE : (int)fmin(PATIENCE_EACH * surprise_of(probe), MOST_PATIENCE);
    own(e, probe->ask - 1, probe->fitness);
}

static void take_probe(struct excursion *e, const struct excursion_expected *x, int asked)
{
    e->told++;
    if (is_followed_at_once(e, x)) {
        follow(e, x, asked);
        return;
    }
    double least = e->surprise > 0 ? LEAST_SURPRISE : LEAST_ALONE;
    if (surprise_of(x) > (e->most.ask ? surprise_of(&e->most) : least))
        e->most = *x;
    if (e->told < PROBES)
        return;
    if (e->most.ask)
        follow(e, &e->most, asked);
    else
        excursion_end(e);
}

void excursion_told(struct excursion *e, int index, double fitness, int asked)
{
    struct excursion_expected *x = expected_at(e, index);
    bool is_expected = x->ask == index + 1 && index >= e->first;
    x->fitness = fitness;
    e->idle++;
    if (fitness > e->best * (1 + WORTH_IT)) {
        if (e->best > 0 && e->phase == EXCURSION_HOME)
            e->gained += fitness / e->best - 1;
        e->best = fitness;
        e->idle = 0;
        e->phase = EXCURSION_HOME;
    } else if (e->phase == EXCURSION_PROBES_OUT && is_expected)
        take_probe(e, x, asked);
    else if (e->phase == EXCURSION_FOLLOWS && e->strict && is_expected) {
        // Also takes the probes that were out when it began to follow.
        bool above = surprise_of(x) >= STILL * e->surprise;
        if (x->ask > e->begun)
            e->vain = above && x->fitness > e->own_fitness[0] ? 0 : e->vain + 1;
        else
            e->told++;
        if (above)
            own(e, x->ask - 1, x->fitness);
        if (!(e->vain < e->patience)) {
            if (e->told < PROBES)
                e->phase = EXCURSION_PROBES_OUT;
            else
                excursion_end(e);
        }
    } else if (e->phase == EXCURSION_FOLLOWS && !e->strict && index >= e->begun) {
        e->vain = fitness > e->own_fitness[0] ? 0 : e->vain + 1;
        own(e, index, fitness);
        if (e->vain >= e->patience)
            excursion_end(e);
    }
}

static void find_more(struct field *f, struct rng *r)
{
    const struct space *s = f->problem->space;
    bool all = s->size <= (uint64_t)f->most;
    int most = all ? (int)s->size : f->most;
    for (int end = f->tried + FIELD_AT_ONCE; f->tried < end && f->tried < most; f->tried++) {
        struct config c;
        if (all)
            space_point(s, (uint64_t)f->tried, &c);
        else
            visited_sample(f->problem, r, &c);
        const struct search_problem *p = f->problem;
        double x[COORDINATES_MOST];
        bool is_new = false;
        if (!p->legal || p->legal(p->context, &c))
            config_set_add(&f->points, &c, &is_new);
        if (is_new) {
            int at = f->points.count - 1;
            coordinates_of(f->coordinates, &c, x);
            for (int k = 0; k < f->coordinates->count; k++)
                f->x[k * f->most + at] = (float)x[k];
            f->nearest[at] = INFINITY;
        }
    }
}

// As gp.h measures distances.
static void add_distances(const float *restrict x, int count, float at, float weight,
                          float *restrict out)
{
    for (int i = 0; i < count; i++) {
        float distance = fabsf(x[i] - at);
        out[i] += weight * (distance < 1 ? distance : 1);
    }
}

// Compares a result with the points from `first` on.
static void look_at(struct field *f, const struct config *c, const double *weight, int first)
{
    int count = f->points.count - first;
    float *distance = f->distance, *nearest = f->nearest + first;
    double x[COORDINATES_MOST];
    coordinates_of(f->coordinates, c, x);
    for (int i = 0; i < count; i++)
        distance[i] = 0;
    for (int k = 0; k < f->coordinates->count; k++)
        add_distances(f->x + k * f->most + first, count, (float)x[k], (float)weight[k], distance);
    for (int i = 0; i < count; i++)
        nearest[i] = distance[i] < nearest[i] ? distance[i] : nearest[i];
}

bool field_farthest(struct field *f, const struct config_set *given, int count,
                    const double *weight, struct rng *r, struct config *out)
{
    if (!f->x) {
        int width = f->coordinates->count;
        size_t most = FIELD_NUMBERS / (size_t)(width > 0 ? width : 1);
        f->points.slots = f->problem->space->slots;
        f->most = (int)most;
        f->x = mem_zero(most * (size_t)width + 1, sizeof *f->x);
        f->nearest = mem_zero(most, sizeof *f->nearest);
        f->distance = mem_zero(most, sizeof *f->distance);
    }
    int old = f->points.count, farthest = -1;
    find_more(f, r);
    for (int i = f->points.count > old ? 0 : f->results; i < count; i++) {
        struct config c;
        config_set_get(given, i, &c);
        look_at(f, &c, weight, i < f->results ? old : 0);
    }
    f->results = count;
    for (int i = 0; i < f->points.count; i++)
        if (f->nearest[i] > 0 && (farthest < 0 || f->nearest[i] > f->nearest[farthest]))
            farthest = i;
    if (farthest >= 0)
        config_set_get(&f->points, farthest, out);
    return farthest >= 0;
}

void field_finish(struct field *f)
{
    config_set_finish(&f->points);
    free(f->x);
    free(f->nearest);
    free(f->distance);
}

enum {
    AROUND = 64,  // results that say what is expected
    LATEST = 1024 // results that these are chosen from
};

struct near {
    double distance;
    int index;
};

void leaving_init(struct leaving *l, const struct rounds *rounds, struct coordinates *coordinates,
                  struct gp *model)
{
    *l = (struct leaving){.rounds = rounds, .coordinates = coordinates, .model = model};
    l->field = (struct field){.problem = &rounds->problem, .coordinates = coordinates};
    gp_init(&l->around, coordinates->count, AROUND, 1);
}

void leaving_finish(struct leaving *l)
{
    field_finish(&l->field);
    gp_finish(&l->around);
}

static int by_distance(const void *a, const void *b)
{
    const struct near *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void result_at(struct leaving *l, int index, double *x)
{
    struct config c;
    config_set_get(&l->rounds->visited.given, index, &c);
    coordinates_of(l->coordinates, &c, x);
}

// As gp.h measures it.
static double distance(const struct leaving *l, const double *a, const double *b)
{
    double sum = 0;
    for (int k = 0; k < l->coordinates->count; k++)
        sum += l->model->weight[k] * fmin(1, fabs(a[k] - b[k]));
    return sum;
}

static void learn_around(struct leaving *l, struct leaving_now now, const double *at)
{
    int known = excursion_known(&l->excursion, now.results);
    int first = known > LATEST ? known - LATEST : 0, count = known - first;
    double x[COORDINATES_MOST];
    struct near near[LATEST];
    for (int i = 0; i < count; i++) {
        result_at(l, first + i, x);
        near[i] = (struct near){distance(l, at, x), first + i};
    }
    qsort(near, (size_t)count, sizeof *near, by_distance);
    gp_clear(&l->around);
    for (int i = 0; i < count && i < AROUND; i++) {
        double fitness = l->rounds->fitness[near[i].index];
        result_at(l, near[i].index, x);
        gp_add(&l->around, x, fitness > 0 ? fitness / now.best : now.failed / now.best);
    }
    memcpy(l->around.weight, l->model->weight, (size_t)l->around.width * sizeof *x);
    l->around.noise = l->model->noise;
    gp_fit(&l->around, 0, NULL);
}

// Of fitness.
static void expect(struct leaving *l, struct leaving_now now, const struct config *c, double *mean,
                   double *deviation)
{
    double x[COORDINATES_MOST];
    struct gp *g = l->excursion.surprise > 0 ? &l->around : l->model;
    coordinates_of(l->coordinates, c, x);
    if (g == &l->around)
        learn_around(l, now, x);
    gp_predict(g, x, 1, mean, deviation);
    *mean *= now.best;
    *deviation *= now.best;
}

bool leaving_probe(struct leaving *l, struct leaving_now now, struct rng *r, struct config *out)
{
    int asked = l->rounds->handed_out;
    double mean, deviation;
    if (!field_farthest(&l->field, &l->rounds->visited.given, asked, l->model->weight, r, out))
        return false;
    expect(l, now, out, &mean, &deviation);
    excursion_probe(&l->excursion, asked, mean, deviation);
    return true;
}

double leaving_target(const struct leaving *l, struct leaving_now now)
{
    return l->excursion.strict ? 1 : l->excursion.own_fitness[0] / now.best;
}

void leaving_follows(struct leaving *l, struct leaving_now now, const struct config *c)
{
    double mean, deviation;
    if (l->excursion.phase != EXCURSION_FOLLOWS || !l->excursion.strict)
        return;
    expect(l, now, c, &mean, &deviation);
    excursion_follower(&l->excursion, l->rounds->handed_out, mean, deviation);
}
