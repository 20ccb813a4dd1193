#include "search/looks.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

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
