// AutoTVM's genetic algorithm (Chen et al. 2018; the rules of TVM v0.6, which never measures
// twice).
//
// The first generation is `pop` uniform draws. When all of a generation was told, it and the elites
// of before, with the scores they had, are the pool: its best `elite` are the next elites, and
// `pop` children are made. A child takes a first part of its parameters from one and the rest from
// another parent, two different ones drawn with weight fitness (failures weigh next to nothing);
// then each parameter is drawn anew with chance `mutation`; then random parameters are, one after
// the other, until the child is new. When no more than `pop` points of the space are left they are
// the last generation, cut to what there is.
//
// Where TVM adds 1e-8 to scores in operations a second we add it to fitness relative to the best,
// so that the unit does not matter. Illegal children are treated like known ones: parameters are
// drawn on until the child is both legal and new, and a uniform draw takes its place when a
// thousand times did not help.
#include "search/rounds.h"

#include <stdlib.h>
#include <string.h>

enum { OPTION_POP, OPTION_ELITE, OPTION_MUTATION };
enum { REDRAWS = 1000 }; // of one child before a uniform draw takes its place

struct parent {
    int index; // in what was given
    int generation;
    double fitness;
    struct config config;
};

struct ga {
    struct rounds rounds; // first: a strategy is a struct ga
    struct rng rng;
    int pop, elite;
    double mutation;
    struct parent *pool; // what the newest generation was bred from, best first; the elites lead it
    double *weight;
    int pooled;
};

static struct strategy *create(const struct search_problem *problem, uint64_t seed,
                               const double *option, struct err *e)
{
    (void)e;
    struct ga *g = mem_zero(1, sizeof *g);
    rounds_init(&g->rounds, problem);
    rng_seed(&g->rng, seed);
    g->pop = (int)option[OPTION_POP];
    g->elite = (int)option[OPTION_ELITE];
    g->mutation = option[OPTION_MUTATION];
    g->pool = mem_zero((size_t)(g->pop + g->elite), sizeof *g->pool);
    g->weight = mem_zero((size_t)(g->pop + g->elite), sizeof *g->weight);
    return &g->rounds.base;
}

// Best first; of equals the earlier.
static int compare(const void *a, const void *b)
{
    const struct parent *x = a, *y = b;
    if (x->fitness != y->fitness)
        return x->fitness > y->fitness ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void redraw(struct ga *g, int i, struct config *child, int from[SPACE_MAX_PARAMS])
{
    const struct space *s = g->rounds.problem.space;
    const struct param *p = &s->param[i];
    param_sample(p, &g->rng, child->slot + p->offset);
    space_settle(s, child);
    from[i] = 0;
}

// Adds a child that was never given. False: none is left, or could be found.
static bool add_child(struct ga *g)
{
    int params = g->rounds.problem.space->param_count, from[SPACE_MAX_PARAMS];
    struct config child;
    if (visited_warm(&g->rounds.visited, &child))
        return rounds_draw(&g->rounds, &g->rng);
    const struct space *s = g->rounds.problem.space;
    size_t parent[2];
    // Two different ones, if there are: the second is drawn as if the first were not there.
    size_t count = (size_t)g->pooled;
    parent[0] = parent[1] = rng_weighted(&g->rng, count, g->weight);
    if (!(count < 2)) {
        double weight = g->weight[parent[0]];
        g->weight[parent[0]] = 0;
        parent[1] = rng_weighted(&g->rng, count, g->weight);
        g->weight[parent[0]] = weight;
    }
    int cut = (int)rng_below(&g->rng, (uint64_t)s->param_count);
    child = (struct config){0};
    for (int i = 0; i < s->param_count; i++) {
        const struct param *p = &s->param[i];
        const struct parent *giver = &g->pool[parent[i >= cut]];
        memcpy(child.slot + p->offset, giver->config.slot + p->offset,
               (size_t)p->width * sizeof *child.slot);
        from[i] = giver->index + 1;
    }
    space_settle(s, &child);
    for (int i = 0; i < params; i++)
        if (rng_real(&g->rng) < g->mutation)
            redraw(g, i, &child, from);
    for (int n = 0; n < REDRAWS; n++) {
        if (visited_allows(&g->rounds.visited, &child)) {
            rounds_add(&g->rounds, &child, from);
            return true;
        }
        redraw(g, (int)rng_below(&g->rng, (uint64_t)params), &child, from);
    }
    return rounds_draw(&g->rounds, &g->rng);
}

static void make_generation(void *self)
{
    struct ga *g = self;
    if (g->rounds.problem.space->size - (uint64_t)g->rounds.visited.given.count <=
        (uint64_t)g->pop) {
        const struct space *s = g->rounds.problem.space;
        struct config c;
        for (uint64_t i = 0; i < s->size; i++) {
            space_point(s, i, &c);
            if (visited_allows(&g->rounds.visited, &c))
                rounds_add(&g->rounds, &c, NULL);
        }
        return;
    }
    if (g->rounds.number > 0) {
        // The elites, and the generation just told.
        if (g->pooled > g->elite)
            g->pooled = g->elite;
        for (int i = g->rounds.start; i < g->rounds.handed_out; i++) {
            struct parent *p = &g->pool[g->pooled++];
            *p =
                (struct parent){i, rounds_generation(&g->rounds.base), g->rounds.fitness[i], {{0}}};
            config_set_get(&g->rounds.visited.given, i, &p->config);
        }
        qsort(g->pool, (size_t)g->pooled, sizeof *g->pool, compare);
        double best = g->pool[0].fitness;
        for (int i = 0; i < g->pooled; i++)
            g->weight[i] = (best > 0 ? g->pool[i].fitness / best : 0) + 1e-8;
    }
    for (int i = 0; i < g->pop; i++)
        if (!(g->rounds.number > 0 ? add_child(g) : rounds_draw(&g->rounds, &g->rng)))
            return;
}

static enum ask ask(struct strategy *s, struct config *out)
{
    struct ga *g = (struct ga *)s;
    return rounds_ask(&g->rounds, out, make_generation, g);
}

static int population(const struct strategy *s, int most, struct individual *out)
{
    const struct ga *g = (const struct ga *)s;
    int count = g->pooled < most ? g->pooled : most;
    for (int i = 0; i < count; i++) {
        const struct parent *p = &g->pool[i];
        out[i] = (struct individual){&p->config, p->index + 1, p->fitness, p->generation};
    }
    return count;
}

static void destroy(struct strategy *s)
{
    struct ga *g = (struct ga *)s;
    rounds_finish(&g->rounds);
    free(g->pool);
    free(g->weight);
    free(g);
}

static const struct spec_option options[] = {
    [OPTION_POP] = {"pop", "children of a generation", 100, 2, 4096, true},
    [OPTION_ELITE] = {"elite", "the best that breed on", 3, 0, 4096, true},
    [OPTION_MUTATION] = {"mutation", "chance of each parameter to be drawn anew", 0.1, 0, 1, false},
    {NULL},
};

const struct strategy_kind strategy_ga = {
    .name = "ga",
    .help = "AutoTVM's genetic algorithm",
    .options = options,
    .create = create,
    .ask = ask,
    .tell = rounds_tell,
    .population = population,
    .generation = rounds_generation,
    .origin = rounds_origin,
    .destroy = destroy,
};
