// AutoTVM's genetic algorithm (Chen et al. 2018; the rules of TVM v0.6, which never measures
// twice).
//
// The first generation has `pop` uniform draws. When all results of a generation are known, it and
// the earlier elites form the pool: its best `elite` are the next elites, and `pop` children are
// made. A child takes the first part of its parameters from one parent and the rest from another.
// Two different parents are drawn with their fitness as weight; the weight of a failure is almost
// zero. Then each parameter is drawn anew with chance `mutation`, and further random parameters are
// drawn anew until the child is new. The last `pop` points of a space form the last generation.
//
// TVM adds 1e-8 to scores in operations a second. We add it to the fitness relative to the best, so
// that the unit does not matter. Illegal children are treated like known ones: parameters are drawn
// anew until the child is both legal and new, and after a thousand draws a uniform draw replaces
// it.
#include "search/batches.h"

#include <stdlib.h>
#include <string.h>

enum { OPTION_POP, OPTION_ELITE, OPTION_MUTATION };
enum { REDRAWS = 1000 }; // of one child before a uniform draw replaces it

struct parent {
    int index; // in the archive
    int generation;
    double fitness;
    struct config config;
};

struct ga {
    struct batches batches; // first: a strategy is a struct ga
    struct rng rng;
    int pop, elite;
    double mutation;
    struct parent *pool; // parents of the newest generation, best first, elites included
    double *weight;
    int pooled;
};

// Orders parents: the best first, of equals the earlier.
static int ga_best_first(const void *a, const void *b)
{
    const struct parent *x = a, *y = b;
    if (x->fitness != y->fitness)
        return x->fitness > y->fitness ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void redraw(struct ga *g, int i, struct config *child, int from[SPACE_MAX_PARAMS])
{
    const struct space *s = g->batches.problem.space;
    const struct param *p = &s->param[i];
    param_sample(p, &g->rng, child->slot + p->offset);
    space_settle(s, child);
    from[i] = 0;
}

// Adds a new child. False: none is left, or could be found.
static bool add_child(struct ga *g)
{
    int params = g->batches.problem.space->param_count, from[SPACE_MAX_PARAMS];
    struct config child;
    if (archive_warm(&g->batches.archive, &child))
        return batches_draw(&g->batches, &g->rng);
    const struct space *s = g->batches.problem.space;
    size_t parent[2];
    // Two different parents, if there are: the second is drawn without the first.
    size_t count = (size_t)g->pooled;
    parent[0] = parent[1] = rng_weighted(&g->rng, count, g->weight);
    if (count >= 2) {
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
    for (int n = archive_tries(&g->batches.archive, REDRAWS); n > 0; n--) {
        if (archive_repair(&g->batches.archive, NULL, &child) &&
            archive_allows(&g->batches.archive, &child)) {
            batches_add(&g->batches, &child, from);
            return true;
        }
        redraw(g, (int)rng_below(&g->rng, (uint64_t)params), &child, from);
    }
    return batches_draw(&g->batches, &g->rng);
}

static void ga_make_generation(void *self)
{
    struct ga *g = self;
    if (g->batches.problem.space->size - (uint64_t)g->batches.archive.given.count <=
        (uint64_t)g->pop) {
        const struct space *s = g->batches.problem.space;
        struct config c;
        for (uint64_t i = 0; i < s->size; i++) {
            space_point(s, i, &c);
            if (archive_allows(&g->batches.archive, &c))
                batches_add(&g->batches, &c, NULL);
        }
        return;
    }
    if (g->batches.number > 0) {
        // The pool: the elites and the last generation.
        if (g->pooled > g->elite)
            g->pooled = g->elite;
        for (int i = g->batches.start; i < g->batches.handed_out; i++) {
            struct parent *p = &g->pool[g->pooled++];
            *p = (struct parent){
                i, batches_generation(&g->batches.base), g->batches.fitness[i], {{0}}};
            config_set_get(&g->batches.archive.given, i, &p->config);
        }
        qsort(g->pool, (size_t)g->pooled, sizeof *g->pool, ga_best_first);
        double best = g->pool[0].fitness;
        for (int i = 0; i < g->pooled; i++)
            g->weight[i] = (best > 0 ? g->pool[i].fitness / best : 0) + 1e-8;
    }
    for (int i = 0; i < g->pop; i++)
        if (!(g->batches.number > 0 ? add_child(g) : batches_draw(&g->batches, &g->rng)))
            return;
}

static struct strategy *ga_create(const struct search_problem *problem, uint64_t seed,
                                  const double *option, struct err *e)
{
    (void)e;
    struct ga *g = mem_zero(1, sizeof *g);
    batches_init(&g->batches, problem, ga_make_generation);
    rng_seed(&g->rng, seed);
    g->pop = (int)option[OPTION_POP];
    g->elite = (int)option[OPTION_ELITE];
    g->mutation = option[OPTION_MUTATION];
    g->pool = mem_zero((size_t)(g->pop + g->elite), sizeof *g->pool);
    g->weight = mem_zero((size_t)(g->pop + g->elite), sizeof *g->weight);
    return &g->batches.base;
}

static int ga_population(const struct strategy *s, int most, struct individual *out)
{
    const struct ga *g = (const struct ga *)s;
    int count = g->pooled < most ? g->pooled : most;
    for (int i = 0; i < count; i++) {
        const struct parent *p = &g->pool[i];
        out[i] = (struct individual){&p->config, p->index + 1, p->fitness, p->generation};
    }
    return count;
}

static void ga_destroy(struct strategy *s)
{
    struct ga *g = (struct ga *)s;
    batches_finish(&g->batches);
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
    .create = ga_create,
    .ask = batches_ask,
    .tell = batches_tell,
    .population = ga_population,
    .generation = batches_generation,
    .origin = batches_origin,
    .destroy = ga_destroy,
};
