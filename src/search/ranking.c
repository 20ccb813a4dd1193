#include "search/ranking.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void ranking_init(struct ranking *r)
{
    *r = (struct ranking){.shown = mem_zero(RANKING_SHOWN, sizeof *r->shown)};
}

void ranking_finish(struct ranking *r)
{
    free(r->item);
    free(r->shown);
}

void ranking_add(struct ranking *r, struct ranked item)
{
    MEM_GROW(r->item, r->count, r->capacity);
    int low = 0, high = r->count; // the first that is better
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (r->item[middle].fitness <= item.fitness)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(&r->item[low + 1], &r->item[low], (size_t)(r->count - low) * sizeof item);
    r->item[low] = item;
    r->count++;
}

struct ranked ranking_pop(struct ranking *r)
{
    assert(r->count > 0);
    return r->item[--r->count];
}

int ranking_show(const struct ranking *r, const struct rounds *of, int most, struct individual *out)
{
    int shown = 0;
    for (int i = r->count - 1; i >= 0 && r->item[i].fitness > 0; i--) {
        if (shown == most || shown == RANKING_SHOWN)
            break;
        const struct ranked *item = &r->item[i];
        config_set_get(&of->visited.given, item->index, &r->shown[shown]);
        out[shown] = (struct individual){.config = &r->shown[shown],
                                         .ask = item->index + 1,
                                         .fitness = item->fitness,
                                         .generation = item->generation};
        shown++;
    }
    return shown;
}
