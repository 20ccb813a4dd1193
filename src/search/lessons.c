#include "search/lessons.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_TRIES = 8, WIDEST = COORDINATES_MOST + STATISTIC_KIND_COUNT }; // tries: times `tries`

void lessons_init(struct lessons *l, const struct rounds *rounds, struct coordinates *coordinates,
                  const struct looks *looks, int points, int tries)
{
    size_t open = (size_t)rounds->open, width = (size_t)coordinates->count + STATISTIC_KIND_COUNT;
    *l = (struct lessons){.rounds = rounds,
                          .coordinates = coordinates,
                          .looks = looks,
                          .points = points,
                          .tries = tries};
    l->x = mem_zero(open * (width + 2), sizeof *l->x);
    l->mean = l->x + open * width;
    l->deviation = l->mean + open;
}

void lessons_finish(struct lessons *l)
{
    free(l->ranked);
    free(l->x);
}

// --- results ---

double lessons_fitness(const struct lessons *l, int place)
{
    return l->rounds->fitness[l->ranked[place]];
}

double lessons_failed(const struct lessons *l)
{
    return lessons_fitness(l, l->valid * 3 / 4);
}

void lessons_told(struct lessons *l, int index)
{
    double fitness = l->rounds->fitness[index];
    int place = l->results;
    MEM_GROW(l->ranked, l->results, l->capacity);
    for (; place > 0 && lessons_fitness(l, place - 1) < fitness; place--)
        l->ranked[place] = l->ranked[place - 1];
    l->ranked[place] = index;
    l->results++;
    l->valid += fitness > 0;
}

// --- what is taught ---

void lessons_point(const struct lessons *l, const struct gp *g, int index, double *x)
{
    struct config c;
    config_set_get(&l->rounds->visited.given, index, &c);
    coordinates_of(l->coordinates, &c, x);
    if (g->width > l->coordinates->count)
        looks_point(&l->looks->given[index], x + l->coordinates->count);
}

static void add(const struct lessons *l, struct gp *g, int index)
{
    double x[WIDEST];
    double best = lessons_fitness(l, 0), fitness = l->rounds->fitness[index];
    lessons_point(l, g, index, x);
    double share = (fitness > 0 ? fitness : lessons_failed(l)) / best;
    gp_add(g, x, l->logarithms ? log(share) : share);
}

static bool is_taught(const struct lessons *l, int index)
{
    return !l->logarithms || l->rounds->fitness[index] > 0;
}

static bool is_among(const int *list, int count, int index)
{
    for (int i = 0; i < count; i++)
        if (list[i] == index)
            return true;
    return false;
}

// How many tries a fit has. A try costs the cube of the number of points: while there are few
// points, there are more tries, but they cost no more than `tries` of them do once all are there.
static int tries(const struct lessons *l, int points)
{
    double cheaper = pow((double)l->points / points, 3);
    return l->tries * (int)fmin(cheaper, MOST_TRIES);
}

static void believe(struct lessons *l, struct gp *g, struct rng *r)
{
    int count = l->rounds->handed_out - l->results;
    if (count == 0)
        return;
    for (int i = 0; i < count; i++)
        lessons_point(l, g, l->results + i, l->x + i * g->width);
    gp_predict(g, l->x, count, l->mean, l->deviation);
    for (int i = 0; i < count; i++)
        gp_add(g, l->x + i * g->width, l->mean[i]);
    gp_fit(g, 0, r);
}

// Three quarters of its points are the best results, the others the latest.
void lessons_teach(struct lessons *l, struct gp *g, struct rng *r)
{
    int known = l->logarithms ? l->valid : l->results;
    int points = known < l->points ? known : l->points;
    int best = points == known ? points : points * 3 / 4;
    gp_clear(g);
    for (int i = 0; i < best; i++)
        add(l, g, l->ranked[i]);
    for (int i = l->results - 1; g->count < points; i--)
        if (is_taught(l, i) && !is_among(l->ranked, best, i))
            add(l, g, i);
    gp_fit(g, tries(l, points), r);
    believe(l, g, r);
}
