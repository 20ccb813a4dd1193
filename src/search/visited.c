#include "search/visited.h"

#include <assert.h>

enum { DRAWS = 10000 }; // before a uniform draw gives up

void visited_init(struct visited *v, const struct search_problem *problem, bool only_legal)
{
    *v = (struct visited){
        .problem = problem,
        .only_legal = (only_legal || problem->draw) && problem->legal,
        .given = {.slots = problem->space->slots},
    };
}

void visited_finish(struct visited *v)
{
    config_set_finish(&v->given);
}

bool visited_allows(const struct visited *v, const struct config *c)
{
    return config_set_find(&v->given, c) < 0 &&
           (!v->only_legal || v->problem->legal(v->problem->context, c));
}

int visited_add(struct visited *v, const struct config *c)
{
    bool is_new;
    int index = config_set_add(&v->given, c, &is_new);
    assert(is_new);
    return index;
}

// One pass: the n-th allowed point replaces the choice with probability 1/n.
static bool draw_from_list(const struct visited *v, struct rng *r, struct config *out)
{
    uint64_t allowed = 0;
    for (uint64_t i = 0; i < v->problem->space->size; i++) {
        struct config c;
        space_point(v->problem->space, i, &c);
        if (visited_allows(v, &c) && rng_below(r, ++allowed) == 0)
            *out = c;
    }
    return allowed > 0;
}

void visited_sample(const struct search_problem *p, struct rng *r, struct config *out)
{
    if (p->draw)
        p->draw(p->context, r, out);
    else
        space_sample(p->space, r, out);
}

bool visited_warm(struct visited *v, struct config *out)
{
    const struct search_problem *p = v->problem;
    while (v->warm < p->warm_count && !visited_allows(v, &p->warm[v->warm]))
        v->warm++;
    if (v->warm == p->warm_count)
        return false;
    *out = p->warm[v->warm];
    return true;
}

bool visited_draw(struct visited *v, struct rng *r, struct config *out)
{
    if (visited_warm(v, out))
        return true;
    if ((uint64_t)v->given.count == v->problem->space->size)
        return false;
    for (int draw = 0; draw < DRAWS; draw++) {
        visited_sample(v->problem, r, out);
        if (visited_allows(v, out))
            return true;
    }
    return v->problem->space->size <= VISITED_ENUMERABLE && draw_from_list(v, r, out);
}
