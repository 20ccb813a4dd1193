#include "search/proposals.h"

#include "base/mem.h"
#include "search/moves.h"

#include <stdlib.h>
#include <string.h>

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

// OpEvo Eq. 2.
static void recombine(struct proposals *p, const int *ranked, int parents, const double *weight,
                      struct candidate *child)
{
    const struct space *s = p->rounds->problem.space;
    for (int i = 0; i < s->param_count; i++) {
        const struct param *param = &s->param[i];
        struct config parent;
        int index = ranked[rng_weighted(p->rng, (size_t)parents, weight)];
        config_set_get(&p->rounds->visited.given, index, &parent);
        memcpy(child->config.slot + param->offset, parent.slot + param->offset,
               (size_t)param->width * sizeof *parent.slot);
        child->from[i] = index + 1;
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
        recombine(p, ranked, parents, weight, &child);
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
