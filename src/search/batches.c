#include "search/batches.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void batches_init(struct batches *b, const struct search_problem *problem, void (*make)(void *self))
{
    *b = (struct batches){.problem = *problem, .make = make};
    archive_init(&b->archive, &b->problem, true);
}

void batches_finish(struct batches *b)
{
    archive_finish(&b->archive);
    free(b->fitness);
    free(b->took_s);
    free(b->lineage);
}

// --- what a batch is made of ---

int batches_added(const struct batches *b)
{
    return b->archive.given.count - b->handed_out;
}

bool batches_may_plan(const struct batches *b, int planned)
{
    return batches_added(b) == 0 && b->observed >= b->handed_out + planned - b->open;
}

// Adds a configuration to the archive, with its fitness; returns its index.
static int enter(struct batches *b, const struct config *c, double fitness)
{
    int index = archive_add(&b->archive, c);
    MEM_GROW(b->fitness, index, b->fitness_capacity);
    MEM_GROW(b->took_s, index, b->took_capacity);
    b->fitness[index] = fitness;
    b->took_s[index] = 0;
    return index;
}

void batches_add(struct batches *b, const struct config *c, const int from[SPACE_MAX_PARAMS])
{
    int place = enter(b, c, 0) - b->handed_out;
    if (place == b->lineage_capacity)
        MEM_GROW(b->lineage, place, b->lineage_capacity);
    b->lineage[place].bred = from;
    if (from)
        memcpy(b->lineage[place].ask, from, sizeof b->lineage[place].ask);
}

void batches_add_child(struct batches *b, const struct config *c, int parent)
{
    int from[SPACE_MAX_PARAMS];
    for (int i = 0; i < SPACE_MAX_PARAMS; i++)
        from[i] = parent + 1;
    batches_add(b, c, from);
}

bool batches_draw(struct batches *b, struct rng *rng)
{
    struct config c;
    bool found = archive_draw(&b->archive, rng, &c);
    if (found)
        batches_add(b, &c, NULL);
    return found;
}

void batches_add_warm(struct batches *b)
{
    struct config c;
    while (archive_warm(&b->archive, &c))
        batches_add(b, &c, NULL);
}

void batches_import(struct batches *b, const struct config *c, double fitness)
{
    assert(batches_added(b) == 0 && b->observed == b->handed_out);
    if (config_set_find(&b->archive.given, c) >= 0)
        return;
    enter(b, c, fitness);
    b->handed_out++;
    b->observed++;
}

// --- the strategy ---

enum ask batches_ask(struct strategy *s, struct config *out)
{
    struct batches *b = (struct batches *)s;
    if (batches_added(b) == 0) {
        if (!batches_may_plan(b, 0))
            return ASK_WAIT;
        b->make(b);
        if (batches_added(b) == 0)
            return ASK_EXHAUSTED;
        b->start = b->handed_out;
        b->number++;
    }
    config_set_get(&b->archive.given, b->handed_out++, out);
    return ASK_NEW;
}

void batches_took(struct strategy *s, const struct config *c, double seconds)
{
    struct batches *b = (struct batches *)s;
    b->took_s[config_set_find(&b->archive.given, c)] = seconds;
}

void batches_tell(struct strategy *s, const struct config *c, enum outcome o, double fitness)
{
    (void)o; // the fitness of a failure is 0
    struct batches *b = (struct batches *)s;
    int index = config_set_find(&b->archive.given, c);
    assert(index >= 0 && index < b->handed_out && b->observed < b->handed_out);
    b->fitness[index] = fitness;
    b->observed++;
}

bool batches_origin(const struct strategy *s, int64_t ask[SPACE_MAX_PARAMS])
{
    const struct batches *b = (const struct batches *)s;
    int place = b->handed_out - 1 - b->start;
    if (place < 0 || !b->lineage[place].bred)
        return false;
    for (int i = 0; i < b->problem.space->param_count; i++)
        ask[i] = b->lineage[place].ask[i];
    return true;
}

int batches_generation(const struct strategy *s)
{
    const struct batches *b = (const struct batches *)s;
    return b->number ? b->number - 1 : 0;
}

// --- compile probes ---

void compile_probes_finish(struct compile_probes *p)
{
    free(p->given);
    *p = (struct compile_probes){0};
}

bool compile_probes_take(struct compile_probes *p, const struct config_set *given, int count)
{
    int more = count - p->count;
    if (more <= 0)
        return true;
    while (p->capacity < count)
        MEM_GROW(p->given, p->capacity, p->capacity);
    struct config *c = mem_zero((size_t)more, sizeof *c);
    for (int i = 0; i < more; i++)
        config_set_get(given, p->count + i, &c[i]);
    bool known = p->problem->probe(p->problem->context, c, more, p->given + p->count);
    p->count += known ? more : 0;
    free(c);
    return known;
}

void compile_probe_coordinates(const struct compile_probe *probe, double x[STATISTIC_KIND_COUNT])
{
    for (int i = 0; i < STATISTIC_KIND_COUNT; i++)
        x[i] = isnan(probe->number[i]) ? 0 : log2(1 + probe->number[i]) / 8;
}
