#include "search/actions.h"

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
    int low = 0, high = r->count; // finds the first better one
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

int ranking_show(const struct ranking *r, const struct batches *of, int most,
                 struct individual *out)
{
    int shown = 0;
    for (int i = r->count - 1; i >= 0 && r->item[i].fitness > 0; i--) {
        if (shown == most || shown == RANKING_SHOWN)
            break;
        const struct ranked *item = &r->item[i];
        config_set_get(&of->archive.given, item->index, &r->shown[shown]);
        out[shown] = (struct individual){.config = &r->shown[shown],
                                         .ask = item->index + 1,
                                         .fitness = item->fitness,
                                         .generation = item->generation};
        shown++;
    }
    return shown;
}

void actions_init(struct actions *a, const struct space *space)
{
    *a = (struct actions){.space = space};
    for (int i = 0; i < space->param_count; i++) {
        const struct param *p = &space->param[i];
        int lowest, count = 0;
        switch (p->kind) {
        case PARAM_FACTORIZATION: count = p->width * (p->width - 1) * p->prime_count; break;
        case PARAM_PERMUTATION: count = p->count * (p->count - 1) / 2; break;
        case PARAM_DISCRETE: count = 2; break;
        case PARAM_CATEGORICAL: count = p->count; break;
        case PARAM_CUSTOM: param_degree_range(p, &lowest, &count); break;
        }
        a->first[i + 1] = a->first[i] + count;
    }
    a->count = a->first[space->param_count];
}

// Takes the k-th action of a parameter, in place. False: it is illegal, nothing changed.
static bool act(const struct param *p, int k, int32_t *v)
{
    int32_t old = *v;
    switch (p->kind) {
    case PARAM_FACTORIZATION: {
        int32_t prime = p->prime[k % p->prime_count];
        int pair = k / p->prime_count;
        int giver = pair / (p->width - 1), other = pair % (p->width - 1);
        if (v[giver] % prime)
            return false;
        v[giver] /= prime;
        v[other < giver ? other : other + 1] *= prime;
        return true;
    }
    case PARAM_DISCRETE:
        if (k == 0 ? *v > 0 : *v < p->count - 1)
            *v += k == 0 ? -1 : 1;
        return *v != old;
    case PARAM_CATEGORICAL: *v = k; return *v != old;
    case PARAM_PERMUTATION: // its k-th neighbour is one swap too, in the same order
    case PARAM_CUSTOM:
        if (k >= param_degree(p, v))
            return false;
        param_neighbour(p, v, k, v);
        return true;
    }
    return false;
}

bool actions_apply(const struct actions *a, int k, const struct config *from, struct config *to)
{
    assert(k >= 0 && k < a->count);
    int i = 0;
    while (k >= a->first[i + 1])
        i++;
    const struct param *p = &a->space->param[i];
    *to = *from;
    bool changes =
        space_is_live(a->space, from, i) && act(p, k - a->first[i], to->slot + p->offset);
    space_settle(a->space, to);
    return changes;
}

void actions_mask(const struct actions *a, const struct config *c, bool *legal)
{
    for (int i = 0; i < a->space->param_count; i++) {
        const struct param *p = &a->space->param[i];
        for (int k = a->first[i]; k < a->first[i + 1]; k++) {
            int32_t value[PARAM_MAX_WIDTH];
            memcpy(value, c->slot + p->offset, (size_t)p->width * sizeof *value);
            legal[k] = space_is_live(a->space, c, i) && act(p, k - a->first[i], value);
        }
    }
}

int actions_between(const struct actions *a, const struct config *from, const struct config *to)
{
    int slot = 0, i = 0, k = 0;
    while (from->slot[slot] == to->slot[slot])
        slot++;
    while (slot >= a->space->param[i].offset + a->space->param[i].width)
        i++;
    const struct param *p = &a->space->param[i];
    const int32_t *v = from->slot + p->offset, *w = to->slot + p->offset;
    switch (p->kind) {
    case PARAM_FACTORIZATION: {
        int giver = 0, taker = 0, prime = 0;
        while (v[giver] <= w[giver])
            giver++;
        while (v[taker] >= w[taker])
            taker++;
        while (p->prime[prime] != v[giver] / w[giver])
            prime++;
        int other = taker < giver ? taker : taker - 1;
        return a->first[i] + (giver * (p->width - 1) + other) * p->prime_count + prime;
    }
    case PARAM_DISCRETE: return a->first[i] + (*w > *v);
    case PARAM_CATEGORICAL: return a->first[i] + *w;
    case PARAM_PERMUTATION:
    case PARAM_CUSTOM: break;
    }
    for (;; k++) { // finds the edge
        int32_t value[PARAM_MAX_WIDTH];
        param_neighbour(p, v, k, value);
        if (memcmp(value, w, (size_t)p->width * sizeof *value) == 0)
            return a->first[i] + k;
    }
}

void actions_start(const struct space *space, struct config *out)
{
    *out = (struct config){0};
    for (int i = 0; i < space->param_count; i++) {
        const struct param *p = &space->param[i];
        int32_t *v = out->slot + p->offset;
        param_value(p, 0, v);
        if (p->kind == PARAM_FACTORIZATION)
            for (int part = 0; part < p->width; part++)
                v[part] = part == 0 ? p->product : 1;
    }
    space_settle(space, out);
}

void neighbours_init(struct neighbours *n, const struct space *space, const struct config *from)
{
    *n = (struct neighbours){.space = space, .from = from, .left = space_degree(space, from)};
    n->edge = mem_alloc((size_t)n->left * sizeof *n->edge);
    for (int k = 0; k < n->left; k++)
        n->edge[k] = k;
}

void neighbours_finish(struct neighbours *n)
{
    free(n->edge);
}

// Shuffles only as far as needed (Fisher, Yates).
bool neighbours_draw(struct neighbours *n, struct rng *r, struct config *out)
{
    if (n->left == 0)
        return false;
    int *pick = &n->edge[rng_below(r, (uint64_t)n->left)], k = *pick;
    *pick = n->edge[--n->left];
    space_neighbour(n->space, n->from, k, out);
    return true;
}
