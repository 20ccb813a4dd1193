#include "search/field.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

static void make_room(struct field *f)
{
    int width = f->coordinates->count;
    size_t most = FIELD_NUMBERS / (size_t)(width > 0 ? width : 1);
    f->points.slots = f->problem->space->slots;
    f->most = (int)most;
    f->x = mem_zero(most * (size_t)width + 1, sizeof *f->x);
    f->nearest = mem_zero(most, sizeof *f->nearest);
    f->distance = mem_zero(most, sizeof *f->distance);
}

static void add(struct field *f, const struct config *c)
{
    const struct search_problem *p = f->problem;
    double x[COORDINATES_MOST];
    bool is_new = false;
    if (!p->legal || p->legal(p->context, c))
        config_set_add(&f->points, c, &is_new);
    if (!is_new)
        return;
    int at = f->points.count - 1;
    coordinates_of(f->coordinates, c, x);
    for (int k = 0; k < f->coordinates->count; k++)
        f->x[k * f->most + at] = (float)x[k];
    f->nearest[at] = INFINITY;
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
        add(f, &c);
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
    if (!f->x)
        make_room(f);
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
