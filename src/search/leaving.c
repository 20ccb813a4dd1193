#include "search/leaving.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
