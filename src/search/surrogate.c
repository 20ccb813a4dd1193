#include "search/surrogate.h"

#include "base/mem.h"
#include "search/moves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_S 1e-3 // what a trial costs beside

enum { MOST_TRIES = 8, WIDEST = COORDINATES_MOST + STATISTIC_KIND_COUNT }; // tries: times `tries`

struct lesson {
    int index;
    double value, further[LESSON_FURTHER];
};

void lessons_init(struct lessons *l, const struct rounds *rounds, struct coordinates *coordinates,
                  const struct looks *looks, int points, int tries)
{
    size_t most = (size_t)(rounds->open + points),
           width = (size_t)coordinates->count + STATISTIC_KIND_COUNT;
    *l = (struct lessons){.rounds = rounds,
                          .coordinates = coordinates,
                          .looks = looks,
                          .points = points,
                          .tries = tries};
    l->x = mem_zero(most * width, sizeof *l->x);
    l->supposed = mem_zero(most, sizeof *l->supposed);
}

void lessons_finish(struct lessons *l)
{
    free(l->ranked);
    free(l->x);
    free(l->supposed);
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

// The logarithm of what a trial took; where nobody said it, as much as the others in the mean.
static double cost_of(const struct lessons *l, int index)
{
    double took_s = l->rounds->took_s[index];
    if (took_s > 0)
        return log(fmax(took_s, LEAST_S));
    return l->costs ? l->cost / l->costs : 0;
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
    if (l->rounds->took_s[index] > 0) {
        l->cost += cost_of(l, index);
        l->costs++;
    }
}

// --- what is taught ---

void lessons_point(const struct lessons *l, const struct gp *g, int index, double *x)
{
    struct config c;
    int plan = index - l->rounds->handed_out;
    if (plan < 0)
        config_set_get(&l->rounds->visited.given, index, &c);
    coordinates_of(l->coordinates, plan < 0 ? &c : &l->planned[plan], x);
    if (g->width > l->coordinates->count)
        looks_point(&l->looks->given[index], x + l->coordinates->count);
}

// What is known of a result beside its speed.
static void look_back(const struct lessons *l, struct lesson *of)
{
    of->further[LESSON_COST] = cost_of(l, of->index);
    of->further[LESSON_SUCCESS] = l->rounds->fitness[of->index] > 0;
}

static void add_lesson(struct gp *g, const double *x, const struct lesson *of)
{
    gp_add(g, x, of->value);
    for (int k = 0; k < g->furthers; k++)
        gp_set(g, k, of->further[k]);
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

static void teach(struct lessons *l, struct gp *g, int index)
{
    if (l->apart && l->rounds->fitness[index] <= 0)
        l->supposed[l->supposing++].index = index;
    else {
        double x[WIDEST];
        double best = lessons_fitness(l, 0), fitness = l->rounds->fitness[index];
        double share = (fitness > 0 ? fitness : lessons_failed(l)) / best;
        struct lesson of = {.index = index, .value = l->logarithms ? log(share) : share};
        lessons_point(l, g, index, x);
        look_back(l, &of);
        add_lesson(g, x, &of);
    }
}

// Three quarters of its points are the best results, the others the latest.
void lessons_teach(struct lessons *l, struct gp *g, struct rng *r)
{
    int known = l->logarithms ? l->valid : l->results;
    int points = known < l->points ? known : l->points;
    int best = points == known ? points : points * 3 / 4;
    gp_clear(g);
    l->supposing = 0;
    for (int i = 0; i < best; i++)
        teach(l, g, l->ranked[i]);
    for (int i = l->results - 1; g->count + l->supposing < points; i--)
        if (is_taught(l, i) && !is_among(l->ranked, best, i))
            teach(l, g, i);
    gp_fit(g, tries(l, points), r);
    // What is open, and what failed where that is no result, is taught as what the process expects.
    int failed = l->supposing;
    for (int i = l->results; i < l->rounds->handed_out + l->plans; i++)
        l->supposed[l->supposing++].index = i;
    if (l->supposing == 0)
        return;
    for (int i = 0; i < l->supposing; i++) {
        struct lesson *of = &l->supposed[i];
        lessons_point(l, g, of->index, l->x + i * g->width);
        of->value = gp_further(g, l->x + i * g->width, of->further);
        if (i < failed)
            look_back(l, of);
    }
    for (int i = 0; i < l->supposing; i++)
        add_lesson(g, l->x + i * g->width, &l->supposed[i]);
    gp_fit(g, 0, r);
}

enum {
    STEPS = 100,         // of a walk, before it is given up
    MOST_NEIGHBOURS = 48 // of one place that are candidates; of more a random choice
};

int proposals_most(const struct proposals *p)
{
    return p->children + p->strangers + p->others + p->places * MOST_NEIGHBOURS;
}

void proposals_begin(struct proposals *p)
{
    if (!p->candidate)
        p->candidate = mem_zero((size_t)proposals_most(p), sizeof *p->candidate);
    p->count = 0;
}

void proposals_finish(struct proposals *p)
{
    free(p->candidate);
}

void proposals_add(struct proposals *p, const struct candidate *c)
{
    if (p->count < proposals_most(p))
        p->candidate[p->count++] = *c;
}

// Moves the candidate by OpEvo's Eq. 1 again and again until it is allowed: most are known or not
// legal at first.
static void add_walked(struct proposals *p, struct candidate *c)
{
    for (int n = 0; n < STEPS; n++) {
        if (visited_allows(&p->rounds->visited, &c->config)) {
            proposals_add(p, c);
            return;
        }
        space_walk(p->rounds->problem.space, p->q, p->rng, &c->config);
    }
}

void proposals_add_children(struct proposals *p, const int *ranked, int results)
{
    int parents = results < p->parents ? results : p->parents;
    double *weight = mem_zero((size_t)parents, sizeof *weight);
    for (int i = 0; i < parents; i++)
        weight[i] = p->rounds->fitness[ranked[i]];
    for (int i = 0; i < p->children; i++) {
        struct candidate child = {0};
        // OpEvo Eq. 2.
        const struct space *s = p->rounds->problem.space;
        for (int j = 0; j < s->param_count; j++) {
            const struct param *param = &s->param[j];
            struct config parent;
            int index = ranked[rng_weighted(p->rng, (size_t)parents, weight)];
            config_set_get(&p->rounds->visited.given, index, &parent);
            memcpy(child.config.slot + param->offset, parent.slot + param->offset,
                   (size_t)param->width * sizeof *parent.slot);
            child.from[j] = index + 1;
        }
        add_walked(p, &child);
    }
    free(weight);
}

void proposals_add_strangers(struct proposals *p)
{
    for (int i = 0; i < p->strangers; i++) {
        struct candidate c = {0};
        visited_sample(&p->rounds->problem, p->rng, &c.config);
        add_walked(p, &c);
    }
}

// Those of the graphs and, within reach, all other values of one parameter.
void proposals_add_moves(struct proposals *p, const struct candidate *here)
{
    const struct space *s = p->rounds->problem.space;
    struct candidate c = *here;
    int degree = space_degree(s, &here->config), all = degree + moves_jumps(s, p->reach);
    bool some = all > MOST_NEIGHBOURS;
    for (int n = 0; n < (some ? MOST_NEIGHBOURS : all); n++) {
        int k = some ? (int)rng_below(p->rng, (uint64_t)all) : n;
        if (k < degree)
            space_neighbour(s, &here->config, k, &c.config);
        else
            moves_jump(s, p->reach, &here->config, k - degree, &c.config);
        if (visited_allows(&p->rounds->visited, &c.config))
            proposals_add(p, &c);
    }
}

void proposals_add_neighbours(struct proposals *p, int index)
{
    struct candidate here = {0};
    config_set_get(&p->rounds->visited.given, index, &here.config);
    for (int i = 0; i < p->rounds->problem.space->param_count; i++)
        here.from[i] = index + 1;
    proposals_add_moves(p, &here);
}
