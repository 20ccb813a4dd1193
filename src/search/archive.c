#include "search/archive.h"

#include "base/mem.h"
#include "space/nearest.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    DRAWS = 10000, // before a uniform draw gives up
    SPARSE_DRAWS = 200000,
    REPAIRS = 32 // of a proposal before it is given up
};

void archive_init(struct archive *a, const struct search_problem *problem, bool only_legal)
{
    *a = (struct archive){
        .problem = problem,
        .only_legal = (only_legal || search_is_sparse(problem)) && problem->legal,
        .given = {.slots = problem->space->slots},
    };
    if (problem->legal)
        a->verdict = mem_zero(ARCHIVE_VERDICTS, sizeof *a->verdict);
}

void archive_finish(struct archive *a)
{
    config_set_finish(&a->given);
    free(a->verdict);
}

bool archive_permits(const struct archive *a, const struct config *c)
{
    if (!a->only_legal)
        return true;
    struct archive_verdict *v = &a->verdict[config_hash(c) % ARCHIVE_VERDICTS];
    if (!v->is_known || !config_equal(&v->config, c))
        *v = (struct archive_verdict){*c, true, a->problem->legal(a->problem->context, c)};
    return v->is_legal;
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

bool archive_sample(const struct search_problem *p, struct rng *r, struct config *out)
{
    if (!p->draw)
        return legal_sample(p->sparse, p->space, r, out);
    p->draw(p->context, r, out);
    return true;
}

// --- where legal points are rare ---

// Returns the first parameter that differs; -1: none.
static int moved_param(const struct space *s, const struct config *a, const struct config *b)
{
    for (int i = 0; i < s->param_count; i++) {
        const struct param *p = &s->param[i];
        if (memcmp(a->slot + p->offset, b->slot + p->offset, (size_t)p->width * sizeof *a->slot))
            return i;
    }
    return -1;
}

bool archive_repair(const struct archive *a, const struct config *from, struct config *c)
{
    const struct search_problem *p = a->problem;
    if (!p->sparse || archive_permits(a, c))
        return true;
    return legal_nearest(p->sparse, from, from ? moved_param(p->space, from, c) : -1, c);
}

int archive_tries(const struct archive *a, int usual)
{
    return a->problem->sparse && usual > REPAIRS ? REPAIRS : usual;
}

bool search_nearest_legal(const struct search_problem *p, struct config *c)
{
    if (search_is_legal(p, c))
        return true;
    return p->sparse ? legal_nearest(p->sparse, NULL, -1, c)
                     : space_nearest_legal(p->space, p->legal, p->context, c);
}

// Returns the number of points that can be proposed, or a larger one.
static uint64_t proposable(const struct archive *a)
{
    const struct legal *g = a->problem->sparse;
    return g && legal_is_built(g) ? legal_count(g) : a->problem->space->size;
}

// Gives the i-th of these points.
static void point_at(const struct archive *a, uint64_t i, struct config *out)
{
    if (!a->problem->sparse || !legal_point(a->problem->sparse, i, out))
        space_point(a->problem->space, i, out);
}

bool archive_draw(struct archive *a, struct rng *r, struct config *out)
{
    const uint64_t points = proposable(a);
    if (archive_warm(a, out))
        return true;
    if ((uint64_t)a->given.count >= points)
        return false;
    for (int draw = 0; draw < DRAWS; draw++) {
        if (!archive_sample(a->problem, r, out))
            break;
        if (archive_allows(a, out))
            return true;
    }
    // Enumerates in one pass: the n-th allowed point replaces the choice with probability 1/n.
    uint64_t allowed = 0;
    for (uint64_t i = 0; i < points && points <= ARCHIVE_ENUMERABLE; i++) {
        struct config c;
        point_at(a, i, &c);
        if (archive_allows(a, &c) && rng_below(r, ++allowed) == 0)
            *out = c;
    }
    // More legal points than that are gone through from a random one on, to the first allowed one.
    bool counted = a->problem->sparse && legal_is_built(a->problem->sparse);
    uint64_t start = points > ARCHIVE_ENUMERABLE && counted ? rng_below(r, points) : 0;
    for (uint64_t i = 0; i < points && points > ARCHIVE_ENUMERABLE && counted && !allowed; i++) {
        point_at(a, (start + i) % points, out);
        allowed = archive_allows(a, out);
    }
    // Where the rules of a sparse space tell nothing before all values are chosen, any draw is as
    // good as one from a graph that could not be built.
    struct legal *sparse = counted ? NULL : a->problem->sparse;
    for (int draw = 0; draw < SPARSE_DRAWS && sparse && !allowed; draw++) {
        space_sample(a->problem->space, r, out);
        allowed = legal_permits(sparse, out) && archive_allows(a, out);
    }
    return allowed > 0;
}
