#include "search/archive.h"

#include <assert.h>

enum { DRAWS = 10000 }; // before a uniform draw gives up

void archive_init(struct archive *a, const struct search_problem *problem, bool only_legal)
{
    *a = (struct archive){
        .problem = problem,
        .only_legal = (only_legal || problem->draw) && problem->legal,
        .given = {.slots = problem->space->slots},
    };
}

void archive_finish(struct archive *a)
{
    config_set_finish(&a->given);
}

bool archive_permits(const struct archive *a, const struct config *c)
{
    return !a->only_legal || a->problem->legal(a->problem->context, c);
}

bool archive_allows(const struct archive *a, const struct config *c)
{
    return config_set_find(&a->given, c) < 0 && archive_permits(a, c);
}

int archive_add(struct archive *a, const struct config *c)
{
    bool is_new;
    int index = config_set_add(&a->given, c, &is_new);
    assert(is_new);
    return index;
}

bool archive_warm(struct archive *a, struct config *out)
{
    const struct search_problem *p = a->problem;
    while (a->warm < p->warm_count && !archive_allows(a, &p->warm[a->warm]))
        a->warm++;
    if (a->warm == p->warm_count)
        return false;
    *out = p->warm[a->warm];
    return true;
}

void archive_sample(const struct search_problem *p, struct rng *r, struct config *out)
{
    if (p->draw)
        p->draw(p->context, r, out);
    else
        space_sample(p->space, r, out);
}

bool archive_draw(struct archive *a, struct rng *r, struct config *out)
{
    const struct space *s = a->problem->space;
    if (archive_warm(a, out))
        return true;
    if ((uint64_t)a->given.count == s->size)
        return false;
    for (int draw = 0; draw < DRAWS; draw++) {
        archive_sample(a->problem, r, out);
        if (archive_allows(a, out))
            return true;
    }
    // Enumerates in one pass: the n-th allowed point replaces the choice with probability 1/n.
    uint64_t allowed = 0;
    for (uint64_t i = 0; i < s->size && s->size <= ARCHIVE_ENUMERABLE; i++) {
        struct config c;
        space_point(s, i, &c);
        if (archive_allows(a, &c) && rng_below(r, ++allowed) == 0)
            *out = c;
    }
    return allowed > 0;
}
