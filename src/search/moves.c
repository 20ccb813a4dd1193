#include "search/moves.h"

#include <assert.h>
#include <string.h>

enum { STEPS = 1000 }; // of a walk to something allowed

static bool within_reach(const struct param *p, int reach)
{
    return p->size <= (uint64_t)reach;
}

int moves_jumps(const struct space *s, int reach)
{
    int jumps = 0;
    for (int i = 0; i < s->param_count; i++)
        if (within_reach(&s->param[i], reach))
            jumps += (int)s->param[i].size;
    return jumps;
}

void moves_jump(const struct space *s, int reach, const struct config *c, int k, struct config *out)
{
    uint64_t value = (uint64_t)k;
    const struct param *p = s->param;
    for (; !within_reach(p, reach) || value >= p->size; p++)
        if (within_reach(p, reach))
            value -= p->size;
    *out = *c;
    param_value(p, value, out->slot + p->offset);
    space_settle(s, out);
}

static int moves_of(const struct param *p, int reach, const int32_t *v)
{
    return within_reach(p, reach) ? (int)p->size - 1 : param_degree(p, v);
}

bool moves_step(const struct space *s, int reach, struct rng *r, struct config *c)
{
    int can[SPACE_MAX_PARAMS], moves[SPACE_MAX_PARAMS], movers = 0;
    for (int i = 0; i < s->param_count; i++) {
        moves[movers] = moves_of(&s->param[i], reach, c->slot + s->param[i].offset);
        if (moves[movers] > 0 && space_is_live(s, c, i))
            can[movers++] = i;
    }
    if (movers == 0)
        return false;
    int mover = (int)rng_below(r, (uint64_t)movers);
    const struct param *p = &s->param[can[mover]];
    int32_t *v = c->slot + p->offset;
    if (within_reach(p, reach)) {
        size_t bytes = (size_t)p->width * sizeof *v;
        int32_t old[PARAM_MAX_WIDTH];
        memcpy(old, v, bytes);
        while (!memcmp(old, v, bytes))
            param_sample(p, r, v);
    } else
        param_neighbour(p, v, (int)rng_below(r, (uint64_t)moves[mover]), v);
    space_settle(s, c);
    return true;
}

bool moves_settle(const struct visited *v, int reach, struct rng *r, struct config *c)
{
    for (int n = 0; n < STEPS; n++) {
        if (visited_allows(v, c))
            return true;
        if (!moves_step(v->problem->space, reach, r, c))
            return false;
    }
    return visited_allows(v, c);
}
