#include "search/moves.h"

#include <string.h>

enum { STEPS = 1000 }; // to an allowed configuration

static bool may_jump(const struct param *p, int jump_limit)
{
    return p->size <= (uint64_t)jump_limit;
}

int moves_jumps(const struct space *s, int jump_limit)
{
    int jumps = 0;
    for (int i = 0; i < s->param_count; i++)
        if (may_jump(&s->param[i], jump_limit))
            jumps += (int)s->param[i].size;
    return jumps;
}

void moves_jump(const struct space *s, int jump_limit, const struct config *c, int k,
                struct config *out)
{
    uint64_t value = (uint64_t)k;
    const struct param *p = s->param;
    for (; !may_jump(p, jump_limit) || value >= p->size; p++)
        if (may_jump(p, jump_limit))
            value -= p->size;
    *out = *c;
    param_value(p, value, out->slot + p->offset);
    space_settle(s, out);
}

bool moves_step(const struct space *s, int jump_limit, struct rng *r, struct config *c)
{
    int can[SPACE_MAX_PARAMS], moves[SPACE_MAX_PARAMS], movers = 0;
    for (int i = 0; i < s->param_count; i++) {
        const struct param *p = &s->param[i];
        moves[movers] =
            may_jump(p, jump_limit) ? (int)p->size - 1 : param_degree(p, c->slot + p->offset);
        if (moves[movers] > 0 && space_is_live(s, c, i))
            can[movers++] = i;
    }
    if (movers == 0)
        return false;
    int mover = (int)rng_below(r, (uint64_t)movers);
    const struct param *p = &s->param[can[mover]];
    int32_t *v = c->slot + p->offset;
    if (may_jump(p, jump_limit)) {
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

bool moves_settle(const struct archive *v, int jump_limit, struct rng *r, struct config *c)
{
    for (int n = archive_tries(v, STEPS); n > 0; n--) {
        if (archive_repair(v, NULL, c) && archive_allows(v, c))
            return true;
        if (!moves_step(v->problem->space, jump_limit, r, c))
            return false;
    }
    return archive_repair(v, NULL, c) && archive_allows(v, c);
}
