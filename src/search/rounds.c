#include "search/rounds.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void looks_finish(struct looks *l)
{
    free(l->given);
    *l = (struct looks){0};
}

bool looks_take(struct looks *l, const struct config_set *given, int count)
{
    const struct search_problem *p = l->problem;
    int more = count - l->count;
    if (more <= 0)
        return true;
    while (l->capacity < count)
        MEM_GROW(l->given, l->capacity, l->capacity);
    struct config *c = mem_zero((size_t)more, sizeof *c);
    for (int i = 0; i < more; i++)
        config_set_get(given, l->count + i, &c[i]);
    bool known = p->look(p->context, c, more, l->given + l->count);
    l->count += known ? more : 0;
    free(c);
    return known;
}

void looks_point(const struct preview *said, double x[STATISTIC_KIND_COUNT])
{
    for (int i = 0; i < STATISTIC_KIND_COUNT; i++)
        x[i] = isnan(said->number[i]) ? 0 : log2(1 + said->number[i]) / 8;
}

void rounds_init(struct rounds *r, const struct search_problem *problem)
{
    *r = (struct rounds){.problem = *problem};
    visited_init(&r->visited, &r->problem, true);
}

void rounds_finish(struct rounds *r)
{
    visited_finish(&r->visited);
    free(r->fitness);
    free(r->took_s);
    free(r->lineage);
}

static bool is_handed_out(const struct rounds *r)
{
    return r->handed_out == r->visited.given.count;
}

bool rounds_may_plan(const struct rounds *r, int planned)
{
    return is_handed_out(r) && r->told >= r->handed_out + planned - r->open;
}

bool rounds_is_due(const struct rounds *r)
{
    return rounds_may_plan(r, 0);
}

enum ask rounds_ask(struct rounds *r, struct config *out, void (*make)(void *self), void *self)
{
    if (is_handed_out(r)) {
        if (!rounds_is_due(r))
            return ASK_WAIT;
        make(self);
        if (is_handed_out(r))
            return ASK_EXHAUSTED;
        r->start = r->handed_out;
        r->number++;
    }
    config_set_get(&r->visited.given, r->handed_out++, out);
    return ASK_NEW;
}

void rounds_took(struct strategy *s, const struct config *c, double seconds)
{
    struct rounds *r = (struct rounds *)s;
    r->took_s[config_set_find(&r->visited.given, c)] = seconds;
}

void rounds_tell(struct strategy *s, const struct config *c, enum outcome o, double fitness)
{
    (void)o; // whatever failed has fitness 0
    struct rounds *r = (struct rounds *)s;
    int index = config_set_find(&r->visited.given, c);
    assert(index >= 0 && index < r->handed_out && r->told < r->handed_out);
    r->fitness[index] = fitness;
    r->told++;
}

// The configuration's index, and room for what becomes of it.
static int enter(struct rounds *r, const struct config *c, double fitness)
{
    int index = visited_add(&r->visited, c);
    MEM_GROW(r->fitness, index, r->fitness_capacity);
    MEM_GROW(r->took_s, index, r->took_capacity);
    r->fitness[index] = fitness;
    r->took_s[index] = 0;
    return index;
}

void rounds_add(struct rounds *r, const struct config *c, const int from[SPACE_MAX_PARAMS])
{
    int place = enter(r, c, 0) - r->handed_out;
    if (place == r->lineage_capacity)
        MEM_GROW(r->lineage, place, r->lineage_capacity);
    r->lineage[place].bred = from;
    if (from)
        memcpy(r->lineage[place].ask, from, sizeof r->lineage[place].ask);
}

void rounds_hear(struct rounds *r, const struct config *c, double fitness)
{
    assert(is_handed_out(r) && r->told == r->handed_out);
    if (config_set_find(&r->visited.given, c) >= 0)
        return;
    enter(r, c, fitness);
    r->handed_out++;
    r->told++;
}

bool rounds_draw(struct rounds *r, struct rng *rng)
{
    struct config c;
    if (!visited_draw(&r->visited, rng, &c))
        return false;
    rounds_add(r, &c, NULL);
    return true;
}

void rounds_add_warm(struct rounds *r)
{
    struct config c;
    while (visited_warm(&r->visited, &c))
        rounds_add(r, &c, NULL);
}

bool rounds_origin(const struct strategy *s, int64_t ask[SPACE_MAX_PARAMS])
{
    const struct rounds *r = (const struct rounds *)s;
    int place = r->handed_out - 1 - r->start;
    if (place < 0 || !r->lineage[place].bred)
        return false;
    for (int i = 0; i < r->problem.space->param_count; i++)
        ask[i] = r->lineage[place].ask[i];
    return true;
}

int rounds_generation(const struct strategy *s)
{
    const struct rounds *r = (const struct rounds *)s;
    return r->number ? r->number - 1 : 0;
}
