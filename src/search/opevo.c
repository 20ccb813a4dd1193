// OpEvo (Gao, Cui, Zhang, Yang 2021): evolution over the graphs of the parameters.
//
// The lambda best results breed. A child takes every parameter from one of them, chosen with
// probability proportional to fitness (Eq. 2), then takes random steps on each parameter's graph
// (Eq. 1) until it is new. While there are fewer than lambda results, or no valid one, children are
// uniform draws.
//
// Generations are synchronous, as in the paper: lambda draws, then rho children at a time when all
// results of the last generation are known. With async=1, as in the authors' NNI code, the next rho
// are made at the first result after the whole batch was handed out.
#include "search/archive.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_LAMBDA, OPTION_RHO, OPTION_Q, OPTION_ASYNC, OPTION_LEGAL };
enum { MUTATIONS = 1000 }; // of one child before a uniform draw replaces it

struct parent {
    struct config config;
    int ask;
    double fitness;
    int generation;
};

struct lineage {               // origin of a child
    bool bred;                 // false: it was drawn
    int ask[SPACE_MAX_PARAMS]; // for each parameter the ask that it was taken from
};

struct opevo {
    struct strategy base; // first: a strategy is a struct opevo
    struct search_problem problem;
    struct rng rng;
    int lambda, rho;
    double q;
    bool async;

    // The configurations from `handed_out` on are the queue. Generation g starts at index first[g];
    // index i is ask i + 1.
    struct archive archive;
    struct lineage *lineage; // of the children of the newest generation
    int *first;
    int generations, first_capacity;
    int handed_out, observed;
    bool result_since; // a result was observed since the queue ran empty

    struct parent *parent; // the best results, at most lambda, best first
    double *weight;        // their fitness
    int parents;
};

static struct strategy *opevo_create(const struct search_problem *problem, uint64_t seed,
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
    archive_init(&o->archive, &o->problem, option[OPTION_LEGAL] != 0);
    o->lineage = mem_zero((size_t)(o->lambda > o->rho ? o->lambda : o->rho), sizeof *o->lineage);
    o->parent = mem_zero((size_t)o->lambda, sizeof *o->parent);
    o->weight = mem_zero((size_t)o->lambda, sizeof *o->weight);
    return &o->base;
}

// Makes a new child. False: none is left, or could be found.
static bool make_child(struct opevo *o, struct config *child, struct lineage *from)
{
    from->bred = false;
    if (archive_warm(&o->archive, child))
        return true;
    if (o->parents == o->lambda && o->parent[0].fitness > 0) { // Eq. 2, parameter by parameter
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
    } else if (o->archive.only_legal) {
        return archive_draw(&o->archive, &o->rng, child);
    } else {
        space_sample(o->problem.space, &o->rng, child);
    }
    for (int n = archive_tries(&o->archive, MUTATIONS); n > 0; n--) {
        if (archive_repair(&o->archive, NULL, child) && archive_allows(&o->archive, child))
            return true;
        space_walk(o->problem.space, o->q, &o->rng, child); // goes on from where it is
    }
    from->bred = false;
    return archive_draw(&o->archive, &o->rng, child);
}

static enum ask opevo_ask(struct strategy *s, struct config *out)
{
    struct opevo *o = (struct opevo *)s;
    if (o->handed_out == o->archive.given.count) {
        bool may_breed = o->observed == o->handed_out || (o->async && o->result_since);
        if (!may_breed)
            return ASK_WAIT;
        MEM_GROW(o->first, o->generations, o->first_capacity);
        o->first[o->generations++] = o->archive.given.count;
        int size = o->generations == 1 && !o->async ? o->lambda : o->rho;
        struct config child;
        for (int i = 0; i < size && make_child(o, &child, &o->lineage[i]); i++)
            archive_add(&o->archive, &child);
        if (o->handed_out == o->archive.given.count)
            return ASK_EXHAUSTED;
    }
    config_set_get(&o->archive.given, o->handed_out++, out);
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

// Keeps the best results; a new one comes before older ones of equal fitness.
static void opevo_tell(struct strategy *s, const struct config *c, enum outcome outcome,
                       double fitness)
{
    (void)outcome; // a failure has fitness 0 and never breeds
    struct opevo *o = (struct opevo *)s;
    int index = config_set_find(&o->archive.given, c);
    assert(index >= 0 && index < o->handed_out && o->observed < o->handed_out);
    o->observed++;
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

static int opevo_population(const struct strategy *s, int most, struct individual *out)
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

static int opevo_generation(const struct strategy *s)
{
    const struct opevo *o = (const struct opevo *)s;
    return o->handed_out ? generation_of(o, o->handed_out - 1) : 0;
}

// The asks since the newest generation was made are its children.
static bool opevo_origin(const struct strategy *s, int64_t ask[SPACE_MAX_PARAMS])
{
    const struct opevo *o = (const struct opevo *)s;
    int child = o->generations ? o->handed_out - 1 - o->first[o->generations - 1] : -1;
    if (child < 0 || !o->lineage[child].bred)
        return false;
    for (int i = 0; i < o->problem.space->param_count; i++)
        ask[i] = o->lineage[child].ask[i];
    return true;
}

static bool opevo_is_async(const struct strategy *s)
{
    return ((const struct opevo *)s)->async;
}

static void opevo_destroy(struct strategy *s)
{
    struct opevo *o = (struct opevo *)s;
    archive_finish(&o->archive);
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
    .is_async = opevo_is_async,
    .create = opevo_create,
    .ask = opevo_ask,
    .tell = opevo_tell,
    .population = opevo_population,
    .generation = opevo_generation,
    .origin = opevo_origin,
    .destroy = opevo_destroy,
};
