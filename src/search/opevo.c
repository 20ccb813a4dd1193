// OpEvo (Gao, Cui, Zhang, Yang 2021): evolution over the graphs of the parameters.
//
// Of all results the lambda best breed. Each child takes every parameter from one of them, chosen
// with probability proportional to fitness (Eq. 2), then walks at random on each parameter's graph
// (Eq. 1), on and on while it is not new. While fewer than lambda results exist, or the best of
// them is no good, children are uniform draws.
//
// Generations are synchronous, as in the paper: lambda draws, then rho children at a time once all
// of the last generation were told. With async=1, as in the authors' NNI code, the next rho are
// made at the first result after the last of the batch was handed out.
#include "search/visited.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_LAMBDA, OPTION_RHO, OPTION_Q, OPTION_ASYNC, OPTION_LEGAL };
enum { MUTATIONS = 1000 }; // of one child before a uniform draw takes its place

struct parent {
    struct config config;
    int ask;
    double fitness;
    int generation;
};

// Where a child comes from.
struct lineage {
    bool bred;                 // not drawn
    int ask[SPACE_MAX_PARAMS]; // that each parameter was taken from
};

struct opevo {
    struct strategy base; // first: a strategy is a struct opevo
    struct search_problem problem;
    struct rng rng;
    int lambda, rho;
    double q;
    bool async;

    // All that was made, in order: those from `handed_out` on are the queue. Generation g starts at
    // index first[g]; what has index i is ask i + 1.
    struct visited visited;
    struct lineage *lineage; // of the children of the newest generation
    int *first;
    int generations, first_capacity;
    int handed_out, told;
    bool result_since; // one was told since the queue ran empty

    struct parent *parent; // the best at most lambda of those told, best first
    double *weight;        // their fitness
    int parents;
};

static struct strategy *create(const struct search_problem *problem, uint64_t seed,
                               const double *option, struct err *e)
{
    (void)e;
    struct opevo *o = mem_zero(1, sizeof *o);
    o->problem = *problem;
    rng_seed(&o->rng, seed);
    o->lambda = (int)option[OPTION_LAMBDA];
    o->rho = (int)option[OPTION_RHO];
    o->q = option[OPTION_Q];
    o->async = option[OPTION_ASYNC] != 0;
    visited_init(&o->visited, &o->problem, option[OPTION_LEGAL] != 0);
    o->lineage = mem_zero((size_t)(o->lambda > o->rho ? o->lambda : o->rho), sizeof *o->lineage);
    o->parent = mem_zero((size_t)o->lambda, sizeof *o->parent);
    o->weight = mem_zero((size_t)o->lambda, sizeof *o->weight);
    return &o->base;
}

static bool can_breed(const struct opevo *o)
{
    return o->parents == o->lambda && o->parent[0].fitness > 0;
}

// A child that was never given. False: none is left, or could be found.
static bool make_child(struct opevo *o, struct config *child, struct lineage *from)
{
    from->bred = false;
    if (visited_warm(&o->visited, child))
        return true;
    if (can_breed(o)) {
        // OpEvo Eq. 2, for each parameter on its own.
        const struct space *space = o->problem.space;
        *child = (struct config){0};
        from->bred = true;
        for (int i = 0; i < space->param_count; i++) {
            const struct param *p = &space->param[i];
            size_t j = rng_weighted(&o->rng, (size_t)o->parents, o->weight);
            memcpy(child->slot + p->offset, o->parent[j].config.slot + p->offset,
                   (size_t)p->width * sizeof *child->slot);
            from->ask[i] = o->parent[j].ask;
        }
        space_walk(o->problem.space, o->q, &o->rng, child);
    } else if (o->visited.only_legal) {
        return visited_draw(&o->visited, &o->rng, child);
    } else {
        space_sample(o->problem.space, &o->rng, child);
    }
    for (int n = 0; n < MUTATIONS; n++) {
        if (visited_allows(&o->visited, child))
            return true;
        space_walk(o->problem.space, o->q, &o->rng, child); // goes on from where it is
    }
    from->bred = false;
    return visited_draw(&o->visited, &o->rng, child);
}

static enum ask ask(struct strategy *s, struct config *out)
{
    struct opevo *o = (struct opevo *)s;
    if (o->handed_out == o->visited.given.count) {
        bool may_breed = o->told == o->handed_out || (o->async && o->result_since);
        if (!may_breed)
            return ASK_WAIT;
        MEM_GROW(o->first, o->generations, o->first_capacity);
        o->first[o->generations++] = o->visited.given.count;
        int size = o->generations == 1 && !o->async ? o->lambda : o->rho;
        struct config child;
        for (int i = 0; i < size && make_child(o, &child, &o->lineage[i]); i++)
            visited_add(&o->visited, &child);
        if (o->handed_out == o->visited.given.count)
            return ASK_EXHAUSTED;
    }
    config_set_get(&o->visited.given, o->handed_out++, out);
    o->result_since = false;
    return ASK_NEW;
}

static int generation_of(const struct opevo *o, int index)
{
    int low = 0, high = o->generations; // first[low] <= index < first[high]
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (o->first[middle] <= index)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// Keeps the best; a new one stands before older ones of equal fitness.
static void tell(struct strategy *s, const struct config *c, enum outcome outcome, double fitness)
{
    (void)outcome; // whatever failed has fitness 0 and never breeds
    struct opevo *o = (struct opevo *)s;
    int index = config_set_find(&o->visited.given, c);
    assert(index >= 0 && index < o->handed_out && o->told < o->handed_out);
    o->told++;
    o->result_since = true;

    int place = 0;
    while (place < o->parents && o->weight[place] > fitness)
        place++;
    if (place == o->lambda)
        return;
    if (o->parents < o->lambda)
        o->parents++;
    size_t behind = (size_t)(o->parents - 1 - place);
    memmove(&o->parent[place + 1], &o->parent[place], behind * sizeof *o->parent);
    memmove(&o->weight[place + 1], &o->weight[place], behind * sizeof *o->weight);
    o->parent[place] = (struct parent){*c, index + 1, fitness, generation_of(o, index)};
    o->weight[place] = fitness;
}

static int population(const struct strategy *s, int most, struct individual *out)
{
    const struct opevo *o = (const struct opevo *)s;
    int count = o->parents < most ? o->parents : most;
    for (int i = 0; i < count; i++) {
        const struct parent *p = &o->parent[i];
        out[i] = (struct individual){.config = &p->config,
                                     .ask = p->ask,
                                     .fitness = p->fitness,
                                     .generation = p->generation};
    }
    return count;
}

static int generation(const struct strategy *s)
{
    const struct opevo *o = (const struct opevo *)s;
    return o->handed_out ? generation_of(o, o->handed_out - 1) : 0;
}

// All asked since the newest generation was made are of it.
static bool origin(const struct strategy *s, int64_t ask[SPACE_MAX_PARAMS])
{
    const struct opevo *o = (const struct opevo *)s;
    int child = o->generations ? o->handed_out - 1 - o->first[o->generations - 1] : -1;
    if (child < 0 || !o->lineage[child].bred)
        return false;
    for (int i = 0; i < o->problem.space->param_count; i++)
        ask[i] = o->lineage[child].ask[i];
    return true;
}

static bool is_async(const struct strategy *s)
{
    return ((const struct opevo *)s)->async;
}

static void destroy(struct strategy *s)
{
    struct opevo *o = (struct opevo *)s;
    visited_finish(&o->visited);
    free(o->first);
    free(o->lineage);
    free(o->parent);
    free(o->weight);
    free(o);
}

static const struct spec_option options[] = {
    [OPTION_LAMBDA] = {"lambda", "results that breed", 8, 1, 4096, true},
    [OPTION_RHO] = {"rho", "children of a generation", 8, 1, 4096, true},
    [OPTION_Q] = {"q", "mutation: chance of each further step of a walk", 0.5, 0.001, 0.999, false},
    [OPTION_ASYNC] = {"async", "1: breed before all of a generation are measured", 0, 0, 1, true},
    [OPTION_LEGAL] = {"legal", "1: mutate on until constraints and limits hold", 0, 0, 1, true},
    {NULL},
};

const struct strategy_kind strategy_opevo = {
    .name = "opevo",
    .help = "evolution on the graphs of the parameters",
    .options = options,
    .is_async = is_async,
    .create = create,
    .ask = ask,
    .tell = tell,
    .population = population,
    .generation = generation,
    .origin = origin,
    .destroy = destroy,
};
